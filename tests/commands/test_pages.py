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
    # The run has two minutes, so it is drawn by seconds as well.
    assert titles[0] == "Response time, second by second" and "at most. The limit" in charts.pop(0)["told"]
    assert titles[1:6] == [f"Response time of {kind} answers by minute" for kind in kinds]
    assert titles[7] == "What each cycle took" and charts.pop(6)["legend"] == ["polling"]
    assert [title.split(" by ")[0] for title in titles[8:]] == ["Mean of a cycle", "Response time", "Answers in time"]
    assert charts[0]["legend"] == ["p99", "max", "p50"]
    assert {"limit 5 s", "time (minutes)", "seconds (log scale)"} <= set(charts[0]["labels"])
    assert "the longest is" in charts[0]["told"]
    assert charts[6]["legend"] == ["copy", "advance", "commit", "reading answers"]
    assert "period 1,000 ms" in charts[6]["labels"]
    assert charts[8]["legend"] == [
        *kinds,
        "limit 5 s (toll, accident, balance)",
        "limit 10 s (expenditure)",
        "limit 30 s (travel time)",
    ]
    assert "toll: 35.55 % within the limit of 5 s, all within" in charts[8]["told"]
    assert {"limit in seconds (log scale)", "0.001", "100"} <= set(charts[8]["labels"])
    body = browser.value("document.body.innerText")
    assert "the first in minute 2" in body and "7 wrong" in body and "Query network" in body
    letters = "new Set([...document.querySelectorAll('%s text')].map(text => getComputedStyle(text).fontSize))"
    # The drawing's style stays with it.
    assert browser.value(f"[...{letters % '.drawing'}]") == ["3px"]
    assert "3px" not in browser.value(f"[...{letters % 'figure'}]")
    colours = browser.value("getComputedStyle(document.body).backgroundColor")
    assert (colours == "rgb(255, 255, 255)") is not dark


