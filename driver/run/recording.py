"""What a run leaves behind while it goes: `output.csv`, `cycles.csv`, and how long each answer took.

Answers of one second and one batch took equally long, so their number is all that is kept of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from driver.run.journal import OUTPUT, JournalWriter
from driver.run.poller import Cycle
from polling_baseline.batch import ANSWER_KINDS, Answers


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

    def later_than(self, limit_s: float) -> int:
        """How many took longer than that; exactly the limit is in time."""
        _, times, counts = self.columns()
        return int(counts[times > limit_s].sum())

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
        self._output = (folder / OUTPUT).open("ab")
        self._journal = JournalWriter(folder, durable)
        self.cycles: list[Cycle] = list(cycles)
        self.responses: Mapping[str, Responses] = defaultdict(Responses, responses)

    def answers(self, answers: Answers, emit: float) -> float:
        """Write answers that could be read at `emit`; give the longest response time among them."""
        kind, rows = ANSWER_KINDS[answers.kind], len(answers)
        columns = {
            "kind": pa.repeat(pa.scalar(kind.number, pa.int8()), rows),
            "emit": pa.repeat(pa.scalar(f"{emit:.3f}"), rows),
            **answers.columns,
        }
        table = pa.table({name: columns[name] for name in kind.fields})
        pa.csv.write_csv(table, self._output, pa.csv.WriteOptions(include_header=False, quoting_style="none"))
        return self.responses[answers.kind].add(answers.columns["second"], emit)

    def cycle(self, cycle: Cycle) -> None:
        """Enter a cycle whose answers are written."""
        self._keep_output()
        self._journal.write(cycle, self._output.tell())
        self.cycles.append(cycle)

    def _keep_output(self) -> None:
        self._output.flush()
        if self._durable:
            os.fsync(self._output.fileno())

    def close(self) -> None:
        try:
            self._output.close()
        finally:
            self._journal.close()


def read_responses(output: Path) -> dict[str, Responses]:
    """Time and Emit of every answer, by kind; lines differ in length, so they are read whole and split."""
    table = pa.csv.read_csv(
        output,
        pa.csv.ReadOptions(column_names=["line"]),
        pa.csv.ParseOptions(delimiter="\t", quote_char=False),
        pa.csv.ConvertOptions(column_types={"line": pa.string()}),
    )
    fields = pc.split_pattern(table["line"], ",")
    kinds = pc.list_element(fields, 0).cast(pa.int8()).to_numpy()
    responses: dict[str, Responses] = {}
    for name, kind in ANSWER_KINDS.items():
        of_kind = fields.filter(pa.array(kinds == kind.number))
        if len(of_kind):
            seconds = pc.list_element(of_kind, kind.fields.index("second")).cast(pa.int32()).to_numpy()
            emits = pc.list_element(of_kind, kind.fields.index("emit")).cast(pa.float64()).to_numpy()
            responses[name] = Responses()
            # Those of one cycle lie together.
            borders = np.flatnonzero(np.diff(emits)) + 1
            for part, start in zip(np.split(seconds, borders), (0, *borders), strict=True):
                responses[name].add(part, float(emits[start]))
    return responses
