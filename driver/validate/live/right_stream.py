"""The right answers minute by minute: the reference's rules, with a state that is carried from one to the next.

A rule sees the reports of a minute and of the 120 s before it, which is as far back as four reports of one trip reach.
What lasts longer is carried on: what a trip owes for the segment it is in, what each vehicle was charged so far, and
the statistics of five minutes.  Answers from history do not depend on the stream: they are looked up at the start.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from driver.dataset.folder import Dataset, read_minutes
from driver.run.feed import Feed
from driver.validate.live.tree_file import Tree
from driver.validate.reference.accidents import accidents_of, ahead_of, stops_of
from driver.validate.reference.money import Accounts, accounts_of
from driver.validate.reference.requests import answer, answers_to, requests_by_kind, units_of
from driver.validate.reference.right_answers import TOLL, Conditions
from driver.validate.reference.statistics import TALLY, WIDTH, averages_of, statistics_of, tally_of
from driver.validate.reference.trips import Trips, crossings_of, joined, trips_of
from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Columns

Integers = npt.NDArray[np.int64]
NONE = np.zeros(0, np.int64)
REACH_S = spec.STOP_REPORTS * spec.REPORT_PERIOD_S


@dataclass(frozen=True, slots=True)
class RightMinute:
    """What is right for the input of a minute: answers by kind, and the accounts of those who ask in it."""

    minute: int
    answers: dict[int, Columns]
    accounts: Accounts


@dataclass(frozen=True, slots=True)
class Sums:
    """A number for each key, which are in order; 0 for any other key."""

    key: Integers = field(default_factory=lambda: NONE)
    value: Integers = field(default_factory=lambda: NONE)

    def at(self, key: Integers) -> Integers:
        if not len(self.key):
            return np.zeros(len(key), np.int64)
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[place] == key, self.value[place], 0)

    def plus(self, key: Integers, value: Integers) -> Sums:
        keys, place = np.unique(np.r_[self.key, key], return_inverse=True)
        # Doubles, but whole numbers below 2^53: exact.
        return Sums(keys, np.bincount(place, np.r_[self.value, value], len(keys)).astype(np.int64))


class RightStream:
    """Gives the minutes of a part of a data set in order; holds what later ones depend on, and no more."""

    def __init__(self, dataset: Dataset, seconds: range, state: Tree = None) -> None:
        original = _without_copies(dataset)
        self.seconds = seconds
        # Of the minute that comes next.
        self._first = state["first"] if state else seconds.start
        self._feed = Feed(original, range(self._first, seconds.stop), 1)
        self._requests = requests_by_kind(dataset, [_requests(original, seconds)])
        self._answers = answers_to(self._requests, [answer(unit) for unit in units_of(dataset, self._requests)])
        self._everywhere = _nobody_at(min(original.traffic), max(original.traffic))
        self._tail = joined([], REPORT_COLUMNS)
        self._tallies: deque[Columns] = deque(maxlen=spec.LAV_MINUTES)
        self._accidents = accidents_of([])
        # What a vehicle owes, by its phase; what it was charged before the minute before, and in that one.
        self._owed, self._charged = Sums(), Sums()
        self._assessments = _assessed(NONE, NONE, NONE)
        if state:
            self._go_on_from(state)

    def state(self) -> Tree:
        """What later minutes depend on."""
        sums = {name: [of.key, of.value] for name, of in (("owed", self._owed), ("charged", self._charged))}
        rows = {"tail": self._tail, "accidents": self._accidents, "assessments": self._assessments}
        return {"first": self._first, "tallies": list(self._tallies), **rows, **sums}

    def _go_on_from(self, state: Tree) -> None:
        self._tallies.extend(state["tallies"])
        self._tail, self._accidents, self._assessments = (state[name] for name in ("tail", "accidents", "assessments"))
        self._owed, self._charged = Sums(*state["owed"]), Sums(*state["charged"])

    def minutes(self) -> Iterator[RightMinute]:
        """Each minute of the seconds, which may become fewer meanwhile."""
        while self._first < self.seconds.stop:
            part = range(self._first, min(self._first + spec.MINUTE_S, self.seconds.stop))
            self._first += spec.MINUTE_S
            yield self._take(part, self._feed.take(part).shares[0].reports)

    def close(self) -> None:
        self._feed.close()

    def _take(self, seconds: range, reports: Columns) -> RightMinute:
        first, minute = seconds.start, seconds.start // spec.MINUTE_S
        trips = trips_of(joined([self._tail, reports], REPORT_COLUMNS))
        # What the minutes before say.
        statistics = statistics_of(averages_of([self._everywhere, *self._tallies]))
        conditions = Conditions(statistics, ahead_of(self._accidents, statistics))
        answers = conditions.notifications(_since(first, crossings_of(trips)))
        assessments = self._assess(first, trips, answers[TOLL]["value_2"])
        asked = {kind: _within(seconds, rows) for kind, rows in self._answers.items()}
        accounts = self._accounts(_within(seconds, self._requests[spec.BALANCE]), assessments)
        # What this one says to those that follow.
        tally, accidents = tally_of(trips), accidents_of([stops_of(trips)])
        self._tallies.append(_where(tally["cell"] % WIDTH == minute, tally))
        self._accidents = _where(accidents["minute"] == minute, accidents)
        self._tail = _since(first + spec.MINUTE_S - REACH_S, trips.reports)
        return RightMinute(minute, {**answers, **asked}, accounts)

    def _assess(self, first: int, trips: Trips, toll: Integers) -> Columns:
        """Rule 9: who enters a segment is charged what it owes for the one before."""
        second, vehicle = (trips.reports[name].astype(np.int64) for name in ("second", "vehicle_id"))
        phase = vehicle * spec.REPORT_PERIOD_S + second % spec.REPORT_PERIOD_S
        trip = np.cumsum(~trips.follows)
        entered = np.flatnonzero((second >= first) & ~trips.same_as_before("seg"))
        on_road = trips.reports["lane"][entered] != spec.EXIT_LANE
        tolls = np.zeros(len(entered), np.int64)
        tolls[on_road] = toll
        # For the segment that it entered before in this minute, or in an earlier one.
        is_next = np.r_[False, trip[entered[1:]] == trip[entered[:-1]]][: len(entered)]
        owed = np.where(is_next, np.r_[0, tolls][: len(tolls)], self._owed.at(phase[entered]))
        charged = trips.follows[entered] & (owed > 0)
        # Of a trip that can go on, the last entry.
        lives = np.flatnonzero(second >= first + spec.MINUTE_S - spec.REPORT_PERIOD_S)
        last = np.searchsorted(entered, lives, "right")
        has_entered = np.r_[-1, trip[entered]][last] == trip[lives]
        self._owed = Sums(phase[lives], np.where(has_entered, np.r_[0, tolls][last], self._owed.at(phase[lives])))
        at = entered[charged]
        return _assessed(vehicle[at], second[at], owed[charged])

    def _accounts(self, requests: Columns, assessments: Columns) -> Accounts:
        """Of those who ask: all that was charged before the minute before, in that one and in this one."""
        asking = np.unique(requests["vehicle_id"]).astype(np.int64)
        long_ago = np.full(len(asking), -spec.BALANCE_AGE_S)
        recent = [self._assessments, assessments]
        of_them = [_where(np.isin(part["vehicle_id"], asking), part) for part in recent]
        accounts = accounts_of(requests, [_assessed(asking, long_ago, self._charged.at(asking)), *of_them])
        self._charged = self._charged.plus(self._assessments["vehicle_id"], self._assessments["toll"])
        self._assessments = assessments
        return accounts


def _without_copies(dataset: Dataset) -> Dataset:
    """The expressways on disk that it is made of."""
    if dataset.distinct is None:
        return dataset
    return replace(dataset, xways=float(min(math.ceil(dataset.xways), dataset.distinct)))


def _requests(dataset: Dataset, seconds: range) -> Columns:
    """All requests, with the expressway in whose file they stand as `home`."""
    names = (*REQUEST_COLUMNS, "home")
    first, last = spec.minute_of(seconds.start), spec.minute_of(seconds[-1])
    parts = []
    for home, path in dataset.traffic.items():
        for _, rows in read_minutes(path, first, last):
            asked = rows.filter(pc.not_equal(rows["kind"], spec.REPORT))
            columns = {name: asked[name].to_numpy() for name in REQUEST_COLUMNS}
            parts.append({**columns, "home": np.full(len(asked), home)})
    return joined(parts, names)


def _nobody_at(first_xway: int, last_xway: int) -> Columns:
    """No car at the first and at the last place: statistics have all places between."""
    places = np.array([first_xway * 2 * spec.SEGMENTS, (last_xway + 1) * 2 * spec.SEGMENTS - 1])
    nothing = np.zeros(2, np.int64)
    return dict(zip(TALLY, (places * WIDTH, nothing + 1, nothing, nothing), strict=True))


def _assessed(vehicle: Integers, second: Integers, toll: Integers) -> Columns:
    return {"vehicle_id": vehicle, "second": second, "toll": toll}


def _where(rows: npt.NDArray[np.bool_], columns: Columns) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


def _since(second: int, columns: Columns) -> Columns:
    return _where(columns["second"] >= second, columns)


def _within(seconds: range, columns: Columns) -> Columns:
    return _where((columns["second"] >= seconds.start) & (columns["second"] < seconds.stop), columns)
