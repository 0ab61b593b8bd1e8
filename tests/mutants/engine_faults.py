"""A right engine with one fault: rules off by one, other boundaries, other rounding, left-out conditions.

The engine is `sqlite`, whose rules are short SQL files; a fault is another text in one or two of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from polling_baseline.engines.sqlite import statements

Edit = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class EngineFault:
    """A rule that is not kept, and the edits of files that make it so: name of the file, text, and text instead.

    `reason` says why no input can show it, if that is so.
    """

    rule: int
    name: str
    edits: Sequence[Edit]
    reason: str | None = None


ADVANCE, TALLY, TOLLS, WARN = "advance_vehicles", "tally_segments", "set_tolls", "warn_segments"
STOPS, NOTE, DETECT, CUT = "note_stops", "note_movements", "detect_accidents", "cut_stops"
BALANCE, EXPENDITURE, TRAVEL = "answer_balances", "answer_expenditures", "answer_travel_times"
FLOOR = "floor_of(exact_mean(average_mph))"
CROSSED = "report.lane <> :exit_lane AND previous.segment_id % :segments IS NOT report.seg"
STANDS = "stop_reports = :stop_reports"


# A segment from which no car counts has no average.
KNOWN = ("measure_minute", "GROUP BY segment_id;", "GROUP BY segment_id HAVING sum(cars) > 0;")


def one(rule: int, name: str, file: str, text: str, instead: str, reason: str | None = None) -> EngineFault:
    return EngineFault(rule, name, [(file, text, instead)], reason)


FAULTS = (
    one(1, "a trip that has ended goes on", ADVANCE, " AND NOT previous.ended", ""),
    EngineFault(2, "no car on the exit lane counts", [(TALLY, "NOT ended", "NOT ended AND lane <> :exit_lane"), KNOWN]),
    EngineFault(
        2, "no car on the entry lane counts", [(TALLY, "NOT ended", "NOT ended AND lane <> :entry_lane"), KNOWN]
    ),
    EngineFault(2, "no car that stands counts", [(TALLY, "NOT ended", "NOT ended AND speed_mph > 0"), KNOWN]),
    one(2, "reports count, not cars", TALLY, "sum(counted)", "count(*)"),
    one(2, "two reports are added", ADVANCE, "report.speed_mph - previous.speed_mph", "2 * report.speed_mph"),
    one(2, "two reports of which the first counts", ADVANCE, "THEN report.speed_mph - previous.speed_mph", "THEN 0"),
    one(2, "half a minute begins a second late", ADVANCE, ":second % :minute_s >= ", ":second % :minute_s > "),
    one(2, "half a minute ends a second late", ADVANCE, ":second % :minute_s < ", ":second % :minute_s <= "),
    one(2, "several phases are not averaged", "correct_minute", "NOT ended AND", "FALSE AND"),
    one(2, "a minute begins a second late", "correct_minute", "second >= (", "second > ("),
    one(3, "six minutes", TOLLS, "minute > :minute", "minute >= :minute"),
    one(3, "four minutes", TOLLS, "minute > :minute", "minute > 1 + :minute"),
    one(3, "one minute", TOLLS, "minute > :minute - :lav_minutes", "minute = :minute"),
    one(3, "rounded to the nearest", TOLLS, FLOOR, "rounded(exact_mean(average_mph))"),
    one(3, "one mph more", TOLLS, FLOOR, f"1 + {FLOOR}"),
    one(3, "each minute cut off first", TOLLS, FLOOR, "floor_of(exact_mean(floor_of(average_mph)))"),
    one(3, "the mean of all cars", TOLLS, FLOOR, "sum(cars * floor_of(average_mph)) / sum(cars)"),
    one(3, "empty minutes as 0", TOLLS, FLOOR, "floor_of(quotient(exact_sum(average_mph), :lav_minutes))"),
    one(3, "no data as 0", ADVANCE, "coalesce(traffic.lav, :no_lav)", "coalesce(traffic.lav, 0)"),
    one(4, "a car more", TOLLS, "toll_for(cars,", "toll_for(cars + 1,"),
    one(4, "a car less", TOLLS, "toll_for(cars,", "toll_for(cars - 1,"),
    one(4, "LAV of 40 pays", TOLLS, "lav, 1)\n", "lav - 1, 1)\n"),
    one(4, "LAV of 39 does not pay", TOLLS, "lav, 1)\n", "lav + 1, 1)\n"),
    one(4, "half the toll", TOLLS, "toll_for(cars, lav, 1)", "toll_for(cars, lav, 1) / 2"),
    one(4, "cars of two minutes before", TOLLS, "WHEN minute = :minute THEN", "WHEN minute = :minute - 1 THEN"),
    one(4, "the most cars of five minutes", TOLLS, "sum(CASE WHEN minute = :minute THEN cars ELSE 0 END)", "max(cars)"),
    one(4, "tolls in spite of an accident", WARN, "SET toll = 0, accident_seg", "SET accident_seg"),
    one(5, "also on the exit lane", ADVANCE, CROSSED, "previous.segment_id % :segments IS NOT report.seg"),
    one(5, "not on the entry lane", ADVANCE, CROSSED, CROSSED.replace("exit", "entry")),
    one(5, "not for the first report of a trip", "notify_tolls", "crossed;", "crossed AND NOT started;"),
    one(5, "only tolls above 0", "notify_tolls", "crossed;", "crossed AND toll > 0;"),
    one(
        5,
        "also for another road",
        ADVANCE,
        CROSSED,
        "report.lane <> :exit_lane AND previous.segment_id IS NOT report.segment_id",
    ),
    EngineFault(6, "three reports", [(file, STANDS, "stop_reports >= :stop_reports - 1") for file in (NOTE, STOPS)]),
    EngineFault(
        6,
        "five reports",
        [(ADVANCE, "+ 1, :stop_reports)", "+ 1, :stop_reports + 1)")]
        + [(file, STANDS, "stop_reports = :stop_reports + 1") for file in (NOTE, STOPS)],
    ),
    one(6, "any lane", ADVANCE, "AND previous.lane = report.lane", ""),
    one(6, "any position", ADVANCE, "previous.position_ft = report.position_ft\n", "TRUE\n"),
    one(6, "any road", ADVANCE, "AND previous.segment_id / :segments = report.segment_id / :segments", ""),
    one(6, "also on the entry lane", STOPS, "(:entry_lane, :exit_lane)", "(:exit_lane)"),
    one(6, "also on the exit lane", STOPS, "(:entry_lane, :exit_lane)", "(:entry_lane)"),
    one(6, "a second longer", STOPS, "+ :report_period_s - 1", "+ :report_period_s"),
    one(6, "a second shorter", STOPS, "+ :report_period_s - 1", "+ :report_period_s - 2"),
    one(6, "three cars", DETECT, ">= :accident_vehicles", "> :accident_vehicles"),
    one(6, "one car", DETECT, ">= :accident_vehicles", ">= 1"),
    one(6, "stops are never cut short", CUT, "WHERE vehicle_id IN", "WHERE FALSE AND vehicle_id IN"),
    one(6, "stops are cut a second late", CUT, "min(sighting.second) - 1", "min(sighting.second)"),
    one(6, "cars on any lane together", DETECT, "AND moment.lane = car.lane", ""),
    one(
        6,
        "a foot beyond the segment",
        DETECT,
        "moment.position_ft / :segment_ft",
        "(moment.position_ft + 1) / :segment_ft",
    ),
    one(7, "five segments ahead", WARN, "distance < :alert_segments", "distance <= :alert_segments"),
    one(7, "three segments ahead", WARN, "distance < :alert_segments", "distance < :alert_segments - 1"),
    one(7, "not in its own segment", WARN, "SELECT 0\n", "SELECT 1\n"),
    one(7, "behind, not ahead", WARN, "THEN -1 ELSE 1", "THEN 1 ELSE -1"),
    one(7, "east for both directions", WARN, "THEN -1 ELSE 1", "THEN -1 ELSE -1"),
    one(7, "beyond the end of the road", WARN, " AND segment_id / :segments = accident_id / :segments", ""),
    one(7, "a minute longer", WARN, "accident.minute = :minute", "accident.minute IN (:minute, :minute - 1)"),
    one(7, "a minute late", WARN, "accident.minute = :minute", "accident.minute = :minute - 1"),
    one(8, "the farthest accident", WARN, "min(distance)", "max(distance)"),
    one(
        8,
        "no alert for the first report of a trip",
        "alert_vehicles",
        "WHERE movement.crossed",
        "WHERE movement.crossed AND NOT movement.started",
    ),
    one(
        9,
        "the toll of the segment that is entered",
        ADVANCE,
        "previous.paid + previous.toll",
        "previous.paid + coalesce(traffic.toll, 0)",
    ),
    one(
        9,
        "leaving by the exit lane is free",
        ADVANCE,
        "WHEN previous.segment_id % :segments <> report.seg THEN",
        "WHEN previous.segment_id % :segments <> report.seg AND report.lane <> :exit_lane THEN",
    ),
    one(9, "the last segment of a trip is charged", "end_trips", "    0,\n    paid\n", "    0,\n    paid + toll\n"),
    one(
        9,
        "charged by the toll of now",
        ADVANCE,
        "= report.seg THEN previous.toll",
        "= report.seg THEN coalesce(traffic.toll, 0)",
    ),
    one(10, "earlier trips are forgotten", BALANCE, "coalesce(vehicle.balance, 0) +", "0 +"),
    one(
        10, "a second too early", BALANCE, "sighting.second <= request.second", "sighting.second < request.second - 60"
    ),
    one(10, "what is charged later counts", BALANCE, "-sighting.paid", "0"),
    one(11, "the day before", EXPENDITURE, "request.day =", "request.day + 1 ="),
    one(11, "no answer without history", EXPENDITURE, "LEFT JOIN", "INNER JOIN"),
    one(11, "another expressway", EXPENDITURE, "request.xway =", "request.xway + 1 ="),
    one(
        12,
        "seconds cut off",
        TRAVEL,
        "coalesce(rounded(walk.travel_s), :no_travel_time)",
        "floor_of(coalesce(walk.travel_s, :no_travel_time))",
    ),
    one(
        12,
        "toll cut off",
        TRAVEL,
        "coalesce(rounded(walk.toll), :no_travel_time)",
        "floor_of(coalesce(walk.toll, :no_travel_time))",
    ),
    one(12, "a week has no end", TRAVEL, " % (:week_days * :day_minutes)", ""),
    one(
        12,
        "the minute stands still",
        TRAVEL,
        "walk.minute_of_week + floor_of(walk.travel_s) / :minute_s",
        "walk.minute_of_week",
    ),
    one(12, "a minute later", TRAVEL, "minute_of_day - 1,", "minute_of_day,"),
    one(12, "the last segment is driven", TRAVEL, "abs(to_seg - from_seg)", "abs(to_seg - from_seg) + 1"),
    one(12, "a day later", TRAVEL, "(day_of_week - 1)", "day_of_week"),
    one(12, "the toll of one day", TRAVEL, "average.lav_sum, average.days)", "average.lav_sum, 1)"),
    one(
        12,
        "east if nothing is driven",
        TRAVEL,
        "WHEN from_seg < to_seg THEN :east",
        "WHEN from_seg <= to_seg THEN :east",
        "no segment is driven then",
    ),
)


@contextmanager
def planted(fault: EngineFault, folder: Path) -> Iterator[None]:
    """The engine has the fault in the block, by SQL files of its own in the folder."""
    original = statements.FOLDER
    for file in original.glob("*.sql"):
        (folder / file.name).write_text(file.read_text())
    for name, text, instead in fault.edits:
        [file] = folder.glob(f"[0-9][0-9][0-9]_{name}.sql")
        code = file.read_text()
        assert text in code, (fault.name, name, text)
        file.write_text(code.replace(text, instead))
    statements.FOLDER = folder
    statements.statements.cache_clear()
    try:
        yield
    finally:
        statements.FOLDER = original
        statements.statements.cache_clear()
