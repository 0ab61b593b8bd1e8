"""The rating of an engine: runs of more and more expressways, until one is late; then the judge has a look.

Whoever is late when traffic is densest is late in a whole run: a search over whole runs may look at the peak first, and
run in full only what comes through.

Everything that is known lies in the folder: the RUN of each candidate, numbered in the order they were made, with its
verdict if it was judged.  A search that was interrupted takes over what it finds there.
"""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from driver.dataset.folder import Dataset
from driver.rating.record import FORMAT, RATING, CandidateRecord, GaveOut, RatingRecord, claim
from driver.rating.search import Search
from driver.report.html.run import refresh_report
from driver.run.config import RunConfig
from driver.run.engines import Backends
from driver.run.journal import read_cycles, step_name
from driver.run.limits import limits_in_force
from driver.run.loop import measure
from driver.run.record import config_of, read_run, run_record, write_run
from driver.run.record_types import RunJson
from driver.run.verdict import is_right
from polling_baseline import spec
from polling_baseline.database.designs import DEFAULT_DESIGN
from polling_baseline.wording import format_seconds

QUICK_MINUTES = 20
Announce = Callable[[str], None]


def timed_run(
    config: RunConfig, dataset: Dataset, backends: Backends, folder: Path, name: str, announce: Announce
) -> RunJson:
    """One run of several: its record says what it took, and an interrupt ends them all."""
    begun = time.monotonic()
    record = measure(config, config.part_of(dataset), backends, folder)
    record["took_s"] = round(time.monotonic() - begun, 1)
    write_run(folder, record)
    refresh_report(folder)
    if record["state"] == "interrupted":
        announce(f"{name} was interrupted; the same command goes on from here")
        raise KeyboardInterrupt
    return record


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

    @property
    def passed(self) -> bool:
        return self.in_time and self.right is not False

    @property
    def outcome(self) -> str:
        if self.right is False:
            return "wrong"
        return "in time" if self.in_time else self.state


class Rating:
    """The search in a folder; `run` makes what is missing."""

    def __init__(
        self,
        folder: Path,
        dataset: Dataset,
        search: Search,
        config_for: Callable[[float], RunConfig],
        backends: Backends,
        peak_for: Callable[[float], RunConfig] | None = None,
    ) -> None:
        self.folder, self.dataset, self.search = folder, dataset, search
        self._config_for, self._peak_for, self._backends = config_for, peak_for, backends
        self.candidates: list[Candidate] = []
        self.settings = settings_of(config_for(spec.MAX_XWAYS), dataset)
        self._shortest_limit_s = min(limits_in_force(self.settings["limits"]).values())
        claim(folder / RATING, self.settings)

    @property
    def outcomes(self) -> list[tuple[float, bool]]:
        """What the search rests on: whole runs, failures at the peak, and who came through it until shown otherwise."""
        # A wrong answer is no accident: such a candidate gets no second chance.
        weighed = [candidate for candidate in self.candidates for _ in range(2 if candidate.right is False else 1)]
        failed = Counter(candidate.xways for candidate in weighed if self.is_whole(candidate) and not candidate.passed)
        outcomes = [
            (candidate.xways, candidate.passed)
            for candidate in weighed
            if self.is_whole(candidate) or not candidate.passed
        ]
        if max(failed.values(), default=0) < 2:
            bound = min(failed, default=math.inf) - self.search.step
            outcomes += [(min(candidate.xways, bound), True) for candidate in weighed if candidate.passed]
        return outcomes

    def is_whole(self, candidate: Candidate) -> bool:
        return candidate.minutes == (self.settings["from_minute"], self.settings["to_minute"])

    @property
    def winner(self) -> Candidate | None:
        """The largest that passed; of its runs, the whole one."""
        best = self.search.best(self.outcomes)
        passed = [candidate for candidate in self.candidates if candidate.passed and candidate.xways == best]
        return max(passed, key=self.is_whole, default=None)

    @property
    def loser(self) -> Candidate | None:
        """The last failure next to the winner."""
        xways = self.search.loser(self.outcomes)
        return next((candidate for candidate in reversed(self.candidates) if candidate.xways == xways), None)

    def run(self, judge: Callable[[Path], None], announce: Announce) -> None:
        """Try what the search wants, and judge what it comes to: the winner and the loser.

        Once an answer was wrong, being in time is not enough: whatever passes is judged before the search goes on.
        """
        self._take_over(announce)
        while True:
            xways, winner = self.search.next(self.outcomes), self.winner
            erred = any(candidate.right is False for candidate in self.candidates)
            if xways is None and winner and not self.is_whole(winner):
                xways = winner.xways
            if winner and winner.right is None and (erred or xways is None):
                self._judged(winner, judge, announce)
            elif xways is not None:
                self._try(xways, announce)
            else:
                break
        if (loser := self.loser) and loser.right is None and loser.state == "late":
            self._judged(loser, judge, announce)

    def _try(self, xways: float, announce: Announce) -> None:
        through = any(candidate.passed and candidate.xways >= xways for candidate in self.candidates)
        config = self._config_for(xways) if through or not self._peak_for else self._peak_for(xways)
        number = max((int(path.name[:4]) for path in self._runs()), default=0) + 1
        folder = self.folder / "runs" / f"{number:04d}-{config.engine}-L{xways:g}"
        record = timed_run(config, self.dataset, self._backends, folder, f"L = {xways:g}", announce)
        self.candidates.append(candidate_of(folder, record))
        announce(line(self.candidates[-1], self._shortest_limit_s))

    def _judged(self, candidate: Candidate, judge: Callable[[Path], None], announce: Announce) -> None:
        announce(f"L = {candidate.xways:g}: asking the reference")
        judge(candidate.run)
        index = self.candidates.index(candidate)
        self.candidates[index] = candidate_of(candidate.run, read_run(candidate.run))
        announce(f"L = {candidate.xways:g}: the answers are {'right' if self.candidates[index].right else 'WRONG'}")

    def _take_over(self, announce: Announce) -> None:
        """Runs that came to an end; one that was interrupted or broke is not asked again."""
        for folder in self._runs():
            record = read_run(folder) if (folder / "run.json").exists() else None
            if record and record["state"] in ("complete", "late"):
                self.candidates.append(candidate_of(folder, record))
                announce(f"{line(self.candidates[-1], self._shortest_limit_s)}   (taken over)")

    def _runs(self) -> list[Path]:
        return sorted(path for path in (self.folder / "runs").glob("*") if re.match(r"\d{4}-", path.name))


