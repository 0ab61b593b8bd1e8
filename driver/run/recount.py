"""A finished run under other limits: its late answers are counted anew, from the response times on record."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from driver.run.journal import OUTPUT, read_cycles
from driver.run.limits import Limits, limits_in_force
from driver.run.record import RunRecord, open_run
from driver.run.record_types import RunJson
from driver.run.recording import Responses, read_responses
from driver.run.summary import late_by
from driver.run.verdict import Verdict, faults_in
from polling_baseline.refusal import Refusal


def open_run_under(folder: Path, others: Limits | None) -> RunRecord:
    """The run in a folder by the limits of an option `--limits`; by its own without one."""
    run = open_run(folder)
    limits = run.limits if others is None else limits_in_force(others)
    return run if limits == run.limits else _recounted(run, limits)


def _recounted(run: RunRecord, limits: Limits) -> RunRecord:
    responses = _responses(run)
    answers: dict[str, Any] = {
        kind: {
            **answer,
            "limit_s": limits[kind],
            "late": responses[kind].later_than(limits[kind]) if kind in responses else 0,
        }
        for kind, answer in run.json["answers"].items()
    }
    record = {**run.json, "answers": answers}
    if "outages" in run.json:
        cycles = read_cycles(run.folder)
        record["outages"] = [
            {**outage, "late_answers": late_by(outage, cycles, responses, limits)} for outage in run.json["outages"]
        ]
    late = {kind: answer["late"] for kind, answer in answers.items()}
    verdict = _verdict_under(run.verdict, limits, late) if run.verdict else None
    return RunRecord(run.folder, cast(RunJson, record), verdict)


def _responses(run: RunRecord) -> dict[str, Responses]:
    output = run.folder / OUTPUT
    if not any(answer["received"] for answer in run.json["answers"].values()):
        return {}
    if not output.is_file():
        raise Refusal(f"{output} is not there, so its late answers cannot be counted anew; leave out --limits")
    try:
        return read_responses(output)
    except (pa.ArrowException, ValueError):
        raise Refusal(f"{output} is damaged: its lines are not all answers; run it again") from None


def _verdict_under(verdict: Verdict, limits: Limits, late: dict[str, int]) -> Verdict | None:
    """The verdict with other late answers; None if it is on some expressways only, whose answers are not told apart."""
    if verdict["xways"] != "all":
        return None
    answers: dict[str, Any] = {kind: {**counts, "late": late[kind]} for kind, counts in verdict["answers"].items()}
    other = cast(Verdict, {**verdict, "answers": answers, "limits": dict(limits)})
    fails = any(faults_in(other).values()) or verdict["lines"]["malformed"]
    other["verdict"] = "FAIL" if fails else "PASS"
    return other
