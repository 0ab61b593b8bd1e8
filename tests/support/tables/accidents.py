"""Rules 6 and 7: which vehicles stand, when that is an accident, and who has it ahead."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from polling_baseline import spec
from tests.support.tables.packed import SPOT, masked, minute_of, part, place_of, second_of, slot_of
from tests.support.tables.trips import by_vehicle, differ


def stops_of(steps: DataFrame) -> DataFrame:
    """Rule 6: where and from when until when (inclusive) a vehicle stands; a vehicle's intervals never overlap."""
    report = F.col("report")
    # Of four reports from one spot the first need not come from where the one before it came from.
    standing = spec.STOP_REPORTS - 2
    stood_before = slot_of(F.lag("report", standing).over(by_vehicle())) == slot_of(report) - standing
    stops = (
        steps.filter(~differ(SPOT))
        .withColumn("stops", stood_before)
        .filter("stops")
        .filter(part(report, "lane").isin(*spec.TRAVEL_LANES))
        .select("vehicle_id", "mixed", masked(report, SPOT).alias("spot"), second_of(report).alias("second"))
    )
    columns = ["vehicle_id", "spot", "second", _until(F.lit(None).cast("int")).alias("until_second")]
    return stops.filter("NOT mixed").select(*columns).union(_cut_short(stops.filter("mixed"), steps))


def _cut_short(stops: DataFrame, steps: DataFrame) -> DataFrame:
    """The next report, of whichever trip, speaks for itself."""
    reports = steps.filter("mixed").select(F.col("vehicle_id").alias("id"), second_of(F.col("report")).alias("at"))
    soon = (F.col("at") > F.col("second")) & (F.col("at") < F.col("second") + spec.REPORT_PERIOD_S)
    return (
        stops.join(reports, (F.col("id") == F.col("vehicle_id")) & soon, "left")
        .groupBy("vehicle_id", "spot", "second")
        .agg(_until(F.min("at")).alias("until_second"))
    )


def _until(next_second: Column) -> Column:
    return F.least(F.col("second") + spec.REPORT_PERIOD_S - 1, next_second - 1)


def accidents_of(stops: DataFrame) -> DataFrame:
    """The minutes in which an accident holds at a spot, with the first and the last of its seconds there."""
    spot, minute = F.col("spot"), F.col("minute")
    in_time = Window.partitionBy("spot").orderBy("at")
    arrives = F.struct(F.col("second").alias("at"), F.lit(1).alias("change"))
    leaves = F.struct((F.col("until_second") + 1).alias("at"), F.lit(-1).alias("change"))
    minutes = F.sequence(minute_of(F.col("at")), minute_of(F.col("until_second")))
    return (
        stops.select("spot", F.inline(F.array(arrives, leaves)))
        .groupBy("spot", "at")
        .agg(F.sum("change").alias("change"))
        .select(
            "spot",
            "at",
            F.sum("change").over(in_time).alias("vehicles"),
            (F.lead("at").over(in_time) - 1).alias("until_second"),
        )
        .filter(F.col("vehicles") >= spec.ACCIDENT_VEHICLES)
        .withColumn("minute", F.explode(minutes))
        .groupBy("spot", "minute")
        .agg(
            F.min(F.greatest("at", (minute - 1) * spec.MINUTE_S)).alias("first_second"),
            F.max(F.least("until_second", minute * spec.MINUTE_S - 1)).alias("last_second"),
        )
        .select(
            *[part(spot, name).alias(name) for name in ("xway", "dir")],
            F.floor(part(spot, "position_ft") / spec.SEGMENT_FT).cast("int").alias("seg"),
            *[part(spot, name).alias(name) for name in ("lane", "position_ft")],
            "minute",
            "first_second",
            "last_second",
        )
    )


def ahead_of(accidents: DataFrame, end_early: bool) -> DataFrame:
    """Rule 7: for each place and minute the segments of the accidents ahead, the nearest first.

    Where accidents end early, it acts only as long as there is an accident in that minute as well.
    """
    held = accidents.select("xway", "dir", "seg", "minute").distinct()
    if end_early:
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
