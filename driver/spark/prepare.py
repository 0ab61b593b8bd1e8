"""`python -m driver.spark.prepare`: make the archive of Spark's classes now, for all commands that follow."""

from __future__ import annotations

from operator import add

from driver.spark.session import close, session


def main() -> None:
    """Do a little of everything that the commands do, so that Java meets the classes that they need."""
    from pyspark.sql import Window
    from pyspark.sql import functions as sf

    spark = session("local[1]")
    numbers = spark.range(100).select((sf.col("id") % 7).alias("key"), sf.col("id").cast("int").alias("value"))
    sums = numbers.groupBy("key").agg(sf.sum("value").alias("sum"), sf.collect_list("value").alias("values"))
    ranked = numbers.withColumn("rank", sf.row_number().over(Window.partitionBy("key").orderBy("value")))
    joined = ranked.join(sums, "key", "left").join(sf.broadcast(sums.select("key", "sum")), ["key", "sum"])
    joined.select("key", sf.explode("values").alias("one")).union(numbers).distinct().orderBy("one").toArrow()
    spark.sparkContext.parallelize(range(4), 2).map(lambda number: (number % 2, number)).reduceByKey(add).collect()
    close()


if __name__ == "__main__":
    main()
