"""The streaming query: batches in, results out, on the Spark of a session.

A micro-batch is one batch.  Its results are there when the sink has them; the sink drops a batch that Spark repeats.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from polling_baseline.engine import EngineFailure
from polling_baseline.engines.structured_streaming.failures import is_final, sentence_of
from polling_baseline.engines.structured_streaming.folder import RunFolder
from polling_baseline.engines.structured_streaming.processor import OUTPUT, ShardProcessor
from polling_baseline.engines.structured_streaming.source import FORMAT, BatchFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger("lrb")
STREAMING = "org.apache.spark.sql.execution.streaming"
SETTINGS: Mapping[str, str] = {
    "spark.sql.streaming.stateStore.providerClass": f"{STREAMING}.state.RocksDBStateStoreProvider",
    # A commit writes what has changed, and not the whole state.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # Otherwise each write first reads what it overwrites.
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.pollingDelay": "10ms",
    # The usual one starts a process for the rights of each file.
    "spark.sql.streaming.checkpointFileManagerClass": f"{STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.sql.adaptive.enabled": "false",
}
LOOK_S = 0.5
MOST_RESTARTS = 3


class Query:
    """A query that runs, and the results that have come."""

    def __init__(
        self,
        spark: SparkSession,
        folder: RunFolder,
        shards: int,
        pages: int,
        settings: Mapping[str, str] = SETTINGS,
        durable: bool = False,
    ) -> None:
        # A session of its own has settings of its own.
        self._spark = spark.newSession()
        for name, value in {**settings, "spark.sql.shuffle.partitions": str(shards)}.items():
            self._spark.conf.set(name, value)
        self._folder, self._shards, self._pages, self._durable = folder, shards, pages, durable
        self._arrived = threading.Condition()
        self._last, self._results = -1, None
        self._query: StreamingQuery | None = None
        self.restarts = self.repeated = 0

    def start(self) -> None:
        self._spark.dataSource.register(BatchFiles)
        processor = ShardProcessor(str(self._folder.history), self._pages)
        batches = self._spark.readStream.format(FORMAT).option("folder", str(self._folder.inputs)).load()
        results = batches.groupBy("key").transformWithStateInPandas(processor, OUTPUT, "Append", "None")
        writer = results.writeStream.outputMode("append").foreachBatch(self.receive)
        self._query = writer.option("checkpointLocation", str(self._folder.checkpoint)).start()

    def receive(self, rows: DataFrame, batch_id: int) -> None:
        """The sink: keep the results of a batch, unless they are here already."""
        table = rows.toArrow()
        if not table.num_rows:
            return
        number = table["number"][0].as_py()
        with self._arrived:
            if number <= self._last:
                self.repeated += 1
                return
            self._folder.write_result(number, table, self._durable)
            self._last, self._results = number, table
            self._arrived.notify_all()

    def resume_after(self, number: int, results: pa.Table | None) -> None:
        """Batches up to this one were received before; the results of the last of them."""
        self._last, self._results = number, results

    def results(self, number: int) -> pa.Table:
        """The results of a batch that was handed over, when they are here; a query that dies is started again."""
        restarts = 0
        while True:
            with self._arrived:
                if self._arrived.wait_for(lambda: self._last >= number, LOOK_S):
                    assert self._results is not None
                    return self._results
            if self._query is None or not self._query.isActive:
                restarts += 1
                self._restart(restarts)

    def _restart(self, times: int) -> None:
        error = str(self._query.exception()) if self._query else "it was stopped"
        if times > MOST_RESTARTS or is_final(error):
            raise EngineFailure(sentence_of(error, self._folder.path))
        log.warning("Spark's query failed, and goes on from its checkpoint: %s", sentence_of(error, self._folder.path))
        self.restarts += 1
        self.start()

    def keys(self) -> list[tuple[int, int]]:
        """Of each shard two keys that Spark keeps in the same partition: its own, and one to warm up with."""
        from pyspark.sql import functions

        keys_by_shard: dict[int, list[int]] = {}
        numbers = self._spark.range(64 * self._shards).select(functions.col("id").cast("int").alias("key"))
        partition = functions.pmod(functions.hash("key"), functions.lit(self._shards))
        for key, home in numbers.select("key", partition).collect():
            keys_by_shard.setdefault(home, []).append(key)
        return [(keys_by_shard[shard][0], keys_by_shard[shard][1]) for shard in range(self._shards)]

    def executors_lost(self) -> int:
        """How many executors have died since Spark was started."""
        store: Any = self._spark.sparkContext._jsc.sc().statusStore()
        return int(store.executorList(False).size() - store.executorList(True).size())

    def stop(self) -> None:
        if self._query is not None:
            self._query.stop()
            self._query = None
