"""Requests, and the answers to them: a balance's request, expenditures and journeys through the history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import Dataset
from driver.validate.reference.money import request_key, spent_in
from driver.validate.reference.travel import averages, drive
from driver.validate.reference.trips import joined
from polling_baseline import spec
from polling_baseline.batch import REQUEST_COLUMNS, Columns

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Unit:
    """Requests of one kind, by their numbers, and the files of the history that know of them."""

    kind: int
    files: Sequence[Path]
    rows: Integers
    requests: Columns


@dataclass(frozen=True, slots=True)
class AnswerValues:
    """The values of the answers to some requests of one kind."""

    kind: int
    rows: Integers
    values: tuple[Integers, ...]


def requests_by_kind(dataset: Dataset, parts: Sequence[Columns]) -> dict[int, Columns]:
    """All requests but those ignored, with the expressway in whose file they stand as `home`."""
    requests = joined(parts, (*REQUEST_COLUMNS, "home"))
    kinds = (spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME)
    rows = {kind: (requests["kind"] == kind) & (kind not in dataset.ignored) for kind in kinds}
    return {kind: {name: column[rows[kind]] for name, column in requests.items()} for kind in kinds}


def units_of(dataset: Dataset, requests: dict[int, Columns]) -> list[Unit]:
    """A file of TollHistory each; all files of an expressway, in each direction, for those who ask for a journey."""
    spent, journeys = requests[spec.EXPENDITURE], requests[spec.TRAVEL_TIME]
    units = []
    if len(spent["kind"]):
        rows = np.arange(len(spent["kind"]))
        units = [Unit(spec.EXPENDITURE, [path], rows, spent) for path in dataset.toll_history]
    by_road: dict[tuple[int, bool], list[int]] = defaultdict(list)
    east = (journeys["from_seg"] < journeys["to_seg"]).tolist()
    for number, road in enumerate(zip(journeys["xway"].tolist(), east, strict=True)):
        by_road[road].append(number)
    for numbers in by_road.values():
        rows = np.array(numbers)
        asked = {name: column[rows].astype(np.int64) for name, column in journeys.items()}
        units.append(Unit(spec.TRAVEL_TIME, dataset.segment_history, rows, asked))
    return units


def answer(unit: Unit) -> AnswerValues:
    if unit.kind == spec.EXPENDITURE:
        (path,) = unit.files
        rows, tolls = spent_in(path, unit.requests)
        return AnswerValues(unit.kind, unit.rows[rows], (tolls,))
    asked = unit.requests
    direction = spec.EAST if asked["from_seg"][0] < asked["to_seg"][0] else spec.WEST
    history = averages(unit.files, int(asked["xway"][0]), direction)
    return AnswerValues(unit.kind, unit.rows, drive(history, direction, asked))


def answers_to(requests: dict[int, Columns], parts: Sequence[AnswerValues]) -> dict[int, Columns]:
    """A row per answer, as `id`, `second`, two values, and `slack`, by how much a toll may differ leniently.

    A balance has many right values; its row has the VID instead, and 0.
    """
    answers = {}
    for kind, asked in requests.items():
        size = len(asked["kind"])
        values = np.zeros((2, size), np.int64)
        if kind == spec.BALANCE:
            values[0] = asked["vehicle_id"]
        if kind == spec.TRAVEL_TIME:
            values[:] = spec.NO_TRAVEL_TIME
        for part in parts:
            if part.kind == kind:
                for row, value in zip(values, part.values, strict=False):
                    row[part.rows] = value
        answers[kind] = {
            "id": asked["query_id"],
            "second": asked["second"].astype(np.int64),
            "xway": asked["home"],
            "place": np.full(size, -1),
            "value_1": values[0],
            "value_2": values[1],
            "slack": np.abs(asked["from_seg"].astype(np.int64) - asked["to_seg"]),
        }
    return answers


def twin_seconds(answers: Columns) -> Integers:
    """The seconds of requests that share QID and Time with another one."""
    key = request_key(answers["id"], answers["second"])
    order = np.argsort(key)
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    return answers["second"][order[np.r_[same, same + 1]]]
