"""The specification's lenient readings: an answer that one of them allows counts as the right one, and apart."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from driver.validate.reading import Reading
from polling_baseline import spec
from tests.support.tables import ACCIDENT, BALANCE, EXPENDITURE, TOLL, TRAVEL_TIME, Reference
from tests.support.tables.copies import original_id
from tests.support.tables.received import EMPTY

WIDE = "decimal(28,0)"


def read_leniently(reference: Reference, answers: DataFrame, reading: Reading) -> DataFrame:
    """The answers, with the expected values where a reading other than ours allows what came; `lenient` is 1 there."""
    no_data = (F.col("lav") == spec.NO_LAV) & F.col("value_1").isin(0, EMPTY) & (F.col("value_2") == F.col("toll"))
    notified = reference.notified.withColumnRenamed("vehicle_id", "original_id")
    tolls = notified.select("original_id", "second", "lav", "toll")
    alerts = notified.filter("ahead IS NOT NULL").select("original_id", "second", "ahead")
    nearest = F.col("ahead")[0]
    in_range = F.array_contains(F.col("ahead").cast("array<bigint>"), F.col("value_1")) & (F.col("value_1") != nearest)
    journeys = reference.travel_times.select(
        F.col("query_id").alias("original_id"), "second", "travel_s", "travel_toll", "from_seg", "to_seg"
    ).dropDuplicates(["original_id", "second"])
    original = answers.withColumn("original_id", original_id(reference.dataset))
    return reduce(
        DataFrame.unionByName,
        [
            answers.filter(F.col("kind").isin(BALANCE, EXPENDITURE)),
            _replaced(original, TOLL, tolls, no_data, F.col("lav"), F.col("toll")),
            _replaced(original, ACCIDENT, alerts, in_range, nearest, F.lit(0)),
            _replaced(original, TRAVEL_TIME, journeys, _near(reading), F.col("travel_s"), F.col("travel_toll")),
        ],
    )


def _replaced(
    answers: DataFrame, kind: int, wanted: DataFrame, accepted: Column, value_1: Column, value_2: Column
) -> DataFrame:
    joined = answers.filter(F.col("kind") == kind).join(wanted, ["original_id", "second"], "left")
    accept = F.coalesce(accepted, F.lit(False))
    return joined.withColumn("accept", accept).select(
        *[name for name in answers.columns if name not in ("original_id", "value_1", "value_2", "lenient")],
        F.when(F.col("accept"), value_1).otherwise(F.col("value_1")).cast("long").alias("value_1"),
        F.when(F.col("accept"), value_2).otherwise(F.col("value_2")).cast("long").alias("value_2"),
        F.col("accept").cast("int").alias("lenient"),
    )


def _near(reading: Reading) -> Column:
    """Rule 12's tolerance: 1 s + 0.1 %, or the minute below or above; a toll within 1 per segment."""
    # A system may say anything; no number that it says may overflow.
    travel_s, given_s, toll = F.col("travel_s"), F.col("value_1").cast(WIDE), F.col("value_2").cast(WIDE)
    near = (
        F.abs(60 * given_s - travel_s) < 60
        if reading.in_minutes
        else 1000 * F.abs(given_s - travel_s) <= 1000 + travel_s
    )
    fair = F.abs(toll - F.col("travel_toll")) <= F.abs(F.col("from_seg") - F.col("to_seg"))
    unknown = travel_s == spec.NO_TRAVEL_TIME
    differs = (given_s != travel_s) | (toll != F.col("travel_toll"))
    return near & fair & differs & ~unknown
