"""The engine on Spark Structured Streaming gives the right answers, each once, also if Spark does a batch again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS
from polling_baseline.engines.structured_streaming.engine import Options, StructuredStreaming
from polling_baseline.engines.structured_streaming.failures import is_final, sentence_of
from polling_baseline.engines.structured_streaming.folder import FORMAT, MEMORY, PREFIX, Label, RunFolder, new_folder
from polling_baseline.refusal import Refusal
from tests.engines.feeding import Answer, Road, batches, roads, side_by_side, taken_apart
from tests.engines.test_duckdb import write_rows

# A micro-batch takes half a second however little there is to do: all roads at once, as far as they are short.
LONGEST_S, REPEATED_AT = 6 * spec.MINUTE_S, 7


def streaming(spark: Any, road: Road, folder: Path, options: Options) -> StructuredStreaming:
    tolls, segments = folder / "toll.parquet", folder / "segment.parquet"
    write_rows(tolls, TOLL_SCHEMA, [(*key, amount) for key, amount in road.toll_history.items()])
    write_rows(segments, SEGMENT_SCHEMA, road.segment_history)
    return StructuredStreaming(lambda: spark, [tolls], [segments], options)


def rows_of(engine: StructuredStreaming) -> Counter[Answer]:
    found: Counter[Answer] = Counter()
    for answers in engine.answers():
        columns = [answers.columns[name].tolist() for name in ANSWER_KINDS[answers.kind].columns]
        found.update((spec.ANSWERS.index(answers.kind), *row) for row in zip(*columns, strict=True))
    return found


def do_last_batch_again(engine: StructuredStreaming) -> None:
    """As if Spark had died between the sink and the entry in its log that the batch is done."""
    query, folder = engine._query, engine._folder
    query.stop()
    last = max(int(file.name) for file in (folder.checkpoint / "offsets").iterdir() if file.name.isdigit())
    for file in (folder.checkpoint / "commits").iterdir():
        if file.name.strip(".").startswith(str(last)):
            file.unlink()
    query.start()


def test_all_short_roads_by_one_query(spark: Any, tmp_path: Path) -> None:
    chosen = {name: pair for name, pair in roads().items() if pair[0].lines[-1][1] < LONGEST_S}
    apart = [road for road, _ in chosen.values()]
    together = side_by_side(apart)
    engine = streaming(spark, together, tmp_path, Options(len(apart), shards=2, warm_up_s=2))
    found: Counter[Answer] = Counter()
    try:
        engine.install()
        for number, batch in enumerate(batches(together.lines, 1, 29)):
            if number == REPEATED_AT:
                do_last_batch_again(engine)
            assert list(engine.process(batch)) == ["share_ms", "stream_ms"]
            found += rows_of(engine)
        facts = engine.facts()
    finally:
        engine.stop()
    assert (facts["repeated_batches"], facts["restarts"], facts["shards"], facts["warm_up_s"]) == (1, 0, 2, 2)
    assert not Path(facts["checkpoint"]).exists()
    wrong = {
        name: {"missing": right - got, "extra": got - right}
        for (name, (_, right)), got in zip(chosen.items(), taken_apart(found, apart), strict=True)
        if got != right
    }
    assert len(chosen) > 20 and wrong == {}


def test_a_folder_that_is_not_of_such_a_run(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="holds no state of a run; start the run again"):
        RunFolder(tmp_path).label()
    for name, label, sentence in (
        ("old", Label(0, "old", "4.0.0", 2, 60), "old was written by another version of this program"),
        ("new", Label(FORMAT, "other", "4.0.0", 2, 60), "new holds the state of another run, other; start the run"),
    ):
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        folder.make(label)
        with pytest.raises(Refusal, match=sentence):
            folder.label()


def test_no_room_and_no_such_place(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"needs about [\d,]+ MB, and .* has [\d,]+ MB left; make room there, or give"):
        new_folder(tmp_path / "state", True, xways=10**6)
    assert list((tmp_path / "state").iterdir()) == []
    # Without durability it is memory that would be too small.
    before = set(MEMORY.glob(f"{PREFIX}*"))
    with pytest.raises(Refusal, match=r"needs about [\d,]+ MB, and /dev/shm has [\d,]+ MB left; .* --checkpoint"):
        new_folder(None, False, xways=10**6)
    assert set(MEMORY.glob(f"{PREFIX}*")) <= before
    (tmp_path / "file").touch()
    with pytest.raises(Refusal, match=r"cannot write .*file/state: .*; choose another --checkpoint"):
        new_folder(tmp_path / "file" / "state", False, xways=1)


@pytest.mark.parametrize(
    ("error", "final", "sentence"),
    [
        ("java.io.IOException: No space left on device", True, "/state is full; make room there"),
        ("ModuleNotFoundError: No module named 'google'", True, "the workers cannot import google: install protobuf"),
        ("ModuleNotFoundError: No module named 'polling_baseline'", True, "the workers do not find this program"),
        (
            "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.10 than that in driver: 3.11, PySpark",
            True,
            "the workers have Python 3.10 and this command has 3.11: set PYSPARK_PYTHON",
        ),
        (
            'java.io.IOException: Cannot run program "/opt/python": error=2, No such file or directory',
            True,
            "the workers have no /opt/python: set PYSPARK_PYTHON",
        ),
        (
            "Job aborted\norg.apache.spark.SparkException: lost\n\tat x",
            False,
            "Spark's query failed: org.apache.spark.S",
        ),
    ],
)
def test_what_a_failure_says(error: str, final: bool, sentence: str) -> None:
    assert is_final(error) == final
    assert sentence_of(error, "/state").startswith(sentence)
