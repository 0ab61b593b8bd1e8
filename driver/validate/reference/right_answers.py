"""What is right for a part of a data set, in two jobs of Spark; no answer leaves its task unless it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driver.dataset.folder import Dataset
from driver.spark.units import run_job
from driver.validate.copies import count_copies
from driver.validate.fingerprint import Heap, draw_seed, heap_of_copies
from driver.validate.reference.accidents import accidents_of, ahead_of, nearest_ahead, stops_of
from driver.validate.reference.money import Accounts, accounts_of, assessments_of
from driver.validate.reference.requests import AnswerValues, Unit, answer, answers_to, requests_by_kind, units_of
from driver.validate.reference.statistics import Averages, Statistics, averages_of, statistics_of, tally_of
from driver.validate.reference.trips import Slice, crossings_of, read_slice, slices_of, trips_of
from polling_baseline import spec
from polling_baseline.batch import Columns

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

# So many tasks share the work well, whatever each of them takes.
UNITS_PER_CORE = 16
TOLL, ACCIDENT, BALANCE, EXPENDITURE, TRAVEL_TIME = range(len(spec.ANSWERS))


@dataclass(frozen=True, slots=True)
class SliceSummary:
    """What a slice of the vehicles says before anything is known of the others."""

    tally: Columns
    stops: Columns
    requests: Columns
    crossings: Columns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conditions:
    """The statistics, and as [place, minute] how far ahead accidents are, a bit each."""

    statistics: Statistics
    ahead: npt.NDArray[np.uint8]

    def at(self, table: npt.NDArray[Any], place: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return table[place - self.statistics.first_place, second // spec.MINUTE_S]

    def notifications(self, crossing: Columns) -> dict[int, Columns]:
        """Rules 4, 5 and 8: toll notifications and alerts, one row each; the `slack` of an alert has the bits."""
        place, second = crossing["place"], crossing["second"]
        ahead = self.at(self.ahead, place, second)
        warned = ahead > 0
        common = {"id": crossing["vehicle_id"], "second": second, "xway": place // (2 * spec.SEGMENTS), "place": place}
        lav, toll = (self.at(table, place, second) for table in (self.statistics.lav, self.statistics.toll))
        nothing = np.zeros(len(place), np.int64)
        tolls = {**common, "value_1": lav, "value_2": np.where(warned, 0, toll), "slack": nothing}
        nearest = nearest_ahead(place[warned], ahead[warned])
        alerts = {name: column[warned] for name, column in common.items()}
        bits = ahead[warned].astype(np.int64) * 2 + place[warned] // spec.SEGMENTS % 2
        return {TOLL: tolls, ACCIDENT: {**alerts, "value_1": nearest, "value_2": nothing[warned], "slack": bits}}


@dataclass(frozen=True, slots=True)
class SliceAnswers:
    """What follows for a slice from what is known of all; `others` are those that another reading would not have."""

    heaps: dict[int, Heap]
    assessments: Columns
    others: dict[int, int]


@dataclass(frozen=True)
class RightAnswers:
    """What is right for the input of these seconds, as if there were no other; a heap for each kind of answer.

    The heap of the balances has no values, which `accounts` knows.
    """

    spark: SparkSession
    dataset: Dataset
    seconds: range
    seed: int
    looks: RDD[SliceSummary]
    averages: Averages
    # Each slice's stops of vehicles, and the requests by kind.
    stops: Sequence[Columns]
    requests: dict[int, Columns]
    conditions: Conditions
    # The answers to requests, as `answers_to` has them.
    answers: dict[int, Columns]
    heaps: dict[int, Heap]
    accounts: Accounts
    # How many notifications are other ones than by the specification's own reading of an accident's end.
    others: dict[int, int]
    accidents_end_early: bool = False

    @cached_property
    def accidents(self) -> Columns:
        return accidents_of(self.stops)

    @cached_property
    def complete_accounts(self) -> Accounts:
        """The accounts with all assessments of those who ask, tolls of 0 included."""
        asked, conditions = self.asked, self.spark.sparkContext.broadcast(self.conditions)

        def assess(look: SliceSummary) -> Columns:
            assessed = assessments_in(conditions.value, look)
            return {name: column[np.isin(assessed["vehicle_id"], asked)] for name, column in assessed.items()}

        assessments = run_job(self.spark, self.looks.map(assess).collect)
        conditions.unpersist()
        return accounts_of(self.requests[spec.BALANCE], assessments)

    @property
    def asked(self) -> npt.NDArray[Any]:
        """The vehicles that ask for a balance."""
        return np.unique(self.requests[spec.BALANCE]["vehicle_id"])

    def with_accidents_that_end_early(self) -> RightAnswers:
        """The same by the other reading of how long accidents act."""
        statistics = self.conditions.statistics
        early = Conditions(statistics, ahead_of(self.accidents, statistics, end_early=True))
        notified: list[SliceAnswers] = _notify(self, early)
        return _with_notified(replace(self, conditions=early, accidents_end_early=True), notified)


@contextmanager
def right_answers(
    spark: SparkSession, dataset: Dataset, seconds: range, seed: int | None = None
) -> Iterator[RightAnswers]:
    """The right answers to a part of a data set; what is kept in memory for them is let go in the end.

    Without a seed of the caller's, nobody knows it beforehand.
    """
    seed = draw_seed() if seed is None else seed
    slices = slices_of(dataset, seconds, spark.sparkContext.defaultParallelism)
    with _kept(_tasks(spark, slices, _look)) as looks:
        seen = run_job(spark, looks.map(_without_crossings).collect)
        averages, stops = averages_of([look.tally for look in seen]), [look.stops for look in seen]
        statistics = statistics_of(averages)
        conditions = Conditions(statistics, ahead_of(accidents_of(stops), statistics))
        requests = requests_by_kind(dataset, [look.requests for look in seen])
        right = RightAnswers(
            *(spark, dataset, seconds, seed, looks, averages, stops, requests, conditions),
            answers={},
            heaps={},
            accounts=accounts_of(requests[spec.BALANCE], []),
            others={},
        )
        done: list[SliceAnswers | AnswerValues] = _notify(right, conditions, units_of(dataset, requests))
        answers = answers_to(requests, [part for part in done if isinstance(part, AnswerValues)])
        heaps = {kind: _heap(dataset, seed, kind, rows) for kind, rows in answers.items()}
        right = replace(right, answers=answers, heaps=heaps)
        yield _with_notified(right, [part for part in done if isinstance(part, SliceAnswers)])


def _tasks(spark: SparkSession, units: Sequence[Any], work: Callable[[Any], Any]) -> RDD[Any]:
    """A task per unit, or for a few units if they are many."""
    most = UNITS_PER_CORE * spark.sparkContext.defaultParallelism
    return spark.sparkContext.parallelize(units, min(max(len(units), 1), most)).map(work)


@contextmanager
def _kept(rows: RDD[Any]) -> Iterator[RDD[Any]]:
    from pyspark import StorageLevel

    try:
        yield rows.persist(StorageLevel.MEMORY_AND_DISK)
    finally:
        rows.unpersist()


def _look(part: Slice) -> SliceSummary:
    reports, requests = read_slice(part)
    trips = trips_of(reports)
    # The same rows in another order: a slice is large.
    del reports
    return SliceSummary(tally_of(trips), stops_of(trips), requests, crossings_of(trips))


def _without_crossings(look: SliceSummary) -> SliceSummary:
    return SliceSummary(look.tally, look.stops, look.requests)


def _notify(right: RightAnswers, conditions: Conditions, units: Sequence[Unit] = ()) -> list[Any]:
    """What each slice is notified by some conditions, compared with those of the specification; and units answered."""
    dataset, seed, asked = right.dataset, right.seed, right.asked
    shared = right.spark.sparkContext.broadcast((conditions, right.conditions))

    def notify(look: SliceSummary) -> SliceAnswers:
        ours, specified = shared.value
        notifications = ours.notifications(look.crossings)
        assessed = assessments_of(look.crossings, notifications[TOLL]["value_2"])
        charged = (assessed["toll"] > 0) & np.isin(assessed["vehicle_id"], asked)
        return SliceAnswers(
            {kind: _heap(dataset, seed, kind, rows) for kind, rows in notifications.items()},
            {name: column[charged] for name, column in assessed.items()},
            {} if ours is specified else _differences(dataset, ours, specified, look),
        )

    done = run_job(right.spark, right.looks.map(notify).union(_tasks(right.spark, units, answer)).collect)
    shared.unpersist()
    return done


def _differences(dataset: Dataset, ours: Conditions, specified: Conditions, look: SliceSummary) -> dict[int, int]:
    """How many of the specified notifications are not among ours."""
    place, second, vehicle = (look.crossings[name] for name in ("place", "second", "vehicle_id"))
    bits, specified_bits = (conditions.at(conditions.ahead, place, second) for conditions in (ours, specified))
    toll = ours.at(ours.statistics.toll, place, second)
    tolls = (toll > 0) & ((bits > 0) != (specified_bits > 0))
    moved = nearest_ahead(place, bits) != nearest_ahead(place, specified_bits)
    alerts = (specified_bits > 0) & ((bits == 0) | moved)
    xway = place // (2 * spec.SEGMENTS)
    return {
        kind: count_copies(dataset, xway[rows], vehicle[rows]) for kind, rows in ((TOLL, tolls), (ACCIDENT, alerts))
    }


def assessments_in(conditions: Conditions, look: SliceSummary) -> Columns:
    return assessments_of(look.crossings, conditions.notifications(look.crossings)[TOLL]["value_2"])


def _heap(dataset: Dataset, seed: int, kind: int, rows: Columns) -> Heap:
    values = {BALANCE: (), TOLL: ("value_1", "value_2"), TRAVEL_TIME: ("value_1", "value_2")}.get(kind, ("value_1",))
    return heap_of_copies(dataset, seed, rows["xway"], rows["id"], rows["second"], *(rows[name] for name in values))


def _with_notified(right: RightAnswers, parts: Sequence[SliceAnswers]) -> RightAnswers:
    heaps = {kind: sum((part.heaps[kind] for part in parts), Heap()) for kind in (TOLL, ACCIDENT)}
    others = {kind: sum(part.others.get(kind, 0) for part in parts) for kind in (TOLL, ACCIDENT)}
    accounts = accounts_of(right.requests[spec.BALANCE], [part.assessments for part in parts])
    return replace(right, heaps={**right.heaps, **heaps}, accounts=accounts, others=others)
