"""No table is wider than a terminal of 100 columns, with the largest numbers that a run may have."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from driver.cli import rate, reproduce, validate
from driver.rating.paper import SCALE_FACTORS, SYSTEMS, VARIANTS, VOLUMES
from driver.report.compare import columns, text
from driver.report.diagnosis import headline
from driver.report.html.run import run_page
from driver.report.text import text as report_text
from driver.run.record import RunRecord, open_run
from driver.run.verdict import FAULTS
from polling_baseline.spec import DEADLINE_S
from polling_baseline.wording import WIDTH
from tests.support.made_rating import RATING
from tests.support.made_run import make_run, verdict

ANSWERS = 253_000_000
LONGEST_S = 52_443.123


@pytest.fixture
def large(tmp_path: Path) -> dict[str, Any]:
    """The run.json of a run in which everything is as large as it gets."""
    facts = json.loads((make_run(tmp_path / "made", 1) / "run.json").read_text())
    for answer in facts["answers"].values():
        answer |= {"received": ANSWERS, "late": ANSWERS}
        answer |= {name: LONGEST_S for name in answer if name[0] == "p" or name == "max"}
    facts["feed"] |= {"rows": 1_234_567_890, "peak_rows_per_s": 1_700_000, "lag_max_ms": 1e7, "lag_p99_ms": 1e7}
    steps = {f"step_{number}_of_many_ms": 1234.5 for number in range(14)}
    facts["cycles"] |= {"mean_ms": 12_345.6, "p99_ms": 1e5, "max_ms": 1e6, "steps_mean_ms": steps}
    facts["cycles"] |= {"count": 10_800, "of_several_seconds": 10_800, "largest_backlog_s": 10_799}
    facts["dataset"] |= {"xways": 999.5, "distinct": 999, "seed": 2**63 - 1}
    facts["config"] |= {"engine": "trigger", "engine_options": {"granularity": "statement"}, "workers": 64}
    cost = {"wal_bytes": 10**13, "durability": "off", "dead_rows": 10**9, "autovacuums": 10**5, "peak_bytes": 10**12}
    facts["environment"]["engine"] |= cost
    return facts


def judged(facts: dict[str, Any]) -> dict[str, Any]:
    return verdict(facts, **{kind: dict.fromkeys([*FAULTS, "lenient"], ANSWERS) for kind in facts["answers"]})


def table(lines: list[str]) -> list[str]:
    """All but the sentences, which a terminal may break where it likes, and paths."""
    found = [line for line in lines if not line.startswith(("saved", "trigger", "toll: ", "Of ", f"{ANSWERS:,} "))]
    return [line for line in found if not line.endswith(".")]


def widest(lines: list[str]) -> int:
    return max(map(len, table(lines)))


@pytest.mark.parametrize("lenient", [False, True])
def test_validate(large: dict[str, Any], lenient: bool) -> None:
    facts = judged(large) | {"lenient": lenient}
    lines = validate.text(facts)
    assert widest(lines) <= WIDTH
    words = {word for line in lines for word in line.split()}
    assert {"expected", "received", *FAULTS, "p50", "p90", "p99", "p99.9", "max", "limit"} <= words
    assert ("lenient" in words) is lenient


@pytest.mark.parametrize("with_verdict", [False, True])
def test_run(large: dict[str, Any], tmp_path: Path, with_verdict: bool) -> None:
    folder = tmp_path / "0007-trigger-L999.5"
    folder.mkdir()
    if with_verdict:
        (folder / "verdict.json").write_text(json.dumps(judged(large)))
    lines = report_text(large, folder).splitlines()
    assert widest(lines) <= WIDTH
    words = {word for line in lines for word in line.split()}
    assert ({"expected", *FAULTS} if with_verdict else {"received", "late"}) <= words


@pytest.mark.parametrize("runs", [1, 3, 7])
def test_compare(large: dict[str, Any], runs: int) -> None:
    found = []
    for number in range(runs):
        facts = copy.deepcopy(large)
        facts["config"] |= {"durability": "off" if number % 2 else "on", "period_s": number + 0.125}
        found.append(RunRecord(Path(f"run-{number}"), facts, judged(facts)))
    lines = text(columns(found))
    assert widest(lines) <= WIDTH
    assert sum(line.count("FAIL") for line in lines if line.startswith("verdict")) == runs
    assert "granularity" not in "".join(lines) or runs == 1


def test_rate() -> None:
    assert widest(rate.text(RATING, Path("ratings"))) <= WIDTH


def test_reproduce() -> None:
    times = {f"{xways:g}": LONGEST_S for xways in SCALE_FACTORS}
    run = {"verdict": "FAIL", "max_response_s": LONGEST_S, "input_per_s": 123_456.7, "output_per_s": 123_456.7}
    slower = {
        "factor": 123_456.7,
        "fitted_to_s": 52_443,
        "hits": False,
        "rating": 2.5,
        "at_least": True,
        "stricter_rating": 2.5,
        "rating_by_limits": 2.5,
        "max_response_s": times,
        "first_late_second": 10_799,
        "predicted": list(times),
        "errors": dict.fromkeys(times, 1234.5),
        "mean_error": 1234.56,
        "confirmed": run,
    }
    facts = {
        "systems": {
            system.name: {
                "rating": system.rating,
                "fails_at": system.fails_at,
                "max_response_s": times,
                "first_late_second": 10_799,
                "input_per_s": 12_345,
                "output_per_s": 12_345,
            }
            for system in SYSTEMS
        },
        "variants": [
            {
                "name": each.name,
                "system": each.system.name,
                "runs": dict.fromkeys(times, run),
                "slower": slower,
            }
            for each in VARIANTS
        ],
        "volumes": {name: {"paper": count, "here": count} for name, count in VOLUMES.items()},
        "minutes": [1, 179],
        "settings": {"workers": 64, "catch_up": False, "ignore": ["balance", "expenditure", "travel_time"]},
        "distinct": 999,
        "seed": 2**63 - 1,
        "clock": "virtual",
        "limits": dict.fromkeys(DEADLINE_S, 99_999.999),
        "limit_s": 99_999.999,
    }
    lines = reproduce.text(facts, Path("reproduction"))
    assert max(map(len, lines)) <= WIDTH
    heads = [line.split()[2:] for line in lines if line.startswith("XWays")]
    assert [name for names in heads for name in names] == [variant.name for variant in VARIANTS]


def test_a_time_just_above_its_limit_is_seen_everywhere(large: dict[str, Any], tmp_path: Path) -> None:
    """5.0004 s is late: it is never shown as 5.000 s."""
    large["answers"]["toll"] |= dict.fromkeys(("p50", "p90", "p99", "p99.9", "max"), 5.0004)
    for row in large["minutes"]:
        row["toll"] |= {"p50": 5.0004, "p99": 5.0004, "max": 5.0004}
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "verdict.json").write_text(json.dumps(judged(large)))
    (folder / "run.json").write_text(json.dumps(large))
    run = open_run(folder)
    shown = [validate.text(judged(large)), report_text(large, folder).splitlines(), text(columns([run]))]
    for line in (line for lines in shown for line in lines if line.startswith(("toll ", "toll response"))):
        assert "5.000 " not in f"{line} "
    assert "up to 5.0004 s, the limit is 5 s" in "\n".join(shown[1])
    page = run_page([run])
    assert "5.0004" in page
    toll = page[page.index("<td>toll</td>") :].partition("</tr>")[0]
    assert "5.0004" in toll and ">5.000<" not in toll
    assert "max 5.000 s" not in page and "longest is 5.000 s" not in page
    assert headline(run)[0] == "FAIL"
