"""Relabelled expressways give answers that are relabelled too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from driver.dataset.folder import ID_BLOCK, Dataset
from driver.dataset.relabel import relabelled
from driver.run.feed import Feed
from driver.run.poller import seconds_to_take
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.settings import OFF
from polling_baseline.engine import Engine
from polling_baseline.engines.duckdb.engine import DuckDB
from polling_baseline.engines.system_x.polling import Polling
from tests.engines.feeding import ID_POSITION, Answer, Road, fill_history
from tests.support.one_dataset import Road as Lines
from tests.support.one_dataset import one_dataset
from tests.support.random_road import random_history, random_lines

SECONDS = 480


def random_dataset(seed: int, xways: int, folder: Path) -> Dataset:
    """A small road on which everything collides, with numbers that leave room for copies."""
    road = Lines(random_lines(seed, xways=xways), *random_history(seed, xways=xways))
    return one_dataset([road], folder, "generate")[0]


def history_of(dataset: Dataset) -> Road:
    tolls = [row for file in dataset.toll_history for row in pq.read_table(file).to_pylist()]
    segments = [tuple(row.values()) for file in dataset.segment_history for row in pq.read_table(file).to_pylist()]
    return Road([], {(row["vehicle_id"], row["day"], row["xway"]): row["tolls"] for row in tolls}, segments)


def polling(target: Target, workers: int) -> Polling:
    return Polling(claim_database(target, "test"), workers, OFF)


def answered(engine: Engine, dataset: Dataset, longest: int) -> Counter[Answer]:
    engine.install()
    feed, found = Feed(dataset, range(SECONDS), engine.workers), Counter[Answer]()
    start = 0
    try:
        while start < SECONDS:
            seconds = seconds_to_take(start, start + longest - 1)
            start = seconds.stop
            engine.process(feed.take(seconds))
            for answers in engine.answers():
                columns = [answers.columns[name].tolist() for name in ANSWER_KINDS[answers.kind].columns]
                found.update((spec.ANSWERS.index(answers.kind), *row) for row in zip(*columns, strict=True))
    finally:
        feed.close()
        engine.stop()
    return found


def moved(answer: Answer, shift: int) -> Answer:
    at = ID_POSITION[answer[0]]
    return (*answer[:at], answer[at] + shift * ID_BLOCK, *answer[at + 1 :])


@pytest.mark.parametrize(("seed", "xways", "copies", "workers", "longest"), [(1, 1, 3, 2, 1), (2, 2, 2, 1, 29)])
def test_answers_of_copies(
    history_database: Target, tmp_path: Path, seed: int, xways: int, copies: int, workers: int, longest: int
) -> None:
    dataset = random_dataset(seed, xways, tmp_path / "road")
    fill_history(history_database, history_of(dataset))
    originals = answered(polling(history_database, 1), dataset, 29)
    assert {answer[0] for answer in originals} == set(range(len(spec.ANSWERS)))
    right = Counter(
        {moved(answer, copy * xways): times for copy in range(copies) for answer, times in originals.items()}
    )
    copied = relabelled(dataset, float(copies * xways))
    duckdb = DuckDB(copied.toll_history, copied.segment_history, workers)
    for engine in (polling(history_database, workers), duckdb):
        assert answered(engine, copied, longest) == right, engine.name
