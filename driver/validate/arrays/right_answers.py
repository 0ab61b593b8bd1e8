"""What is right for a part of a data set, in two jobs of Spark; no answer leaves its task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import Dataset
from driver.spark.units import run_job
from driver.validate.arrays.accidents import accidents_of, ahead_of, stops_of
from driver.validate.arrays.money import Accounts, accounts_of, assessments_of, spent_in
from driver.validate.arrays.statistics import Conditions, statistics_of, tally_of
from driver.validate.arrays.travel import averages, drive
from driver.validate.arrays.trips import Slice, crossings_of, joined, read_slice, slices_of, trips_of
from driver.validate.fingerprint import Heap, draw_seed, heap_of_copies
from polling_baseline import spec
from polling_baseline.batch import REQUEST_COLUMNS, Columns

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class RightAnswers:
    """A heap for each kind of answer; that of the balances has no values, which `accounts` knows.

    `accounts` is None if two requests for a balance cannot be told apart; so is `balances`, those of the requests' own
    seconds with their values.
    """

    dataset: Dataset
    seed: int
    heaps: dict[str, Heap]
    accounts: Accounts | None
    balances: Heap | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """What a slice of the vehicles says before anything is known of the others."""

    tally: Columns
    stops: Columns
    requests: Columns
    crossings: Columns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Notified:
    """What follows for a slice from what is known of all."""

    toll: Heap
    accident: Heap
    assessments: Columns


def right_answers(spark: SparkSession, dataset: Dataset, seconds: range, seed: int | None = None) -> RightAnswers:
    """Without a seed of the caller's, nobody knows it beforehand."""
    seed = draw_seed() if seed is None else seed
    slices = slices_of(dataset, seconds, spark.sparkContext.defaultParallelism)
    with _kept(_tasks(spark, slices, _look)) as looks:
        seen = run_job(spark, looks.map(_without_crossings).collect)
        requests = _by_kind(dataset, [look.requests for look in seen])
        asked = np.unique(requests[spec.BALANCE]["vehicle_id"])
        conditions = spark.sparkContext.broadcast(_conditions(seen))
        notify = _notifier(dataset, seed, conditions, asked)
        work = looks.map(notify).union(_tasks(spark, _history_units(dataset, requests), _answer))
        done = run_job(spark, work.collect)
        conditions.unpersist()
    notified = [part for part in done if isinstance(part, Notified)]
    heaps = {
        "toll": sum((part.toll for part in notified), Heap()),
        "accident": sum((part.accident for part in notified), Heap()),
        **_heaps_of_requests(dataset, seed, requests, [part for part in done if isinstance(part, Answered)]),
    }
    asking = requests[spec.BALANCE]
    query, second = asking["query_id"], asking["second"].astype(np.int64)
    accounts = accounts_of(asking, [part.assessments for part in notified])
    if accounts is None:
        return RightAnswers(dataset, seed, heaps, None)
    told = accounts.of_requests(query, second)
    balances = heap_of_copies(dataset, seed, asking["home"], query, second, told)
    return RightAnswers(dataset, seed, heaps, accounts, balances)


def _tasks(spark: SparkSession, units: Sequence[Any], work: Callable[[Any], Any]) -> RDD[Any]:
    return spark.sparkContext.parallelize(units, max(len(units), 1)).map(work)


@contextmanager
def _kept(rows: RDD[Any]) -> Iterator[RDD[Any]]:
    from pyspark import StorageLevel

    try:
        yield rows.persist(StorageLevel.MEMORY_AND_DISK)
    finally:
        rows.unpersist()


def _look(part: Slice) -> Look:
    reports, requests = read_slice(part)
    trips = trips_of(reports)
    return Look(tally_of(trips), stops_of(trips), requests, crossings_of(trips))


def _without_crossings(look: Look) -> Look:
    return Look(look.tally, look.stops, look.requests)


def _conditions(looks: Sequence[Look]) -> Conditions:
    first, lav, toll = statistics_of([look.tally for look in looks])
    ahead = ahead_of(accidents_of([look.stops for look in looks]), first, len(lav))
    return Conditions(first, lav, np.where(ahead >= 0, 0, toll), ahead)


