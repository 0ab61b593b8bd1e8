"""The pages in a real browser: everything is drawn, nothing is fetched, and it fits a phone."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from driver.cli import main
from driver.report.html.drawing import drawing
from driver.report.html.run import run_page, write_report
from driver.run.record import open_run
from tests.support.browser import look, needs_browser
from tests.support.made_run import make_run, verdict

BANNERS = "[...document.querySelectorAll('.banner strong')].map(word => word.textContent)"
KEYS = """[...document.querySelectorAll("figure")].map(figure =>
  [...figure.querySelectorAll("li span")].map(sample => getComputedStyle(sample).color))"""
SIZES = [(390, False), (1280, False), (1280, True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@needs_browser
@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_a_run_that_failed(browser, folder, width, dark):
    run = folder / "failed"
    if not run.exists():
        make_run(run, service_s=lambda second: 0.1 if second < 60 else 2.0)
        facts = json.loads((run / "run.json").read_text())
        (run / "verdict.json").write_text(json.dumps(verdict(facts, toll={"wrong": 7})))
        (run / "network.svg").write_text(NETWORK)
    charts = look(browser, write_report(run), width, dark)
    assert browser.value(BANNERS) == ["FAIL"]
    titles = [chart["title"] for chart in charts]
    kinds = ("toll", "accident", "balance", "expenditure", "travel time")
    assert titles[:5] == [f"Response time of {kind} answers by minute" for kind in kinds]
    assert [title.split(" by ")[0] for title in titles[6:]] == ["Mean of a cycle", "Response time"]
    assert charts[0]["legend"] == ["p99", "max", "p50"]
    assert {"limit 5 s", "time (minutes)", "seconds (log scale)"} <= set(charts[0]["labels"])
    assert "the longest is" in charts[0]["told"]
    assert charts[6]["legend"] == ["copy", "advance", "commit", "reading answers"]
    assert "period 1,000 ms" in charts[6]["labels"]
    body = browser.value("document.body.innerText")
    assert "the first in minute 2" in body and "7 wrong" in body and "Query network" in body
    letters = "new Set([...document.querySelectorAll('%s text')].map(text => getComputedStyle(text).fontSize))"
    # The drawing's style stays with it.
    assert browser.value(f"[...{letters % '.drawing'}]") == ["3px"]
    assert "3px" not in browser.value(f"[...{letters % 'figure'}]")
    colours = browser.value("getComputedStyle(document.body).backgroundColor")
    assert (colours == "rgb(255, 255, 255)") is not dark


@needs_browser
def test_several_runs(browser, folder):
    """Each engine in its own colour, the same on every page and chart; a second run of it is told apart."""
    runs = [
        make_run(folder / "several" / str(number), 2, **options)
        for number, options in enumerate([{}, {"engine": "aurora"}, {"engine": "other"}, {"durability": "on"}])
    ]
    page = folder / "several.html"
    page.write_text(run_page([open_run(run) for run in runs]))
    for width in (390, 1280):
        charts = look(browser, page, width)
    assert charts[0]["legend"][:2] == ["polling, durability off, p99", "aurora, p99"]
    assert len(browser.value(BANNERS)) == 4
    colours = browser.value(KEYS)
    assert len(set(colours[0][:4])) == 4
    alone = write_report(runs[1])
    browser.show(alone, 1280)
    assert browser.value(KEYS)[0][0] == colours[0][1]


@needs_browser
@pytest.mark.parametrize(
    ("name", "options", "banner", "charts"),
    [
        pytest.param("quiet", {"answers": {"toll": 3}}, "in time", 4, id="no-accidents-no-requests"),
        pytest.param("silent", {"answers": {}}, "in time", 2, id="nothing-to-answer"),
        pytest.param("short", {"minutes": 1}, "in time", 8, id="one-minute"),
        pytest.param(
            "stopped", {"state": {"state": "interrupted", "reason": "by the user"}}, "interrupted", 8, id="interrupted"
        ),
        pytest.param(
            "dead", {"answers": {}, "state": {"state": "broken", "reason": "<b>"}}, "broken", 0, id="no-cycle"
        ),
    ],
)
def test_runs_that_are_not_as_usual(browser, folder, name, options, banner, charts):
    page = write_report(make_run(folder / name, **options))
    for width in (390, 1280):
        assert len(look(browser, page, width)) == charts
        assert browser.value(BANNERS) == [banner]
    assert "not yet judged: lrb validate" in browser.value("document.body.innerText")


@needs_browser
def test_a_data_set(browser, folder, capsys):
    line = "0,{},{},50,0,2,0,40,211200,-1,-1,-1,-1,-1,-1"
    (folder / "input.csv").write_text("\n".join(line.format(time, time % 7) for time in range(0, 300, 10)))
    assert main(["import", str(folder / "input.csv"), "--out", str(folder / "road")]) == 0
    assert main(["show", str(folder / "road"), "--html", str(folder / "road.html")]) == 0
    for width in (390, 1280):
        assert len(look(browser, folder / "road.html", width)) == 2


NETWORK = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50" onload="alert(1)">
  <style>rect { fill: none; stroke: var(--ink) } text { font-size: 3px }</style>
  <script>alert(2)</script><image href="http://example.org/a.png"/>
  <rect x="1" y="1" width="40" height="20"/><text x="5" y="15" style="fill: url(http://example.org/b)">filter</text>
</svg>"""


def test_a_drawing_is_taken_in_without_what_is_active(tmp_path):
    (tmp_path / "network.svg").write_text(NETWORK)
    found = drawing(tmp_path / "network.svg")
    assert found and "<rect" in found and "filter</text>" in found and "var(--ink)" in found
    assert not re.search("script|alert|onload|example|image", found)


@pytest.mark.parametrize("text", ["", "<html/>", "<svg", "\x00"])
def test_what_is_no_drawing_is_left_out(tmp_path, text):
    assert drawing(tmp_path / "absent.svg") is None
    (tmp_path / "network.svg").write_text(text)
    assert drawing(tmp_path / "network.svg") is None
