"""Every command of the lessons in docs/lessons does what it says; on a road of two minutes, polled every 15 seconds."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from driver.cli import main, parser
from polling_baseline.database.embedded.server import Server
from tests.commands.test_readme import commands
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "lessons"
LESSONS = sorted(FOLDER.glob("[1-8]-*.md"))
PAGES = [str(page.relative_to(ROOT)) for page in (FOLDER / "README.md", *LESSONS)]
# A terminal of its own, or a signal: the options exist, and tests of their own run them.
BY_HAND = re.compile(r"^    \$ (?:timeout -s KILL \d+ )?lrb (.+)$", re.MULTILINE)
# What keeps a command short; nothing else is changed.
SHORTER = {"generate": ["--minutes", "2", "--history-days", "1"], "run": ["--period", "15", "--xways", "2"]}
MINUTES = {"--from-minute": "2", "--to-minute": "1"}


def shortened(words: list[str]) -> list[str]:
    """Durability stays off: to switch it on restarts the server that all tests share; tests/engines has it."""
    if "--durability" in words:
        at = words.index("--durability")
        words = [*words[:at], *words[at + 2 :]]
    before = ["", *words]
    return [MINUTES.get(flag, word) for flag, word in zip(before, words, strict=False)] + SHORTER.get(words[0], [])


def test_there_are_eight() -> None:
    assert [page.name[0] for page in LESSONS] == list("12345678")
    index = (FOLDER / "README.md").read_text()
    answers = re.findall(r"^## (\d)\.", (FOLDER / "answers.md").read_text(), re.MULTILINE)
    assert answers == list("12345678")
    for page in LESSONS:
        text = page.read_text()
        assert f"({page.name})" in index
        assert re.findall(r"^## (\w+)", text, re.MULTILINE) == ["Predict", "Run", "Explain", "Questions"], page.name


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_each_question_has_an_answer(page: Path) -> None:
    def numbers(text: str) -> list[str]:
        return re.findall(r"^(\d)\. ", text, re.MULTILINE)

    title = re.match(r"# (.+)", page.read_text())[1]
    [answers] = re.findall(
        rf"^## {re.escape(title)}$(.+?)(?=^## |\Z)", (FOLDER / "answers.md").read_text(), re.M | re.S
    )
    assert numbers(page.read_text().split("## Questions")[1]) == numbers(answers)


@pytest.mark.parametrize("page", [*PAGES, "docs/aurora.md", "docs/tradeoffs.md"])
def test_the_options_exist(page: str) -> None:
    for words in commands(page):
        parser().parse_args(words)
    for line in BY_HAND.findall((ROOT / page).read_text()):
        parser().parse_args(commands_in(line))


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_a_command_of_the_lesson_makes_its_figures(page: Path) -> None:
    """A file by --out, the charts of a report in the folder of --svg."""
    made = {
        words[words.index(flag) + 1]
        for words in commands(str(page.relative_to(ROOT)))
        for flag in ("--out", "--svg")
        if flag in words
    }
    figures = [Path(name) for name in re.findall(r"\]\((figures/[^)]+\.svg)\)", page.read_text())]
    assert figures
    for figure in figures:
        assert {str(figure), str(figure.parent)} & made, figure


def commands_in(line: str) -> list[str]:
    return shlex.split(re.split(r" {2,}", line)[0])


def test_in_order(
    spark: object, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("figures").mkdir()
    for words in commands(*PAGES):
        # That one is stopped where there are more vehicles than here.
        statuses = (0, 1) if "CROSS JOIN" in words[-1] else (0,)
        assert main(shortened(words)) in statuses, (words, capfd.readouterr().err)
    assert list(Path("figures").rglob("*.svg"))
