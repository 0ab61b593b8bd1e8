"""What students hand in: for each exercise the right file, and typical wrong ones with a word of the hint that fits."""

from __future__ import annotations

from tests.conftest import ROOT

LAV = """
import numpy as np

def lav(cell, cars, average):
    cells, places = np.unique(cell, return_inverse=True)
    return cells, np.floor(np.bincount(places, average) / np.bincount(places) + 1e-9).astype(int)
"""
PROGRAM = (ROOT / "docs" / "examples" / "plain_python.py").read_text()


def _sql(path: str) -> str:
    return (ROOT / "stored_procs" / path).read_text()


RIGHT = {
    "toll": _sql("functions/toll_for.sql"),
    "stops": _sql("designs/ring/note_stops.sql"),
    "balance": _sql("designs/2004/answer_balances.sql"),
    "alerts": _sql("functions/warnings.sql"),
    "lav": LAV,
    "program": PROGRAM,
}
# By exercise: what is replaced by what, and a part of the hint.
WRONG: dict[str, list[tuple[dict[str, str], str]]] = {
    "toll": [
        ({"p_accident_ahead OR ": ""}, "with an accident ahead"),
        ({">= lr.free_flow_mph()": "> lr.free_flow_mph()"}, "pays at LAV 40"),
        ({"(p_cars - lr.free_cars()) * (": "("}, "not with its square"),
    ],
    "stops": [
        ({" AND lane = ANY(lr.travel_lanes())": ""}, "on a ramp"),
        ({"stop_reports = lr.stop_reports() AND NOT ended": "NOT ended"}, "four times in a row"),
        ({"lr.report_period_s() - 1": "lr.report_period_s()"}, "29 seconds, and not for 30"),
    ],
    "balance": [
        ({"LEFT JOIN": "INNER JOIN"}, "inner join loses them"),
        ({"THEN vehicle.charged": "THEN 0"}, "after the request"),
        ({"sum(vehicle.paid": "sum(vehicle.toll + vehicle.paid"}, "notified and not charged"),
    ],
    "alerts": [
        ({"WHEN lr.east() THEN -distance ELSE distance": "WHEN lr.east() THEN -distance ELSE -distance"}, "lie behind"),
        ({"generate_series(0,": "generate_series(1,"}, "distance 0 counts"),
        ({"warned.segment_id, distance": "warned.segment_id, distance DESC"}, "names the nearest"),
    ],
    "lav": [
        ({" / np.bincount(places)": " / 5"}, "not by five"),
        ({"(places, average)": "(places, np.floor(average))"}, "round down once"),
        (
            {"(places, average) / np.bincount(places)": "(places, average * cars) / np.bincount(places, cars)"},
            "counts as much as one with few",
        ),
    ],
    "program": [
        ({" if lane != EXIT_LANE else 0": ""}, "on the exit lane"),
        ({"before[0] != second - PERIOD_S": "False", "over = self.second - PERIOD_S": "over = 0"}, "begin a new trip"),
        ({"range(minute - LAV_MINUTES, minute)": "range(minute - 1, minute)"}, "five minutes before"),
    ],
}


def wrong_file(exercise: str, changes: dict[str, str]) -> str:
    text = RIGHT[exercise]
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    return text
