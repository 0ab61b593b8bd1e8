"""What is true of all commands: usage, hints to paste, one rule for L, singular and plural, stdin."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from driver.cli import COMMANDS, main
from driver.dataset.folder import open_dataset
from driver.dataset.relabel import relabelled
from driver.generate.generate import GenerateOptions
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_command
from tests.conftest import Lrb

LINE = "0,{},1,50,0,2,0,40,211200,-1,-1,-1,-1,-1,-1\n"
RULE = "L must be a multiple of 0.5 from 0.5 to 1000, not 0.3"
# What each command cannot do without.
NEEDED = {
    "generate": ["--xways", "1", "--out", "x"],
    "import": ["x", "--out", "x"],
    "export": ["x", "--out", "x"],
    "expected": ["x", "--out", "x"],
    "aurora": ["draw"],
    "db": ["status"],
    "cluster": ["status"],
    "lesson": ["list"],
    "rate": [],
    "reproduce": [],
    "demo": [],
    "plan": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_unknown_options_show_the_usage_of_their_command(capsys, command: str) -> None:
    words = NEEDED.get(command, ["x"])
    assert main([command, *words, "--bogus", "1"]) == 1
    said = capsys.readouterr().err
    prog = " ".join(["lrb", command, *(words if command in ("aurora", "db", "cluster", "lesson") else [])])
    assert said.startswith(f"usage: {prog} ")
    assert said.endswith(f"; see {prog} --help\n") and "unrecognized arguments: --bogus" in said


def test_an_argument_too_many(capsys) -> None:
    assert main(["run", "a", "b"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("usage: lrb run ")
    assert said.endswith("lrb: unrecognized arguments: b; see lrb run --help\n")


@pytest.mark.parametrize(
    "words",
    [
        ["generate", "--out", "x", "--xways"],
        ["import", "x", "--out", "x", "--xways"],
        ["run", "x", "--xways"],
        ["rate", "--step"],
        ["rate", "--start"],
        ["rate", "--max"],
        ["aurora", "check", "--xways"],
    ],
    ids=" ".join,
)
def test_one_rule_for_the_number_of_expressways(capsys, words: list[str]) -> None:
    assert main([*words, "0.3"]) == 1
    assert f"argument {words[-1]}: {RULE}; see lrb" in capsys.readouterr().err


def test_the_same_rule_inside(road: Path) -> None:
    for refused in (lambda: GenerateOptions(0.3), lambda: relabelled(open_dataset(road), 0.3)):
        with pytest.raises(Refusal, match=RULE):
            refused()


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One vehicle that reports once."""
    folder = tmp_path_factory.mktemp("words")
    (folder / "input.csv").write_text(LINE.format(0))
    assert main(["import", str(folder / "input.csv"), "--out", str(folder / "road")]) == 0
    return folder / "road"


def test_one_of_everything(road: Path, capsys) -> None:
    assert main(["import", str(road.parent / "input.csv"), "--out", str(road), "--force"]) == 0
    said = capsys.readouterr().out
    assert "1 min, 1 vehicle\n" in said
    assert " 1 line: 1 report, 0 requests\n" in said
    assert main(["show", str(road)]) == 0
    said = capsys.readouterr().out
    assert " 1 position report\n" in said and " 1 vehicle\n" in said and " 0 rejected lines\n" in said


def test_a_hint_can_be_pasted(road: Path, capsys, tmp_path: Path) -> None:
    out = tmp_path / "it's\na road"
    assert main(["import", str(road.parent / "input.csv"), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.endswith(f"next: {format_command('show', out)}\n")
    assert said.splitlines()[-1].endswith("it\\047s\\012a road'")


def test_stdin(lrb: Lrb, tmp_path: Path) -> None:
    """Plain or gzip; rejects name it as the user did, and a file of that name is no stdin."""
    lines = (LINE.format(0) + "x\n" + LINE.format(30)).encode()
    for name, data in (("plain", lines), ("packed", gzip.compress(lines))):
        out = tmp_path / name
        done = lrb("import", "-", "--out", out, input=data, text=False)
        assert done.returncode == 0, done.stderr
        record = json.loads((out / "dataset.json").read_text())
        assert (record["counts"]["reports"], record["options"]["files"]) == (2, ["-"])
        assert (out / "rejects.csv").read_text().splitlines()[1:] == ["-,2,not 15 integers,x"]
    (tmp_path / "-").write_text(LINE.format(0))
    done = lrb("import", "./-", "--out", tmp_path / "file", cwd=tmp_path, stdin=None)
    assert done.returncode == 0, done.stderr
    assert lrb("import", "-", "-", "--out", tmp_path / "twice").stderr == "lrb: - is named twice\n"
