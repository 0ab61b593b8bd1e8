"""lr.traffic_at(segment_id, minute) and lr.close_minute(minute), of design subquery"""

from __future__ import annotations

import random

import pytest

from polling_baseline.spec import FREE_CARS, LAV_MINUTES, NO_LAV, SEGMENTS
from tests.procs.conftest import segment

MINUTE = 10


@pytest.fixture
def cursor(cursor_of_subquery):
    return cursor_of_subquery


def traffic(sql, segment_id):
    return sql("SELECT lav, toll, accident_seg FROM lr.traffic_at(%s, %s)", segment_id, MINUTE)


def test_a_report_is_told_what_the_other_designs_set_once_per_minute(sql, add):
    rng = random.Random(5)
    for minute in range(MINUTE - LAV_MINUTES - 1, MINUTE + 1):
        for segment_id in rng.sample(range(2 * SEGMENTS), SEGMENTS):
            cars, mph = FREE_CARS + rng.randint(-3, 9), rng.choice((0, 37.5, 39.9, 40, 42))
            add("lr.segment_minute", minute=minute, segment_id=segment_id, cars=cars, average_mph=mph)
    for segment_id in (segment(2), segment(50), segment(53), segment(97, dir=1)):
        add("lr.accident", minute=MINUTE - 1, segment_id=segment_id)
    add("lr.accident", minute=MINUTE - 2, segment_id=segment(30))
    sql("CALL lr.set_tolls(%s)", MINUTE)
    wanted = {row[0]: row[1:] for row in sql("SELECT segment_id, lav, toll, accident_seg FROM lr.segment_toll")}
    assert len(wanted) > SEGMENTS and len({toll for _, toll, _ in wanted.values()}) > 5
    for segment_id in range(2 * SEGMENTS):
        assert traffic(sql, segment_id) == [wanted.get(segment_id, (NO_LAV, 0, None))]


def test_each_report_reads_the_statistics_by_subqueries(sql):
    plan = [line for (line,) in sql("EXPLAIN SELECT toll FROM lr.arrivals()")]
    assert sum("SubPlan" in line for line in plan) >= 3
    assert sum("Seq Scan on segment_minute" in line for line in plan) >= 2
    # Who asks for nothing that depends on them does not read them.
    assert "segment_minute" not in str(sql("EXPLAIN SELECT stopped FROM lr.arrivals()"))


def test_statistics_of_five_minutes_stay(sql, add):
    for minute in range(1, MINUTE):
        add("lr.segment_minute", minute=minute)
    sql("INSERT INTO lr.report_log VALUES (%s, 1, 30, 0, 1, 0, 0, 0)", MINUTE * 60 - 1)
    sql("CALL lr.close_minute(%s)", MINUTE)
    assert sql("SELECT minute FROM lr.segment_minute ORDER BY 1") == [(minute,) for minute in range(6, MINUTE + 1)]
    assert sql("SELECT count(*) FROM lr.segment_toll") == [(0,)]
