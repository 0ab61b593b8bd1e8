"""What a run leaves behind while it goes: `output.csv`, `cycles.csv`, and how long each answer took.

Answers of one second and one batch took equally long, so their number is all that is kept of them.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv

from driver.run.poller import Cycle
from polling_baseline import spec
from polling_baseline.batch import ANSWER_COLUMNS, Answers

MOMENTS = ("due", "started", "committed", "ended")
# The last one says how long `output.csv` was when the cycle's answers were in it.
CYCLE_COLUMNS = ("first_second", "last_second", "rows", *MOMENTS, "backlog_s", "output_bytes")
# Where Emit stands in a line of each kind, after the kind's number.
EMIT_POSITION = {kind: columns.index("second") + 1 for kind, columns in ANSWER_COLUMNS.items()}


class Responses:
    """How many answers of a kind came, by second of their input and response time."""

    def __init__(self) -> None:
        self._seconds: list[npt.NDArray[Any]] = []
        self._times: list[npt.NDArray[Any]] = []
        self._counts: list[npt.NDArray[Any]] = []

    def add(self, seconds: npt.NDArray[Any], emit: float) -> float:
        """Enter answers to inputs of these seconds, and give the longest of their response times."""
        distinct, counts = np.unique(seconds, return_counts=True)
        times = np.round(emit - distinct, 3)
        self._seconds.append(distinct.astype(np.int32))
        self._times.append(times)
        self._counts.append(counts)
        return float(times.max())

    def columns(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Second, response time in seconds, and number of answers."""
        if not self._seconds:
            return np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64)
        return np.concatenate(self._seconds), np.concatenate(self._times), np.concatenate(self._counts)


class Recording:
    """The files of a run under way.

    With `durable`, a cycle that was entered is on the disk.  `cycles` and `responses` are those of a run that goes on.
    """

    def __init__(
        self,
        folder: Path,
        durable: bool = False,
        cycles: Sequence[Cycle] = (),
        responses: Mapping[str, Responses] = MappingProxyType({}),
    ) -> None:
        self._durable = durable
        self._output = (folder / "output.csv").open("ab")
        self._cycles_file = (folder / "cycles.csv").open("a", newline="")
        self._cycles = csv.writer(self._cycles_file, lineterminator="\n")
        self._steps: tuple[str, ...] | None = tuple(cycles[0].steps) if cycles else None
        self.cycles: list[Cycle] = list(cycles)
        self.responses: Mapping[str, Responses] = defaultdict(Responses, responses)

    def answers(self, answers: Answers, emit: float) -> float:
        """Write answers that could be read at `emit`; give the longest response time among them."""
        names = ANSWER_COLUMNS[answers.kind]
        columns = [pa.array(answers.columns[name]) for name in names]
        columns.insert(EMIT_POSITION[answers.kind], pa.repeat(pa.scalar(f"{emit:.3f}"), len(answers)))
        number = pa.repeat(pa.scalar(spec.ANSWERS.index(answers.kind), pa.int8()), len(answers))
        table = pa.table([number, *columns], names=[str(position) for position in range(len(columns) + 1)])
        pa.csv.write_csv(table, self._output, pa.csv.WriteOptions(include_header=False, quoting_style="none"))
        return self.responses[answers.kind].add(answers.columns["second"], emit)

    def cycle(self, cycle: Cycle) -> None:
        if self._steps is None:
            self._steps = tuple(cycle.steps)
            self._cycles.writerow((*CYCLE_COLUMNS, *self._steps))
        moments = (f"{getattr(cycle, name):.4f}" for name in MOMENTS)
        steps = (f"{cycle.steps[name]:.3f}" for name in self._steps)
        length = self._output.tell()
        self._keep(self._output)
        self._cycles.writerow(
            (cycle.seconds[0], cycle.seconds[-1], cycle.rows, *moments, cycle.backlog_s, length, *steps)
        )
        self._keep(self._cycles_file)
        self.cycles.append(cycle)

    def _keep(self, file: IO[Any]) -> None:
        if self._durable:
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        try:
            self._output.close()
        finally:
            self._cycles_file.close()
