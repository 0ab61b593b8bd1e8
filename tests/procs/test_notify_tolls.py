"""lr.notify_tolls()"""

from __future__ import annotations

from polling_baseline.spec import NO_LAV


def notifications(sql):
    sql("CALL lr.notify_tolls()")
    return sql("SELECT vehicle_id, report_second, lav, toll FROM lr.toll_notification ORDER BY 2, 1")


def test_who_crossed_is_told(sql, add):
    add("lr.movement", report_second=100, crossed=True, lav=39, toll=2**33)
    assert notifications(sql) == [(1, 100, 39, 2**33)]


def test_also_when_it_costs_nothing(sql, add):
    add("lr.movement", report_second=100, crossed=True)
    assert notifications(sql) == [(1, 100, NO_LAV, 0)]


def test_the_others_are_not(sql, add):
    for meaning in ({"started": True}, {"ended": True}, {"stop_reports": 4}):
        add("lr.movement", report_second=100, toll=8, **meaning)
    assert notifications(sql) == []


def test_each_second_of_a_cycle(sql, add):
    for vehicle_id, second in [(1, 100), (2, 100), (1, 115)]:
        add("lr.movement", vehicle_id=vehicle_id, report_second=second, crossed=True, lav=39, toll=second)
    assert notifications(sql) == [(1, 100, 39, 100), (2, 100, 39, 100), (1, 115, 39, 115)]
