"""Small random roads on which everything collides: platoons that cost tolls, pairs that stop, trips that interleave.

The lines are acceptable ones, sorted by Time; the same seed gives the same road.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from polling_baseline import spec

SEGS = (0, 1, 2, 3, 4, 5, 6, 95, 96, 97, 98, 99)
SPEEDS = (0, 20, 30, 35, 38, 39, 39, 40, 40, 41, 45, 60, 100)
DAYS = (1, 2, 6, 7, 8, 14, 69)
MINUTES = (*range(1, 13), *range(1434, 1441))  # of a day: around midnight
FAR_SEG = 8  # history and journeys are in segments below

Place = tuple[int, int, int, int, int]  # expressway, lane, direction, segment, position
Reports = dict[tuple[int, int], tuple[int, ...]]  # by vehicle and second: there is one at most
Line = tuple[int, ...]


def random_lines(
    seed: int,
    minutes: int = 8,
    xways: int = 2,
    platoons: int = 2,
    vehicles: int = 40,
    requests: int = 150,
    stops: int = 10,
) -> list[Line]:
    """Accepted input lines: with the defaults about 1,800 of them."""
    rng = random.Random(f"lines {seed}")
    until = minutes * spec.MINUTE_S
    reports: Reports = {}
    hot = [random_place(rng, xways) for _ in range(4)]
    for number in range(platoons):
        place = hot[0] if number % 2 else random_place(rng, xways)
        drive_platoon(rng, reports, 1000 * (number + 1), until, place, xways)
    for vid in range(1, vehicles + 1):
        wander(rng, reports, vid, until, hot, xways)
    for number in range(stops):
        xway, lane, dir, seg, _ = rng.choice(hot)
        seg = downstream(seg, dir, rng.randrange(3))
        spot = (xway, lane, dir, seg, random_position(rng, seg))
        stop_together(rng, reports, 500 + 10 * number, until, spot, xways)
    lines = [(spec.REPORT, second, vid, *rest, *[spec.UNUSED] * 6) for (vid, second), rest in reports.items()]
    lines += random_requests(rng, requests, until, sorted(reports), xways)
    rng.shuffle(lines)
    return sorted(lines, key=lambda line: line[1])


def random_history(seed: int, xways: int = 2) -> tuple[dict[tuple[int, int, int], int], list[Line]]:
    """TollHistory by (VID, Day, XWay) and rows of SegmentHistory, both with holes."""
    rng = random.Random(f"history {seed}")
    tolls = {
        (vid, day, xway): rng.choice((0, 2, 8, 1000))
        for vid, day, xway in product(range(1, 11), DAYS, range(xways))
        if rng.random() < 0.6
    }
    segments = [
        (day, minute, xway, dir, seg, rng.choice((20, 30, 39, 40, 41, 45, 45, 45, 60, 90)), rng.randint(40, 62), 0)
        for day, minute, xway, dir, seg in product(DAYS, MINUTES, range(xways), (spec.EAST, spec.WEST), range(FAR_SEG))
        if rng.random() < 0.97
    ]
    standing = [(*row[:5], 0, *row[6:]) if rng.random() < 0.02 else row for row in segments]
    return tolls, standing


def random_place(rng: random.Random, xways: int) -> Place:
    seg = rng.choice(SEGS)
    lane = rng.choice((0, 1, 1, 2, 2, 3, 4))
    return rng.randrange(xways), lane, rng.choice((spec.EAST, spec.WEST)), seg, random_position(rng, seg)


def random_position(rng: random.Random, seg: int) -> int:
    """A place in the segment, often on its edge, seldom in another segment."""
    if rng.random() < 0.05:
        seg = rng.choice(SEGS)
    return seg * spec.SEGMENT_FT + rng.choice((0, 1, 100, spec.SEGMENT_FT - 1))


def put(reports: Reports, vid: int, second: int, until: int, speed: int, place: Place) -> None:
    """Add a report, unless the vehicle has one of that second or the road is closed by then."""
    xway, lane, dir, seg, position = place
    if second < until:
        reports.setdefault((vid, second), (speed, xway, lane, dir, seg, position))


def drive_platoon(rng: random.Random, reports: Reports, first_vid: int, until: int, place: Place, xways: int) -> None:
    """Some 60 cars that go through the same segments, a minute each, and 20 stragglers, a minute later, who pay."""
    xway, _, dir, seg, _ = place
    start, speed = rng.randrange(until // 120) * 60, rng.choice((25, 34, 38, 39, 40))
    leaders = rng.randint(50, 66)
    for vid in range(first_vid, first_vid + leaders + 20):
        second, at, on = start + rng.randrange(30), seg, xway
        if vid >= first_vid + leaders:
            second += 60
        for number in range(rng.randint(5, 9)):
            lane = rng.choice((1, 2, 3)) if rng.random() < 0.9 else rng.choice((0, spec.EXIT_LANE))
            if (number > 0 and number % 2 == 0) != (rng.random() < 0.03):
                at = moved(rng, at, dir) if rng.random() < 0.05 else downstream(at, dir, 1)
            if rng.random() < 0.05:
                on = rng.randrange(xways)
            spread = rng.choice((-1, 0, 0, 0, 1))
            put(reports, vid, second, until, speed + spread, (on, lane, dir, at, random_position(rng, at)))
            second += spec.REPORT_PERIOD_S if rng.random() < 0.98 else rng.randint(1, 59)


def downstream(seg: int, dir: int, step: int) -> int:
    return min(max(seg + (step if dir == spec.EAST else -step), 0), spec.SEGMENTS - 1)


def moved(rng: random.Random, seg: int, dir: int) -> int:
    """Another segment, mostly the next one downstream, within the road."""
    return downstream(seg, dir, rng.choice((1, 1, 1, 1, 2, -1)))


def wander(rng: random.Random, reports: Reports, vid: int, until: int, hot: list[Place], xways: int) -> None:
    """Up to three chains of reports 30 s apart, at the same time or one after the other, with gaps and stops."""
    for _ in range(rng.randint(1, 3)):
        second = rng.randrange(until)
        place = rng.choice(hot) if rng.random() < 0.7 else random_place(rng, xways)
        for _ in range(rng.randint(1, 14)):
            put(reports, vid, second, until, rng.choice(SPEEDS), place)
            second += spec.REPORT_PERIOD_S if rng.random() < 0.9 else rng.randint(1, 59)
            place = next_place(rng, place, xways)


def next_place(rng: random.Random, place: Place, xways: int) -> Place:
    """Where a vehicle is 30 s later: often where it was, or something has changed."""
    xway, lane, dir, seg, position = place
    change = rng.random()
    if change < 0.4:
        return place
    if change < 0.75:
        seg = moved(rng, seg, dir)
        return xway, lane, dir, seg, random_position(rng, seg)
    if change < 0.85:
        return xway, rng.randint(spec.ENTRY_LANE, spec.EXIT_LANE), dir, seg, position
    if change < 0.9:
        return rng.randrange(xways), lane, dir, seg, position
    if change < 0.95:
        return xway, lane, 1 - dir, seg, position
    return random_place(rng, xways)


def stop_together(rng: random.Random, reports: Reports, first_vid: int, until: int, spot: Place, xways: int) -> None:
    """Two to four cars that stand at one spot for three to ten reports; some are seen elsewhere in between."""
    start = rng.randrange(until * 2 // 3)
    xway, lane, dir, seg, position = spot
    lane = lane if lane in spec.TRAVEL_LANES or rng.random() < 0.3 else spec.TRAVEL_LANES[0]
    for vid in range(first_vid, first_vid + rng.randint(2, 4)):
        second = start + rng.randrange(75)
        beside = lane if rng.random() < 0.8 else rng.choice(spec.TRAVEL_LANES)
        here = (xway, beside, dir, seg, position)
        for _ in range(rng.choice((3, 4, 4, 4, 5, 7, 10))):
            put(reports, vid, second, until, rng.choice(SPEEDS), here)
            if rng.random() < 0.1:
                elsewhere = here if rng.random() < 0.3 else random_place(rng, xways)
                put(reports, vid, second + rng.randint(1, 29), until, 30, elsewhere)
            second += spec.REPORT_PERIOD_S
        if rng.random() < 0.6:
            put(reports, vid, second, until, 30, next_place(rng, here, xways))


def random_requests(
    rng: random.Random, count: int, until: int, seen: list[tuple[int, int]], xways: int
) -> Iterator[Line]:
    """Requests of all types, many of them in the second of a report of their vehicle or one beside it."""
    unused = spec.UNUSED
    for query_id in range(1, count + 1):
        vid, second = rng.choice(seen) if rng.random() < 0.9 else (rng.randint(0, spec.MAX_VEHICLE_ID), until - 1)
        second = min(max(second + rng.choice((-1, 0, 0, 1, 31, 61)), 0), until - 1)
        kind = rng.choice((spec.BALANCE, spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME))
        xway = rng.randrange(xways)
        start = (kind, second)
        if kind == spec.BALANCE:
            yield (*start, vid, *[unused] * 6, query_id, *[unused] * 5)
        elif kind == spec.EXPENDITURE:
            known = rng.randint(1, 12)
            yield (*start, known, unused, xway, *[unused] * 4, query_id, *[unused] * 4, rng.choice((*DAYS, 3)))
        else:
            journey = (rng.randrange(FAR_SEG), rng.randrange(FAR_SEG), rng.randint(1, 7), rng.choice(MINUTES))
            yield (*start, vid, unused, xway, *[unused] * 4, query_id, *journey, unused)
