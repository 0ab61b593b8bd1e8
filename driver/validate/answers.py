"""The reference's answers and the tables they rest on, as files for people who debug an engine."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from driver.spark.java import path_for_java
from driver.validate.reference import BALANCE, Reference, answer_line
from driver.validate.reference.accidents import stops_of
from driver.validate.reference.packed import SPOT, dir_at, part, seg_at, xway_at
from polling_baseline import spec


def output_lines(reference: Reference, xways: Collection[int] | None) -> DataFrame:
    """The lines of an output file by Time, type and VID or QID; a balance is as of its request."""
    at_once = F.format_string("%d.000", "second")
    order = ["second", "kind", "id", "value_1", "value_2"]
    answers = reference.expected.filter(F.col("kind") != BALANCE).select(
        *order, "xway", answer_line(at_once).alias("line")
    )
    requests = reference.of_kind(spec.BALANCE).select("second", "query_id", "vehicle_id", "home")
    latest = reference.balances.filter("until_second = second").drop("home")
    second = F.col("second").cast("string")
    line = F.concat_ws(",", F.lit("2"), second, at_once, second, "query_id", F.col("balance").cast("string"))
    balances = requests.join(latest, ["second", "query_id", "vehicle_id"]).select(
        "second", F.lit(BALANCE).alias("kind"), "query_id", "vehicle_id", "balance", "home", line
    )
    return _chosen(answers.union(balances), xways).orderBy(order).select("line")


def balance_ranges(reference: Reference, xways: Collection[int] | None) -> DataFrame:
    """Time, QID, VID, first and last ResultTime, and the balance that is right for those."""
    columns = ["second", "query_id", "vehicle_id", "from_second", "until_second", "balance"]
    ranges = _chosen(reference.balances.withColumnRenamed("home", "xway"), xways)
    return ranges.select(columns).orderBy(columns)


def write_tables(reference: Reference, folder: Path) -> None:
    """What the answers rest on, a folder of Parquet for each table; one that exists is replaced."""
    place = {"xway": xway_at(F.col("place")), "dir": dir_at(F.col("place")), "seg": seg_at(F.col("place"))}
    spot = {name: part(F.col("spot"), name) for name in SPOT}
    tables = {
        "segment_minute": reference.statistics.withColumns(place).select(*place, "minute", "cars", "lav", "toll"),
        "stop": stops_of(reference.steps).withColumns(spot).select("vehicle_id", *spot, "second", "until_second"),
        "accident": reference.accidents,
        "assessment": reference.assessments,
    }
    for name, table in tables.items():
        table.write.mode("overwrite").parquet(path_for_java(folder / name))


def _chosen(table: DataFrame, xways: Collection[int] | None) -> DataFrame:
    return table if xways is None else table.filter(F.col("xway").isin(*xways))
