"""Reports by vehicle, and what rules 1, 5 and 9 say of the trips they form."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

from driver.dataset.folder import Dataset
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA
from tests.support.tables.files import read_parquet
from tests.support.tables.packed import masked, minute_of, packed, part, place_of_report, second_of, slot_of

# So many reports are sorted in memory at a time.
PARTITION_REPORTS = 1_500_000


def traffic_of(spark: SparkSession, dataset: Dataset, seconds: range) -> DataFrame:
    # Of a data set's expressways, those of which there is a copy.
    rows = read_parquet(spark, set(dataset.traffic.values()), INPUT_SCHEMA)
    return rows.filter(F.col("second").between(seconds.start, seconds.stop - 1))


def partitions_of(dataset: Dataset) -> int:
    return dataset.counts["reports"] // PARTITION_REPORTS


def reports_of(spark: SparkSession, dataset: Dataset, seconds: range) -> DataFrame:
    """All reports of these seconds, as `vehicle_id` and `report`; a vehicle's in one partition."""
    partitions = max(spark.sparkContext.defaultParallelism, partitions_of(dataset))
    return (
        traffic_of(spark, dataset, seconds)
        .filter(F.col("kind") == spec.REPORT)
        .select("vehicle_id", packed().alias("report"))
        .repartition(partitions, "vehicle_id")
    )


def by_vehicle() -> WindowSpec:
    return Window.partitionBy("vehicle_id").orderBy("report")


def steps_of(reports: DataFrame) -> DataFrame:
    """Rule 1: each report with the one `before` it in its trip, NULL if it starts one; sorted by vehicle and trip.

    `mixed` says that its vehicle has trips of several phases: they can come between one another.
    """
    vehicle = by_vehicle()
    whole = vehicle.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    first, last = (part(end("report").over(whole), "phase") for end in (F.min, F.max))
    previous, report = F.col("previous"), F.col("report")
    return (
        reports.withColumns({"previous": F.lag("report").over(vehicle), "mixed": first != last})
        .withColumn("before", F.when(slot_of(previous) == slot_of(report) - 1, previous))
        .drop("previous")
    )


def differ(names: tuple[str, ...]) -> Column:
    """Whether a report and the one before it differ in any of these parts; NULL if there is none before."""
    return masked(F.col("report").bitwiseXOR(F.col("before")), names) != 0


def crossings_of(steps: DataFrame) -> DataFrame:
    """Rule 5: the reports that are to be notified, and rule 9: the second at which the trip has left the segment."""
    vehicle, report = by_vehicle(), F.col("report")
    # The next trip begins with a report that has none before it.
    leaves = F.lead("before").over(vehicle).isNotNull()
    return (
        steps.filter(F.isnull("before") | differ(("seg",)))
        .withColumn("left_second", F.when(leaves, second_of(F.lead("report").over(vehicle))))
        .filter(part(report, "lane") != spec.EXIT_LANE)
        .select(
            "vehicle_id",
            second_of(report).alias("second"),
            place_of_report(report).alias("place"),
            minute_of(second_of(report)).alias("minute"),
            "left_second",
        )
    )
