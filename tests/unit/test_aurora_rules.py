"""Linear Road's rules as Aurora's boxes compute them, at the edges that doubles do not see."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import floor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA
from polling_baseline import spec
from polling_baseline.batch import REPORT_COLUMNS, REQUEST_COLUMNS, Share
from polling_baseline.engines.aurora.linear_road import travel
from polling_baseline.engines.aurora.linear_road.accidents import NO_ACCIDENT, Accidents
from polling_baseline.engines.aurora.linear_road.history import EMPTY, Archive, SmallHistory
from polling_baseline.engines.aurora.linear_road.money import Accounts
from polling_baseline.engines.aurora.linear_road.road import cell_of
from polling_baseline.engines.aurora.linear_road.statistics import MOST_REPORTS, UNIT, SegmentAverages, lav
from polling_baseline.engines.aurora.linear_road.tolls import TollDebts
from polling_baseline.engines.aurora.linear_road.vehicles import NEVER, SPAN_S, UNKNOWN, Vehicles
from polling_baseline.engines.aurora.node import Node, Options
from tests.support import oracle


def columns(**given):
    return {name: np.array(values) for name, values in given.items()}


def averages_of(vehicles):
    """(cell, reports, speeds) of vehicles, as the box gives them."""
    window = SegmentAverages()
    keys = [cell * (MOST_REPORTS + 1) + reports for cell, reports, _ in vehicles]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    group = np.array([places[key] for key in keys], np.int32)
    window.add({"group": group, **columns(cell_and_reports=keys, speed_mph=[speed for _, _, speed in vehicles])})
    return window.close()


def test_averages_are_exact_for_any_number_of_reports():
    rng = random.Random(4)
    vehicles = [(rng.randrange(3), reports, rng.randrange(100 * reports)) for reports in range(1, 61) for _ in range(3)]
    found = averages_of(vehicles)
    for cell, cars, speeds in zip(*(found[name].tolist() for name in ("cell", "cars", "speeds")), strict=True):
        mine = [Fraction(total, reports) for at, reports, total in vehicles if at == cell]
        assert cars == len(mine)
        assert Fraction(speeds, UNIT) == sum(mine)


@pytest.mark.parametrize("seed", range(30))
def test_lav_is_the_floor_of_the_exact_mean(seed):
    """Averages that add up to a whole number or just miss it."""
    rng = random.Random(seed)
    minutes = rng.sample(range(5), rng.randint(1, 5))
    target = rng.randrange(30, 50)
    rows = {}
    for minute in minutes:
        cars = rng.choice((1, 2, 3, 7, 49, 51, 333))
        speeds = [target] * cars
        if cars > 1 and rng.random() < 0.7:
            speeds[0], speeds[1] = target + 9, target - 9 - rng.choice((0, 0, 1))
        rows[minute] = averages_of([(5, 1, speed) for speed in speeds])
    parts = [{**row, "second": np.full(1, 60 * minute + 59)} for minute, row in rows.items()]
    together = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    found = lav(together, 299)
    exact = [Fraction(int(part["speeds"][0]), UNIT * int(part["cars"][0])) for part in parts]
    assert found["lav"].tolist() == [floor(sum(exact) / len(exact))]
    assert found["cars"].tolist() == [int(rows[4]["cars"][0]) if 4 in rows else 0]


SPEEDS = (20, 30, 40, 45, 60, 90, 120, 0)
HISTORY = [
    (day, minute, 0, way, seg, random.Random(f"{day} {minute} {way} {seg}").choice(SPEEDS), 51, 0)
    for day, minute, way, seg in product((1, 7, 8), (1, 2, 3, 4, 5, 1439, 1440), (0, 1), range(8))
]


def test_journeys_are_those_of_the_oracle():
    history = SmallHistory({}, HISTORY).load()
    weekday = oracle.by_weekday(HISTORY)
    asked = list(product([0], range(8), range(8), (1, 6, 7), (1, 3, 1438, 1440)))
    names = ("xway", "from_seg", "to_seg", "day_of_week", "minute_of_day")
    requests = dict(zip(names, np.array(asked, np.int16).T, strict=True))
    found = travel.journeys(history, {**requests, "second": requests["xway"]})
    expected = [oracle.travel(weekday, *one) for one in asked]
    assert list(zip(found["travel_s"].tolist(), found["toll"].tolist(), strict=True)) == expected
    assert len(set(expected)) > 20


def test_a_journey_that_doubles_cannot_decide_is_driven_in_fractions():
    """Three thirds of a minute are a minute: the fourth segment is driven in the next one."""
    rows = [(7, minute, 0, 0, seg, 180 if minute == 1 else 60, 40, 0) for minute in (1, 2) for seg in range(5)]
    history = SmallHistory({}, rows).load()
    requests = columns(second=[0], xway=[0], from_seg=[0], to_seg=[4], day_of_week=[1], minute_of_day=[1])
    found = travel.journeys(history, requests)
    assert (found["travel_s"].tolist(), found["toll"].tolist()) == ([120], [0])


def test_history_from_files_is_that_from_rows(tmp_path):
    tolls = {
        (vid, day, xway): vid % 1000 + day for vid, day, xway in product((0, 5, spec.MAX_VEHICLE_ID), (1, 69), (0, 999))
    }
    rows = [[*key, value] for key, value in tolls.items()]
    random.Random(1).shuffle(rows)
    files = []
    for number, part in enumerate((rows[:5], rows[5:], [])):
        files.append(tmp_path / f"block-0000-week-{number:02d}.parquet")
        arrays = [pa.array(column) for column in zip(*part, strict=True)] or [[]] * 4
        pq.write_table(pa.table(arrays, names=TOLL_SCHEMA.names).cast(TOLL_SCHEMA), files[-1])
    segments = [tmp_path / f"xway-000-week-{number:02d}.parquet" for number in (0, 1)]
    for number, path in enumerate(segments):
        part = [pa.array(column) for column in zip(*HISTORY[number::2], strict=True)]
        pq.write_table(pa.table(part, names=SEGMENT_SCHEMA.names).cast(SEGMENT_SCHEMA), path)
    archive = Archive(files, segments)
    from_files, from_rows = archive.load(), SmallHistory(tolls, HISTORY).load()
    asked = list(product((0, 1, 5, spec.MAX_VEHICLE_ID), (1, 2, 69), (0, 1, 999)))
    vehicle, day, xway = (np.array(column) for column in zip(*asked, strict=True))
    for history in (from_files, from_rows):
        assert history.tolls_of(vehicle, day, xway).tolist() == [tolls.get(key, 0) for key in asked]
    moments = np.flatnonzero(from_rows.sums[0]["index"] >= 0)
    assert np.array_equal(np.flatnonzero(from_files.sums[0]["index"] >= 0), moments)
    for name in ("days", "lav", "cars"):
        one, other = (
            history.sums[0][name].reshape(-1, spec.SEGMENTS)[history.sums[0]["index"][moments]]
            for history in (from_files, from_rows)
        )
        assert np.array_equal(one, other)
    folder = archive.folder
    archive.close()
    assert not folder.exists()
    nothing = Archive([], [])
    assert nothing.load().tolls_of(vehicle, day, xway).sum() == 0
    nothing.close()


def test_an_accident_warns_four_segments_upstream_and_the_nearest_wins():
    table = Accidents()
    # Eastbound in segments 3 and 5, westbound in 98; entered at the end of minute 1.
    table.enter(columns(second=[59, 59, 59], road=[0, 0, 1], seg=[5, 3, 98]))
    for way, expected in (
        (0, {0: 3, 1: 3, 2: 3, 3: 3, 4: 5, 5: 5}),
        (1, {98: 98, 99: 98}),
    ):
        cells = cell_of(np.full(100, way), np.arange(100))
        found = table.ahead({"second": np.full(100, 60), "cell": cells})["accident_seg"]
        assert {seg: int(found[seg]) for seg in range(100) if found[seg] != NO_ACCIDENT} == expected
        for second in (0, 59, 120):
            assert (table.ahead({"second": np.full(100, second), "cell": cells})["accident_seg"] == NO_ACCIDENT).all()
    # Whatever comes later, the nearest stays.
    table.enter(columns(second=[59], road=[0], seg=[6]))
    found = table.ahead({"second": np.array([60, 60]), "cell": np.array([2, 6])})
    assert found["accident_seg"].tolist() == [3, 6]


def test_vehicles_of_30_seconds_before_and_no_others():
    table = Vehicles()
    nobody = np.zeros(0, np.int32)
    for second, vid in ((0, 1), (29, 2), (30, 3)):
        seen = columns(second=[second], spot=[77], seg=[99], stood=[2])
        table.enter({**seen, "vehicle_id": np.array([vid], np.int32)})
    asked = {"second": np.array([30, 59, 60, 61]), "vehicle_id": np.array([1, 2, 3, 1], np.int32)}
    found = table.before(asked)
    assert found["last_seg"].tolist() == [99, 99, 99, UNKNOWN]
    assert found["last_spot"].tolist()[:3] == [77] * 3
    assert found["last_stood"].tolist()[:3] == [2] * 3
    vehicles = np.array([1, 2, 3, 4], np.int32)
    after, before = np.full(4, -1), np.array([1, 29, 31, 31])
    assert table.first_seen(vehicles, after, before).tolist() == [0, NEVER, 30, NEVER]
    assert len(table.first_seen(nobody, after[:0], before[:0])) == 0
    # The ring has come round: second 0 is forgotten.
    table.enter({**columns(second=[SPAN_S], spot=[1], seg=[1], stood=[1]), "vehicle_id": np.array([9], np.int32)})
    assert table.first_seen(vehicles[:1], after[:1], before[:1]).tolist() == [NEVER]


def test_what_a_trip_owes_is_charged_once_and_not_to_another_trip():
    table = TollDebts()

    def settle(second, last_seg, toll, lane=1):
        given = columns(second=[second], last_seg=[last_seg], toll=[toll], lane=[lane])
        [assessed] = table.settle({**given, "vehicle_id": np.array([8], np.int32)})["assessed"]
        return int(assessed)

    assert settle(0, UNKNOWN, 18) == 0
    assert settle(7, UNKNOWN, 50) == 0  # another trip of the same vehicle
    assert settle(30, 4, 32) == 18
    assert settle(60, 5, 2, lane=spec.EXIT_LANE) == 32
    assert settle(90, 6, 8) == 0  # the exit lane owes nothing
    assert settle(37, 3, 0) == 50
    assert settle(600, UNKNOWN, 2) == 0  # what a trip that ended owed is forgotten


def test_a_balance_is_as_of_its_second():
    accounts = Accounts()
    vehicle = np.array([1, 1, 2, 1], np.int32)
    accounts.charge({"vehicle_id": vehicle, **columns(second=[5, 7, 7, 9], assessed=[10, 20, 40, 80])})
    accounts.charge({"vehicle_id": vehicle[:1], **columns(second=[80], assessed=[160])})
    asked = [(1, 80), (1, 79), (2, 80), (3, 80)]
    vid, second = (np.array(column) for column in zip(*asked, strict=True))
    assert accounts.balance(vid.astype(np.int32), second).tolist() == [270, 110, 40, 0]


def test_no_report_enters_the_third_subnetwork_before_the_minute_before_is_over():
    """The wait is real: with the signals held back, reports stay in the box."""
    node = Node(EMPTY, True, Options())
    network = node.network
    box = network.vertices["minute before is over"].box
    held = [vertex for vertex in network.vertices.values() if vertex.box.name == "accidents ahead"]
    arrows, held[0].arrows = held[0].arrows, []
    wide = {"vehicle_id": np.int32, "position_ft": np.int32, "query_id": np.int64}
    reports = {name: np.ones(1, wide.get(name, np.int16)) for name in REPORT_COLUMNS}
    nothing = {name: np.zeros(0, wide.get(name, np.int16)) for name in REQUEST_COLUMNS}
    node.feed(range(0, 2), Share(reports, nothing))
    assert (box.held, node.finish()) == (1, [])
    held[0].arrows = arrows
    none = {name: column[:0] for name, column in reports.items()}
    node.feed(range(2, 3), Share(none, nothing))
    assert box.held == 0
    [answers] = node.finish()
    assert (answers.kind, answers.columns["vehicle_id"].tolist()) == ("toll", [1])
