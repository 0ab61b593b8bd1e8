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
from dataclasses import asdict
from pathlib import Path
from statistics import median_low
from typing import Any, cast

from driver.dataset.folder import Dataset
from driver.rating.candidate import Candidate, candidate_of, gave_out, line, run_name
from driver.rating.record import FORMAT, RATING, CandidateRecord, RatingRecord, claim
from driver.rating.search import Search
from driver.report.html.run import refresh_report
from driver.run.config import RunConfig
from driver.run.engines import Backends
from driver.run.limits import limits_in_force
from driver.run.loop import measure
from driver.run.record import config_of, read_run, write_run
from driver.run.record_types import RunJson
from polling_baseline import spec
from polling_baseline.database.designs import DEFAULT_DESIGN

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
        weighed = [
            candidate for candidate in self.in_repetition(1) for _ in range(2 if candidate.right is False else 1)
        ]
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
        passed = [candidate for candidate in self.in_repetition(1) if candidate.passed and candidate.xways == best]
        return max(passed, key=self.is_whole, default=None)

    @property
    def loser(self) -> Candidate | None:
        """The last failure next to the winner."""
        xways = self.search.loser(self.outcomes)
        return next((candidate for candidate in reversed(self.in_repetition(1)) if candidate.xways == xways), None)

    def in_repetition(self, number: int) -> list[Candidate]:
        """1 is the search."""
        return [candidate for candidate in self.candidates if candidate.repetition == number]

    @property
    def ratings(self) -> list[float]:
        """What the search came to, and what each look at its edge came to."""
        repetitions = range(2, max((candidate.repetition for candidate in self.candidates), default=1) + 1)
        return [
            self.search.best(self.outcomes),
            *(self.search.best(self._at_the_edge(number)) for number in repetitions),
        ]

    def run(self, judge: Callable[[Path], None], announce: Announce, repeat: int = 1) -> None:
        """Try what the search wants, and judge what it comes to: the winner and the loser.

        Once an answer was wrong, being in time is not enough: whatever passes is judged before the search goes on.
        Then look at the edge again, `repeat` times in all.
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
        for repetition in range(2, repeat + 1):
            self._look_again(repetition, judge, announce)

    def _look_again(self, repetition: int, judge: Callable[[Path], None], announce: Announce) -> None:
        """Find the edge once more, from where the search has found it, in whole runs; its winner is judged."""
        edge = self.search.best(self.outcomes) or self.search.start
        while True:
            xways = self.search.next_near(self._at_the_edge(repetition), edge)
            if xways is not None:
                self._try(xways, announce, repetition)
                continue
            passed = [candidate for candidate in self.in_repetition(repetition) if candidate.passed]
            winner = max(passed, key=lambda candidate: candidate.xways, default=None)
            if winner is None or winner.right:
                return
            self._judged(winner, judge, announce)

    def _at_the_edge(self, repetition: int) -> list[tuple[float, bool]]:
        """What a look at the edge has come to; a wrong answer gets no second chance."""
        return [
            (candidate.xways, candidate.passed)
            for candidate in self.in_repetition(repetition)
            for _ in range(2 if candidate.right is False else 1)
        ]

    def _try(self, xways: float, announce: Announce, repetition: int = 1) -> None:
        through = any(candidate.passed and candidate.xways >= xways for candidate in self.candidates)
        config_for = None if through or repetition > 1 else self._peak_for
        config = (config_for or self._config_for)(xways)
        number = max((int(path.name[:4]) for path in self._runs()), default=0) + 1
        folder = self.folder / "runs" / run_name(number, config.engine, xways, repetition)
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


def judge_run(dataset: Dataset, folder: Path, master: str, announce: Announce = lambda phase: None) -> None:
    """Ask the reference about a run, for as long as it went, and leave the verdict in its folder."""
    from driver.validate.judging import judge_runs

    judge_runs(config_of(read_run(folder)).part_of(dataset), [folder], master, announce)
    refresh_report(folder)


def rating_record(rating: Rating, kind: str) -> RatingRecord:
    """What `rating.json` says in the end: of several looks at the edge, the median, and a winner that has it."""
    ratings, loser = rating.ratings, rating.loser
    winner = rating.winner
    if len(ratings) > 1:
        passed = [candidate for candidate in rating.candidates if candidate.passed and rating.is_whole(candidate)]
        median = [candidate for candidate in passed if candidate.xways == median_low(ratings)]
        winner = max(median, key=lambda candidate: candidate.right is True, default=None)
    runs = [read_run(candidate.run) for candidate in (winner, loser) if candidate]
    settings = rating.settings
    return {
        "format": FORMAT,
        "rating": winner.xways if winner else 0,
        "ratings": ratings,
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
