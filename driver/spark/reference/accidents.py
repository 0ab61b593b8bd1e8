"""Rules 6 and 7: which vehicles stand, when that is an accident, and who has it ahead."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from driver.spark.reference.trips import dir_of, lane_of, minute_of, place_of, position_of, xway_of
from polling_baseline import spec


def stops_of(moves: DataFrame) -> DataFrame:
    """Rule 6: where and from when until when (inclusive) a vehicle stands; a vehicle's intervals never overlap."""
    vehicle = Window.partitionBy("vehicle_id").orderBy("second")

    def stood(periods_ago: int):  # type: ignore[no-untyped-def]
        ago = -periods_ago * spec.REPORT_PERIOD_S
        return F.count("*").over(vehicle.rangeBetween(ago, ago)) > 0

    # The first of the four reports need not come from where the one before it came from.
    four_reports = [stood(periods_ago) for periods_ago in range(1, spec.STOP_REPORTS - 1)]
    return (
        moves.filter("stands")
        .withColumns({f"stood_{number}": condition for number, condition in enumerate(four_reports, 1)})
        .filter(" AND ".join(f"stood_{number}" for number in range(1, spec.STOP_REPORTS - 1)))
        .filter(lane_of(F.col("spot")).isin(*spec.TRAVEL_LANES))
        .select(
            "vehicle_id",
            "spot",
            "second",
            # The next report, of whichever trip, speaks for itself.
            F.least(F.col("second") + spec.REPORT_PERIOD_S - 1, F.col("next_second") - 1).alias("until_second"),
        )
    )


def accidents_of(stops: DataFrame) -> DataFrame:
    """The minutes in which an accident holds at a spot, with the first and the last of its seconds there."""
    spot = F.col("spot")
    return (
        stops.withColumn("at", F.explode(F.sequence("second", "until_second")))
        .groupBy("spot", "at")
        .count()
        .filter(F.col("count") >= spec.ACCIDENT_VEHICLES)
        .groupBy("spot", minute_of(F.col("at")).alias("minute"))
        .agg(F.min("at").alias("first_second"), F.max("at").alias("last_second"))
        .select(
            xway_of(spot).alias("xway"),
            dir_of(spot).alias("dir"),
            F.floor(position_of(spot) / spec.SEGMENT_FT).cast("int").alias("seg"),
            lane_of(spot).alias("lane"),
            position_of(spot).alias("position_ft"),
            "minute",
            "first_second",
            "last_second",
        )
    )


def ahead_of(accidents: DataFrame, cleared_early: bool) -> DataFrame:
    """Rule 7: for each place and minute the segments of the accidents ahead, the nearest first.

    `cleared_early` is the lenient reading: it acts only as long as there is an accident in that minute as well.
    """
    held = accidents.select("xway", "dir", "seg", "minute").distinct()
    if cleared_early:
        held = held.join(held.withColumn("minute", F.col("minute") - 1), ["xway", "dir", "seg", "minute"], "left_semi")
    downstream = F.when(F.col("dir") == spec.EAST, 1).otherwise(-1)
    return (
        held.withColumn("distance", F.explode(F.sequence(F.lit(0), F.lit(spec.ALERT_SEGMENTS))))
        .withColumn("from_seg", F.col("seg") - downstream * F.col("distance"))
        .filter(F.col("from_seg").between(0, spec.SEGMENTS - 1))
        .groupBy(
            place_of(F.col("xway"), F.col("dir"), F.col("from_seg")).alias("place"),
            (F.col("minute") + 1).alias("minute"),
        )
        .agg(F.array_sort(F.collect_set(F.struct("distance", "seg")))["seg"].alias("ahead"))
    )
