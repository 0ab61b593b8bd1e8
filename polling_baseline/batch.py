"""Input and answers as columns: one name and one type for each field, wherever they travel."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy.typing as npt
import pyarrow as pa

from polling_baseline import spec

# As narrow as the field's range allows; a second of input of many expressways is copied often.
INPUT_SCHEMA = pa.schema(
    [
        pa.field(column, column_type, nullable=False)
        for column, column_type in zip(
            spec.FIELDS.values(),
            [
                pa.int8(),  # kind
                pa.int16(),  # second
                pa.int32(),  # vehicle_id
                pa.int8(),  # speed_mph
                pa.int16(),  # xway
                pa.int8(),  # lane
                pa.int8(),  # dir
                pa.int8(),  # seg
                pa.int32(),  # position_ft
                pa.int64(),  # query_id
                pa.int8(),  # from_seg
                pa.int8(),  # to_seg
                pa.int8(),  # day_of_week
                pa.int16(),  # minute_of_day
                pa.int8(),  # day
            ],
            strict=True,
        )
    ]
)

Columns = dict[str, npt.NDArray[Any]]

REPORT_COLUMNS = ("second", "vehicle_id", "speed_mph", "xway", "lane", "dir", "seg", "position_ft")
REQUEST_COLUMNS = (
    "kind",
    "second",
    "vehicle_id",
    "xway",
    "query_id",
    "from_seg",
    "to_seg",
    "day_of_week",
    "minute_of_day",
    "day",
)


@dataclass(frozen=True, slots=True)
class Share:
    """What one worker gets of a batch: the expressways that are its own."""

    reports: Columns
    requests: Columns

    def __len__(self) -> int:
        return len(self.reports["second"]) + len(self.requests["second"])


@dataclass(frozen=True, slots=True)
class Batch:
    """The input of one or more whole seconds of one minute, sorted by second; fewer than 30 seconds."""

    seconds: range
    shares: tuple[Share, ...]

    def __len__(self) -> int:
        return sum(map(len, self.shares))


# The columns of each kind of answer, as `output.csv` has them but for the kind's number and Emit.
ANSWER_COLUMNS = MappingProxyType(
    {
        "toll": ("vehicle_id", "second", "lav", "toll"),
        "accident": ("second", "vehicle_id", "seg"),
        "balance": ("second", "result_second", "query_id", "balance"),
        "expenditure": ("second", "query_id", "tolls"),
        "travel_time": ("second", "query_id", "travel_s", "toll"),
    }
)


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of one kind, as ANSWER_COLUMNS has them."""

    kind: str
    columns: Columns

    def __len__(self) -> int:
        return len(self.columns["second"])
