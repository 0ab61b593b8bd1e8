"""Runs that are made several times: the median and the range, in texts, records and pages."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path

import pytest

from driver.cli import main, parser
from driver.cli.compare import show_kinds
from driver.cli.compare_runs import Kind
from driver.cli.rate import text as rating_text
from driver.rating.search import Search
from driver.report.measures import Spread, spread_of, typical
from driver.run.record import open_run, write_run
from tests.support.files_page import check_csv, check_json
from tests.support.made_rating import RATING
from tests.support.made_run import make_run, verdict


def made(folder: Path, service_s: float, xways: float = 0.5, engine: str = "polling") -> Path:
    """A run of a minute, judged, in which each second takes so long."""
    make_run(folder, 1, service_s=lambda second: service_s, engine=engine)
    record = json.loads((folder / "run.json").read_text())
    record["dataset"]["xways"] = xways
    write_run(folder, record)
    (folder / "verdict.json").write_text(json.dumps(verdict(record)))
    return folder


def test_spread() -> None:
    spread = Spread((3.0, 1.0, 2.0))
    assert (spread.median, spread.low, spread.high) == (2, 1, 3)
    assert spread.words(",.1f") == "2.0 (1.0 to 3.0)"
    assert Spread((5.0004,)).seconds(5.0) == "5.0004"
    assert spread_of([None, 2.0]) == Spread((2.0,)) and spread_of([None]) is None


def test_what_failed_stands_for_all(tmp_path: Path) -> None:
    runs = [open_run(made(tmp_path / str(number), seconds)) for number, seconds in enumerate((0.03, 0.01, 0.02))]
    assert typical(runs).folder.name == "2"
    late = open_run(made(tmp_path / "late", 6.0))
    assert typical([*runs, late]) is late


def test_median_and_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [made(tmp_path / "out" / str(number), seconds) for number, seconds in enumerate((0.03, 0.01, 0.02), 1)]
    others = [
        made(tmp_path / "out" / f"other-{n}", seconds, engine="aurora") for n, seconds in enumerate((0.1, 6.0), 1)
    ]
    assert show_kinds([Kind(0, 0.5, folders), Kind(1, 0.5, others)], tmp_path / "out", None, False) == 3
    lines = capsys.readouterr().out.splitlines()
    assert "median of 3 runs, and their range" in lines[0]
    rows = {line.split("  ")[0]: " ".join(line.split()) for line in lines}
    assert rows["verdict"] == "verdict PASS FAIL (1 of 2)"
    assert "200.00 (100.00 to 300.00)" in rows["microseconds per tuple"]
    check_json(tmp_path / "out" / "comparison.json")
    record = json.loads((tmp_path / "out" / "comparison.json").read_text())
    polling, aurora = record["systems"]
    assert (record["repeat"], polling["runs"], polling["verdicts"]) == (3, ["1", "2", "3"], ["PASS"] * 3)
    assert polling["measures"]["us_per_tuple"] == {"median": 200, "low": 100, "high": 300, "values": [300, 100, 200]}
    assert (aurora["label"], aurora["verdicts"]) == ("aurora", ["PASS", "FAIL"])
    page = (tmp_path / "out" / "compare.html").read_text()
    assert "<h2>Repetition</h2>" in page and "200.00 (100.00 to 300.00)" in page


def test_json_has_every_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [made(tmp_path / "out" / str(number), seconds) for number, seconds in enumerate((0.03, 0.01), 1)]
    assert show_kinds([Kind(0, 0.5, folders)], tmp_path / "out", None, True) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["repeated"]["measures"]["toll_max_s"] == {
        "median": 0.02,
        "low": 0.01,
        "high": 0.03,
        "values": [0.03, 0.01],
    }
    assert run["repeated"]["runs"] == [str(folder) for folder in folders]


def test_response_time_and_cost_against_l(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    took = {("polling", 0.5): (0.01, 0.03), ("polling", 2.0): (0.02, 0.02), ("aurora", 0.5): (0.001, 0.002)}
    kinds = [
        Kind(
            ("polling", "aurora").index(engine),
            xways,
            [made(out / f"{engine}-{xways:g}-{n}", seconds, xways, engine) for n, seconds in enumerate(times)],
        )
        for (engine, xways), times in took.items()
    ]
    assert show_kinds(kinds, out, None, False) == 0
    text = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["0.5", "200.00", "(100.00", "to", "300.00)", "15.00", "(10.00", "to", "20.00)"] in text
    assert ["2", "200.00", "(200.00", "to", "200.00)", "-"] in text
    check_json(out / "comparison.json")
    check_csv(out / "scaling.csv")
    with (out / "scaling.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["system"], row["xways"], row["repetition"], float(row["us_per_tuple"])) for row in rows] == [
        ("polling", "0.5", "1", 100),
        ("polling", "0.5", "2", 300),
        ("polling", "2", "1", 200),
        ("polling", "2", "2", 200),
        ("aurora", "0.5", "1", 10),
        ("aurora", "0.5", "2", 20),
    ]
    page = (out / "compare.html").read_text()
    assert "What a tuple costs, by L" in page and "polling: 200 at L = 0.5, 200 at L = 2" in page
    assert 'href="polling-2-1/report.html"' in page and 'href="scaling.csv"' in page
    assert "Lines are medians of 2 runs, bands their range. Of 6 runs: 6 PASS." in page and "GB of memory" in page


def test_a_folder_of_several_runs_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path / "three" / "1", 0.01)
    assert main(["report", str(tmp_path / "three")]) == 1
    assert f"is not a run, but has some; name one, such as {tmp_path / 'three' / '1'}" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [0, 3, 4, 5, 9])
def test_a_look_at_the_edge_goes_step_by_step(limit: int) -> None:
    """From 4, wherever the edge is now; the failure next to it is tried twice."""
    search, outcomes = Search(1, 1, 8), list[tuple[float, bool]]()
    while (xways := search.next_near(outcomes, 4)) is not None:
        outcomes.append((xways, xways <= limit))
    assert search.best(outcomes) == min(limit, 8)
    tried = [xways for xways, _ in outcomes]
    assert len(tried) <= abs(limit - 4) + 4 and all(abs(one - other) <= 1 for one, other in pairwise(tried))


def test_a_rating_tells_its_range() -> None:
    repeated = {**RATING, "ratings": [2.5, 2.0, 3.0], "rating": 2.5}
    assert rating_text(repeated, Path("r"))[0].endswith(": 2.5, the median of 2.5, 2, 3")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["compare", "road", "--repeat", "0"], "a number from 1 to 99 is needed, not 0"),
        (["run", "road", "--repeat", "x"], "a number from 1 to 99 is needed, not x"),
        (["rate", "--repeat", "-1"], "a number from 1 to 99 is needed, not -1"),
    ],
)
def test_refusals(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(words)
    assert sentence in capsys.readouterr().err
