"""Every command of the README and of docs/commands.md does what it says; on a road of two minutes."""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
from pathlib import Path

import pytest

from driver.cli import main, parser
from polling_baseline.database.embedded.server import Server
from tests.conftest import ROOT

# In the order in which a reader meets them; the second page uses what the first one has made.
PAGES = ("README.md", "docs/commands.md")
# What keeps a command short; nothing else is changed.
SHORTER = {
    "generate": ["--minutes", "2", "--history-days", "2"],
    "run": ["--clock", "virtual"],
    # A page instead of a server that stays.
    "watch": ["--html", "race.html"],
}
# Each of its batches costs a few tenths of a second, however small; seven of them will do, and no warm-up.
FEW_BATCHES = ["--period", "20", "--warm-up", "0"]
# These start Spark or many runs, and have tests of their own.
ELSEWHERE = {"compare", "rate", "reproduce", "cluster"}


def commands(*pages: str) -> list[list[str]]:
    """The indented lines that call lrb, each once, without what is said about them."""
    text = re.sub(r"\\\n *", "", "\n".join((ROOT / page).read_text() for page in pages or PAGES))
    lines = re.findall(r"^    (?:[A-Z]+=\S+ )*lrb (.+)$", text, re.MULTILINE)
    return [shlex.split(line) for line in dict.fromkeys(re.split(r" {2,}", line)[0] for line in lines)]


def test_there_are_commands() -> None:
    assert {words[0] for words in commands()} >= {
        "generate",
        "show",
        "load",
        "run",
        "validate",
        "db",
        "import",
        "export",
        "feed",
        "report",
        "aurora",
        "expected",
        *ELSEWHERE,
    }


@pytest.mark.parametrize("words", commands(*PAGES, "docs/your-own-system.md"), ids=" ".join)
def test_the_options_exist(words: list[str]) -> None:
    parser().parse_args(words)


def test_in_order(
    spark: object, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").symlink_to(ROOT / "docs")
    for words in commands():
        if "--dsn" in words or words[0] in ELSEWHERE:
            continue
        if words[0] == "import":
            _data_of_your_own()
        if "answers.csv" in words:
            shutil.copy("runs/0001-polling-L1/output.csv", "answers.csv")
        few = FEW_BATCHES if words[0] == "run" and "structured_streaming" in words else []
        assert main([*words, *SHORTER.get(words[0], []), *few]) == 0, (words, capfd.readouterr().err)
    for run in (*sorted(Path("runs").glob("*-polling-L1"))[1:2], *Path("runs").glob("*-exec-L1")):
        assert main(["validate", "road1", str(run)]) == 0


def _data_of_your_own() -> None:
    """The files that the page imports, from the road that was generated before."""
    assert main(["export", "road1", "--out", "theirs"]) == 0
    with Path("theirs/xway-000.csv").open("rb") as lines, gzip.open("cars.csv.gz", "wb") as packed:
        shutil.copyfileobj(lines, packed)
    Path("theirs/toll-history.csv").rename("tolls.csv")
    Path("theirs/segment-history.csv").rename("segments.csv")
