"""The engine `structured_streaming`: shards of the road in a query of Spark Structured Streaming.

Everything that must last is in Spark's state and in the run's folder.  This process only shares out batches, hands on
the summary of a minute to all shards, and reads the answers.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from polling_baseline.batch import Answers, Batch
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.structured_streaming.cluster import check_workers, cores_of
from polling_baseline.engines.structured_streaming.columns import ANSWERS, REPORTS, REQUESTS
from polling_baseline.engines.structured_streaming.failures import sentence_of
from polling_baseline.engines.structured_streaming.folder import FORMAT, Label, RunFolder, new_folder
from polling_baseline.engines.structured_streaming.history_files import keep_history
from polling_baseline.engines.structured_streaming.processor import unpack_result
from polling_baseline.engines.structured_streaming.query import SETTINGS, Query
from polling_baseline.engines.structured_streaming.shard import Result, Work, summed_up
from polling_baseline.engines.structured_streaming.sharding import shared_out
from polling_baseline.engines.structured_streaming.warm_up import warm_up_batches
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("lrb")
# Shows how much of a total is done.
Progress = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]
STEPS = ("share_ms", "stream_ms")
INPUT_SCHEMA = pa.schema(
    [pa.field(name, pa.int32()) for name in ("key", "number", "start", "stop")]
    + [pa.field(name, pa.binary()) for name in ("reports", "requests", "summary")]
)
# The pages of an expressway's accounts.
XWAY_PAGES = 60
# How many seconds of input the first query of a process warms up with; Java is warm for the next ones.
WARM_UP_S, NEXT_WARM_UP_S = 30, 5
MOST_SHARDS = 1000


@dataclass(frozen=True, slots=True)
class Options:
    """How large a run is, and where it keeps its state; by default there are as many shards as cores."""

    xways: float = 1.0
    shards: int | None = None
    durable: bool = False
    checkpoint: Path | None = None
    warm_up_s: int | None = None
    settings: Mapping[str, str] = field(default_factory=lambda: dict(SETTINGS))


def no_progress(what: str, total: float) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda _: None)


class StructuredStreaming:
    """Shards in a query; `session` gives the Spark, the history comes from these Parquet files."""

    name = "structured_streaming"
    # Shards share out each batch themselves.
    workers = 1
    _warm = False

    def __init__(
        self,
        session: Callable[[], SparkSession],
        tolls: Sequence[Path],
        segments: Sequence[Path],
        options: Options,
        progress: Progress = no_progress,
    ) -> None:
        self._session, self._tolls, self._segments = session, tolls, segments
        self._options, self._durable, self._progress = options, options.durable, progress
        self._warm_up_s = options.warm_up_s
        if self._warm_up_s is None:
            self._warm_up_s = NEXT_WARM_UP_S if type(self)._warm else WARM_UP_S
        self._shards = 0
        self._keys: list[tuple[int, int]] = []
        self._next = 0
        self._folder: RunFolder | None = None
        self._query: Query | None = None
        self._spark: SparkSession | None = None
        self._results: list[Result] = []

    def install(self) -> None:
        spark = self._opened_spark()
        cores = cores_of(spark)
        self._shards = self._options.shards or min(cores, MOST_SHARDS)
        if self._shards > cores:
            log.warning("%d shards take turns on %d cores; --shards %d would not", self._shards, cores, cores)
        check_workers(spark)
        pages = XWAY_PAGES * math.ceil(max(1.0, self._options.xways) / self._shards)
        self._folder = new_folder(self._options.checkpoint, self._durable, self._options.xways)
        try:
            self._folder.make(Label(FORMAT, self._folder.path.name, spark.version, self._shards, pages))
            log.info("preparing the history")
            keep_history(spark, self._tolls, self._segments, self._folder.history)
            self._begin_query(pages)
            self._warm_up()
        except BaseException:
            # There is no run yet that could be resumed.
            self.discard()
            raise

    def resume(self, engine_facts: Mapping[str, object]) -> range | None:
        self._folder = RunFolder(Path(str(engine_facts["checkpoint"])))
        label = self._folder.label()
        spark = self._opened_spark()
        if label.spark != spark.version:
            raise Refusal(f"{self._folder.path} was written by Spark {label.spark}; this is Spark {spark.version}")
        check_workers(spark)
        self._shards = label.shards
        last = self._folder.last_input()
        self._begin_query(label.pages, last)
        if last is None:
            return None
        table = self._folder.read_input(last)
        self._next = last + 1
        seconds = range(table["start"][0].as_py(), table["stop"][0].as_py())
        # The last thing before the first batch was the warm-up.
        return seconds if set(table["key"].to_pylist()) == {key for key, _ in self._keys} else None

    def process(self, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        summary = self._summary()
        number = self._hand_over([key for key, _ in self._keys], shared_out(batch, self._shards, summary))
        shared = time.perf_counter()
        self._receive(number)
        ended = time.perf_counter()
        return dict(zip(STEPS, ((shared - started) * 1000, (ended - shared) * 1000), strict=True))

    def complete(self, batch: Batch) -> Mapping[str, float]:
        """Spark has the batch in its checkpoint: all that is left to do is to wait for it."""
        started = time.perf_counter()
        self._receive(self._next - 1)
        return dict(zip(STEPS, (0.0, (time.perf_counter() - started) * 1000), strict=True))

    def answers(self) -> Iterator[Answers]:
        for kind, layout in ANSWERS.items():
            answers = Answers(kind, layout.joined([result.answers[kind] for result in self._results]))
            if len(answers):
                yield answers

    def stop(self) -> None:
        if self._query:
            self._query.stop()
            self._query = None
        if self._folder and not self._durable:
            self._folder.remove()

    def discard(self) -> None:
        """The run is complete, and nobody will resume it."""
        self.stop()
        if self._folder:
            self._folder.remove()

    def facts(self) -> dict[str, object]:
        assert self._folder and self._spark, "install or resume comes first"
        engine_facts: dict[str, object] = {
            "Spark": self._spark.version,
            "master": self._spark.sparkContext.master,
            "shards": self._shards,
            "warm_up_s": self._warm_up_s,
            "durability": "on" if self._durable else "off",
            "checkpoint": str(self._folder.path),
            "checkpoint_bytes": self._folder.size(),
            "settings": dict(self._options.settings),
        }
        if self._query:
            engine_facts |= {
                "restarts": self._query.restarts,
                "repeated_batches": self._query.repeated,
                "executors_lost": self._query.executors_lost(),
            }
        return engine_facts

    def _opened_spark(self) -> SparkSession:
        self._spark = self._session()
        return self._spark

    def _begin_query(self, pages: int, last: int | None = None) -> None:
        assert self._spark and self._folder
        self._query = Query(self._spark, self._folder, self._shards, pages, self._options.settings, self._durable)
        self._keys = self._query.keys()
        if last is not None:
            results = self._folder.read_result(last)
            self._query.resume_after(last - (results is None), results)
        self._query.start()

    def _warm_up(self) -> None:
        """Drive a small road under keys of its own, and forget it."""
        if not self._warm_up_s:
            return
        log.info("warming up with %d s of input", self._warm_up_s)
        keys = [warm for _, warm in self._keys]
        with self._progress("warming up", self._warm_up_s) as advance:
            for batch in warm_up_batches(self._warm_up_s):
                self._receive(self._hand_over(keys, shared_out(batch, self._shards, self._summary())))
                advance(1)
        nothing = Work(range(0), REPORTS.empty(), REQUESTS.empty())
        assert self._query
        self._query.results(self._hand_over(keys, [nothing] * self._shards))
        self._results = []
        type(self)._warm = True

    def _summary(self) -> bytes | None:
        """What all shards have summed up, if the last batch ended a minute."""
        summaries = [result.summary for result in self._results if result.summary is not None]
        return summed_up(summaries) if summaries else None

    def _hand_over(self, keys: Sequence[int], works: Sequence[Work]) -> int:
        assert self._folder
        number, self._next = self._next, self._next + 1
        rows = [
            {
                "key": key,
                "number": number,
                "start": work.seconds.start,
                "stop": work.seconds.stop,
                "reports": REPORTS.pack(work.reports),
                "requests": REQUESTS.pack(work.requests),
                "summary": work.summary,
            }
            for key, work in zip(keys, works, strict=True)
        ]
        try:
            self._folder.write_input(number, pa.Table.from_pylist(rows, INPUT_SCHEMA), self._durable)
        except OSError as error:
            raise EngineFailure(sentence_of(str(error), self._folder.path)) from error
        return number

    def _receive(self, number: int) -> None:
        assert self._query
        table = self._query.results(number)
        self._results = [unpack_result(result) for result in table["result"].to_pylist()]
