"""Drive an engine without a clock: lines in, answers out; many small roads at once."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from driver.run.poller import seconds_to_take
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, REPORT_COLUMNS, REQUEST_COLUMNS, Batch, Columns, Share
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.settings import OFF
from polling_baseline.engine import Engine
from polling_baseline.engines.system_x.polling import Polling
from tests import traces
from tests.support import oracle
from tests.support.random_road import random_history, random_lines

WIDTHS = {"vehicle_id": np.int32, "position_ft": np.int32, "query_id": np.int64}
# Where several roads are put side by side, road n has these numbers from n times so many on.
XWAYS, IDS, LONG_S = 4, 1_000_000, 1200
# Where the vehicle's or the query's number stands in an answer, by kind.
ID_POSITION = (1, 2, 3, 2, 2)
SEEDS = range(24)
# The steps that System X keeps in its ledger, in the order of the columns of `cycles.csv`.
LEDGER_STEPS = ("minute_ms", "advance_ms", "tally_ms", "notify_ms", "balance_ms", "history_ms")

Answer = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Road:
    """Lines and their history."""

    lines: Sequence[Sequence[int]]
    toll_history: Mapping[tuple[int, int, int], int]
    segment_history: Sequence[Sequence[int]]

    @property
    def long(self) -> bool:
        return self.lines[-1][1] >= LONG_S

    @property
    def vehicles(self) -> list[int]:
        return sorted({line[2] for line in self.lines} | {vid for vid, _, _ in self.toll_history})

    @property
    def queries(self) -> list[int]:
        return sorted({line[9] for line in self.lines})


# An engine for so many workers that knows the road's history; `install` comes next.
MakeEngine = Callable[[Road, int], Engine]


def polling_on(target: Target) -> MakeEngine:
    """System X, with a road's history where `lrb load` would put it."""

    def polling(road: Road, workers: int) -> Polling:
        fill_history(target, road)
        return Polling(claim_database(target, "test"), workers, OFF)

    return polling


@lru_cache
def roads() -> dict[str, tuple[Road, Counter[Answer]]]:
    """Each trace and each random road, with the right answers."""
    found = {}
    for name in traces.NAMES:
        trace = traces.load(name)
        found[name] = Road(trace.lines, trace.toll_history, trace.segment_history), Counter(trace.expected)
    for seed in SEEDS:
        road = Road(random_lines(seed), *random_history(seed))
        found[f"seed {seed}"] = road, Counter(oracle.answers(road.lines, road.toll_history, road.segment_history))
    return found


def faults(
    make_engine: MakeEngine, workers: int, longest: int, long: bool | None = None, every: int = 1, first: int = 0
) -> dict[str, dict[str, Counter[Answer]]]:
    """What is missing and what is extra, by road; long or short ones, or all, go through the engine side by side.

    `every` second, third, ... of them only, from the `first` on, where the engine is a slow one.
    """
    chosen = {name: pair for name, pair in [*roads().items()][first::every] if long in (None, pair[0].long)}
    apart = [road for road, _ in chosen.values()]
    found = taken_apart(answers_of(make_engine, side_by_side(apart), workers, longest), apart)
    return {
        name: {"missing": right - got, "extra": got - right}
        for (name, (_, right)), got in zip(chosen.items(), found, strict=True)
        if got != right
    }


def side_by_side(roads: Sequence[Road]) -> Road:
    """All roads as one: each on expressways, and with vehicles and queries, of its own."""
    lines, toll_history, segment_history = [], {}, []
    for number, road in enumerate(roads):
        xways, ids = number * XWAYS, number * IDS
        vehicles, queries = ({old: ids + new for new, old in enumerate(olds)} for olds in (road.vehicles, road.queries))
        for kind, time, vid, spd, xway, lane, direction, seg, pos, qid, *rest in road.lines:
            moved = (vehicles[vid], spd, xway + xways, lane, direction, seg, pos, queries[qid])
            lines.append((kind, time, *moved, *rest))
        for (vid, day, xway), tolls in road.toll_history.items():
            toll_history[vehicles[vid], day, xway + xways] = tolls
        segment_history += [(day, minute, xway + xways, *rest) for day, minute, xway, *rest in road.segment_history]
    return Road(sorted(lines, key=lambda line: line[1]), toll_history, segment_history)