@needs_browser
def test_a_run_under_other_limits(browser, folder, capsys):
    """The page says so before all else, and draws those limits."""
    run = make_run(folder / "limits", service_s=lambda second: 0.1 if second != 60 else 4.0)
    page = folder / "limits.html"
    assert main(["report", str(run), "--limits", "toll=3,balance=2", "--html", str(page)]) == 0
    for width in (390, 1280):
        charts = look(browser, page, width)
    said = "Limits toll 3 s, balance 2 s instead of the specification's; the run was made under the limits of the spec"
    assert said in browser.value("document.body.innerText")
    assert all("limit 3 s" in chart["labels"] for chart in charts[:2]) and "limit 2 s" in charts[3]["labels"]
    assert charts[-1]["legend"][-2:] == ["limit 2 s (balance)", "limit 3 s (toll)"]
    assert browser.value(BANNERS) == ["late answers"]


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
    assert charts[0]["legend"] == ["polling, durability off", "aurora", "other", "polling, durability on"]
    assert charts[1]["legend"][:2] == ["polling, durability off, p99", "aurora, p99"]
    assert charts[-1]["title"] == "Answers in time by limit: toll"
    assert charts[-1]["legend"] == ["polling, durability off", "aurora", "other", "polling, durability on"]
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
        pytest.param("quiet", {"answers": {"toll": 3}}, "in time", 6, id="no-accidents-no-requests"),
        pytest.param("silent", {"answers": {}}, "in time", 2, id="nothing-to-answer"),
        pytest.param("short", {"minutes": 1}, "in time", 10, id="one-minute"),
        pytest.param(
            "stopped", {"state": {"state": "interrupted", "reason": "by the user"}}, "interrupted", 10, id="interrupted"
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
        assert ("No input waited after a cycle." in browser.value("document.body.innerText")) is (charts > 0)
    assert "not yet judged: lrb validate" in browser.value("document.body.innerText")


@needs_browser
@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_a_run_of_one_minute_is_drawn_in_points(browser, folder, width, dark):
    """Three of each kind, large enough to be seen, and so in the legend."""
    run = folder / "minute"
    page = write_report(run if run.exists() else make_run(run, 1))
    charts = look(browser, page, width, dark)
    assert [chart["points"] for chart in charts] == [0, 3, 3, 3, 3, 3, 0, 0, 0, 0]
    sizes = browser.value("[...document.querySelectorAll('circle')].map(point => point.getBoundingClientRect().width)")
    assert min(sizes) >= 3
    keys = browser.value(
        "[...document.querySelectorAll('figure')[1].querySelectorAll('li span')].map(key => key.className)"
    )
    assert keys == ["point ", "point thin", "point dotted"]


@needs_browser
def test_a_minute_between_two_without_answers_is_a_point(browser, folder):
    run = make_run(folder / "gaps", 3)
    facts = json.loads((run / "run.json").read_text())
    for minute in (1, 3):
        del facts["minutes"][minute - 1]["accident"]
    (run / "run.json").write_text(json.dumps(facts))
    assert [chart["points"] for chart in look(browser, write_report(run), 1280)][:4] == [0, 0, 3, 0]


EDGE = """(() => {{
  const table = document.querySelectorAll('.wide')[0];
  table.scrollLeft = {0};
  const box = table.getBoundingClientRect();
  return {{hidden: table.scrollWidth - table.clientWidth, right: box.right, left: box.left, top: box.top + scrollY}};
}})()"""


@needs_browser
@pytest.mark.parametrize("dark", [False, True])
def test_a_table_that_goes_on_has_a_shade_at_its_edge(browser, folder, dark):
    """To the right at first, to the left in the end, and nowhere if all of it is seen."""
    run = folder / "shade"
    page = write_report(run if run.exists() else make_run(run, 1))

    def edges(scrolled: int) -> tuple[bool, bool]:
        """Whether something is drawn on the left and on the right of the caption's line."""
        box = browser.value(EDGE.format(scrolled))
        places = {"left": box["left"], "right": box["right"] - 2, "blank": box["left"] - 4}
        # The lowest of the caption's pixels lie below its letters.
        strips = {at: browser.picture(x=x, y=box["top"] + 1, width=2, height=2) for at, x in places.items()}
        return strips["left"] != strips["blank"], strips["right"] != strips["blank"]

    browser.show(page, 390, dark=dark)
    assert browser.value(EDGE.format(0))["hidden"] > 100
    assert edges(0) == (False, True)
    assert edges(9999) == (True, False)
    browser.show(page, 1280, dark=dark)
    assert edges(0) == (False, False)


@needs_browser
def test_a_comparison_leads_to_its_runs(browser, folder, capsys):
    """By links within the folder; the server is named, and the steps of a cycle are set in."""
    home = folder / "all of them"
    runs = [home / name for name in ("1 #?%é", "2")]
    where = {
        "embedded": False,
        "host": "db",
        "port": 5433,
        "database": "lr",
        "user": "me",
        "version": "18.4",
        "dsn": None,
    }
    for run, record in zip(runs, (None, where), strict=True):
        write_report(make_run(run, 1, engine="aurora" if record is None else "polling"))
        facts = json.loads((run / "run.json").read_text())
        facts["environment"]["engine"] = {"PostgreSQL": "18.4", "server": record} if record else {}
        (run / "run.json").write_text(json.dumps(facts))
    assert main(["report", *map(str, runs), "--html", str(home / "compare.html")]) == 0
    for width in (390, 1280):
        look(browser, home / "compare.html", width)
    row = "[...document.querySelectorAll('tr')].find(row => row.cells[0].textContent == '{}').innerText.split('\\t')"
    assert browser.value(row.format("server")) == ["server", "-", "PostgreSQL 18.4 on db:5433/lr"]
    browser.value("[...document.querySelectorAll('details')].forEach(part => part.open = true)")
    set_in = "parseFloat(getComputedStyle([...document.querySelectorAll('td')].find({})).paddingLeft)"
    assert browser.value(set_in.format("cell => cell.textContent.trim() == 'copy'")) > 10
    assert browser.value(set_in.format("cell => cell.textContent.startsWith('cycle')")) == 0
    links = browser.value("[...document.querySelectorAll('.banner a')].map(link => link.href)")
    assert links == [(run / "report.html").as_uri() for run in runs]
    browser.show(runs[0] / "report.html", 1280)
    assert browser.value("document.querySelectorAll('.banner a').length") == 0


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
