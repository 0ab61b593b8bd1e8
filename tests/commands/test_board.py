"""`lrb board`: results of four engines in a real browser, and what may not enter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from driver.cli import main
from driver.publish.published import PUBLISHED
from tests.support.browser import OVERFLOW, needs_browser
from tests.support.files_page import check_json
from tests.support.made_results import bundle_of, judged_run, made_rating, rewritten
from tests.support.made_run import make_run

Capsys = pytest.CaptureFixture[str]
# System and L of the rows that are shown, from top to bottom.
SHOWN = """
[...document.querySelectorAll("table.own tbody tr")].filter(row => row.offsetParent !== null || row.offsetHeight).map(
  row => [row.cells[0].textContent, row.querySelector("strong").textContent, row.querySelector(".bar b").textContent])
"""
BARS = """
[...document.querySelectorAll("table.own tr:not([hidden]) .bar i")].map(bar => Math.floor(parseFloat(bar.style.width)))
"""
HEADING = "document.querySelector('table.own thead').rows[0].cells[2].textContent"
BESIDE = "document.querySelector('table.own tbody .beside').textContent"
CHOOSE = """(() => {{ const select = document.querySelector("select[name={0}]"); select.value = {1};
  select.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()"""


def big(record: dict[str, Any]) -> None:
    record["environment"]["machine"] |= {"cores": 8, "cpu": "Big <b>Iron</b>", "memory_gb": 64.0}


def forge(record: dict[str, Any]) -> None:
    record["dataset"]["xways"] = 1000.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bundles and folders: four engines, and five results that may not enter."""
    place = tmp_path_factory.mktemp("board")
    sent, own = place / "sent", place / "own"
    sent.mkdir()
    bundle_of(made_rating(place / "work" / "polling", 4.0), sent / "polling.zip")
    bundle_of(judged_run(place / "work" / "duckdb", 16.0, engine="duckdb", change=big), sent / "duckdb.zip")
    judged_run(own / "aurora", 9.0, engine="aurora", engine_options={}, durability="off")
    judged_run(own / "sqlite", 2.0, engine="sqlite")
    judged_run(own / "less", 1.0, engine="sqlite")
    # Late, unjudged, under other limits; changed with and without new checksums.
    judged_run(own / "late", 500.0, engine="sqlite", service_s=lambda second: 6.0)
    make_run(own / "unjudged", 1)
    judged_run(own / "limits", 500.0, limits={"toll": 15.0})
    rewritten(sent / "duckdb.zip", sent / "forged.zip", {"run.json": forge})
    both = {"/run.json": forge, "verdict.json": forge}
    rewritten(sent / "duckdb.zip", sent / "forged-twice.zip", both, fit=False)
    higher = {"rating.json": lambda record: record.update(rating=1000.0)}
    rewritten(sent / "polling.zip", sent / "forged-rating.zip", higher)
    return place


@pytest.fixture(scope="module")
def board(place: Path) -> Path:
    assert main(["board", str(place / "sent"), str(place / "own"), "--html", str(place / "board.html")]) == 0
    return place / "board.html"


def test_who_enters_and_who_does_not(place: Path, board: Path, capsys: Capsys) -> None:
    check_json(place / "work" / "polling" / "rating.json")
    assert main(["board", str(place / "sent"), str(place / "own"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(one["engine"], one["xways"], one["is_rating"], one["source"]) for one in told["results"]] == [
        ("duckdb", 16, False, "duckdb.zip"),
        ("aurora", 9, False, "aurora"),
        ("polling", 4, True, "polling.zip"),
        ("sqlite", 2, False, "sqlite"),
    ]
    why = {one["source"]: one["why"] for one in told["left_out"]}
    assert why.keys() == {"late", "unjudged", "limits", "forged.zip", "forged-twice.zip", "forged-rating.zip"}
    assert why["late"] == "the verdict is FAIL" and why["unjudged"] == "not judged"
    assert "limits toll 15.0 s" in why["limits"]
    assert why["forged.zip"] == "contradicts itself: the verdict is about another L"
    assert why["forged-twice.zip"].startswith("forged-twice.zip was changed: runs/duckdb/run.json is not what its")
    assert "the rating is 1000, which is not the median of its looks" in why["forged-rating.zip"]
    assert str(place) not in board.read_text()
    # The machine's name is text, whatever stands in it.
    assert "Big &lt;b&gt;Iron" in board.read_text() and "<b>Iron" not in board.read_text()


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_filters_in_a_browser(board: Path, browser: Any, width: int, dark: bool) -> None:
    browser.show(board, width, dark=dark)
    assert browser.value(OVERFLOW) <= 0 and browser.complaints() == []
    assert browser.requests() == [board.absolute().as_uri()]
    assert browser.value(SHOWN) == [
        ["1", "duckdb", "16"],
        ["2", "aurora", "9"],
        ["3", "polling", "4"],
        ["4", "sqlite", "2"],
    ]
    assert browser.value(BARS) == [100, 56, 25, 12]
    assert browser.value("document.querySelector('output').textContent") == "4 of 4 results"
    assert browser.value(HEADING) == "L, largest first" and browser.value(BESIDE) == "2 per core"
    # What all have in common is no choice.
    assert browser.value("document.querySelector('[data-filter=clock]').innerText.split(/\\s+/)") == [
        "clock",
        "virtual",
    ]
    # Without the machine of 8 cores, bars are relative to what is left.
    browser.value(CHOOSE.format("measure", "'core'"))
    assert browser.value(HEADING) == "L per core, largest first" and browser.value(BESIDE) == "L = 9"
    browser.value(CHOOSE.format("engine", "'aurora'"))
    assert [row[1] for row in browser.value(SHOWN)] == ["aurora"] and browser.value(BARS) == [100]
    browser.value("document.querySelector('form.filters button').click()")
    browser.value("new Promise(done => setTimeout(done, 20))")
    assert [row[1] for row in browser.value(SHOWN)] == ["duckdb", "aurora", "polling", "sqlite"]
    browser.value(CHOOSE.format("found", "'rating'"))
    assert [row[1] for row in browser.value(SHOWN)] == ["polling"]
    assert browser.value("document.querySelector('output').textContent") == "1 of 4 results"
    names = browser.value("[...document.querySelectorAll('[data-filter]')].map(field => field.dataset.filter)")
    assert names[:8] == ["machine", "engine", "design", "durability", "clock", "span", "distinct", "judged"]


@needs_browser
def test_filters_by_keyboard(board: Path, browser: Any) -> None:
    """Tab to the second filter, then choose by its first letter."""
    browser.show(board, 390)

    def press(key: str, code: int, text: str = "") -> None:
        browser.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, text=text)
        browser.ask("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    press("Tab", 9)
    press("Tab", 9)
    assert browser.value("document.activeElement.name") == "engine"
    outline = browser.value("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    press("s", 83, "s")
    assert [row[1] for row in browser.value(SHOWN)] == ["sqlite"]


@needs_browser
def test_without_scripts_all_is_there(board: Path, browser: Any) -> None:
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.show(board, 1280)
        text = browser.ask("Accessibility.getFullAXTree")["nodes"]
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
    words = " ".join(str(node.get("name", {}).get("value", "")) for node in text)
    assert all(name in words for name in ("duckdb", "aurora", "polling", "sqlite"))
    assert "show all" not in words


def test_what_others_have_published_is_apart(board: Path) -> None:
    page = board.read_text()
    own, apart = page.split("Published elsewhere, since 2004")
    for one in PUBLISHED:
        assert one.system in apart and one.system not in own
    assert [one.xways for one in PUBLISHED] == [512, 350, 200, 64, 60, 2.5, 2.5, 0.5, None]
    assert apart.count("no verdict on all answers is named") == 8
    assert "http" not in page and "@import" not in page and "src=" not in page


def test_a_board_without_results(tmp_path: Path, capsys: Capsys) -> None:
    make_run(tmp_path / "runs" / "0001", 1)
    assert main(["board", str(tmp_path / "runs"), "--html", str(tmp_path / "board.html")]) == 0
    assert "No result may enter" in (tmp_path / "board.html").read_text()
    assert "left out 0001: not judged" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["board", str(tmp_path / "empty"), "--html", str(tmp_path / "board.html")]) == 0
    assert "no run, rating, comparison or bundle was found" in (tmp_path / "board.html").read_text()
    assert main(["board", str(tmp_path / "absent")]) == 1
    assert "neither a folder nor a bundle" in capsys.readouterr().err


def test_who_failed_once_does_not_hold_it(tmp_path: Path, capsys: Capsys) -> None:
    """Two runs of one kind, of which one was late."""
    from driver.cli.compare import show_kinds
    from driver.cli.compare_runs import Kind

    out = tmp_path / "out"
    runs = [judged_run(out / str(n), service_s=lambda second, s=s: s) for n, s in enumerate((0.02, 6.0))]
    show_kinds([Kind(0, 0.5, runs)], out, None, True)
    bundle_of(out, tmp_path / "both.zip")
    capsys.readouterr()
    assert main(["board", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["results"] == [] and {one["why"] for one in told["left_out"]} == {"the verdict is FAIL"}


def test_runs_that_were_judged_after_they_were_compared(tmp_path: Path, capsys: Capsys) -> None:
    """As `lrb run --repeat` leaves them; the page says how many runs held it."""
    from driver.cli.compare import show_kinds
    from driver.cli.compare_runs import Kind

    out = tmp_path / "out"
    runs = [judged_run(out / str(number)) for number in range(3)]
    verdicts = [(run / "verdict.json").read_text() for run in runs]
    for run in runs:
        (run / "verdict.json").unlink()
    show_kinds([Kind(0, 0.5, runs)], out, None, True)
    assert main(["bundle", str(out), "--out", str(tmp_path / "x.zip")]) == 1
    assert f"{runs[0]} is not judged" in capsys.readouterr().err
    for run, verdict in zip(runs, verdicts, strict=True):
        (run / "verdict.json").write_text(verdict)
    bundle = bundle_of(out, tmp_path / "sent" / "three.zip")
    assert main(["verify", str(bundle)]) == 0
    for place in (out, bundle):
        assert main(["board", str(place), "--html", str(tmp_path / "board.html")]) == 0
        assert "held in 3 of 3 runs: more may be possible" in (tmp_path / "board.html").read_text()