def taken_apart(answers: Counter[Answer], roads: Sequence[Road]) -> list[Counter[Answer]]:
    """The answers of each road, with its own numbers."""
    parts: list[Counter[Answer]] = [Counter() for _ in roads]
    numbers = [(road.vehicles, road.queries) for road in roads]
    for answer, times in answers.items():
        kind, at = answer[0], ID_POSITION[answer[0]]
        number, index = divmod(answer[at], IDS)
        own = numbers[number][spec.ANSWERS[kind] not in ("toll", "accident")][index]
        parts[number][(*answer[:at], own, *answer[at + 1 :])] += times
    return parts


def answers_of(make_engine: MakeEngine, road: Road, workers: int, longest: int) -> Counter[Answer]:
    """The engine's answers as `oracle.answers` gives them, counted; batches hold up to `longest` seconds."""
    engine = make_engine(road, workers)
    found: Counter[Answer] = Counter()
    try:
        engine.install()
        for batch in batches(road.lines, workers, longest):
            engine.process(batch)
            for answers in engine.answers():
                columns = [answers.columns[name].tolist() for name in ANSWER_KINDS[answers.kind].columns]
                kind = spec.ANSWERS.index(answers.kind)
                found.update((kind, *row) for row in zip(*columns, strict=True))
    finally:
        engine.stop()
    return found


def steps_of(make_engine: MakeEngine, road: Road, workers: int) -> set[tuple[str, ...]]:
    """The names of the steps that cycles tell of, also the last one when it is done again."""
    engine = make_engine(road, workers)
    try:
        engine.install()
        found = set()
        for batch in batches(road.lines, workers, 7):
            found |= {tuple(engine.process(batch)), tuple(engine.complete(batch))}
    finally:
        engine.stop()
    return found


def batches(lines: Sequence[Sequence[int]], workers: int, longest: int) -> Iterator[Batch]:
    """The lines as the driver would hand them over; all minutes, also those without input."""
    columns = dict(zip(spec.FIELDS.values(), np.array(lines, np.int64).T, strict=True))
    worker = _home_xways(lines) % workers
    report = columns["kind"] == spec.REPORT
    end = (int(columns["second"].max()) // spec.MINUTE_S + 1) * spec.MINUTE_S
    start = 0
    while start < end:
        seconds = seconds_to_take(start, min(end, start + longest) - 1)
        start = seconds.stop
        here = (columns["second"] >= seconds.start) & (columns["second"] < seconds.stop)
        shares = (
            Share(
                _take(columns, here & report & (worker == number), REPORT_COLUMNS),
                _take(columns, here & ~report & (worker == number), REQUEST_COLUMNS),
            )
            for number in range(workers)
        )
        yield Batch(seconds, tuple(shares))


def fill_history(target: Target, road: Road) -> None:
    """Put a small history where `lrb load` would."""
    sums: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for day, minute, xway, direction, seg, lav, cars, _ in road.segment_history:
        row = sums[xway, direction, seg, spec.day_of_week(day), minute]
        row[:] = row[0] + lav, row[1] + cars, row[2] + 1
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        cursor.execute("TRUNCATE lr_history.toll_history, lr_history.segment_average")
        toll_history = ((*key, tolls) for key, tolls in road.toll_history.items())
        _copy(cursor, "toll_history (vehicle_id, day, xway, tolls)", toll_history)
        columns = "xway, dir, seg, day_of_week, minute, lav_sum, cars_sum, days"
        _copy(cursor, f"segment_average ({columns})", ((*key, *row) for key, row in sums.items()))


def _copy(cursor: Any, table: str, rows: Iterable[Sequence[int]]) -> None:
    lines = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    cursor.copy_expert(f"COPY lr_history.{table} FROM STDIN", io.StringIO(lines))


def _home_xways(lines: Sequence[Sequence[int]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The expressway of each line; a balance request has none and follows its vehicle's last report."""
    last: dict[int, int] = {}
    homes = np.zeros(len(lines), np.int64)
    for number, (kind, _, vehicle, _, xway, *_) in sorted(enumerate(lines), key=lambda item: item[1][1::-1]):
        if kind == spec.REPORT:
            last[vehicle] = xway
        homes[number] = last.get(vehicle, 0) if kind == spec.BALANCE else xway
    return homes


def _take(columns: Columns, rows: np.ndarray[tuple[int], np.dtype[np.bool_]], names: tuple[str, ...]) -> Columns:
    return {name: columns[name][rows].astype(WIDTHS.get(name, np.int16)) for name in names}
