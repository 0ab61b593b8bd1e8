"""Other response-time limits: how they are given, what is late by them, and that every text says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.cli import main, parser, rate
from driver.cli.validate import limits_for
from driver.cli.verdict_text import text as verdict_text
from driver.rating.candidate import candidate_of, gave_out
from driver.rating.record import claim
from driver.report.compare import check_comparable
from driver.report.html.run import run_page
from driver.report.text import run_text
from driver.run.config import RunConfig
from driver.run.limits import TIBBETTS, describe_limits, limits_argument, limits_in_force, parse_limits
from driver.run.record import open_run, read_run
from driver.run.recount import open_run_under
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from polling_baseline.wording import WIDTH
from tests.support.made_rating import RATING
from tests.support.made_run import make_run, verdict

SPECIFIED = dict(spec.DEADLINE_S)


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("3", dict.fromkeys(spec.ANSWERS, 3)),
        ("5", {"expenditure": 5, "travel_time": 5}),
        ("0.001", dict.fromkeys(spec.ANSWERS, 0.001)),
        ("toll=3,balance=5", {"toll": 3}),
        ("toll=3, travel_time=2.5", {"toll": 3, "travel_time": 2.5}),
        ("tibbetts", {"toll": 15, "accident": 15, "balance": 60, "expenditure": 90, "travel_time": 120}),
        ("specification", {}),
    ],
)
def test_what_is_given(text: str, limits: dict[str, float]) -> None:
    assert parse_limits(text) == limits
    assert limits_in_force(limits) == SPECIFIED | limits
    assert parse_limits(limits_argument(limits)) == limits
    assert (describe_limits(SPECIFIED | limits) is None) is (not limits)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("truck=3", "there is no kind of answer 'truck'; give seconds for all kinds"),
        ("mine", "'mine' is no number of seconds and no name"),
        ("toll=soon", "'soon' is no number of seconds"),
        ("", "'' is no number of seconds"),
        ("3,4", "'3,4' is no number of seconds"),
        ("toll=3,", "there is no kind of answer ''"),
        *((text, "a limit is 0.001 to 100,000 seconds, with 3 decimals at most") for text in ("0", "-1", "nan", "inf")),
        ("toll=1.2345", "with 3 decimals at most"),
        ("toll=3,toll=3", "toll has two limits"),
    ],
)
@pytest.mark.parametrize("command", ["run", "rate", "validate", "report", "compare"])
def test_what_is_refused(command: str, text: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "road", f"--limits={text}"]) == 1
    assert sentence in capsys.readouterr().err


def slow_at_first(seconds: float):  # type: ignore[no-untyped-def]
    """The answers of second 0 take so long, those of the next ones wait for it, and no other takes longer."""
    return lambda second: seconds if second == 0 else 0.0


@pytest.mark.parametrize("kind", spec.ANSWERS)
@pytest.mark.parametrize("limit", [None, 2.5])
def test_exactly_the_limit_is_in_time(tmp_path: Path, kind: str, limit: float | None) -> None:
    """In the run itself, and when it is counted anew."""
    others = {kind: limit} if limit else {}
    limit = limits_in_force(others)[kind]
    for over, late in ((0.0, 0), (0.001, 1)):
        options = {"minutes": 1, "answers": {kind: 1}, "service_s": slow_at_first(limit + over)}
        run = make_run(tmp_path / f"{late}", limits=others, **options)
        assert read_run(run)["answers"][kind] | {"late": late, "limit_s": limit} == read_run(run)["answers"][kind]
        other = make_run(tmp_path / f"anew-{late}", limits={kind: 77}, **options)
        assert open_run(other).late == 0
        anew = open_run_under(other, others)
        assert (anew.late, anew.limits) == (late, limits_in_force(others))


@pytest.fixture
def three_seconds(tmp_path: Path) -> Path:
    """Of each kind, one answer took 3.001 s; judged to be right."""
    answers = dict.fromkeys(spec.ANSWERS, 1)
    run = make_run(tmp_path / "run", 1, answers, slow_at_first(3.001))
    (run / "verdict.json").write_text(json.dumps(verdict(read_run(run))))
    return run


def test_a_report_counts_anew(three_seconds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in three_seconds.iterdir()}
    assert main(["report", str(three_seconds)]) == 0
    out = capsys.readouterr().out
    assert "PASS" in out and "limits" not in out
    assert main(["report", str(three_seconds), "--limits", "toll=3,balance=3.001"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("FAIL: late")
    said = "limits toll 3 s, balance 3.001 s instead of the specification's; the run was made under the limits of the"
    assert said in " ".join(lines)
    rows = {line.split()[0]: line.split() for line in lines if len(line.split()) == 9}
    assert {kind: (rows[kind][1], rows[kind][-1]) for kind in ("toll", "accident", "balance")} == {
        "toll": ("1", "3"),
        "accident": ("0", "5"),
        "balance": ("0", "3.001"),
    }
    assert "1 answer came late, the first in minute 1 (toll: up to 3.001 s, the limit is 3 s)" in " ".join(lines)
    assert {path.name: path.read_bytes() for path in three_seconds.iterdir()} == before


def test_the_verdict_of_a_part_does_not_speak_for_other_limits(three_seconds: Path) -> None:
    judged = json.loads((three_seconds / "verdict.json").read_text())
    (three_seconds / "verdict.json").write_text(json.dumps(judged | {"xways": [0]}))
    run = open_run_under(three_seconds, {"toll": 3})
    assert run.verdict is None
    assert f"not yet judged: lrb validate road {three_seconds} --limits toll=3" in run_page([run])
    assert open_run_under(three_seconds, {}).verdict is not None


def test_a_page_says_so(three_seconds: Path) -> None:
    usual = run_page([open_run(three_seconds)])
    assert "instead of" not in usual and "limit 5 s" in usual
    page = run_page([open_run_under(three_seconds, TIBBETTS)])
    said = "Limits toll 15 s, accident 15 s, balance 60 s, expenditure 90 s, travel_time 120 s instead of the spec"
    assert said in page
    assert "limit 15 s" in page and "limit 5 s" not in page


def test_the_judge_may_have_had_other_limits(three_seconds: Path) -> None:
    """Then those are in force: the counts of the verdict are theirs."""
    judged = verdict(read_run(three_seconds), toll={"late": 1})
    (three_seconds / "verdict.json").write_text(json.dumps(judged | {"limits": SPECIFIED | {"toll": 3}}))
    run = open_run(three_seconds)
    assert (run.limits["toll"], run.late, read_run(three_seconds)["answers"]["toll"]["late"]) == (3, 1, 0)
    assert "limits toll 3 s instead of the specification's" in run_text(run)
    lines = verdict_text(run.verdict)
    assert lines[1] == "limits toll 3 s instead of the specification's"
    assert next(line for line in lines if line.startswith("toll ") and line.endswith(" 3"))
    # A rating rests on the limits of its runs.
    assert candidate_of(three_seconds, read_run(three_seconds)).in_time
    with pytest.raises(Refusal, match=r"different limits.*give --limits"):
        check_comparable([run, open_run(make_run(three_seconds.parent / "other", 1))])


def test_a_run_whose_answers_are_gone(three_seconds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (three_seconds / "output.csv").write_text("no answer\n")
    assert main(["report", str(three_seconds), "--limits", "3"]) == 1
    assert "output.csv is damaged" in capsys.readouterr().err
    (three_seconds / "output.csv").unlink()
    assert main(["report", str(three_seconds), "--limits", "3"]) == 1
    assert "is not there, so its late answers cannot be counted anew" in capsys.readouterr().err
    # Those of a run without answers are none.
    silent = make_run(three_seconds.parent / "silent", answers={}, state={"state": "broken", "reason": "no memory"})
    assert open_run_under(silent, {"toll": 3}).late == 0


def test_outages_are_counted_anew(tmp_path: Path) -> None:
    outage = {"from": 0.0, "until": 3.0, "seconds": 3.0, "reason": "killed", "resumed": "now", "late_answers": 0}
    state = {"state": "complete", "outages": [outage]}
    run = make_run(tmp_path / "run", 1, {"toll": 2}, slow_at_first(3.5), state)
    for limit, late in ((2.5, 2 + 0), (2.499, 2 + 2)):
        assert open_run_under(run, {"toll": limit}).json["outages"][0]["late_answers"] == late


def test_what_gave_out_by_the_limits_of_the_run(tmp_path: Path) -> None:
    """Tolls may take longer than anything else here: the first cycle of more than 3 s is not yet late."""
    service_s = {10: 4.0, 20: 5.5}
    options = {"answers": {"toll": 1}, "service_s": lambda second: service_s.get(second, 0.0)}
    run = make_run(tmp_path / "run", 1, limits={"toll": 5.2, "accident": 3}, **options)
    assert gave_out(run)["second"] == 20


@pytest.mark.parametrize(
    ("kind", "limits", "heading"),
    [
        ("full", {}, "L-rating of structured_streaming: 999.5"),
        ("full", dict(TIBBETTS), "rating of 180 minutes of structured_streaming under other limits: 999.5"),
        ("peak", {"toll": 3}, "peak rating of structured_streaming under other limits: 999.5"),
    ],
)
def test_a_rating_under_other_limits_is_no_l_rating(kind: str, limits: dict[str, float], heading: str) -> None:
    lines = rate.text(RATING | {"kind": kind, "settings": {"limits": limits}}, Path("ratings"))
    assert lines[0] == heading
    assert (": no L-rating" in " ".join(lines[:3])) is bool(limits)
    assert any(line.endswith(f" {min(limits_in_force(limits).values())} s") for line in lines)
    assert max(map(len, lines)) <= WIDTH


def test_a_rating_keeps_to_its_limits(tmp_path: Path) -> None:
    """A folder of an earlier version, which knew no others, has those of the specification."""
    file = tmp_path / "rating.json"
    claim(file, {"engine": "polling"})
    claim(file, {"engine": "polling", "limits": {}})
    with pytest.raises(Refusal, match="was made with another limits; choose another --out"):
        claim(file, {"engine": "polling", "limits": {"toll": 3}})


def test_what_the_judge_allows(tmp_path: Path) -> None:
    """What the option says, else what the run says, else what the specification says."""
    run = str(make_run(tmp_path / "run", 1, limits={"toll": 3}))

    def allowed(*words: str) -> dict[str, float]:
        return limits_for(parser().parse_args(["validate", "road", *words]))

    assert allowed(run) == SPECIFIED | {"toll": 3}
    assert allowed(run, "--limits", "balance=2") == SPECIFIED | {"balance": 2}
    assert allowed(run, "--limits", "specification") == SPECIFIED
    assert allowed("--output", "answers.csv") == SPECIFIED
    assert allowed("--output", "answers.csv", "--limits", "tibbetts") == TIBBETTS


def test_options_of_a_run(tmp_path: Path) -> None:
    """Runs of earlier versions have none, and so those of the specification."""
    assert RunConfig("road").as_json()["limits"] == {}
    run = make_run(tmp_path / "run", 1)
    record = json.loads((run / "run.json").read_text())
    del record["config"]["limits"]
    (run / "run.json").write_text(json.dumps(record))
    assert open_run(run).limits == SPECIFIED == limits_in_force(open_run(run).config.limits)
