"""Rules 9 to 11: what vehicles are charged, what they may be told of it, and what they spent on earlier days."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from driver.dataset.folder import TOLL_SCHEMA, Dataset
from polling_baseline import spec
from tests.support.tables.files import read_parquet


def assessments_of(notified: DataFrame) -> DataFrame:
    """Rule 9, tolls of 0 included."""
    return notified.filter("left_second IS NOT NULL").select(
        "vehicle_id", F.col("left_second").alias("assessed_second"), "toll"
    )


def balances_of(requests: DataFrame, assessments: DataFrame) -> DataFrame:
    """Rule 10: all right answers as ranges of ResultTime, first and last, in which a balance holds."""
    request = ["second", "query_id", "vehicle_id"]
    oldest = F.col("second") - spec.BALANCE_AGE_S
    distinct = requests.select(*request, "home").distinct()
    charged = distinct.join(assessments, "vehicle_id").filter("assessed_second <= second")
    changes = charged.select(*request, "home", F.greatest("assessed_second", oldest).alias("from_second"), "toll")
    start = distinct.select(*request, "home", oldest.alias("from_second"), F.lit(0).alias("toll"))
    in_time = Window.partitionBy(*request).orderBy("from_second")
    return (
        start.union(changes)
        .groupBy(*request, "home", "from_second")
        .agg(F.sum("toll").alias("toll"))
        .select(
            *request,
            "home",
            "from_second",
            F.coalesce(F.lead("from_second").over(in_time) - 1, "second").alias("until_second"),
            F.sum("toll").over(in_time).alias("balance"),
        )
    )


def expenditures_of(spark: SparkSession, dataset: Dataset, requests: DataFrame) -> DataFrame:
    """Rule 11: the requests with their `tolls`."""
    key = ["vehicle_id", "day", "xway"]
    if not dataset.toll_history:
        return requests.withColumn("tolls", F.lit(0))
    history = read_parquet(spark, dataset.toll_history, TOLL_SCHEMA)
    asked = history.join(requests.select(key).distinct(), key)
    return requests.join(asked, key, "left").withColumn("tolls", F.coalesce("tolls", F.lit(0)))