def _notifier(dataset: Dataset, seed: int, shared: Any, asked: npt.NDArray[Any]) -> Callable[[Look], Notified]:
    def notify(look: Look) -> Notified:
        """Rules 5 and 8."""
        conditions, crossing = shared.value, look.crossings
        place, second, vehicle = crossing["place"], crossing["second"], crossing["vehicle_id"]
        lav, toll, ahead = (
            conditions.at(table, place, second) for table in (conditions.lav, conditions.toll, conditions.ahead)
        )
        xway = place // (2 * spec.SEGMENTS)
        warned = ahead >= 0
        return Notified(
            heap_of_copies(dataset, seed, xway, vehicle, second, lav, toll),
            heap_of_copies(dataset, seed, xway[warned], vehicle[warned], second[warned], ahead[warned]),
            assessments_of(crossing, toll, asked),
        )

    return notify


def _by_kind(dataset: Dataset, parts: Sequence[Columns]) -> dict[int, Columns]:
    requests = joined(parts, (*REQUEST_COLUMNS, "home"))
    kinds = (spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME)
    rows = {kind: (requests["kind"] == kind) & (kind not in dataset.ignored) for kind in kinds}
    return {kind: {name: column[rows[kind]] for name, column in requests.items()} for kind in kinds}


@dataclass(frozen=True, slots=True)
class Unit:
    """Requests of one kind, by their numbers, and the files of the history that know of them."""

    kind: int
    files: Sequence[Any]
    rows: npt.NDArray[np.int64]
    requests: Columns


@dataclass(frozen=True, slots=True)
class Answered:
    """The values of the answers to some requests of one kind."""

    kind: int
    rows: npt.NDArray[np.int64]
    values: tuple[npt.NDArray[np.int64], ...]


def _history_units(dataset: Dataset, requests: dict[int, Columns]) -> list[Unit]:
    """A file of TollHistory each; all files of an expressway, in each direction, for those who ask for a journey."""
    spent, journeys = requests[spec.EXPENDITURE], requests[spec.TRAVEL_TIME]
    units = []
    if len(spent["kind"]):
        rows = np.arange(len(spent["kind"]))
        units = [Unit(spec.EXPENDITURE, [path], rows, spent) for path in dataset.toll_history]
    by_road: dict[tuple[int, bool], list[int]] = defaultdict(list)
    east = (journeys["from_seg"] < journeys["to_seg"]).tolist()
    for number, road in enumerate(zip(journeys["xway"].tolist(), east, strict=True)):
        by_road[road].append(number)
    for numbers in by_road.values():
        rows = np.array(numbers)
        asked = {name: column[rows].astype(np.int64) for name, column in journeys.items()}
        units.append(Unit(spec.TRAVEL_TIME, dataset.segment_history, rows, asked))
    return units


def _answer(unit: Unit) -> Answered:
    if unit.kind == spec.EXPENDITURE:
        (path,) = unit.files
        rows, tolls = spent_in(path, unit.requests)
        return Answered(unit.kind, unit.rows[rows], (tolls,))
    asked = unit.requests
    direction = spec.EAST if asked["from_seg"][0] < asked["to_seg"][0] else spec.WEST
    history = averages(unit.files, int(asked["xway"][0]), direction)
    return Answered(unit.kind, unit.rows, drive(history, direction, asked))


def _heaps_of_requests(
    dataset: Dataset, seed: int, requests: dict[int, Columns], parts: Sequence[Answered]
) -> dict[str, Heap]:
    heaps = {}
    for kind, values, unknown in (
        (spec.BALANCE, 0, 0),
        (spec.EXPENDITURE, 1, 0),
        (spec.TRAVEL_TIME, 2, spec.NO_TRAVEL_TIME),
    ):
        asked = requests[kind]
        answers = np.full((values, len(asked["kind"])), unknown, np.int64)
        for part in parts:
            if part.kind == kind:
                for answer, value in zip(answers, part.values, strict=True):
                    answer[part.rows] = value
        name = spec.ANSWERS[kind]
        heaps[name] = heap_of_copies(dataset, seed, asked["home"], asked["query_id"], asked["second"], *answers)
    return heaps
