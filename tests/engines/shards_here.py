"""The shards of engine structured_streaming without Spark: the same rules on the same bytes, in this process."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from polling_baseline.batch import Answers, Batch
from polling_baseline.engines.structured_streaming.columns import ANSWERS, REPORTS, REQUESTS
from polling_baseline.engines.structured_streaming.history import keep_segments, keep_tolls, open_history
from polling_baseline.engines.structured_streaming.shard import Work, process, summed_up
from polling_baseline.engines.structured_streaming.sharding import shared_out
from polling_baseline.engines.structured_streaming.state import InMemory


class ShardsHere:
    """An engine like any other; what Spark would carry is packed and unpacked."""

    name = "structured_streaming"
    workers = 1

    def __init__(self, tolls: Path, segments: Path, shards: int, pages: int = 7) -> None:
        self._shards, self._pages = shards, pages
        self.states = [InMemory() for _ in range(shards)]
        self._folder = Path(tempfile.mkdtemp())
        keep_tolls(tolls, self._folder / "toll-0")
        keep_segments([segments], self._folder)
        self._history = open_history(self._folder)
        self._summary: bytes | None = None
        self._answers: list[Answers] = []

    def install(self) -> None:
        pass

    def process(self, batch: Batch) -> Mapping[str, float]:
        results = []
        for state, work in zip(self.states, shared_out(batch, self._shards, self._summary), strict=True):
            reports, requests = REPORTS.pack(work.reports), REQUESTS.pack(work.requests)
            work = Work(work.seconds, REPORTS.unpack(reports), REQUESTS.unpack(requests), work.summary)
            results.append(process(state, work, self._history, self._pages))
        summaries = [result.summary for result in results if result.summary is not None]
        self._summary = summed_up(summaries) if summaries else None
        self._answers = [
            Answers(kind, ANSWERS[kind].unpack(ANSWERS[kind].pack(columns)))
            for result in results
            for kind, columns in result.answers.items()
        ]
        return {}

    def answers(self) -> Iterator[Answers]:
        return iter(self._answers)

    def stop(self) -> None:
        shutil.rmtree(self._folder)

    def facts(self) -> dict[str, object]:
        return {}
