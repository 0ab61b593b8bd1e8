"""Runs told again from their files: text, diagnosis and comparison, also of runs that went badly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.cli import main
from driver.report.compare import as_json, check_comparable, columns, labels, rows
from driver.report.diagnosis import headline, look_first
from driver.report.html.run import run_page, write_report
from driver.report.html.run_charts import style_runs
from driver.report.text import text
from driver.run.record import RunRecord, open_run
from polling_baseline.refusal import Refusal
from tests.support.made_run import make_run, verdict


def judge(folder: Path, **faults: dict[str, int]) -> Path:
    facts = json.loads((folder / "run.json").read_text())
    (folder / "verdict.json").write_text(json.dumps(verdict(facts, **faults)))
    return folder


def told(run: RunRecord) -> str:
    return text(run.json, run.folder)


def overloaded(second: int) -> float:
    """Fine for a minute, then twice as long as the period."""
    return 0.1 if second < 60 else 2.0


def test_a_run_in_time_that_nobody_judged(tmp_path):
    run = open_run(make_run(tmp_path / "run"))
    assert look_first(run) == []
    assert told(run).splitlines()[0].endswith("in time")
    assert "is for lrb validate to say" in told(run)
    assert headline(run) == ("in time", f"The answers are not yet judged: lrb validate road {tmp_path / 'run'}")


@pytest.mark.parametrize(
    ("xways", "distinct", "length"),
    [(1, None, "L = 1   "), (3, 1, "L = 3 (copies of 1 distinct)   "), (0.5, 2, "L = 0.5 of 2   ")],
)
def test_what_l_was_made_of(tmp_path, xways, distinct, length):
    run = open_run(make_run(tmp_path / "run"))
    run.json["dataset"] |= {"xways": xways} | ({"distinct": distinct} if distinct else {})
    assert length in told(run)


def test_a_verdict_changes_the_columns(tmp_path):
    run = open_run(judge(make_run(tmp_path / "run")))
    lines = told(run).splitlines()
    assert lines[0].endswith("PASS")
    heads = [line for line in lines if line.startswith("answer")]
    assert heads[0].split() == ["answer", "expected", "missing", "extra", "duplicate", "wrong"]
    assert heads[1].split()[:4] == ["answer", "late", "early", "p50"]
    # The verdict ends where the wider table does.
    assert len(lines[0]) == max(map(len, heads))
    assert "All 5,040 answers are there, right and in time." in lines


def test_faults_come_first_with_the_way_to_their_evidence(tmp_path):
    run = open_run(judge(make_run(tmp_path / "run"), toll={"missing": 3}, balance={"wrong": 2}))
    assert headline(run) == ("FAIL", "Of 5,043 answers expected: 3 missing, 2 wrong.")
    (sentence,) = look_first(run)
    assert sentence.startswith("toll: 3 missing; balance: 2 wrong.") and sentence.endswith("--explain 3")
    assert told(run).splitlines()[0].endswith("FAIL: missing, wrong")


def test_an_overload_is_explained_by_its_first_late_minute(tmp_path):
    run = open_run(make_run(tmp_path / "run", service_s=overloaded))
    (sentence,) = look_first(run)
    late = sum(answer["late"] for answer in run.json["answers"].values())
    assert sentence.startswith(f"{late:,} answers came late, the first in minute 2 (toll: up to")
    assert "A cycle then took 2,000 ms on average, with a period of 1,000 ms: 60% of it in advance." in sentence
    assert headline(run)[0] == "late answers"


def test_a_pause_is_not_taken_for_load(tmp_path):
    run = open_run(make_run(tmp_path / "run", service_s=lambda second: 8.0 if second == 70 else 0.01))
    assert "One cycle then took 8,000 ms where the mean is 143 ms: a pause" in look_first(run)[0]


@pytest.mark.parametrize("state", ["interrupted", "broken"])
def test_a_run_without_a_cycle(tmp_path, state):
    folder = make_run(tmp_path / "run", answers={}, state={"state": state, "reason": "for a reason"})
    run = open_run(folder)
    assert run.cycles is None
    assert look_first(run) == [f"The run is {state} at the start: for a reason."]
    assert "no cycle was completed" in told(run)
    assert "No cycle was completed" in write_report(folder).read_text()


def test_a_run_that_was_killed_has_no_results_yet(tmp_path):
    """`run.json` as the start of a run leaves it, and half a line in `cycles.csv`."""
    folder = make_run(tmp_path / "run")
    facts = json.loads((folder / "run.json").read_text())
    started = {name: facts[name] for name in ("format", "config", "dataset", "environment")}
    (folder / "run.json").write_text(json.dumps({**started, "state": "running"}))
    cycles = (folder / "cycles.csv").read_text()
    (folder / "cycles.csv").write_text(cycles + "180,180,1")
    run = open_run(folder)
    assert "killed, or is still under way" in told(run)
    assert run.cycles is not None and len(run.cycles.took_ms) == 180
    assert "milliseconds per cycle" in run_page([run])


def test_a_verdict_on_other_data_is_not_this_runs(tmp_path):
    folder = judge(make_run(tmp_path / "run"))
    other = json.loads((folder / "verdict.json").read_text())
    (folder / "verdict.json").write_text(json.dumps({**other, "dataset": {"name": "other", "identity": "other"}}))
    assert open_run(folder).verdict is None


def test_a_damaged_run_is_refused(tmp_path):
    (tmp_path / "run.json").write_text('{"format": 1, "state": "complete"}')
    with pytest.raises(Refusal, match="is damaged: it has no config"):
        open_run(tmp_path)


def test_labels_say_what_differs(tmp_path):
    def run(number, **config):
        return open_run(make_run(tmp_path / str(number), 1, **config))

    polling, aurora = run(1), run(2, engine="aurora", workers=2)
    durable = run(3, durability="on")
    row, statement = (
        run(number, engine="trigger", engine_options={"granularity": size})
        for number, size in ((4, "row"), (5, "statement"))
    )
    assert labels([polling, aurora]) == ["polling", "aurora"]
    assert labels([polling, durable]) == ["polling, durability off", "polling, durability on"]
    assert labels([row, statement, polling]) == [
        "trigger, granularity row",
        "trigger, granularity statement",
        "polling",
    ]
    old, merge = (
        run(number, engine_options=options)
        for number, options in ((7, {"design": "2004", "indexes": "off", "keep": "run"}), (8, {"design": "merge"}))
    )
    assert labels([old, merge, polling, aurora]) == [
        "polling, design 2004, indexes off",
        "polling, design merge",
        "polling",
        "aurora",
    ]
    assert labels([polling, polling]) == ["polling, 1", "polling, 1"]


def test_runs_of_one_engine_look_different(tmp_path):
    runs = [open_run(make_run(tmp_path / str(period), 1, period_s=float(period))) for period in range(1, 8)]
    shown = style_runs(runs)
    assert len({(one.colour, one.look) for one in shown}) == len({one.colour for one in shown}) == len(runs)


def test_ratios_are_of_the_first(tmp_path):
    slow = judge(make_run(tmp_path / "slow", service_s=lambda second: 0.2))
    fast = make_run(tmp_path / "fast", engine="aurora", service_s=lambda second: 0.01)
    table = columns([open_run(slow), open_run(fast)])
    found = dict(rows(table))
    assert found["verdict"] == ["PASS", "in time"]
    assert (found["missing"], found["late"]) == (["0", "-"], ["0", "0"])
    assert found["tuples per busy second"] == ["500", "10,000"]
    assert found["throughput, times polling"] == ["1", "20"]
    assert found["toll response p50, times polling"] == ["1", "1/20"]
    told = as_json(table)["runs"][1]
    assert (told["verdict"], told["ratio"]["us_per_tuple"]) == (None, pytest.approx(0.05))


def test_what_a_cycle_is_made_of(tmp_path):
    polling = open_run(make_run(tmp_path / "polling"))
    aurora = open_run(make_run(tmp_path / "aurora", engine="aurora"))
    polling.json["cycles"] = {"mean_ms": 9.5, "steps_mean_ms": {"copy_ms": 4.0, "commit_ms": 1.25}}
    aurora.json["cycles"] = {"mean_ms": 1234.5, "steps_mean_ms": {"network_ms": 1000.0, "commit_ms": 2.0}}
    table = columns([polling, aurora])
    assert rows(table)[-4:] == [
        ("cycle, mean (ms)", ["9.50", "1,234.50"]),
        ("  copy", ["4.00", "-"]),
        ("  commit", ["1.25", "2.00"]),
        ("  network", ["-", "1,000.00"]),
    ]
    assert as_json(table)["runs"][0]["steps_mean_ms"] == {"copy_ms": 4.0, "commit_ms": 1.25}


def test_large_counts_stay_apart(tmp_path):
    run = open_run(make_run(tmp_path / "run"))
    run.json["answers"]["toll"] |= {"received": 13_230_600, "late": 1_007_265_550}
    [line] = [line for line in told(run).splitlines() if line.startswith("toll")]
    assert line.split()[1:3] == ["13,230,600", "1,007,265,550"]


def test_the_price_of_durability(tmp_path):
    runs = [open_run(make_run(tmp_path / durability, durability=durability)) for durability in ("off", "on")]
    for run, bytes_per_tuple in zip(runs, (3, 274), strict=True):
        run.json["environment"]["engine"]["wal_bytes"] = bytes_per_tuple * run.json["feed"]["rows"]
    assert dict(rows(columns(runs)))["bytes of log per tuple"] == ["3", "274"]
    assert "bytes of log per tuple" not in dict(rows(columns(runs[:1])))


def test_a_run_that_broke_still_has_a_column(tmp_path):
    whole = open_run(make_run(tmp_path / "whole"))
    broken = open_run(make_run(tmp_path / "broken", answers={}, state={"state": "broken", "reason": "no memory"}))
    found = dict(rows(columns([broken, whole])))
    assert found["verdict"] == ["broken", "in time"]
    assert found["throughput, times the first"] == ["-", "-"]


@pytest.mark.parametrize(
    ("what", "config"), [("minutes", {"minutes": 2}), ("clocks", {"clock": "real"}), ("data", {}), ("expressways", {})]
)
def test_runs_that_cannot_be_compared(tmp_path, what, config):
    one, other = make_run(tmp_path / "one"), make_run(tmp_path / "other", **config)
    facts = json.loads((other / "run.json").read_text())
    facts["dataset"] |= {"data": {"identity": "other"}, "expressways": {"xways": 1.0}}.get(what, {})
    (other / "run.json").write_text(json.dumps(facts))
    with pytest.raises(Refusal, match=f"runs of different {what}"):
        check_comparable([open_run(one), open_run(other)])


def test_report_command(tmp_path, capsys):
    folders = [str(make_run(tmp_path / name, 1)) for name in ("one", "two")]
    assert main(["report", *folders]) == 0
    assert capsys.readouterr().out.count("Linear Road   polling") == 2
    assert main(["report", *folders, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["run"], run["headline"], run["verdict"]) for run in told] == [
        (folder, "in time", None) for folder in folders
    ]
    assert main(["report", *folders, "--html", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "page.html")
    assert "Side by side" in (tmp_path / "page.html").read_text()
    assert main(["report", str(tmp_path)]) == 1
    assert "is not a run" in capsys.readouterr().err


def test_figures_are_files_of_their_own(tmp_path, capsys):
    """Each is a whole SVG with title and legend, and needs nothing from outside."""
    from xml.etree import ElementTree

    from driver.cli import main

    run = make_run(tmp_path / "run")
    assert main(["report", str(run), "--svg", str(tmp_path / "figures")]) == 0
    files = sorted((tmp_path / "figures").iterdir())
    assert capsys.readouterr().out.split() == [str(file) for file in files]
    names = ["01-response-time-second-by-second.svg", "02-response-time-of-toll-answers-by-minute.svg"]
    assert [file.name for file in files[:2]] == names
    for file in files:
        text = file.read_text()
        root = ElementTree.fromstring(text)
        words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
        assert root.tag.endswith("svg") and words[0] and "var(" not in text and "url(" not in text
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert {"p50", "p99", "max"} <= set(ElementTree.fromstring(files[1].read_text()).itertext())
