"""A system's output file, as rows: any system's, so nothing is taken for granted but one answer per line."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from polling_baseline.batch import ANSWER_KINDS
from tests.support.tables.files import read_lines

KINDS = tuple(ANSWER_KINDS.values())
# Where VID or QID, Time and Emit stand in a line, by type; and the one or two values, 0 where there is but one.
ID = [kind.fields.index(kind.id) for kind in KINDS]
TIME, EMIT = ([kind.fields.index(name) for kind in KINDS] for name in ("second", "emit"))
VALUE_1 = [kind.fields.index(kind.values[0]) for kind in KINDS]
VALUE_2 = [kind.fields.index(kind.values[1]) if len(kind.values) > 1 else 0 for kind in KINDS]
FIELDS = [len(kind.fields) for kind in KINDS]
SECOND_US = 1_000_000
# The value of a LAV that is empty, as one reading of the specification has it where there is no data.
EMPTY = -(2**62)
BLANK, UNKNOWN, MALFORMED, LONGER = "blank", "unknown_type", "malformed", "extra_fields"
NOTES = (BLANK, UNKNOWN, MALFORMED, LONGER)


def received_of(spark: SparkSession, output: Path) -> DataFrame:
    """A row per line of the file, with a note on what is odd about it.

    `response_us` is Emit minus Time.  Where a type has one value only, the second one is 0.
    """
    first = F.get("field", F.lit(0))
    rows = (
        read_lines(spark, output)
        .select(F.col("value").alias("text"), F.split("value", ",").alias("field"))
        .withColumn("type", F.when(F.length(first) == 1, first.try_cast("int")))
        .select(
            F.monotonically_increasing_id().alias("line"),
            "text",
            F.when(F.col("type").between(0, len(KINDS) - 1), F.col("type")).cast("byte").alias("kind"),
            _field(ID).try_cast("long").alias("id"),
            _field(TIME).try_cast("int").alias("second"),
            F.when((F.col("type") == 0) & (F.trim(_field(VALUE_1)) == ""), EMPTY)
            .otherwise(_field(VALUE_1).try_cast("long"))
            .alias("value_1"),
            F.when(_of_type(VALUE_2) == 0, 0).otherwise(_field(VALUE_2).try_cast("long")).alias("value_2"),
            (_field(EMIT).try_cast("decimal(18,6)") * SECOND_US).cast("long").alias("emit_us"),
            (F.size("field") > _of_type(FIELDS)).alias("longer"),
        )
    )
    parts = ("id", "second", "value_1", "value_2", "emit_us")
    note = (
        F.when(F.trim("text") == "", BLANK)
        .when(F.isnull("kind"), UNKNOWN)
        .when(reduce(or_, map(F.isnull, parts)), MALFORMED)
        .when(F.col("longer"), LONGER)
    )
    response = F.col("emit_us") - F.col("second").cast("long") * SECOND_US
    return rows.select("line", "text", "kind", *parts[:-1], response.alias("response_us"), note.alias("note"))


def is_answer() -> Column:
    return F.isnull("note") | (F.col("note") == LONGER)


def answers_of(received: DataFrame) -> DataFrame:
    """The lines that are answers, those with fields too many included; none is taken leniently so far."""
    return received.filter(is_answer()).drop("note").withColumn("lenient", F.lit(0))


def _of_type(numbers: Sequence[int]) -> Column:
    return F.get(F.lit(list(numbers)), F.col("type"))


def _field(places: Sequence[int]) -> Column:
    return F.get("field", _of_type(places))
