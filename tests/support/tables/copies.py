"""The judge's side of copies (see driver.dataset.relabel): only the distinct expressways are computed."""

from __future__ import annotations

import math

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from driver.dataset.folder import ID_BLOCK, Dataset


def copied(dataset: Dataset, answers: DataFrame) -> DataFrame:
    """What is right for every copy, from what is for the distinct expressways; by `id` and `xway`."""
    if dataset.distinct is None:
        return answers
    last = math.ceil(dataset.xways / dataset.distinct) - 1
    shift = F.col("copy").cast("long") * dataset.distinct
    xway = (F.col("xway") + shift).cast("int")
    # The half of an expressway is its eastbound one.
    eastbound = F.col("id") % ID_BLOCK < ID_BLOCK // 2
    is_there = (xway < math.floor(dataset.xways)) | ((xway < dataset.xways) & eastbound)
    return (
        answers.withColumn("copy", F.explode(F.sequence(F.lit(0), F.lit(last))))
        .filter(is_there)
        .withColumns({"id": F.col("id") + shift * ID_BLOCK, "xway": xway})
        .select(answers.columns)
    )


def original_id(dataset: Dataset) -> Column:
    """The VID or QID that an answer's `id` is a copy of; all copies share what is known of it."""
    return F.col("id") if dataset.distinct is None else F.col("id") % (dataset.distinct * ID_BLOCK)
