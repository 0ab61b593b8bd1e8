"""A run of a trace by an engine that is always right: the driver's own files, with the answers worked out by hand."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driver.dataset.folder import Dataset
from driver.dataset.relabel import dataset_label
from driver.run.config import RunConfig
from driver.run.limits import limits_in_force
from driver.run.poller import Cycle
from driver.run.record import write_run
from driver.run.recording import Recording
from driver.run.summary import environment, summary
from polling_baseline.batch import ANSWER_KINDS, Answers
from tests import traces
from tests.support.one_dataset import TIME_AT, Line, Road, one_dataset


def trace_dataset(folder: Path, *names: str) -> tuple[Dataset, list[Line]]:
    """A data set of these traces, an expressway or more for each, and the right answers to all of them."""
    found = [traces.load(name) for name in names]
    roads = [Road(one.lines, one.toll_history, one.segment_history, one.expected) for one in found]
    dataset, answers = one_dataset(roads, folder)
    return dataset, [answer for of_road in answers for answer in of_road]


class TraceRun:
    """A run that is under way: `step` answers the next second."""

    def __init__(
        self,
        folder: Path,
        dataset: Dataset,
        answers: Sequence[Line],
        service_s: Callable[[int], float] = lambda second: 0.25,
        **config: Any,
    ) -> None:
        folder.mkdir(parents=True)
        self.folder, self._service_s = folder, service_s
        self._by_second: dict[int, list[Line]] = defaultdict(list)
        for answer in answers:
            self._by_second[answer[TIME_AT[answer[0]]]].append(answer)
        options = {"engine": "polling", "clock": "virtual", "to_minute": dataset.seconds // 60, **config}
        self.config = RunConfig(str(dataset.path), **options)
        self._facts = {
            "state": "running",
            "config": self.config.as_json(),
            "dataset": dataset_label(self.config.part_of(dataset)),
            "environment": environment({}),
        }
        write_run(folder, self._facts)
        self._recording = Recording(folder)
        self._seconds = iter(self.config.seconds)
        self._free_at = 0.0

    def step(self, seconds: int = 1) -> None:
        for second in itertools.islice(self._seconds, seconds):
            started = max(float(second), self._free_at)
            self._free_at = round(started + self._service_s(second), 3)
            for number, kind in enumerate(ANSWER_KINDS.values()):
                of_kind = [answer for answer in self._by_second[second] if answer[0] == number]
                if of_kind:
                    columns = dict(zip(kind.columns, np.array(of_kind).T[1:], strict=True))
                    self._recording.answers(Answers(kind.name, columns), self._free_at)
            ms = (self._free_at - started) * 1000
            steps = {"copy_ms": ms * 0.2, "advance_ms": ms * 0.6}
            moments = (float(second), started, self._free_at, self._free_at)
            waits = max(0, int(self._free_at) - second - 1)
            self._recording.cycle(Cycle(range(second, second + 1), 10, *moments, waits, steps))

    def end(self, **state: Any) -> Path:
        """Answer the rest and write the record of the complete run."""
        self.step(len(self.config.seconds))
        return self.stop(state="complete", **state)

    def close(self) -> None:
        """As if it had been killed."""
        self._recording.close()

    def stop(self, **state: Any) -> Path:
        self.close()
        measured = summary(self._recording, 0.1, limits_in_force(self.config.limits))
        write_run(self.folder, {**self._facts, **measured, **state})
        return self.folder
