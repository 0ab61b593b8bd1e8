"""Digests: what the kit says of the right answers is what twenty lines of Python say of a right output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from driver.validate.digest import HEADING
from tests.conftest import ROOT
from tests.support import oracle
from tests.support.one_dataset import Road, one_dataset, output_line
from tests.support.random_road import random_history, random_lines

MINUTES = 6
DIGESTS = ROOT / "docs" / "digests"


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A road on which everything collides, which passes for a generated one, so that it can be copied."""
    folder = tmp_path_factory.mktemp("digest") / "road"
    one_dataset([Road(random_lines(5, minutes=MINUTES, xways=1), *random_history(5, xways=1))], folder, "generate")
    return folder


def computed(output: Path) -> list[str]:
    """What the program says that anyone can run."""
    program = ROOT / "docs" / "examples" / "digest.py"
    done = subprocess.run([sys.executable, "-I", program, output], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def digest(capfd: pytest.CaptureFixture[str], *words: object) -> list[str]:
    capfd.readouterr()
    assert main(["digest", *map(str, words)]) == 0
    return capfd.readouterr().out.splitlines()


@pytest.mark.parametrize("options", [[], ["--xways", "3"], ["--from-minute", "3", "--ignore", "balance"]])
def test_an_output_has_the_digest_of_the_right_answers(
    spark: Any, road: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str]
) -> None:
    words = ["run", str(road), "--engine", "sqlite", "--clock", "virtual", "--out", str(tmp_path / "run"), *options]
    assert main(words) == 0
    right = digest(capfd, road, *options)
    assert right[0] == HEADING and len(right) > 12
    assert computed(tmp_path / "run" / "output.csv") == right


def test_a_wrong_answer_shows_in_its_minute(
    spark: Any, road: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(road), "--engine", "sqlite", "--clock", "virtual", "--out", str(tmp_path / "run")]) == 0
    lines = (tmp_path / "run" / "output.csv").read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("0,") and int(line.split(",")[2]) >= 120)
    minute = int(lines[at].split(",")[2]) // 60 + 1
    lines[at] += "7"
    (tmp_path / "wrong.csv").write_text("\n".join(lines) + "\n")
    right, wrong = digest(capfd, road), computed(tmp_path / "wrong.csv")
    assert [line.rpartition(",")[0] for line in right] == [line.rpartition(",")[0] for line in wrong]
    differing = [line.split(",")[:2] for line, other in zip(right, wrong, strict=True) if line != other]
    assert differing == [["toll", "all"], ["toll", str(minute)]]


def test_balances_that_cannot_be_told_apart(spark: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = [(2, 7, 1, *[-1] * 6, 5, *[-1] * 5)] * 2
    one_dataset([Road(lines, {}, [])], tmp_path / "road")
    assert [line for line in digest(capfd, tmp_path / "road") if line.startswith("balance")] == [
        "balance,all,2,-",
        "balance,1,2,-",
    ]


def test_the_definition(tmp_path: Path) -> None:
    """By the words of the page, with Python's own numbers."""

    def taken_in(number: int, field: int) -> int:
        number = ((number ^ (field % 2**64)) + 0x9E3779B97F4A7C15) % 2**64
        number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) % 2**64
        number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) % 2**64
        return number ^ (number >> 31)

    total = 0
    for fields in ((61, -1, 0, 7), (62, 38, 98, 8)):
        number = 0
        for field in fields:
            number = taken_in(number, field)
        total += number
    (tmp_path / "output.csv").write_text("0,7,61,61.5,-1,0\n0,8,62,62.5,38,98\n")
    assert computed(tmp_path / "output.csv")[1:3] == [f"toll,{name},2,{total % 2**64:016x}" for name in ("all", 2)]


def test_a_naive_reading_has_the_same_digest(
    spark: Any, road: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = random_lines(5, minutes=MINUTES, xways=1)
    answers = oracle.answers(lines, *random_history(5, xways=1))
    output = tmp_path / "right.csv"
    output.write_text("".join(f"{output_line(answer, 0)}\n" for answer in answers))
    counts = [line.rpartition(",")[0] for line in digest(capfd, road)]
    assert [line.rpartition(",")[0] for line in computed(output)] == counts


@pytest.mark.parametrize("xways", ["0.5", "1", "2"])
def test_digests_of_seed_42(spark: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], xways: str) -> None:
    out = tmp_path / "road"
    assert main(["generate", "--xways", xways, "--minutes", "20", "--seed", "42", "--out", str(out)]) == 0
    assert digest(capfd, out) == (DIGESTS / f"seed-42-L{xways}-20min.csv").read_text().splitlines()
