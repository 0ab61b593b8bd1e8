"""The judge's side of relabelling (see driver.relabel): what is right is computed once, for the distinct expressways.

Answers are judged with the numbers of the original, so that the balances of all copies rest on one table, and are
counted with their own.
"""

from __future__ import annotations

import math

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from driver.dataset import ID_BLOCK, Dataset


def copied(dataset: Dataset, expected: DataFrame) -> DataFrame:
    """The answers expected of every copy, from those expected of the distinct expressways."""
    if dataset.distinct is None:
        return expected
    last = math.ceil(dataset.xways / dataset.distinct) - 1
    whole, xway = math.floor(dataset.xways), F.col("xway") + F.col("copy") * dataset.distinct
    # The half of an expressway is its eastbound one.
    eastbound = F.col("id") % ID_BLOCK < ID_BLOCK // 2
    is_there = (xway < whole) | ((xway < dataset.xways) & eastbound)
    copies = expected.withColumn("copy", F.explode(F.sequence(F.lit(0), F.lit(last)))).filter(is_there)
    return unfolded(dataset, copies.withColumn("xway", xway)).select(expected.columns)


def folded(dataset: Dataset, answers: DataFrame) -> DataFrame:
    """The answers with the `id` of the original, and the `copy` that it is of."""
    if dataset.distinct is None:
        return answers
    block = dataset.distinct * ID_BLOCK
    # In whole numbers: an output file may contain any.
    return answers.withColumns({"copy": F.expr(f"id div {block}"), "id": F.col("id") % block})


def unfolded(dataset: Dataset, answers: DataFrame) -> DataFrame:
    if dataset.distinct is None:
        return answers
    block = dataset.distinct * ID_BLOCK
    return answers.withColumn("id", F.col("id") + F.col("copy") * F.lit(block).cast("long")).drop("copy")
