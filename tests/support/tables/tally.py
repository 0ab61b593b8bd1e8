"""Right or wrong, early or late: a system's answers against the reference's, counted.

Faults are counted as driver/validate/tally.py says, by tables instead of arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from driver.run.limits import Limits
from driver.run.verdict import FAULTS, AnswerVerdict
from driver.validate.reading import Reading
from polling_baseline import spec
from tests.support.tables import Reference
from tests.support.tables.copies import original_id
from tests.support.tables.received import SECOND_US

COUNTS = ("expected", "received", *FAULTS, "lenient")
PER_MILLE = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}
IDENTITY = ["kind", "id", "second"]
JUDGED = [*IDENTITY, "value_1", "value_2", "response_us", "lenient"]


def is_late(limits: Limits) -> Column:
    limit_us = F.get(F.lit([round(limits[kind] * SECOND_US) for kind in spec.ANSWERS]), F.col("kind"))
    return F.col("response_us") > limit_us


def tally(expected: DataFrame, answers: DataFrame, xways: Collection[int] | None, limits: Limits) -> DataFrame:
    """A row per identity: COUNTS, and the response time of the first answer.

    With `xways`, only what those expressways expect counts, and what no expressway at all does.
    """
    response = F.col("response_us")
    asked = [F.lit(1), F.lit(True) if xways is None else F.col("xway").isin(*xways), *map(F.lit, (0, 0, 0, 0))]
    came = [
        F.lit(0),
        F.lit(False),
        F.lit(1),
        is_late(limits).cast("int"),
        (response < 0).cast("int"),
        F.col("lenient"),
    ]
    names = ("expected", "chosen", "received", "late", "early", "lenient")
    values = [*IDENTITY, "value_1", "value_2"]
    rows = expected.select(*values, *_named(names, asked), F.lit(None).cast("long").alias("response_us")).union(
        answers.select(*values, *_named(names, came), "response_us")
    )
    sums = [F.sum(name).alias(name) for name in names if name != "chosen"]
    rest = [F.max("chosen").alias("chosen"), F.min("response_us").alias("response_us")]
    # All of an identity in one place: neither of the two sums moves rows again.
    rows = rows.repartition(*IDENTITY)
    by_value = rows.groupBy(values).agg(*sums, *rest).withColumn("right", F.least("expected", "received"))
    return _faults(by_value.groupBy(IDENTITY).agg(*sums, *rest, F.sum("right").alias("right")))


def _faults(by_identity: DataFrame) -> DataFrame:
    given = F.least("expected", "received")
    asked = F.col("expected") > 0
    return by_identity.filter("chosen OR expected = 0").select(
        *IDENTITY,
        "expected",
        "received",
        (F.col("expected") - given).alias("missing"),
        F.when(asked, 0).otherwise(F.col("received")).alias("extra"),
        F.when(asked, F.col("received") - given).otherwise(0).alias("duplicate"),
        (given - F.col("right")).alias("wrong"),
        *[F.when(asked, F.col(name)).otherwise(0).alias(name) for name in ("late", "early", "lenient")],
        F.when(asked, F.col("response_us")).alias("response_us"),
    )


def _named(names: Collection[str], columns: Collection[Column]) -> list[Column]:
    return [column.alias(name) for name, column in zip(names, columns, strict=True)]


def by_response(tallied: DataFrame) -> DataFrame:
    """COUNTS by kind of answer and response time, and how many identities were `answered` in that time."""
    sums = [F.sum(name).alias(name) for name in COUNTS]
    return tallied.groupBy("kind", "response_us").agg(F.count("response_us").alias("answered"), *sums)


def answer_verdicts(counted: DataFrame) -> dict[str, AnswerVerdict]:
    """What `verdict.json` says of each kind of answer, from a table like that of `by_response`."""
    in_order = Window.partitionBy("kind").orderBy("response_us")
    reached, whole = F.sum("answered").over(in_order), F.sum("answered").over(Window.partitionBy("kind"))
    rows = (
        counted.withColumns({"reached": reached, "whole": whole})
        .groupBy("kind")
        .agg(
            *[F.sum(name).alias(name) for name in COUNTS],
            # The smallest response time that so many do not exceed.
            *[
                F.min(F.when(F.col("reached") * 1000 >= F.col("whole") * share, F.col("response_us"))).alias(
                    f"at_{share}"
                )
                for share in PER_MILLE.values()
            ],
            F.max("response_us").alias("at_1000"),
        )
        .collect()
    )
    by_kind = {spec.ANSWERS[row.kind]: row.asDict() for row in rows}
    return {kind: _answer_verdict(by_kind.get(kind, {})) for kind in spec.ANSWERS}


def _answer_verdict(row: dict[str, Any]) -> AnswerVerdict:
    times = {name: row.get(f"at_{share}") for name, share in {**PER_MILLE, "max": 1000}.items()}
    counts = {name: int(row.get(name) or 0) for name in COUNTS}
    seconds = {name: None if time is None else time / SECOND_US for name, time in times.items()}
    return cast(AnswerVerdict, {**counts, **seconds})


def count_faults(answers: Mapping[str, AnswerVerdict]) -> int:
    return sum(counts[fault] for counts in answers.values() for fault in FAULTS)


def judged_balances(reference: Reference, balances: DataFrame, reading: Reading) -> DataFrame:
    """Balances as `tally` wants them: one that is right for a request has the request's VID as its value, and 0.

    Two requests of one identity may both be content with an answer; equal answers go to them in turn.
    """
    contents = Window.partitionBy(*IDENTITY, "vehicles").orderBy("response_us", "line")
    turn = F.least(F.row_number().over(contents), F.size("vehicles")) - 1
    return (
        _with_vehicles(reference, balances, reading.lenient)
        .withColumn("turn", turn)
        .withColumns(
            {
                "value_1": F.coalesce(F.get("vehicles", F.col("turn")).cast("long"), F.lit(-1)),
                "value_2": F.lit(0).cast("long"),
            }
        )
        .select(JUDGED)
    )


def _with_vehicles(reference: Reference, answers: DataFrame, lenient: bool) -> DataFrame:
    """Rule 10: each balance with the `vehicles` that asked and that it is right for."""
    requests = reference.of_kind(spec.BALANCE)
    requests = requests.select(F.col("query_id").alias("original_id"), "second", "vehicle_id").distinct()
    charged = reference.assessments.withColumnRenamed("toll", "charge")
    answer = ["line", *IDENTITY, "response_us"]
    result, balance, oldest = F.col("value_1"), F.col("value_2"), F.col("second") - spec.BALANCE_AGE_S
    at = F.col("assessed_second")

    def charged_until(second: Column) -> Column:
        return F.coalesce(F.sum(F.when(at <= second, F.col("charge"))), F.lit(0))

    is_right = result.between(oldest, F.col("second")) & (charged_until(result) == balance)
    # The last assessment of its time: what was charged has not changed from then until it may be told.
    is_last = (F.coalesce(F.max((at == result).cast("int")), F.lit(0)) > 0) | (result == 0)
    is_unchanged = charged_until(F.greatest(result, oldest)) == balance
    accepted = (result <= F.col("second")) & is_last & (charged_until(result) == balance) & is_unchanged
    fits = (F.col("right") | F.col("accepted")) & F.col("vehicle_id").isNotNull()
    return (
        answers.withColumn("original_id", original_id(reference.dataset))
        .join(requests, ["original_id", "second"], "left")
        .join(charged, "vehicle_id", "left")
        .groupBy(*answer, "value_1", "value_2", "vehicle_id")
        .agg(is_right.alias("right"), (accepted if lenient else F.lit(False)).alias("accepted"))
        .groupBy(*answer)
        .agg(
            F.array_sort(F.collect_set(F.when(fits, F.col("vehicle_id")))).alias("vehicles"),
            (~F.max("right") & F.max("accepted") & F.max(fits)).cast("int").alias("lenient"),
        )
    )
