"""The trial of the judge and of the traces: each planted fault goes through both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, Dataset, write_columns
from driver.validate.judge import Question, judged, reference_for
from driver.validate.reference.right_answers import RightAnswers
from polling_baseline import spec
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.sqlite.engine import SQLite
from tests import traces
from tests.engines import feeding
from tests.engines.lenient_readings import trace_road
from tests.mutants.engine_faults import EngineFault, planted
from tests.support import oracle
from tests.support.one_dataset import ID_AT, TIME_AT, Line, Road, one_dataset, output_line
from tests.support.random_road import random_history, random_lines

# A road of three hours takes longer than all others together.
LONGEST_S, LONG_S = 29, 1200
Answers = Counter[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class World:
    """Traces and random roads side by side, with the right answers of each by name."""

    folder: Path
    dataset: Dataset
    road: feeding.Road
    answers: dict[str, Answers]
    right: RightAnswers


@dataclass(frozen=True, slots=True)
class Result:
    """Who caught a fault: the judge, by its verdict; the traces whose answers are not those worked out by hand."""

    fault: EngineFault
    judge: bool
    traces: Sequence[str]


@contextmanager
def small_world(spark: Any, folder: Path, seeds: Iterable[int]) -> Iterator[World]:
    roads = {name: trace_road(name) for name in traces.NAMES}
    roads = {name: road for name, road in roads.items() if road.lines[-1][1] < LONG_S}
    for seed in seeds:
        lines, history = random_lines(seed), random_history(seed)
        roads[f"seed {seed}"] = Road(lines, *history, oracle.answers(lines, *history))
    dataset, answers = one_dataset(list(roads.values()), folder / "road")
    lines = sorted(chain.from_iterable(map(_rows, dataset.traffic.values())), key=lambda line: line[1])
    tolls, segments = (list(chain.from_iterable(map(_rows, files))) for files in _history(dataset))
    road = feeding.Road(lines, {row[:3]: row[3] for row in tolls}, segments)
    with reference_for(spark, Question(dataset, folder, range(dataset.seconds))) as right:
        yield World(folder, dataset, road, dict(zip(roads, map(Counter, answers), strict=True)), right)


def _history(dataset: Dataset) -> tuple[list[Path], list[Path]]:
    return dataset.toll_history, dataset.segment_history


def _rows(path: Path) -> list[Line]:
    return list(zip(*pq.read_table(path).to_pydict().values(), strict=True))


def engine_on(folder: Path) -> feeding.MakeEngine:
    def sqlite(road: feeding.Road, _: int) -> SQLite:
        tolls, segments = folder / "toll.parquet", folder / "segment.parquet"
        _write(tolls, TOLL_SCHEMA, [(*key, amount) for key, amount in road.toll_history.items()])
        _write(segments, SEGMENT_SCHEMA, road.segment_history)
        return SQLite([tolls], [segments])

    return sqlite


def _write(path: Path, schema: pa.Schema, rows: Sequence[Sequence[int]]) -> None:
    write_columns(path, schema, list(np.array(rows, np.int64).reshape(len(rows), len(schema)).T))


def try_fault(world: World, fault: EngineFault) -> Result:
    """Plant it, let the engine answer all roads, and show the answers to the judge and to the traces."""
    sql = world.folder / "sql"
    sql.mkdir(exist_ok=True)
    with planted(fault, sql):
        try:
            came = feeding.answers_of(engine_on(world.folder), world.road, 1, LONGEST_S)
        except EngineFailure:
            return Result(fault, True, ["the engine breaks"])
    return Result(fault, not passes(world, came), caught_by(world, came))


def passes(world: World, came: Answers) -> bool:
    output = world.folder / "output.csv"
    lines = [output_line(answer, 1000 * answer[TIME_AT[answer[0]]]) for answer in came.elements()]
    output.write_text("".join(f"{line}\n" for line in lines))
    question = Question(world.dataset, output, range(world.dataset.seconds))
    with judged(world.right.spark, question, right=world.right) as judgement:
        return judgement.verdict["verdict"] == "PASS"


def caught_by(world: World, came: Answers) -> list[str]:
    """The traces whose answers differ."""
    expected: Answers = sum(world.answers.values(), Counter())
    differing = (expected - came) + (came - expected)
    ids = {(answer[0] > 1, answer[ID_AT[answer[0]]]) for answer in differing}
    return [
        name
        for name, answers in world.answers.items()
        if name in traces.NAMES and any((answer[0] > 1, answer[ID_AT[answer[0]]]) in ids for answer in answers)
    ]


def minutes_of(dataset: Dataset) -> int:
    return dataset.seconds // spec.MINUTE_S
