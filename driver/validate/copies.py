"""The judge's side of copies (see driver.dataset.relabel): only the distinct expressways are computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import ID_BLOCK, Dataset
from polling_baseline.batch import Columns


def shifts_of(
    dataset: Dataset, xway: npt.NDArray[Any], id: npt.NDArray[Any]
) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
    """How far each copy's expressways are shifted, and which of these it has."""
    # The half of an expressway is its eastbound one.
    eastbound = id % ID_BLOCK < ID_BLOCK // 2
    for shift in range(0, math.ceil(dataset.xways), dataset.distinct or math.ceil(dataset.xways)):
        yield shift, (xway + shift < math.floor(dataset.xways)) | ((xway + shift < dataset.xways) & eastbound)


def copied(dataset: Dataset, rows: Columns) -> Iterator[Columns]:
    """What is right for every copy, from what is for the distinct expressways; by `id` and `xway`."""
    if dataset.distinct is None:
        yield rows
        return
    for shift, there in shifts_of(dataset, rows["xway"], rows["id"]):
        copy = {name: column[there] for name, column in rows.items()}
        yield {**copy, "id": copy["id"].astype(np.int64) + shift * ID_BLOCK, "xway": copy["xway"] + shift}


def count_copies(dataset: Dataset, xway: npt.NDArray[Any], id: npt.NDArray[Any]) -> int:
    if dataset.distinct is None:
        return len(id)
    return sum(int(there.sum()) for _, there in shifts_of(dataset, xway, id))


def original_ids(dataset: Dataset, id: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The VID or QID that each of these is a copy of."""
    return id if dataset.distinct is None else id % (dataset.distinct * ID_BLOCK)
