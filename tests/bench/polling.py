"""What a report costs System X: at 50,000 a second, at L = 100, and whether it grows over three hours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from polling_baseline.batch import REQUEST_COLUMNS, Batch, Columns, Share
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import ensure_running
from polling_baseline.database.install import ROOT, source
from polling_baseline.database.settings import OFF
from polling_baseline.engines.system_x.polling import Polling

REPORTS_PER_XWAY = 2000
WIDTHS = {"vehicle_id": np.int32, "position_ft": np.int32, "query_id": np.int64}
NO_REQUESTS = {name: np.zeros(0, WIDTHS.get(name, np.int16)) for name in REQUEST_COLUMNS}
# A vehicle in a jam: about one report in six enters a segment, one in eighty begins a trip.
SPEEDS_MPH = (5, 35)
NEW_TRIPS = 1 / 80
WARM_UP_S = 65
MEASURED_S = 60


def main() -> None:
    target = ensure_running(OFF).target
    empty_history(target)
    for reports, workers in ((50_000, 1), (200_000, 2)):
        _measure(target, reports, workers)
    _over_three_hours(target)


def _measure(target: Target, reports: int, workers: int) -> None:
    engine = Polling(claim_database(target, "bench"), workers, OFF)
    engine.install()
    seconds, read_s, steps = [], [], []
    for batch in traffic(reports, workers, WARM_UP_S + MEASURED_S):
        started = time.perf_counter()
        steps.append(engine.process(batch))
        committed = time.perf_counter()
        answers = sum(map(len, engine.answers()))
        seconds.append(committed - started)
        read_s.append(time.perf_counter() - committed)
    engine.stop()
    service, read = np.array(seconds[WARM_UP_S:]), float(np.median(read_s[WARM_UP_S:]))
    cost_us = float(np.median(service)) / reports * workers * 1e6
    print(
        f"{reports:,} reports in a second, {workers} workers: {cost_us:.2f} us per report and worker, COPY included; "
        f"median {np.median(service):.3f} s, slowest second {service.max():.3f} s "
        f"(then {read:.3f} s to read {answers:,} answers)"
    )
    middle = steps[WARM_UP_S:]
    names = ", ".join(
        f"{name.removesuffix('_ms')} {np.median([step[name] for step in middle]):.1f}" for name in middle[0]
    )
    print(f"    median ms by step: {names}")


def _over_three_hours(target: Target) -> None:
    """The same traffic from minute 5 to minute 175 of one run: minute 10 against minute 170."""
    engine = Polling(claim_database(target, "bench"), 1, OFF)
    engine.install()
    costs: dict[int, list[float]] = {10: [], 170: []}
    for batch in traffic(REPORTS_PER_XWAY * 2, 1, 170 * 60):
        started = time.perf_counter()
        engine.process(batch)
        minute = batch.seconds[0] // 60 + 1
        if minute in costs:
            costs[minute].append((time.perf_counter() - started) / len(batch) * 1e6)
        for _ in engine.answers():
            pass
    engine.stop()
    first, last = (float(np.median(cost)) for cost in costs.values())
    growth = f"{first:.2f} us per report in minute 10, {last:.2f} us in minute 170, {last / first:.2f} times as much"
    print(f"4,000 reports in a second: {growth}")


def traffic(reports: int, workers: int, seconds: int) -> Iterator[Batch]:
    """Vehicles that report every 30 s, drive on, and now and then make room for new ones."""
    rng = np.random.default_rng(42)
    xways = max(workers, reports // REPORTS_PER_XWAY)
    groups = []
    for group in range(30):
        xway = np.sort(rng.integers(0, xways, reports)).astype(np.int16)
        groups.append(
            {
                "vehicle_id": (np.arange(reports) * 30 + group).astype(np.int32),
                "xway": xway,
                "dir": rng.integers(0, 2, reports).astype(np.int16),
                "position_ft": rng.integers(0, 528_000, reports).astype(np.int32),
            }
        )
    next_id = reports * 30
    for second in range(seconds):
        cars = groups[second % 30]
        speed = rng.integers(*SPEEDS_MPH, reports).astype(np.int16)
        if second >= 30:
            cars["position_ft"] = (cars["position_ft"] + speed * np.int32(44)) % 528_000
            new = rng.random(reports) < NEW_TRIPS
            cars["vehicle_id"][new] = np.arange(next_id, next_id + new.sum())
            next_id += int(new.sum())
        yield Batch(
            range(second, second + 1), tuple(_share(cars, speed, second, workers, w, rng) for w in range(workers))
        )


def _share(cars: Columns, speed: np.ndarray, second: int, workers: int, worker: int, rng: np.random.Generator) -> Share:
    here = cars["xway"] % workers == worker if workers > 1 else slice(None)
    mine = {name: column[here] for name, column in cars.items()}
    rows = len(mine["xway"])
    return Share(
        {
            **mine,
            "second": np.full(rows, second, np.int16),
            "speed_mph": speed[here],
            "lane": rng.integers(1, 4, rows).astype(np.int16),
            "seg": (mine["position_ft"] // 5280).astype(np.int16),
        },
        NO_REQUESTS,
    )


def empty_history(target: Target) -> None:
    """Requests play no part here, but the procedures want their tables."""
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('lr_history.toll_history') IS NULL")
        if cursor.fetchone() == (True,):
            for file in sorted((ROOT / "sql" / "history").glob("*.sql")):
                cursor.execute(source(file))


if __name__ == "__main__":
    main()
