"""`lrb compare`: engines and options side by side, from a data set and from runs; and what it leaves in the runs."""

from __future__ import annotations

import json
from pathlib import Path
from types import MappingProxyType

import pytest

import driver.cli.compare
import driver.cli.run
import driver.run.engines
from driver.cli import main
from driver.dataset.import_ import ImportOptions, import_dataset
from polling_baseline.database.embedded.server import Server
from polling_baseline.engine import EngineFailure
from tests import traces
from tests.support.browser import look, needs_browser
from tests.support.made_run import make_run, verdict


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few minutes with accidents, tolls and no history."""
    folder = tmp_path_factory.mktemp("compare") / "road"
    lines = traces.FOLDER / "alert_and_toll" / "input.csv"
    import_dataset(ImportOptions([lines]), folder)
    return folder


class Unlucky:
    """Can be installed, but breaks with its first batch."""

    name, workers = "unlucky", 1

    def install(self):
        pass

    def process(self, batch):
        raise EngineFailure("it broke in its first cycle")

    def answers(self):
        return iter(())

    def stop(self):
        pass

    def facts(self):
        return {}


def absent(*_):
    raise EngineFailure("it cannot be started")


@pytest.fixture(scope="module")
def engines():
    """Two more engines: one that breaks at once, and one that cannot even start."""
    more = MappingProxyType(
        {**driver.run.engines.ENGINES, "unlucky": lambda *_: Unlucky(), "absent": absent},
    )
    with pytest.MonkeyPatch.context() as patch:
        for module in (driver.run.engines, driver.cli.run, driver.cli.compare):
            patch.setattr(module, "ENGINES", more)
        yield more


@pytest.fixture(scope="module")
def compared(engines, server: Server, road: Path, own_environment: None) -> tuple[Path, int]:
    """Polling with two periods, and both engines that break, on the same road."""
    out = road.parent / "out"
    names = "polling, polling --period 2, unlucky, absent"
    return out, main(["compare", str(road), "--engines", names, "--clock", "virtual", "--out", str(out)])


def test_designs_have_labels(server: Server, road: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("driver.validate.judging.judge_runs", lambda *_: None)
    names = "polling --design 2004, polling --design merge, polling"
    options = ["--clock", "virtual", "--to-minute", "1", "--out", str(tmp_path / "out"), "--json"]
    assert main(["compare", str(road), "--engines", names, *options]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["label"] for run in runs] == ["polling, design 2004", "polling, design merge", "polling"]
    assert len({run["answers"]["toll"]["received"] for run in runs}) == 1


def test_each_run_is_judged_and_has_its_page(compared):
    out, status = compared
    assert status == 2
    for number in (1, 2):
        run = out / f"{number}-polling"
        assert json.loads((run / "verdict.json").read_text())["verdict"] == "PASS"
        assert json.loads((run / "run.json").read_text())["verdict"] == "PASS"
        assert "PASS" in (run / "report.html").read_text()
    reasons = [json.loads((out / run / "run.json").read_text())["reason"] for run in ("3-unlucky", "4-absent")]
    assert reasons == ["it broke in its first cycle", "it cannot be started"]


def test_the_page_has_all_of_them(compared):
    page = (compared[0] / "compare.html").read_text()
    for text in ("polling, period 1 s: PASS", "polling, period 2 s: PASS", "unlucky: FAIL", "absent: broken"):
        assert text in page
    assert "it cannot be started" in page


@needs_browser
def test_the_page_in_a_browser(compared, browser):
    for width in (390, 1280):
        charts = look(browser, compared[0] / "compare.html", width)
    titles = [chart["title"] for chart in charts]
    assert titles[:2] == ["Response time, second by second", "Response time of toll answers by minute"]
    assert [title for title in titles if ": " in title] == [
        "Mean of a cycle by step and minute: polling, period 1 s",
        "Mean of a cycle by step and minute: polling, period 2 s",
        *(f"Response time by percentile: {kind}" for kind in ("toll", "accident", "balance")),
        "Answers in time by limit: toll",
    ]


def test_finished_runs_are_compared_without_running_or_judging(compared, tmp_path, monkeypatch, capsys):
    out, _ = compared
    monkeypatch.setattr("driver.validate.judging.judge_runs", lambda *_: pytest.fail("judged twice"))
    runs = [str(out / name) for name in ("1-polling", "2-polling", "4-absent")]
    assert main(["compare", *runs[:2], "--json", "--out", str(tmp_path / "out")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [run["label"] for run in told["runs"]] == ["polling, period 1 s", "polling, period 2 s"]
    assert [run["verdict"] for run in told["runs"]] == ["PASS", "PASS"]
    assert told["runs"][0]["ratio"]["toll_p50_s"] == 1
    assert told["runs"][1]["faults"]["missing"] == 0 < told["runs"][1]["answers"]["toll"]["expected"]
    assert (told["clock"], told["dataset"]["name"]) == ("virtual", "road")
    assert main(["compare", *runs, "--out", str(tmp_path / "again")]) == 2
    shown = capsys.readouterr().out
    assert [line.split()[1:] for line in shown.splitlines() if line.startswith("verdict")] == [
        ["PASS", "PASS", "broken"]
    ]
    assert "absent is broken: it cannot be started" in shown
    assert (tmp_path / "again" / "compare.html").exists()


def test_a_report_of_a_real_run(compared, capsys):
    assert main(["report", str(compared[0] / "1-polling")]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[0].endswith("PASS")
    assert "verdict.json  report.html" in told


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(["{road}", "--engines", "nobody"], "--engines nobody: there is polling", id="no-such-engine"),
        pytest.param(["{road}", "--engines", "polling,,aurora"], "there is polling", id="nothing-between-commas"),
        pytest.param(["{road}", "--engines", "exec --command 'a"], "no closing quotation", id="half-a-quote"),
        pytest.param(["{road}", "--clock", "real,virtual"], "different clocks", id="clocks"),
        pytest.param(
            ["{road}", "--engines", "polling,polling --limits 3"], "different clocks, minutes or limits", id="limits"
        ),
        pytest.param(["{road}", "--to-minute", "99"], "it has 1 to", id="minutes"),
        pytest.param(["{road}", "{road}"], "name one data set", id="two-data-sets"),
        pytest.param(["{run}"], "is one run; name another one", id="one-run"),
        pytest.param(["{run}", "{made}"], "runs of different data", id="other-data"),
        pytest.param(["{run}", "{run}", "--period", "2"], "need a data set to run", id="options-of-a-run"),
        pytest.param(["{empty}"], "is not a run", id="neither"),
    ],
)
def test_refusals(compared, road, tmp_path, capsys, words, sentence):
    places = {"road": road, "run": compared[0] / "1-polling", "empty": tmp_path, "made": tmp_path / "made"}
    make_run(places["made"], 1)
    words = [word.format(**places) for word in words]
    assert main(["compare", *words, "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("lrb: ") and sentence in error
    assert not (tmp_path / "out").exists()


def test_no_run_is_overwritten(compared, road, capsys):
    assert main(["compare", str(road), "--engines", "unlucky,polling", "--out", str(compared[0])]) == 1
    assert "2-polling exists; choose another --out" in capsys.readouterr().err
    assert not (compared[0] / "1-unlucky").exists()


def test_a_run_of_data_that_are_gone_cannot_be_judged(tmp_path, capsys):
    runs = [str(make_run(tmp_path / name, 1, dataset=str(tmp_path / "gone"))) for name in ("one", "two")]
    assert main(["compare", *runs, "--out", str(tmp_path / "out")]) == 1
    assert "gone is not a data set" in capsys.readouterr().err


def test_finished_runs_under_other_limits(tmp_path, capsys):
    """Both verdicts are adapted: nothing is run or judged."""
    runs = []
    for name, seconds in (("slow", 3.001), ("fast", 3.0)):
        service = {0: seconds}
        run = make_run(tmp_path / name, 1, service_s=lambda second, service=service: service.get(second, 0.0))
        (run / "verdict.json").write_text(json.dumps(verdict(json.loads((run / "run.json").read_text()))))
        runs.append(str(run))
    assert main(["compare", *runs, "--out", str(tmp_path / "usual")]) == 0
    assert "limits" not in capsys.readouterr().out
    assert main(["compare", *runs, "--limits", "toll=3", "--out", str(tmp_path / "strict")]) == 3
    shown = capsys.readouterr().out
    assert "limits toll 3 s instead of the specification's" in shown
    rows = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if line}
    assert (rows["verdict"], rows["late"]) == (["FAIL", "PASS"], ["20", "0"])
    page = (tmp_path / "strict" / "compare.html").read_text()
    assert "Limits toll 3 s instead of the specification&#x27;s" in page and "Answers in time by limit: toll" in page


def test_limits_go_to_every_run():
    args = driver.cli.parser().parse_args(["compare", "road", "--engines", "polling", "--limits", "toll=3,balance=2"])
    assert driver.cli.compare._variants(args) == [["--engine", "polling", "--limits", "toll=3,balance=2"]]


def test_all_values_of_an_option_with_each_engine(engines):
    args = driver.cli.parser().parse_args(
        ["compare", "road", "--engines", "polling,unlucky --workers 3", "--durability", "on,off", "--period", "2"]
    )
    assert driver.cli.compare._variants(args) == [
        ["--engine", *engine, "--period", "2", "--durability", durability]
        for engine in (["polling"], ["unlucky", "--workers", "3"])
        for durability in ("on", "off")
    ]
