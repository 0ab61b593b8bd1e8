"""A second opinion on the judge: the right answers once more, as tables of Spark, and a verdict from them.

It shares numbers, formats and the journeys of rule 12 with the judge, and no other rule.  Every table is a DataFrame
that Spark computes when it is asked for; what several of them rest on is kept once computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from driver.dataset.folder import Dataset
from driver.spark.units import refusing
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, AnswerKind
from tests.support.tables.accidents import accidents_of, ahead_of, stops_of
from tests.support.tables.copies import copied
from tests.support.tables.money import assessments_of, balances_of, expenditures_of
from tests.support.tables.packed import xway_at
from tests.support.tables.statistics import averages_of, statistics_of
from tests.support.tables.travel import travel_times_of
from tests.support.tables.trips import crossings_of, partitions_of, reports_of, steps_of, traffic_of

TOLL, ACCIDENT, BALANCE, EXPENDITURE, TRAVEL_TIME = range(len(spec.ANSWERS))


@dataclass(frozen=True)
class Reference:
    """What is right for the input of these seconds, as if there were no other."""

    spark: SparkSession
    dataset: Dataset
    seconds: range
    accidents_end_early: bool = False
    kept: list[DataFrame] = field(default_factory=list, compare=False)

    def keep(self, table: DataFrame) -> DataFrame:
        self.kept.append(table.persist(StorageLevel.MEMORY_AND_DISK))
        return table

    def measure(self, table: DataFrame) -> DataFrame:
        """Keep a table, and compute it at once: Spark then knows its size, and sends it to all tasks if it is small."""
        self.keep(table).count()
        return table

    def with_accidents_that_end_early(self) -> Reference:
        """The same by another reading of how long accidents act."""
        other = replace(self, accidents_end_early=True)
        # What does not depend on that is not computed again.
        for name in ("steps", "averages", "statistics", "accidents", "requests", "expenditures", "travel_times"):
            other.__dict__[name] = getattr(self, name)
        return other

    @cached_property
    def steps(self) -> DataFrame:
        return self.keep(steps_of(reports_of(self.spark, self.dataset, self.seconds)))

    @cached_property
    def averages(self) -> DataFrame:
        return averages_of(self.steps)

    @cached_property
    def statistics(self) -> DataFrame:
        """Cars of the minute before, Lav and toll by place and minute, as if there were no accidents."""
        return self.keep(statistics_of(self.averages))

    @cached_property
    def accidents(self) -> DataFrame:
        return self.keep(accidents_of(stops_of(self.steps)))

    @cached_property
    def conditions(self) -> DataFrame:
        """The statistics, with the segments of the accidents ahead; where either is known."""
        ahead = ahead_of(self.accidents, self.accidents_end_early)
        both = self.statistics.withColumnRenamed("toll", "usual_toll").join(ahead, ["place", "minute"], "full")
        return self.measure(both)

    @cached_property
    def notified(self) -> DataFrame:
        """Rules 4, 5 and 8: a row per toll notification, with the accidents ahead if there are any."""
        toll = F.when(F.isnull("ahead"), F.coalesce("usual_toll", F.lit(0))).otherwise(0)
        return self.keep(
            crossings_of(self.steps)
            .join(self.conditions, ["place", "minute"], "left")
            .select(
                "vehicle_id",
                "second",
                "place",
                "left_second",
                F.coalesce("cars", F.lit(0)).alias("cars"),
                F.coalesce("lav", F.lit(spec.NO_LAV)).alias("lav"),
                toll.alias("toll"),
                "ahead",
            )
        )

    @cached_property
    def assessments(self) -> DataFrame:
        return assessments_of(self.notified)

    @cached_property
    def requests(self) -> DataFrame:
        """All requests but those ignored, with the expressway in whose file they stand as `home`."""
        home = F.regexp_extract("_metadata.file_name", r"(\d+)", 1).cast("int")
        return self.measure(
            traffic_of(self.spark, self.dataset, self.seconds)
            .filter(~F.col("kind").isin(spec.REPORT, *self.dataset.ignored))
            .select(
                *[F.col(name).cast("int").alias(name) for name in ("kind", "second", "vehicle_id", "xway", "from_seg")],
                *[F.col(name).cast("int").alias(name) for name in ("to_seg", "day_of_week", "minute_of_day", "day")],
                "query_id",
                home.alias("home"),
            )
        )

    def of_kind(self, kind: int) -> DataFrame:
        return self.requests.filter(F.col("kind") == kind)

    @cached_property
    def balances(self) -> DataFrame:
        return balances_of(self.of_kind(spec.BALANCE), self.assessments)

    @cached_property
    def expenditures(self) -> DataFrame:
        return self.keep(expenditures_of(self.spark, self.dataset, self.of_kind(spec.EXPENDITURE)))

    @cached_property
    def travel_times(self) -> DataFrame:
        return self.keep(travel_times_of(self.dataset, self.of_kind(spec.TRAVEL_TIME)))

    @cached_property
    def expected(self) -> DataFrame:
        """A row per answer: kind, id (VID or QID), second, its two values, and the expressway it belongs to.

        A balance has many right values; its row has the VID instead, and 0.  All other tables are about the distinct
        expressways of a relabelled data set; this one is about its copies.
        """
        xway = xway_at(F.col("place"))
        alerts = self.notified.filter("ahead IS NOT NULL")
        answers = reduce(
            DataFrame.union,
            [
                _answers(self.notified, TOLL, "vehicle_id", F.col("lav"), F.col("toll"), xway),
                _answers(alerts, ACCIDENT, "vehicle_id", F.col("ahead")[0], F.lit(0), xway),
                _answers(self.of_kind(spec.BALANCE), BALANCE, "query_id", F.col("vehicle_id"), F.lit(0)),
                _answers(self.expenditures, EXPENDITURE, "query_id", F.col("tolls"), F.lit(0)),
                _answers(self.travel_times, TRAVEL_TIME, "query_id", F.col("travel_s"), F.col("travel_toll")),
            ],
        )
        return copied(self.dataset, answers)


def _answers(
    table: DataFrame, kind: int, id: str, value: Column, second_value: Column, xway: Column | None = None
) -> DataFrame:
    return table.select(
        F.lit(kind).cast("byte").alias("kind"),
        F.col(id).cast("long").alias("id"),
        F.col("second").cast("int").alias("second"),
        value.cast("long").alias("value_1"),
        second_value.cast("long").alias("value_2"),
        (F.col("home") if xway is None else xway).alias("xway"),
    )


def answer_line(emit: str | Column) -> Column:
    """A row of `Reference.expected` as a line of an output file, but for balances."""
    at = F.lit(emit) if isinstance(emit, str) else emit

    def line(kind: AnswerKind) -> Column:
        values = dict(zip(kind.values, ("value_1", "value_2"), strict=False))
        columns = {"second": "second", kind.id: "id", **values}
        fields = (at if name == "emit" else F.col(columns[name]).cast("string") for name in kind.fields[1:])
        return F.concat_ws(",", F.lit(str(kind.number)), *fields)

    others = [kind for kind in ANSWER_KINDS.values() if kind.number != BALANCE]
    return F.coalesce(*[F.when(F.col("kind") == kind.number, line(kind)) for kind in others])


@contextmanager
def reference(spark: SparkSession, dataset: Dataset, seconds: range) -> Iterator[Reference]:
    """The reference for a part of a data set; what it kept in memory is let go in the end."""
    reference = Reference(spark, dataset, seconds)
    # The more there is, the more parts it is moved in, so that each fits into memory.
    parts = max(int(spark.conf.get("spark.sql.shuffle.partitions") or 1), partitions_of(dataset))
    spark.conf.set("spark.sql.shuffle.partitions", parts)
    # What is kept is read twice or thrice: compressing it would cost more than it saves.
    spark.conf.set("spark.sql.inMemoryColumnarStorage.compressed", "false")
    # A vehicle's reports stay in one partition when they are kept: nothing that goes by vehicle moves them again.
    spark.conf.set("spark.sql.optimizer.canChangeCachedPlanOutputPartitioning", "false")
    try:
        with refusing():
            yield reference
    finally:
        # What rests on another table goes first, or Spark would plan it anew.
        for table in reversed(reference.kept):
            table.unpersist()
