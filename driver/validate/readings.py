"""What counts as right: balances, of which many are, and the specification's lenient readings, counted apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from driver.validate.odd_lines import EMPTY
from driver.validate.reading import Reading
from driver.validate.reference.accidents import NEAREST
from driver.validate.reference.money import Accounts
from driver.validate.reference.right_answers import ACCIDENT, BALANCE, TOLL, TRAVEL_TIME
from polling_baseline import spec
from polling_baseline.batch import Columns

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
# The value of a balance that is right for nobody who asked.
NOBODY = -1
# Numbers beyond are near to none; a system may say anything, and no number that it says may overflow.
FAR = 1 << 50


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How answers are read; `accounts` has the assessments of 0 if it is leniently."""

    reading: Reading
    accounts: Accounts

    def read(self, expected: Columns, came: Columns, matches: Integers) -> tuple[list[Integers], Booleans]:
        """The values of the answers that came, with those expected where another reading allows what they say.

        And where it does.  `matches` has the row expected for each answer, or -1.
        """
        values = [came["value_1"].astype(np.int64), came["value_2"].astype(np.int64)]
        lenient = np.zeros(len(matches), bool)
        self._read_balances(expected, came, matches, values, lenient)
        if self.reading.lenient:
            for kind, accepted in ((TOLL, _no_data), (ACCIDENT, _in_range), (TRAVEL_TIME, self._near)):
                at = np.flatnonzero((came["kind"] == kind) & (matches >= 0))
                right = {name: expected[name][matches[at]] for name in ("value_1", "value_2", "slack")}
                at = at[accepted(right, values[0][at], values[1][at])]
                for number, value in enumerate(values):
                    value[at] = expected[f"value_{number + 1}"][matches[at]]
                lenient[at] = True
        return values, lenient

    def _near(self, right: Columns, said_s: Integers, said_toll: Integers) -> Booleans:
        """Rule 12's tolerance: 1 s + 0.1 %, or the minute below or above; a toll within 1 per segment."""
        travel_s, toll = right["value_1"], right["value_2"]
        possible = (np.abs(said_s) < FAR) & (np.abs(said_toll) < FAR) & (travel_s != spec.NO_TRAVEL_TIME)
        said_s, said_toll = np.where(possible, said_s, 0), np.where(possible, said_toll, 0)
        if self.reading.in_minutes:
            near = np.abs(60 * said_s - travel_s) < 60
        else:
            near = 1000 * np.abs(said_s - travel_s) <= 1000 + travel_s
        differs = (said_s != travel_s) | (said_toll != toll)
        return possible & near & differs & (np.abs(said_toll - toll) <= right["slack"])

    def _read_balances(
        self, expected: Columns, came: Columns, matches: Integers, values: list[Integers], lenient: Booleans
    ) -> None:
        """A balance that is right for a request has the request's VID as its value, and 0."""
        at = np.flatnonzero(came["kind"] == BALANCE)
        asked = at[matches[at] >= 0]
        vehicle = expected["value_1"][matches[asked]]
        right, accepted = self._fit(vehicle, came, asked)
        values[0][at], values[1][at] = NOBODY, 0
        values[0][asked] = np.where(right | accepted, vehicle, NOBODY)
        lenient[asked] = accepted & ~right
        for twins in _twins(expected):
            self._read_twins(twins, expected, came, values, lenient)

    def _fit(self, vehicle: Integers, came: Columns, at: Integers) -> tuple[Booleans, Booleans]:
        """Which of these balances are right for a vehicle, and which a lenient reading accepts."""
        balances = [came[name][at] for name in ("second", "value_1", "value_2")]
        right = self.accounts.fit(vehicle, *balances)
        lenient = self.accounts.fit_as_of_last(vehicle, *balances) if self.reading.lenient else np.zeros(len(at), bool)
        return right, lenient

    def _read_twins(
        self, twins: Integers, expected: Columns, came: Columns, values: list[Integers], lenient: Booleans
    ) -> None:
        """Several requests of one identity may be content with an answer; equal answers go to them in turn."""
        id, second = expected["id"][twins[0]], expected["second"][twins[0]]
        vehicles = np.unique(expected["value_1"][twins])
        at = np.flatnonzero((came["kind"] == BALANCE) & (came["id"] == id) & (came["second"] == second))
        turns: Counter[tuple[int, ...]] = Counter()
        for row in at[np.lexsort((came["line"][at], came["response_us"][at]))].tolist():
            right, accepted = self._fit(vehicles, came, np.full(len(vehicles), row))
            content = tuple(vehicles[right | accepted].tolist())
            values[0][row] = content[min(turns[content], len(content) - 1)] if content else NOBODY
            lenient[row] = bool(accepted.any() and not right.any())
            turns[content] += 1


def _twins(expected: Columns) -> list[Integers]:
    """The rows of requests for a balance that share QID and Time."""
    at = np.flatnonzero(expected["kind"] == BALANCE)
    at = at[np.lexsort((expected["second"][at], expected["id"][at]))]
    same = (expected["id"][at][1:] == expected["id"][at][:-1]) & (
        expected["second"][at][1:] == expected["second"][at][:-1]
    )
    groups = np.split(at, np.flatnonzero(~same) + 1) if same.any() else []
    return [group for group in groups if len(group) > 1]


def _no_data(right: Columns, lav: Integers, toll: Integers) -> Booleans:
    """Rule 3: no data as 0, or as nothing."""
    return (right["value_1"] == spec.NO_LAV) & ((lav == 0) | (lav == EMPTY)) & (toll == right["value_2"])


def _in_range(right: Columns, seg: Integers, _: Integers) -> Booleans:
    """Rule 8: any accident ahead, and not the nearest."""
    bits, direction = np.divmod(right["slack"], 2)
    downstream = np.where(direction == spec.EAST, 1, -1)
    own = right["value_1"] - downstream * NEAREST[bits]
    distance = (np.clip(seg, -FAR, FAR) - own) * downstream
    ahead = (distance >= 0) & (distance <= spec.ALERT_SEGMENTS)
    return ahead & (bits >> np.where(ahead, distance, 0) & 1 > 0) & (seg != right["value_1"])
