"""Reports by vehicle, and what rules 1, 5, 6 and 9 say of the trips they form.

A `spot` is a report's XWay, Lane, Dir and Pos in one number, a `place` its XWay, Dir and Seg: what is compared and
grouped by as one is kept as one.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from driver.dataset import Dataset
from polling_baseline import spec

POSITION_BITS, DIR_BITS, LANE_BITS = 20, 1, 3
# So many reports are sorted in memory at a time.
PARTITION_REPORTS = 1_500_000


def reports_of(spark: SparkSession, dataset: Dataset, seconds: range) -> DataFrame:
    """All reports of these seconds, a vehicle's in one partition."""
    partitions = max(spark.sparkContext.defaultParallelism, dataset.counts["reports"] // PARTITION_REPORTS)
    return (
        traffic_of(spark, dataset, seconds)
        .filter(F.col("kind") == spec.REPORT)
        .select(
            "vehicle_id",
            F.col("second").cast("int").alias("second"),
            "speed_mph",
            "seg",
            spot().alias("spot"),
        )
        .repartition(partitions, "vehicle_id")
    )


def traffic_of(spark: SparkSession, dataset: Dataset, seconds: range) -> DataFrame:
    files = map(str, dataset.original.traffic.values())
    return spark.read.parquet(*files).filter(F.col("second").between(seconds.start, seconds.stop - 1))


def spot() -> Column:
    where = F.col("xway").cast("long")
    for name, bits in (("lane", LANE_BITS), ("dir", DIR_BITS), ("position_ft", POSITION_BITS)):
        where = where * (1 << bits) + F.col(name)
    return where


def position_of(spot: Column) -> Column:
    return (spot % (1 << POSITION_BITS)).cast("int")


def dir_of(spot: Column) -> Column:
    return (F.shiftright(spot, POSITION_BITS) % (1 << DIR_BITS)).cast("int")


def lane_of(spot: Column) -> Column:
    return (F.shiftright(spot, POSITION_BITS + DIR_BITS) % (1 << LANE_BITS)).cast("int")


def xway_of(spot: Column) -> Column:
    return F.shiftright(spot, POSITION_BITS + DIR_BITS + LANE_BITS).cast("int")


def place_of(xway: Column, dir: Column, seg: Column) -> Column:
    return (xway.cast("int") * 2 + dir) * spec.SEGMENTS + seg


def xway_at(place: Column) -> Column:
    return F.floor(place / (2 * spec.SEGMENTS)).cast("int")


def dir_at(place: Column) -> Column:
    return (F.floor(place / spec.SEGMENTS) % 2).cast("int")


def seg_at(place: Column) -> Column:
    return place % spec.SEGMENTS


def minute_of(second: Column) -> Column:
    return (F.floor(second / spec.MINUTE_S) + 1).cast("int")


def moves_of(reports: DataFrame) -> DataFrame:
    """The reports that start a trip, come from another segment than the one before, or from the very same spot."""
    vehicle = Window.partitionBy("vehicle_id").orderBy("second")
    # Rule 1: the report before this one in its trip is the one of exactly 30 s ago, whatever came between.
    before = vehicle.rangeBetween(-spec.REPORT_PERIOD_S, -spec.REPORT_PERIOD_S)
    return (
        reports.withColumns(
            {
                "seg_before": F.max("seg").over(before),
                "spot_before": F.max("spot").over(before),
                "next_second": F.lead("second").over(vehicle),
            }
        )
        .select(
            "vehicle_id",
            "second",
            "seg",
            "spot",
            "next_second",
            F.isnull("seg_before").alias("starts"),
            (F.isnull("seg_before") | (F.col("seg") != F.col("seg_before"))).alias("enters"),
            F.coalesce(F.col("spot") == F.col("spot_before"), F.lit(False)).alias("stands"),
        )
        .filter("enters OR stands")
    )


def crossings_of(moves: DataFrame) -> DataFrame:
    """Rule 5: the reports that are to be notified, and rule 9: the second at which the trip has left the segment."""
    trip = Window.partitionBy("vehicle_id", F.col("second") % spec.REPORT_PERIOD_S).orderBy("second")
    return (
        moves.filter("enters")
        .withColumn("left_second", F.when(~F.lead("starts").over(trip), F.lead("second").over(trip)))
        .filter(lane_of(F.col("spot")) != spec.EXIT_LANE)
        .select(
            "vehicle_id",
            "second",
            place_of(xway_of(F.col("spot")), dir_of(F.col("spot")), F.col("seg")).alias("place"),
            minute_of(F.col("second")).alias("minute"),
            "left_second",
        )
    )
