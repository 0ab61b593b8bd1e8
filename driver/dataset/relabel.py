"""A data set of L expressways made of the K that are on disk: copies that get numbers of their own while they are read.

Expressway x is a copy of expressway x mod K.  Its number, its vehicles and its queries are shifted, so that a copy has
nothing in common with another one but the time of day.  History is not multiplied: a request for an expenditure or a
travel time still names the vehicle and the expressway that the history knows, and only its query number is new.  So
relabelling is one to one, and the right answers to a copy are the right answers to the original, relabelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import numpy as np

from driver.dataset.expressways import check_length
from driver.dataset.folder import ID_BLOCK, Dataset
from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.refusal import Refusal


class _DatasetLabel(TypedDict):
    name: str
    identity: str
    xways: float
    seed: int | None


class DatasetLabel(_DatasetLabel, total=False):
    """Which data a run or a verdict is about."""

    # How many expressways are on disk, if those of the run are copies of them.
    distinct: int


@dataclass(frozen=True, slots=True)
class Copy:
    """One expressway: whose file it is read from, how far it is shifted, and whether it is its eastbound half only."""

    path: Path
    shift: int = 0
    eastbound: bool = False


def relabelled(dataset: Dataset, xways: float | None) -> Dataset:
    """The data set as `xways` expressways; its counts and its files stay those of the distinct ones."""
    if xways is None or xways == dataset.xways:
        return dataset
    check_length(xways)
    if dataset.options.get("command") != "generate" or dataset.xways % 1:
        raise Refusal(
            f"{dataset.path} cannot be made into {xways:g} expressways: only whole ones from lrb generate have room "
            "between their numbers; leave out --xways, or generate a data set"
        )
    return replace(dataset, xways=xways, distinct=int(dataset.xways))


def dataset_label(dataset: Dataset) -> DatasetLabel:
    label: DatasetLabel = {
        "name": dataset.name,
        "identity": dataset.identity,
        "xways": dataset.xways,
        "seed": dataset.seed,
    }
    return label if dataset.distinct is None else {**label, "distinct": dataset.distinct}


def copies_of(dataset: Dataset) -> list[Copy]:
    """What each expressway is read from, by its number."""
    if dataset.distinct is None:
        return [Copy(path) for path in dataset.traffic.values()]
    half = math.floor(dataset.xways) if dataset.xways % 1 else None
    return [
        Copy(path, xway // dataset.distinct * dataset.distinct, xway == half) for xway, path in dataset.traffic.items()
    ]


def moved_reports(columns: Columns, copy: Copy) -> Columns:
    if copy.eastbound:
        columns = _taken(columns, columns["dir"] == spec.EAST)
    if not copy.shift:
        return columns
    return {
        **columns,
        "vehicle_id": columns["vehicle_id"] + np.int32(copy.shift * ID_BLOCK),
        "xway": columns["xway"] + np.int16(copy.shift),
    }


def moved_requests(columns: Columns, copy: Copy) -> Columns:
    """Requests with new numbers; those to the history keep the vehicle and the expressway that it knows."""
    if copy.eastbound:
        columns = _taken(columns, columns["vehicle_id"] % ID_BLOCK < ID_BLOCK // 2)
    if not copy.shift:
        return columns
    shift = copy.shift * ID_BLOCK
    of_copy = columns["kind"] == spec.BALANCE
    return {
        **columns,
        "vehicle_id": columns["vehicle_id"] + np.where(of_copy, np.int32(shift), np.int32(0)),
        "query_id": columns["query_id"] + np.int64(shift),
    }


def _taken(columns: Columns, rows: np.ndarray) -> Columns:
    return {name: column[rows] for name, column in columns.items()}
