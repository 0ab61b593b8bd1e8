"""Guesses at the cause of a fault, each on a place where it would explain the answer, and none where nothing does."""

from __future__ import annotations

import numpy as np
import pytest

from driver.validate.causes import Case, Surroundings, guesses
from driver.validate.inputs import Report
from driver.validate.odd_lines import read_line
from driver.validate.reference.accidents import ahead_of
from driver.validate.reference.right_answers import ACCIDENT, BALANCE, EXPENDITURE, TOLL, TRAVEL_TIME, Conditions
from driver.validate.reference.statistics import WIDTH, Averages, statistics_of
from polling_baseline import spec

# Minute 6 looks back on 60 cars of 39 mph in minute 1 and 61 of 38 mph in minute 5; nobody came between.  In minute 8,
# segment 12 has an accident until the end of minute 9.
SECOND = 5 * 60 + 10
CARS = {0: 60, 4: 61, 5: 70, 7: 90, 8: 90}
SPEEDS = {0: 39, 4: 38, 5: 30, 7: 20, 8: 20}
ACCIDENT_MINUTES = (7, 8)


def there(second=SECOND, seg=10):
    cars, sums = np.zeros((100, WIDTH), np.int64), np.zeros((100, WIDTH), np.int64)
    for minute, count in CARS.items():
        cars[seg, minute], sums[seg, minute] = count, 2 * count * SPEEDS[minute] + (count if minute == 4 else 0)
    averages = Averages(0, cars, sums, {})
    statistics = statistics_of(averages)
    accidents = {name: np.array([value] * 2) for name, value in (("road", 0), ("seg", 12))}
    accidents["minute"] = np.array(ACCIDENT_MINUTES)
    early = ahead_of(accidents, statistics, end_early=True)
    conditions = Conditions(statistics, ahead_of(accidents, statistics))
    return Surroundings(seg, second // 60, conditions, averages, early)


def report(second=SECOND, seg=10, lane=1):
    return Report(second, 0, spec.EAST, seg, lane, f"0,{second},7,20,0,{lane},0,{seg}")


def toll(lav, amount, second=SECOND, fault="wrong"):
    return Case(
        *(TOLL, fault, second, [(0, 0)], [read_line(f"0,7,{second},{second}.5,{lav},{amount}")], report(second)),
        there=there(second),
    )


def alert(seg, second, fault):
    said = [] if seg is None else [read_line(f"1,{second},{second}.5,7,{seg}")]
    return Case(ACCIDENT, fault, second, [(12, 0)], said, report(second), there=there(second))


def test_the_place():
    """LAV is the mean of 39 and 38.5."""
    assert (there().lav, there().cars, there().toll, there().ahead) == (38, 61, 242, [])
    assert (there(8 * 60).ahead, there(9 * 60).ahead, there(9 * 60).ahead_early) == ([12], [12], [])


@pytest.mark.parametrize(
    ("case", "guess"),
    [
        pytest.param(toll(39, 242), "rounded to the nearest", id="rounded"),
        pytest.param(toll(15, 242), "taken as 0", id="empty-minutes"),
        pytest.param(toll(-1, 0, 60 * 12), None, id="nothing"),
        pytest.param(toll(38, 121), "factor of 2", id="half"),
        pytest.param(toll(38, 288), "62 cars were counted instead of 61", id="one-car-more"),
        pytest.param(toll(38, 200), "60 cars were counted instead of 61", id="one-car-less"),
        pytest.param(toll(38, 800), "cars of the same minute", id="same-minute"),
        pytest.param(toll(34, 800), "the minute after", id="a-minute-late"),
        pytest.param(toll(29, 3200, 60 * 8), "the accident ahead was not seen", id="no-accident"),
        pytest.param(toll(25, 3200, 60 * 9), "end a minute earlier", id="accident-ends-early"),
        pytest.param(toll(0, 0, 10), "LAV 0 instead of -1", id="no-data"),
        pytest.param(toll(38, 99), None, id="no-guess"),
        pytest.param(alert(None, 60 * 9, "missing"), "end a minute earlier", id="alert-ends-early"),
        pytest.param(alert(12, 60 * 10, "extra"), "act a minute longer", id="alert-ends-late"),
        pytest.param(alert(12, 60 * 7, "extra"), "in the minute in which it began", id="alert-at-once"),
    ],
)
def test_tolls_and_alerts(case, guess):
    found = guesses(case)
    assert (guess is None) == (found == []), found
    assert guess is None or any(guess in text for text in found), found


@pytest.mark.parametrize(
    ("given", "earlier", "fault", "guess"),
    [
        (report(lane=spec.EXIT_LANE), [report(SECOND - 30, 9)], "extra", "exit lane"),
        (report(), [report(SECOND - 30)], "extra", "already in segment 10"),
        (None, [], "extra", "another Time or VID"),
        (report(), [report(SECOND - 60)], "missing", "a second trip was taken for the first"),
        (report(), [report(SECOND - 30, 9)], "missing", None),
    ],
)
def test_reports_that_are_no_crossing_and_that_are(given, earlier, fault, guess):
    found = guesses(Case(TOLL, fault, SECOND, [], [], given, earlier))
    assert (guess is None and not found) or any(guess in text for text in found)


CHARGES = [(100, 8), (250, 18)]


@pytest.mark.parametrize(
    ("kind", "right", "said", "guess"),
    [
        (BALANCE, (7, 0), "2,300,300.5,301,9,26", "after the request"),
        (BALANCE, (7, 0), "2,300,300.5,200,9,8", "more than 60 s before"),
        (BALANCE, (7, 0), "2,300,300.5,299,9,8", "held from 100 to 249"),
        (BALANCE, (7, 0), "2,300,300.5,300,9,34", "charged twice"),
        (BALANCE, (7, 0), "2,300,300.5,300,9,27", None),
        (EXPENDITURE, (90, 0), "3,300,300.5,9,0", "not found"),
        (EXPENDITURE, (90, 0), "3,300,300.5,9,91", None),
        (TRAVEL_TIME, (270, 200), "4,300,300.5,9,5,200", "in minutes"),
        (TRAVEL_TIME, (270, 200), "4,300,300.5,9,271,200", "rounded differently"),
        (TRAVEL_TIME, (270, 200), "4,300,300.5,9,270,201", "toll was rounded"),
        (TRAVEL_TIME, (270, 200), "4,300,300.5,9,-1,-1", "decided differently"),
        (TRAVEL_TIME, (270, 200), "4,300,300.5,9,400,200", None),
    ],
)
def test_requests(kind, right, said, guess):
    found = guesses(Case(kind, "wrong", 300, [right], [read_line(said)], charges=CHARGES))
    assert (guess is None and not found) or any(guess in text for text in found), found


@pytest.mark.parametrize(
    ("fault", "said", "guess"),
    [
        ("early", ["3,300,299.5,9,0"], "another moment"),
        ("late", ["3,300,300500,9,0"], "milliseconds"),
        ("late", ["3,300,320,9,0"], None),
        ("duplicate", ["3,300,301,9,0"] * 2, "written again"),
        ("duplicate", ["3,300,301,9,0", "3,300,302,9,1"], "a second time"),
    ],
)
def test_any_kind(fault, said, guess):
    found = guesses(Case(EXPENDITURE, fault, 300, [(0, 0)], [read_line(line) for line in said]))
    assert (guess is None and not found) or any(guess in text for text in found), found
