"""The boxes of an ad-hoc query: a filter, and a count by group in windows, or the columns as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict

import numpy as np

from polling_baseline.batch import REPORT_COLUMNS, Columns
from polling_baseline.engines.aurora.ad_hoc.condition import Condition, parse_condition
from polling_baseline.engines.aurora.model.box import Box, Filter, Map
from polling_baseline.engines.aurora.model.qos import Graph, Quality
from polling_baseline.engines.aurora.model.windows import Tumble
from polling_baseline.refusal import Refusal

# What flows past each connection point; what no condition can use is left out.
POINTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "reports": REPORT_COLUMNS,
        "accidents": ("second", "road", "seg"),
        "segment minutes": ("second", "cell", "cars"),
        "notifications": ("vehicle_id", "second", "lav", "toll"),
    }
)
LONGEST_WINDOW_S = 3600
# It is worth as much as nothing: an ad-hoc query makes no box more urgent, and no load is shed for it.
NO_HURRY = Quality(Graph(((0.0, 1.0), (1e9, 1.0))))


class QueryRequest(TypedDict):
    """What a client asks for, as a line of JSON."""

    at: str
    where: str | None
    group: str | None
    every_s: int


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was found to be one."""

    at: str
    where: Condition | None
    group: str | None
    every_s: int

    @property
    def columns(self) -> tuple[str, ...]:
        return ("second", self.group, "tuples") if self.group else POINTS[self.at]

    def boxes(self, name: str) -> list[Box]:
        """To be attached to the connection point under names of their own."""
        boxes: list[Box] = [Filter(f"{name} where", self.where)] if self.where else []
        if self.group:
            return [*boxes, Tumble(f"{name} group", self.every_s, Counts(self.group))]
        return [*boxes, Map(f"{name} columns", Projection(self.columns))]


def parse_query(request: QueryRequest) -> Query:
    """Refuse what cannot be asked, before it comes near the network."""
    at = request["at"]
    if at not in POINTS:
        raise Refusal(f"there is no connection point {at!r}; there are {', '.join(POINTS)}")
    columns = POINTS[at]
    if (group := request["group"]) and group not in columns:
        raise Refusal(f"there is no column {group} at {at}; there are {', '.join(columns)}")
    if not 1 <= request["every_s"] <= LONGEST_WINDOW_S:
        raise Refusal(f"a window has 1 to {LONGEST_WINDOW_S} seconds, not {request['every_s']}")
    where = parse_condition(request["where"], columns) if request["where"] else None
    return Query(at, where, group, request["every_s"])


@dataclass(frozen=True, slots=True)
class Projection:
    """Some columns of a train."""

    names: tuple[str, ...]

    def __call__(self, columns: Columns) -> Columns:
        return {name: columns[name] for name in self.names}


@dataclass(frozen=True, slots=True)
class Counts:
    """Makes the aggregate of a window: how many tuples each group has."""

    group: str

    def __call__(self) -> _Window:
        return _Window(self.group)


class _Window:
    def __init__(self, group: str) -> None:
        self._group = group
        self._counts: dict[int, int] = {}

    def add(self, columns: Columns) -> None:
        for value, count in zip(*np.unique(columns[self._group], return_counts=True), strict=True):
            self._counts[int(value)] = self._counts.get(int(value), 0) + int(count)

    def close(self) -> Columns:
        groups = sorted(self._counts)
        return {self._group: np.array(groups), "tuples": np.array([self._counts[group] for group in groups])}