def settings_of(config: RunConfig, dataset: Dataset) -> dict[str, Any]:
    """What all runs of different L have in common, as JSON has it."""
    # Ratings that were begun before there were designs do not name the default one.
    own = {name: value for name, value in config.engine_options.items() if (name, value) != ("design", DEFAULT_DESIGN)}
    options = {**config.as_json(), "dataset": dataset.identity, "engine_options": own}
    del options["xways"]
    settings: dict[str, Any] = json.loads(json.dumps(options))
    return settings


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
    )


def judge_run(dataset: Dataset, folder: Path, master: str, announce: Announce = lambda phase: None) -> None:
    """Ask the reference about a run, for as long as it went, and leave the verdict in its folder."""
    from driver.validate.judging import judge_runs

    judge_runs(config_of(read_run(folder)).part_of(dataset), [folder], master, announce)
    refresh_report(folder)


def gave_out(run: Path) -> GaveOut | None:
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
    late: GaveOut = {"second": second, "minute": spec.minute_of(second)}
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


def rating_record(rating: Rating, kind: str) -> RatingRecord:
    """What `rating.json` says in the end."""
    winner, loser = rating.winner, rating.loser
    runs = [read_run(candidate.run) for candidate in (winner, loser) if candidate]
    settings = rating.settings
    return {
        "format": FORMAT,
        "rating": winner.xways if winner else 0,
        "kind": kind,
        "engine": settings["engine"],
        "minutes": [settings["from_minute"], settings["to_minute"]],
        "distinct": int(rating.dataset.xways),
        "seed": rating.dataset.seed,
        "clock": settings["clock"],
        "step": rating.search.step,
        "max": rating.search.most,
        "winner": winner.run.name if winner else None,
        "loser": loser.run.name if loser else None,
        "gave_out": gave_out(loser.run) if loser else None,
        "candidates": [
            _candidate_record(candidate, rating.folder)
            for candidate in sorted(rating.candidates, key=lambda candidate: candidate.xways)
        ],
        "environment": runs[0]["environment"] if runs else None,
        "settings": settings,
    }


def _candidate_record(candidate: Candidate, folder: Path) -> CandidateRecord:
    own = {"run": os.path.relpath(candidate.run, folder), "minutes": list(candidate.minutes)}
    return cast(CandidateRecord, {**asdict(candidate), **own, "verdict": candidate.outcome, "passed": candidate.passed})
