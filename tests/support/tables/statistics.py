"""Rules 2 to 4: cars, Lav and toll of every segment and minute, in integers throughout."""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from math import lcm

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from polling_baseline import spec
from tests.support.tables.packed import PLACE, minute_of, part, place_of_report, second_of
from tests.support.tables.trips import differ

INTEGER = "decimal(38,0)"
# A vehicle reports at most once a second: all its averages of a minute are multiples of 1 / lcm(1 .. 60).
LCM = [Decimal(lcm(*range(1, count + 1))) for count in range(1, spec.MINUTE_S + 1)]
AGES = range(1, spec.LAV_MINUTES + 1)
# A vehicle of one phase reports no more often in a minute, and then in two reports of one trip.
USUAL = spec.MINUTE_S // spec.REPORT_PERIOD_S


def averages_of(steps: DataFrame) -> DataFrame:
    """Rule 2: for each place and minute with reports its cars, and the sum of its vehicles' averages.

    The sum is `total / common`.  A place's `common` is the least number that the count of any vehicle's reports from
    there in one minute divides, and that of any smaller count: 2 as a rule.
    """
    place = Window.partitionBy("place")
    return (
        _usual(steps.filter("NOT mixed"))
        .union(_mixed(steps.filter("mixed")))
        .withColumn("common", F.element_at(F.array(*map(F.lit, LCM)), F.max("reports").over(place)).cast(INTEGER))
        .groupBy("place", "minute", "common")
        .agg(
            F.sum("cars").alias("cars"),
            F.sum(F.col("speeds") * (F.col("common") / F.col("reports")).cast(INTEGER)).cast(INTEGER).alias("total"),
        )
    )


def _usual(steps: DataFrame) -> DataFrame:
    """Cars, and twice the sum of their averages.  The second of two reports takes back what the first has added."""
    speed, speed_before = part(F.col("report"), "speed_mph"), part(F.col("before"), "speed_mph")
    same_minute = _minute("report") == _minute("before")
    again = F.coalesce(same_minute & ~differ(PLACE), F.lit(False))
    return (
        steps.groupBy(place_of_report(F.col("report")).alias("place"), _minute("report").alias("minute"))
        .agg(
            F.sum(F.when(again, 0).otherwise(1)).alias("cars"),
            F.sum(F.when(again, speed - speed_before).otherwise(USUAL * speed)).alias("speeds"),
        )
        .select("place", "minute", F.lit(USUAL).alias("reports"), "cars", "speeds")
    )


def _mixed(steps: DataFrame) -> DataFrame:
    """Cars and the sum of their speeds by the number of their reports."""
    return (
        steps.groupBy("vehicle_id", place_of_report(F.col("report")).alias("place"), _minute("report").alias("minute"))
        .agg(F.count("*").cast("int").alias("reports"), F.sum(part(F.col("report"), "speed_mph")).alias("speeds"))
        .groupBy("place", "minute", "reports")
        .agg(F.count("*").alias("cars"), F.sum("speeds").alias("speeds"))
    )


def _minute(name: str) -> Column:
    return minute_of(second_of(F.col(name)))


def statistics_of(averages: DataFrame) -> DataFrame:
    """Rules 3 and 4 but for accidents: `cars` of the minute before, `lav` and `toll`, where any of them is known."""
    by_minute = (
        averages.withColumn("age", F.explode(F.lit(list(AGES))))
        .groupBy("place", (F.col("minute") + F.col("age")).alias("minute"), "common")
        .agg(F.count("*").alias("minutes"), *[_of_age(age, name) for age in AGES for name in ("cars", "total")])
    )
    cars, lav = F.coalesce("cars_1", F.lit(0)), _lav()
    crowded = (lav < spec.FREE_FLOW_MPH) & (cars > spec.FREE_CARS)
    return by_minute.select(
        "place",
        "minute",
        cars.cast("int").alias("cars"),
        lav.alias("lav"),
        F.when(crowded, 2 * (cars - spec.FREE_CARS) * (cars - spec.FREE_CARS)).otherwise(0).cast("int").alias("toll"),
    )


def _of_age(age: int, name: str) -> Column:
    return F.max(F.when(F.col("age") == age, F.col(name))).cast(INTEGER).alias(f"{name}_{age}")


def _lav() -> Column:
    """The floor of the mean of up to five averages `total / (common * cars)`.

    Both sides of the division are exact; 38 digits are enough for 5 x 800,000 cars, or a vehicle that reports thirty
    times a minute among 5 x 20,000, and Spark stops with an error beyond.  The quotient of doubles errs by less than
    one, and is put right by integers.
    """
    cars = {age: F.coalesce(f"cars_{age}", F.lit(Decimal(1)).cast(INTEGER)) for age in AGES}
    dividend = reduce(
        lambda one, other: one + other,
        (
            F.coalesce(f"total_{age}", F.lit(0)) * _product([cars[other] for other in AGES if other != age])
            for age in AGES
        ),
    ).cast(INTEGER)
    divisor = _product([F.col("common"), F.col("minutes"), *cars.values()])
    near = F.floor(dividend.cast("double") / divisor.cast("double"))
    correction = F.when((near + 1) * divisor <= dividend, 1).when(near * divisor > dividend, -1).otherwise(0)
    return (near + correction).cast("int")


def _product(factors: list[Column]) -> Column:
    return reduce(lambda one, other: (one * other).cast(INTEGER), factors)
