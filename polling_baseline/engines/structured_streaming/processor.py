"""What Spark's workers run: a shard of the road with its state in Spark's state store.

Spark calls it once per shard and micro-batch.  All state is one map from names to byte strings; a second reads and
writes its own slots in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql.streaming.stateful_processor import MapState, StatefulProcessor, StatefulProcessorHandle

from polling_baseline.engines.structured_streaming.columns import ANSWERS, REPORTS, REQUESTS, join_parts, split_parts
from polling_baseline.engines.structured_streaming.history import open_history
from polling_baseline.engines.structured_streaming.shard import Result, Work, process

# A batch is a row per shard; one without seconds tells the shard to forget everything.
INPUT = "key int, number int, start int, stop int, reports binary, requests binary, summary binary"
OUTPUT = "key int, number int, start int, stop int, result binary"


class ShardProcessor(StatefulProcessor):
    """The rules on the state of a key; the history lies in a folder that every worker sees."""

    def __init__(self, history: str, pages: int) -> None:
        self._history, self._pages = history, pages

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._map = handle.getMapState("state", "name string", "data binary")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:
        for frame in rows:
            for row in frame.itertuples(index=False):
                seconds = range(row.start, row.stop)
                if seconds:
                    requests = REQUESTS.unpack(row.requests)
                    work = Work(seconds, REPORTS.unpack(row.reports), requests, row.summary)
                    history = open_history(Path(self._history))
                    result = pack_result(process(SparkState(self._map), work, history, self._pages))
                else:
                    self._map.clear()
                    result = b""
                yield pd.DataFrame(
                    {"key": key[0], "number": row.number, "start": row.start, "stop": row.stop, "result": [result]}
                )

    def close(self) -> None:
        pass


class SparkState:
    """The state of the shard that is at work."""

    def __init__(self, names: MapState) -> None:
        self._map = names

    def get(self, name: str) -> bytes | None:
        value = self._map.getValue((name,))
        return None if value is None else bytes(value[0])

    def put(self, name: str, data: bytes) -> None:
        self._map.updateValue((name,), (data,))


def pack_result(result: Result) -> bytes:
    answers = [layout.pack(result.answers[kind]) for kind, layout in ANSWERS.items()]
    return join_parts([*answers, result.summary or b""])


def unpack_result(data: bytes) -> Result:
    *answers, summary = split_parts(data)
    columns = {kind: layout.unpack(part) for (kind, layout), part in zip(ANSWERS.items(), answers, strict=True)}
    return Result(columns, summary or None)
