"""One L that was tried in a rating: what came of its run, and why it failed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from driver.rating.record import FailureCause
from driver.run.journal import read_cycles, step_name
from driver.run.limits import limits_in_force
from driver.run.record import config_of, read_run, run_record
from driver.run.record_types import RunJson
from driver.run.verdict import is_right
from polling_baseline import spec
from polling_baseline.wording import format_seconds


@dataclass(frozen=True, slots=True)
class Candidate:
    """One L that was tried, and its RUN."""

    xways: float
    run: Path
    # The first and the last that it was to run.
    minutes: tuple[int, int]
    in_time: bool
    state: str
    max_response_s: float | None
    # How many tuples it took per second of its own time, and how many came in the busiest second.
    tuples_per_s: float
    peak_tuples_per_s: int
    took_s: float
    # What the reference says of the part that was run: right or not; None if it was not asked.
    right: bool | None = None
    # The cores that other programs kept busy when it began, if the system tells.
    others_cores: float | None = None
    # 1 for the search; what is more looked at its edge again.
    repetition: int = 1

    @property
    def passed(self) -> bool:
        return self.in_time and self.right is not False

    @property
    def outcome(self) -> str:
        if self.right is False:
            return "wrong"
        return "in time" if self.in_time else self.state


def run_name(number: int, engine: str, xways: float, repetition: int) -> str:
    """The folder of a candidate's run."""
    return f"{number:04d}-{engine}-L{xways:g}" + (f"-repetition-{repetition}" if repetition > 1 else "")


def repetition_of(folder: Path) -> int:
    match = re.search(r"-repetition-(\d+)$", folder.name)
    return int(match[1]) if match else 1


def candidate_of(folder: Path, record: RunJson) -> Candidate:
    run = run_record(record, folder)
    longest = [answer["max"] for answer in run.json["answers"].values() if "max" in answer]
    feed, busy_s = run.json["feed"], run.json["feed"].get("busy_s")
    # By the limits of the run, whatever the judge allowed.
    late = bool(late_limits(record))
    return Candidate(
        xways=record["dataset"]["xways"],
        run=folder,
        minutes=run.minutes,
        in_time=record["state"] == "complete" and not late,
        state="late" if late else record["state"],
        max_response_s=max(longest, default=None),
        tuples_per_s=round(feed["rows"] / busy_s) if busy_s else 0,
        peak_tuples_per_s=feed.get("peak_rows_per_s", 0),
        took_s=record.get("took_s", 0.0),
        right=is_right(run.verdict) if run.verdict else None,
        others_cores=record["environment"]["machine"].get("others_cores"),
        repetition=repetition_of(folder),
    )


def gave_out(run: Path) -> FailureCause | None:
    """Why a run broke; or when it was first late, and which step took most of the cycles' time in 60 s before."""
    record = read_run(run)
    if record["state"] == "broken":
        return {"reason": record["reason"]}
    cycles = read_cycles(run)
    limit_s = min(late_limits(record) or limits_in_force(config_of(record).limits).values())
    late_cycles = (number for number, cycle in enumerate(cycles) if cycle.committed - cycle.seconds[0] > limit_s)
    first = next(late_cycles, None)
    if first is None:
        return None
    before = [cycle for cycle in cycles[: first + 1] if cycle.ended > cycles[first].started - spec.MINUTE_S]
    steps = {name: sum(cycle.steps[name] for cycle in before) for name in before[0].steps}
    second = cycles[first].seconds[0]
    late: FailureCause = {"second": second, "minute": spec.minute_of(second)}
    if any(steps.values()):
        step = max(steps, key=lambda name: steps[name])
        late["step"], late["share"] = step_name(step), round(steps[step] / sum(steps.values()), 3)
    return late


def late_limits(record: RunJson) -> list[float]:
    """The limits of the kinds of answers that came late."""
    return [answer["limit_s"] for answer in record.get("answers", {}).values() if answer["late"]]


def line(candidate: Candidate, limit_s: float) -> str:
    """A candidate in one line."""
    longest = "-" if candidate.max_response_s is None else format_seconds(candidate.max_response_s, limit_s)
    return (
        f"L = {candidate.xways:<6g} {candidate.outcome:<9} longest {longest:>8} s   "
        f"{candidate.tuples_per_s:>9,.0f} tuples/s of work   took {candidate.took_s:.0f} s"
    )
