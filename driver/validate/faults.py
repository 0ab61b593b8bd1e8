"""Why a verdict is what it is: each fault with the evidence that a person needs."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from driver.validate.copies import copied, original_id
from driver.validate.judge import Judgement
from driver.validate.received import answers_of
from driver.validate.reference import ACCIDENT, BALANCE, Reference, answer_line
from driver.validate.reference.packed import minute_of, place_of
from driver.validate.reference.trips import traffic_of
from driver.validate.tally import FAULTS, IDENTITY
from polling_baseline import spec

COLUMNS = ("answer", "fault", "time", "id", "expected", "received", "input", "cars", "lav", "accidents_ahead")
# A fault names so many lines at most.
MOST_TEXTS = 5


def first_faults(judgement: Judgement, count: int) -> DataFrame:
    """So many of each fault of each kind of answer, the earliest ones."""
    in_time = Window.partitionBy("kind", "fault").orderBy("second", "id")
    faults = _found(judgement).withColumn("number", F.row_number().over(in_time)).filter(F.col("number") <= count)
    return _with_evidence(judgement, faults.drop("number")).orderBy("kind", "fault", "second", "id").select(*COLUMNS)


def all_faults(judgement: Judgement) -> DataFrame:
    return _with_evidence(judgement, _found(judgement)).orderBy("second", "kind", "id", "fault").select(*COLUMNS)


def _found(judgement: Judgement) -> DataFrame:
    """A row per identity and fault."""
    named = F.filter(
        F.array(*[F.when(F.col(fault) > 0, F.lit(fault)) for fault in FAULTS]), lambda fault: fault.isNotNull()
    )
    return judgement.tallied.select(*IDENTITY, F.explode(named).alias("fault"))


def _with_evidence(judgement: Judgement, faults: DataFrame) -> DataFrame:
    reference = judgement.reference
    inputs = _inputs(reference)
    conditions = reference.conditions.drop("usual_toll")
    is_notification = F.col("kind") <= ACCIDENT
    return (
        faults.join(_together(_expected_texts(reference), "expected"), IDENTITY, "left")
        .join(_together(answers_of(judgement.received), "received"), IDENTITY, "left")
        .withColumn("input_kind", F.when(is_notification, spec.REPORT).otherwise(F.col("kind")))
        .withColumn("original_id", original_id(reference.dataset))
        .join(inputs, ["input_kind", "original_id", "second"], "left")
        .join(conditions, ["place", "minute"], "left")
        .select(
            "*",
            F.get(F.lit(list(spec.ANSWERS)), F.col("kind")).alias("answer"),
            F.col("second").alias("time"),
            F.array_join("ahead", " ").alias("accidents_ahead"),
        )
    )


def _together(texts: DataFrame, name: str) -> DataFrame:
    """The texts of one identity in one field."""
    shown = F.slice(F.array_sort(F.collect_list("text")), 1, MOST_TEXTS)
    return texts.groupBy(IDENTITY).agg(F.array_join(shown, " | ").alias(name))


def _expected_texts(reference: Reference) -> DataFrame:
    others = reference.expected.filter(F.col("kind") != BALANCE)
    balances = reference.balances.select(
        F.lit(BALANCE).cast("byte").alias("kind"),
        F.col("query_id").alias("id"),
        "second",
        F.format_string(
            "%d at ResultTime %d to %d", "balance", F.greatest("from_second", F.lit(0)), "until_second"
        ).alias("text"),
        F.col("home").alias("xway"),
    )
    balances = copied(reference.dataset, balances).drop("xway")
    return others.select(*IDENTITY, answer_line("Emit").alias("text")).union(balances)


def _inputs(reference: Reference) -> DataFrame:
    """All input lines, one per identity, with the place and minute of reports; those of the distinct expressways."""
    rows = traffic_of(reference.spark, reference.dataset, reference.seconds)
    is_report = F.col("kind") == spec.REPORT
    place = place_of(F.col("xway"), F.col("dir"), F.col("seg"))
    return rows.select(
        F.col("kind").cast("int").alias("input_kind"),
        F.when(is_report, F.col("vehicle_id")).otherwise(F.col("query_id")).cast("long").alias("original_id"),
        F.col("second").cast("int").alias("second"),
        F.concat_ws(",", *spec.FIELDS.values()).alias("input"),
        F.when(is_report, place).alias("place"),
        F.when(is_report, minute_of(F.col("second"))).alias("minute"),
    ).dropDuplicates(["input_kind", "original_id", "second"])
