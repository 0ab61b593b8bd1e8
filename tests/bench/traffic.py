"""How fast traffic is simulated, and how near a simulated expressway comes to the volumes of the specification."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from driver.generate.traffic.simulate import simulate
from polling_baseline import spec

EXPECTED = {
    "reports": 12_000_000,
    "vehicles": 150_000,
    "toll notifications": 2_000_000,
    "balance requests": 60_000,
    "expenditure requests": 12_000,
    "travel time requests": 48_000,
    "accident alerts": 28_000,
    "accidents": 9,
}
REPORT_COLUMNS = ("vehicle_id", "second", "speed_mph", "lane", "dir", "seg", "position_ft")


def main(seed: int = 42) -> None:
    """Simulate both directions of an expressway for three hours on one core and print what came of it."""
    for _ in simulate(seed, 0, spec.EAST, 1):
        pass  # compile first
    began_s = time.process_time()
    minutes = [list(simulate(seed, 0, direction, spec.RUN_SECONDS)) for direction in (spec.EAST, spec.WEST)]
    took_s = time.process_time() - began_s
    found = volumes(pa.concat_tables([table for direction in minutes for table in direction]))
    result = Table(title=f"One expressway, three hours, seed {seed}")
    for heading in ("what", "found", "specified", "difference"):
        result.add_column(heading, justify="left" if heading == "what" else "right")
    for what, count in found.items():
        expected = EXPECTED.get(what)
        compared = (f"{expected:,}", f"{count / expected - 1:+.1%}") if expected else ("", "")
        result.add_row(what, f"{count:,}", *compared)
    Console().print(result)
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rate = found["reports"] / took_s
    print(f"traffic: {rate:,.0f} reports/s per core, {took_s:.1f} s of CPU, peak memory {peak_mib:,.0f} MiB")


def volumes(rows: pa.Table) -> dict[str, int]:
    """What the specification gives numbers for, counted from the input of one expressway."""
    kind, second = rows["kind"].to_numpy(), rows["second"].to_numpy()
    is_report = kind == spec.REPORT
    reports = {name: rows[name].to_numpy()[is_report].astype(np.int64) for name in REPORT_COLUMNS}
    order = np.argsort(reports["vehicle_id"] * (spec.RUN_SECONDS + 1) + reports["second"], kind="stable")
    reports = {name: values[order] for name, values in reports.items()}
    goes_on = _goes_on(reports)
    crossing = (reports["lane"] != spec.EXIT_LANE) & ~(goes_on & ~_differs(reports["seg"]))
    accident, accidents = _accidents(reports, goes_on)
    per_second = np.bincount(second, minlength=spec.RUN_SECONDS)
    return {
        "reports": int(is_report.sum()),
        "vehicles": len(np.unique(reports["vehicle_id"])),
        "toll notifications": int(crossing.sum()),
        "balance requests": int((kind == spec.BALANCE).sum()),
        "expenditure requests": int((kind == spec.EXPENDITURE).sum()),
        "travel time requests": int((kind == spec.TRAVEL_TIME).sum()),
        "accident alerts": int((_accident_ahead(reports, accident) & crossing).sum()),
        "accidents": accidents,
        "tuples/s, first minute": int(per_second[:60].mean()),
        "tuples/s, middle": int(per_second[5370:5430].mean()),
        "tuples/s, last minute": int(per_second[-60:].mean()),
        "tuples/s, peak": int(per_second.max()),
        "vehicles in a segment-minute, most": _most_cars(reports),
        "trips": int((~goes_on).sum()),
    }


def _differs(values: np.ndarray) -> np.ndarray:
    """Where a value differs from the one before."""
    return np.concatenate([[True], values[1:] != values[:-1]])


def _goes_on(reports: dict[str, np.ndarray]) -> np.ndarray:
    """Rule 1, for reports by vehicle and time."""
    period = np.diff(reports["second"], prepend=-spec.REPORT_PERIOD_S) == spec.REPORT_PERIOD_S
    return period & ~_differs(reports["vehicle_id"])


def _most_cars(reports: dict[str, np.ndarray]) -> int:
    cell = (reports["second"] // spec.MINUTE_S * 2 + reports["dir"]) * spec.SEGMENTS + reports["seg"]
    cell_and_vehicle = np.unique(cell << 32 | reports["vehicle_id"])
    return int(np.bincount(cell_and_vehicle >> 32).max())


def _accidents(reports: dict[str, np.ndarray], goes_on: np.ndarray) -> tuple[np.ndarray, int]:
    """Rule 6: in which minute, direction and segment there was an accident, and the number of places that had one."""
    moved = ~goes_on | _differs(reports["position_ft"]) | _differs(reports["lane"])
    since = np.arange(len(moved)) - np.maximum.accumulate(np.where(moved, np.arange(len(moved)), 0))
    stopped = np.flatnonzero((since >= spec.STOP_REPORTS - 1) & np.isin(reports["lane"], spec.TRAVEL_LANES))
    place = (reports["position_ft"] * 2 + reports["dir"]) * (spec.EXIT_LANE + 1) + reports["lane"]
    minutes = np.zeros((spec.RUN_SECONDS // spec.MINUTE_S + 1, 2, spec.SEGMENTS), bool)
    vehicles_at: dict[int, dict[int, np.ndarray]] = {}
    for row in stopped:
        vehicles = vehicles_at.setdefault(int(place[row]), {})
        seconds = vehicles.setdefault(int(reports["vehicle_id"][row]), np.zeros(spec.RUN_SECONDS, np.int8))
        seconds[reports["second"][row] : reports["second"][row] + spec.REPORT_PERIOD_S] = 1
    places = 0
    for where, vehicles in vehicles_at.items():
        held = np.flatnonzero(sum(vehicles.values()) >= spec.ACCIDENT_VEHICLES)
        position_ft, direction = where // (spec.EXIT_LANE + 1) // 2, where // (spec.EXIT_LANE + 1) % 2
        minutes[held // spec.MINUTE_S, direction, position_ft // spec.SEGMENT_FT] = True
        places += bool(len(held))
    return minutes, places


def _accident_ahead(reports: dict[str, np.ndarray], accident: np.ndarray) -> np.ndarray:
    """Rule 7, for each report."""
    before = np.roll(accident, 1, axis=0)
    before[0] = False
    ahead = np.zeros_like(before)
    for step in range(spec.ALERT_SEGMENTS + 1):
        ahead[:, spec.EAST, : spec.SEGMENTS - step] |= before[:, spec.EAST, step:]
        ahead[:, spec.WEST, step:] |= before[:, spec.WEST, : spec.SEGMENTS - step]
    return ahead[reports["second"] // spec.MINUTE_S, reports["dir"], reports["seg"]]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
