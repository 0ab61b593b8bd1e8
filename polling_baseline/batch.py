"""Input and answers as columns: one name and one type for each field, wherever they travel."""

from __future__ import annotations

from collections.abc import Mapping
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


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """The form of one kind of answer, wherever answers travel: in tables, in memory, in `output.csv`.

    A line of `output.csv` has the kind's number, then the columns in their order, with Emit right after `second`.
    """

    name: str
    # Of each column in order, its numpy type.
    types: Mapping[str, str]

    @property
    def number(self) -> int:
        return spec.ANSWERS.index(self.name)

    @property
    def limit_s(self) -> int:
        return spec.DEADLINE_S[self.name]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.types)

    @property
    def fields(self) -> tuple[str, ...]:
        """What stands in a line of `output.csv`, by position."""
        after_second = self.columns.index("second") + 1
        return ("kind", *self.columns[:after_second], "emit", *self.columns[after_second:])

    @property
    def id(self) -> str:
        """The column that, with `second`, tells which input the answer belongs to."""
        return "query_id" if "query_id" in self.types else "vehicle_id"

    @property
    def values(self) -> tuple[str, ...]:
        """The one or two columns that say something."""
        return tuple(name for name in self.types if name not in ("second", self.id))


ANSWER_KINDS: Mapping[str, AnswerKind] = MappingProxyType(
    {
        name: AnswerKind(name, MappingProxyType(types))
        for name, types in {
            "toll": {"vehicle_id": "i4", "second": "i2", "lav": "i2", "toll": "i8"},
            "accident": {"second": "i2", "vehicle_id": "i4", "seg": "i2"},
            "balance": {"second": "i2", "result_second": "i2", "query_id": "i8", "balance": "i8"},
            "expenditure": {"second": "i2", "query_id": "i8", "tolls": "i8"},
            "travel_time": {"second": "i2", "query_id": "i8", "travel_s": "i8", "toll": "i8"},
        }.items()
    }
)


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of one kind, with the columns of that kind."""

    kind: str
    columns: Columns
    # By time.perf_counter, if the driver read them before the rest of their batch.
    read_at: float | None = None

    def __len__(self) -> int:
        return len(self.columns["second"])
