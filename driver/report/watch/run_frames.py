"""What one engine did and told, for the page: its cycles, its response times, its answers by segment and vehicle.

The same code reads a run that is over and one that is under way: each `advance` takes what has come since.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.report.watch.answer_lines import AnswerReader
from driver.report.watch.road import SECOND_BITS, Road, key_of
from driver.run.journal import JournalReader, step_name
from driver.run.poller import Cycle
from polling_baseline import spec
from polling_baseline.batch import AnswerKind, Columns

# In the arrays for the page: nothing was told.
UNTOLD = np.iinfo(np.int32).min
CYCLE_TYPES = {"first": "<i4", "last": "<i4", "rows": "<i4", "backlog": "<i4"} | dict.fromkeys(
    ("started", "committed", "ended"), "<f8"
)
RESPONSE_TYPES = {"kind": "u1", "second": "<u2", "emit_ms": "<i4", "count": "<i4"}
CELL_TYPES = {"lav": "<i4", "toll": "<i4", "alerts": "<u2"}
# What answers say, by kind; each has the moment of its Emit as well.
VALUES = {
    "toll": ("lav", "toll"),
    "accident": ("seg",),
    "balance": ("result_second", "balance"),
    "expenditure": ("tolls",),
    "travel_time": ("travel_s", "toll"),
}
ON_VISITS = ("toll", "accident")
# Answers that fit no report or request are listed with their vehicle, so many at most.
MOST_EXTRA = 10_000


class RunFrames:
    """The frames of a run so far.  `answers` has a column per kind and value, beside the road's visits or requests."""

    def __init__(self, folder: Path, road: Road) -> None:
        self._road = road
        self._journal, self._lines = JournalReader(folder), AnswerReader(folder)
        self._visit_keys = key_of(road.visits["vehicle_id"], road.visits["second"])
        self._queries = np.unique(road.requests["query_id"])
        self._request_keys = self._request_key(road.requests["query_id"], road.requests["second"])
        self.steps: list[str] = []
        self._cycles: list[dict[str, npt.NDArray[Any]]] = []
        self._responses: list[dict[str, npt.NDArray[Any]]] = []
        self.lav = np.full(road.cells, UNTOLD, np.int32)
        self.toll = np.full(road.cells, UNTOLD, np.int32)
        self.alerts = np.zeros(road.cells, np.uint16)
        self.answers = {
            kind: {name: np.full(len(self._keys_for(kind)), UNTOLD, np.int32) for name in (*VALUES[kind], "emit_ms")}
            for kind in spec.ANSWERS
        }
        self.extra: list[dict[str, Any]] = []

    @property
    def left(self) -> int:
        return self._lines.left

    @property
    def was_cut(self) -> bool:
        """Whether the run was cut back, to be resumed: what was read is not what is there."""
        return self.left < 0

    def advance(self) -> dict[str, Any] | None:
        """Read on, and give what is new as lists for the page; None if there is nothing."""
        # A cycle is entered when its answers are written: so its answers are read with it, or before.
        cycles = self._enter_cycles(self._journal.new_cycles())
        responses, cells = [], []
        for kind, columns in self._lines.new_answers():
            responses.append(_responses(kind, columns))
            cells.append(self._enter_answers(kind.name, columns))
        if not cycles and not responses:
            return None
        self._responses += responses
        cell = np.unique(np.concatenate(cells)) if cells else np.empty(0, np.int64)
        cells_told = {"cell": cell, "lav": self.lav[cell], "toll": self.toll[cell], "alerts": self.alerts[cell]}
        return {
            "steps": self.steps,
            "cycles": _listed(cycles),
            "responses": _listed(_joined(responses, RESPONSE_TYPES)),
            "told": _listed(cells_told),
        }

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All so far, as arrays for the page."""
        cycle_types = CYCLE_TYPES | dict.fromkeys(map(_step_column, self.steps), "<f4")
        return {
            **{f"cycles.{name}": array for name, array in _joined(self._cycles, cycle_types).items()},
            **{f"responses.{name}": array for name, array in _joined(self._responses, RESPONSE_TYPES).items()},
            "told.lav": self.lav,
            "told.toll": self.toll,
            "told.alerts": self.alerts,
        }

    @property
    def last_committed(self) -> float | None:
        return float(self._cycles[-1]["committed"][-1]) if self._cycles else None

    def first_emit_ms(self, kind: str) -> npt.NDArray[Any]:
        """When the first answer to each second came."""
        first = np.full(spec.RUN_SECONDS, UNTOLD, np.int32)
        rows = _joined(self._responses, RESPONSE_TYPES)
        of_kind = rows["kind"] == spec.ANSWERS.index(kind)
        second, emit_ms = rows["second"][of_kind], rows["emit_ms"][of_kind]
        first[second[::-1]] = emit_ms[::-1]
        return first

    def _enter_cycles(self, cycles: list[Cycle]) -> dict[str, npt.NDArray[Any]]:
        if not cycles:
            return {}
        self.steps = self.steps or [step_name(name) for name in cycles[0].steps]
        values = {
            "first": [cycle.seconds[0] for cycle in cycles],
            "last": [cycle.seconds[-1] for cycle in cycles],
            "rows": [cycle.rows for cycle in cycles],
            "backlog": [cycle.backlog_s for cycle in cycles],
            "started": [cycle.started for cycle in cycles],
            "committed": [cycle.committed for cycle in cycles],
            "ended": [cycle.ended for cycle in cycles],
        }
        columns = {name: np.array(values[name], kind) for name, kind in CYCLE_TYPES.items()}
        for place, step in enumerate(self.steps):
            columns[_step_column(step)] = np.array([list(cycle.steps.values())[place] for cycle in cycles], "<f4")
        self._cycles.append(columns)
        return columns

    def _enter_answers(self, kind: str, columns: Columns) -> npt.NDArray[Any]:
        """Put answers beside what they belong to, the first of each; give the cells that they are about."""
        keys = self._keys_for(kind)
        if kind in ON_VISITS:
            own = key_of(columns["vehicle_id"], columns["second"])
        else:
            own = self._request_key(columns["query_id"], columns["second"])
        at = np.minimum(np.searchsorted(keys, own), max(len(keys) - 1, 0))
        fits = keys[at] == own if len(keys) else np.zeros(len(own), bool)
        fits[fits] = self.answers[kind]["emit_ms"][at[fits]] == UNTOLD
        _, first = np.unique(np.where(fits, at, -1), return_index=True)
        fits &= np.isin(np.arange(len(at)), first)
        for name, array in self.answers[kind].items():
            array[at[fits]] = np.clip(columns[name][fits], -(2**31) + 1, 2**31 - 1)
        if kind not in ON_VISITS:
            return np.empty(0, np.int64)
        self._list_extra(kind, columns, ~fits)
        return self._color(kind, at[fits])

    def _color(self, kind: str, visits: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Each cell has what was told there first."""
        road, answers = self._road.visits, self.answers[kind]
        cell = self._road.cell_of(road["place"][visits], road["second"][visits])
        if kind == "accident":
            np.add.at(self.alerts, cell, 1)
            return cell
        new = self.toll[cell] == UNTOLD
        for name, table in (("lav", self.lav), ("toll", self.toll)):
            table[cell[new][::-1]] = answers[name][visits[new]][::-1]
        return cell[new]

    def _list_extra(self, kind: str, columns: Columns, rows: npt.NDArray[np.bool_]) -> None:
        """Answers to vehicles of this road that fit no visit, or one that has its answer."""
        rows = rows & np.isin(columns["vehicle_id"], self._road.visits["vehicle_id"]) if rows.any() else rows
        for row in np.flatnonzero(rows)[: MOST_EXTRA - len(self.extra)].tolist():
            names = ("vehicle_id", "second", *VALUES[kind], "emit_ms")
            self.extra.append({"kind": kind, **{name: int(columns[name][row]) for name in names}})

    def _keys_for(self, kind: str) -> npt.NDArray[Any]:
        return self._visit_keys if kind in ON_VISITS else self._request_keys

    def _request_key(self, query: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Queries have large numbers, so they count by their rank; -1 where there is none such."""
        if not len(self._queries):
            return np.full(len(query), -1, np.int64)
        rank = np.minimum(np.searchsorted(self._queries, query), len(self._queries) - 1)
        key: npt.NDArray[Any] = np.where(self._queries[rank] == query, rank << SECOND_BITS | second, -1)
        return key


def _step_column(step: str) -> str:
    return f"step {step}"


def _responses(kind: AnswerKind, columns: Columns) -> dict[str, npt.NDArray[Any]]:
    """How many answers came to which second and when."""
    keys, count = np.unique(columns["emit_ms"] << SECOND_BITS | columns["second"], return_counts=True)
    values = {
        "kind": np.full(len(keys), kind.number),
        "second": keys & (1 << SECOND_BITS) - 1,
        "emit_ms": keys >> SECOND_BITS,
        "count": count,
    }
    return {name: values[name].astype(kind) for name, kind in RESPONSE_TYPES.items()}


def _joined(parts: list[dict[str, npt.NDArray[Any]]], types: dict[str, str]) -> dict[str, npt.NDArray[Any]]:
    return {
        name: np.concatenate([np.empty(0, kind), *(part[name] for part in parts)]).astype(kind)
        for name, kind in types.items()
    }


def _listed(columns: dict[str, npt.NDArray[Any]]) -> dict[str, list[Any]]:
    return {
        name: np.round(column.astype(float), 4).tolist() if column.dtype.kind == "f" else column.tolist()
        for name, column in columns.items()
    }
