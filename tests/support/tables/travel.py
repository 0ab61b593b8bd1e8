"""Rule 12: journeys through the history, all of one expressway and direction together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from driver.dataset.folder import Dataset
from driver.validate.reference.travel import averages, drive
from polling_baseline import spec


def travel_times_of(dataset: Dataset, requests: DataFrame) -> DataFrame:
    """The requests with their `travel_s` and `travel_toll`."""
    schema = f"{requests._jdf.schema().toDDL()}, travel_s bigint, travel_toll bigint"
    return requests.groupBy("xway", F.col("from_seg") < F.col("to_seg")).applyInArrow(
        _answer(dataset.segment_history), schema
    )


def _answer(files: Sequence[Path]) -> Callable[[pa.Table], pa.Table]:
    def answer(requests: pa.Table) -> pa.Table:
        column = {name: requests[name].to_numpy().astype(np.int64) for name in requests.column_names}
        direction = spec.EAST if column["from_seg"][0] < column["to_seg"][0] else spec.WEST
        history = averages(files, int(column["xway"][0]), direction)
        travel_s, toll = drive(history, direction, column)
        return requests.append_column("travel_s", pa.array(travel_s)).append_column("travel_toll", pa.array(toll))

    return answer
