"""What a cycle costs in each design of System X, from 250 to 8,000 reports a second, and what it leaves behind.

The road is an artificial one: vehicles report every 30 s, drive on, and now and then make room for new ones.  Times are
those of a whole cycle, COPY and commit included, in the seconds that begin no minute.  `LRB_BENCH_CYCLES` says how many
cycles are measured, after those that fill the tables.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import log

import numpy as np

from polling_baseline import spec
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import ensure_running
from polling_baseline.database.settings import OFF
from polling_baseline.engines.system_x.polling import Polling
from tests.bench.polling import empty_history, traffic

RATES = (250, 500, 1000, 2000, 4000, 8000)
DESIGNS = (
    ("2004", {"indexes": "off"}),
    ("cursor", {"indexes": "off"}),
    ("cursor", {}),
    ("subquery", {}),
    ("2004", {}),
    ("merge", {}),
    ("ring", {}),
)
CYCLES = int(os.environ.get("LRB_BENCH_CYCLES", "120"))
# Before all vehicles have reported, tables grow; this design also reads the statistics of five minutes.
WARM_UP_S, LONG_WARM_UP_S = spec.REPORT_PERIOD_S, {"subquery": spec.LAV_MINUTES * spec.MINUTE_S}
# A point whose cycles would take longer in all is left out.
LONGEST_S = 120.0


@dataclass(frozen=True, slots=True)
class Point:
    """One design at one rate; sizes are in bytes, after all cycles."""

    cycle_ms: float
    # None if no minute began.
    minute_ms: float | None
    dead_rows: int
    dead_rows_left: int
    size: int


def main() -> None:
    target = ensure_running(OFF).target
    empty_history(target)
    print(
        f"ms per cycle, median of {CYCLES} cycles; the exponent e of ms = c * reports ^ e; one worker, durability off"
    )
    print(f"{'design':<20}" + "".join(f"{f'{rate:,}/s':>10}" for rate in RATES) + f"{'exponent':>10}")
    last: dict[str, tuple[int, Point]] = {}
    for design, options in DESIGNS:
        name = ", ".join([design, *(f"{option} {value}" for option, value in options.items())])
        points = dict(_points(target, design, options))
        cells = [f"{points[rate].cycle_ms:10.1f}" if rate in points else f"{'-':>10}" for rate in RATES]
        print(f"{name:<20}" + "".join(cells) + f"{_exponent(points):>10}", flush=True)
        last[name] = [*points.items()][-1]
    print(f"- would take more than {LONGEST_S:g} s; it was left out\n")
    print(f"{'design':<20}{'reports':>10}{'end of minute':>16}{'dead rows':>12}{'of them left':>14}{'size':>10}")
    for name, (rate, point) in last.items():
        left = f"{point.dead_rows:>12,}{point.dead_rows_left:>14,}{point.size / 1e6:>7.1f} MB"
        minute = "-" if point.minute_ms is None else f"{point.minute_ms:.1f} ms"
        print(f"{name:<20}{f'{rate:,}/s':>10}{minute:>16}{left}")


def _points(target: Target, design: str, options: dict[str, str]) -> Iterator[tuple[int, Point]]:
    """At each rate, until the next one would take too long: twice the reports take four times as long at worst."""
    for rate in RATES:
        engine = Polling(claim_database(target, "bench"), 1, OFF, design, options)
        point = _measure(engine, target, rate, LONG_WARM_UP_S.get(design, WARM_UP_S))
        yield rate, point
        if 4 * CYCLES * point.cycle_ms / 1000 > LONGEST_S:
            return


def _measure(engine: Polling, target: Target, reports: int, warm_up_s: int) -> Point:
    engine.install()
    plain, minutes = [], []
    for batch in traffic(reports, 1, warm_up_s + CYCLES):
        started = time.perf_counter()
        engine.process(batch)
        if batch.seconds[0] >= warm_up_s:
            cycles = minutes if batch.seconds[0] % spec.MINUTE_S == 0 else plain
            cycles.append(1000 * (time.perf_counter() - started))
    facts = engine.facts()
    engine.stop()
    with closing(target.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'lr'::regnamespace"
        )
        [(size,)] = cursor.fetchall()
    dead = [int(str(facts[name])) for name in ("dead_rows", "dead_rows_left")]
    return Point(float(np.median(plain)), float(np.median(minutes)) if minutes else None, dead[0], dead[1], size)


def _exponent(points: dict[int, Point]) -> str:
    """The slope of a line through the points on logarithmic scales; it needs two."""
    if len(points) < 2:
        return "-"
    rates: Sequence[float] = [log(rate) for rate in points]
    return f"{np.polyfit(rates, [log(point.cycle_ms) for point in points.values()], 1)[0]:.2f}"


if __name__ == "__main__":
    main()
