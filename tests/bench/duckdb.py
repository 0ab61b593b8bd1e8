"""What a report costs on DuckDB, all kinds of request included; with a file; by threads and processes; over hours."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from driver.dataset.folder import SEGMENT_SCHEMA, TOLL_SCHEMA, write_columns
from polling_baseline import spec
from polling_baseline.batch import REQUEST_COLUMNS, Batch, Columns, Share
from polling_baseline.database.claim import claim_database
from polling_baseline.database.embedded.server import ensure_running
from polling_baseline.database.settings import OFF
from polling_baseline.engine import Engine
from polling_baseline.engines.duckdb.engine import DuckDB
from polling_baseline.engines.system_x.polling import Polling
from tests.bench.polling import REPORTS_PER_XWAY, WIDTHS, empty_history, traffic

# In a second of one expressway, by the specification's volumes.
REQUESTS = {spec.BALANCE: 60_000 / 10_800, spec.EXPENDITURE: 12_000 / 10_800, spec.TRAVEL_TIME: 48_000 / 10_800}
WARM_UP_S, MEASURED_S = 65, 60
VEHICLES = 150_000
# What is compared over a run.
MINUTES = (10, 90, 170)
History = tuple[list[Path], list[Path]]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = history_files(Path(folder))
        _cost("200 reports, 1 thread", DuckDB(*history), 200)
        _cost("2,000 reports, 1 thread", DuckDB(*history), 2_000)
        _cost("50,000 reports, 1 thread", DuckDB(*history), 50_000)
        _cost("50,000 reports, 1 thread, with a file", DuckDB(*history, durable=True), 50_000)
        _cost("200,000 reports, 2 threads", DuckDB(*history, threads=2), 200_000)
        _two_processes(history)
        _beside_postgresql()
        _growth("with a file", DuckDB(*history, durable=True))
        _growth("in memory", DuckDB(*history))


def _beside_postgresql() -> None:
    target = ensure_running(OFF).target
    empty_history(target)
    duckdb = _cost("50,000 reports alone, 1 thread", DuckDB([], []), 50_000, False)
    polling = Polling(claim_database(target, "bench"), 1, OFF)
    postgresql = _cost("50,000 reports alone, PostgreSQL, 1 worker", polling, 50_000, False)
    print(f"System X costs {postgresql / duckdb:.1f} times as much per report on PostgreSQL as on DuckDB")


def _cost(label: str, engine: Engine, reports: int, asked: bool = True) -> float:
    """The median seconds of a cycle, minutes' ends left out; answers are read, and that counts.

    CPU time is that of this process alone: all of DuckDB, and little of PostgreSQL.
    """
    engine.install()
    seconds: list[float] = []
    ends: list[float] = []
    cpu: list[float] = []
    written = 0
    batches = traffic(reports, 1, WARM_UP_S + MEASURED_S)
    for batch in with_requests(batches) if asked else batches:
        started, cpu_before = time.perf_counter(), time.process_time()
        engine.process(batch)
        for _ in engine.answers():
            pass
        if batch.seconds[0] == WARM_UP_S:
            written = _written()
        if batch.seconds[0] >= WARM_UP_S:
            cpu.append(time.process_time() - cpu_before)
            (seconds if batch.seconds[0] % spec.MINUTE_S else ends).append(time.perf_counter() - started)
    written = _written() - written
    getattr(engine, "discard", engine.stop)()
    median = float(np.median(seconds))
    print(
        f"{label}: {median * 1000:.1f} ms a second, {median / reports * 1e6:.2f} us per report, "
        f"slowest {max(seconds) * 1000:.0f} ms, minute's end {max(ends) * 1000:.0f} ms, "
        f"{np.median(cpu) * 1000:.1f} ms of CPU, {written / reports / (MEASURED_S - 1):.0f} bytes written per report",
        flush=True,
    )
    return median


def _two_processes(history: History) -> None:
    """Each with half the expressways and a database of its own; what they would tell each other is left out."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        halves = [pool.submit(_cost, f"100,000 reports, process {n} of 2", DuckDB(*history), 100_000) for n in (1, 2)]
        slower = max(half.result() for half in halves)
    print(f"200,000 reports, 2 processes: {slower * 1000:.1f} ms a second")


def _growth(label: str, engine: DuckDB) -> None:
    """The same traffic of one expressway for hours: time, memory of the process, and bytes on disk in some minutes."""
    engine.install()
    costs: dict[int, list[float]] = {minute: [] for minute in MINUTES}
    for batch in with_requests(traffic(REPORTS_PER_XWAY, 1, MINUTES[-1] * spec.MINUTE_S)):
        started = time.perf_counter()
        engine.process(batch)
        for _ in engine.answers():
            pass
        second = batch.seconds[0]
        minute = spec.minute_of(second)
        if minute in costs:
            costs[minute].append(time.perf_counter() - started)
            if second % spec.MINUTE_S == spec.MINUTE_S - 1:
                disk = engine.facts().get("database_bytes", 0)
                print(
                    f"2,000 reports, {label}, minute {minute}: {np.median(costs[minute]) * 1000:.1f} ms a second, "
                    f"{_memory() / 1e6:.0f} MB of memory, {float(str(disk)) / 1e6:.0f} MB on disk",
                    flush=True,
                )
    engine.discard()


def _written() -> int:
    """Bytes that this process has written to files so far, log and database alike."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["wchar"])


def _memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def with_requests(batches: Iterator[Batch]) -> Iterator[Batch]:
    """Vehicles ask while they report."""
    rng = np.random.default_rng(1)
    for batch in batches:
        [share] = batch.shares
        reports = len(share)
        kinds = np.repeat(
            list(REQUESTS), rng.poisson([rate * reports / REPORTS_PER_XWAY for rate in REQUESTS.values()])
        )
        rows = rng.integers(0, reports, len(kinds))
        requests = requests_of(rng, kinds, share.reports["second"][rows], share.reports["vehicle_id"][rows])
        yield Batch(batch.seconds, (Share(share.reports, requests),))


def requests_of(rng: np.random.Generator, kinds: np.ndarray, seconds: np.ndarray, vehicles: np.ndarray) -> Columns:
    """Requests of these kinds, with all that they may ask for."""
    columns = {
        "kind": kinds,
        "second": seconds,
        "vehicle_id": vehicles,
        "xway": np.zeros(len(kinds)),
        "query_id": np.arange(len(kinds)),
        "from_seg": rng.integers(0, spec.SEGMENTS, len(kinds)),
        "to_seg": rng.integers(0, spec.SEGMENTS, len(kinds)),
        "day_of_week": rng.integers(1, spec.WEEK_DAYS + 1, len(kinds)),
        "minute_of_day": rng.integers(1, spec.DAY_MINUTES + 1, len(kinds)),
        "day": rng.integers(1, spec.HISTORY_DAYS + 1, len(kinds)),
    }
    return {name: columns[name].astype(WIDTHS.get(name, np.int16)) for name in REQUEST_COLUMNS}


def history_files(folder: Path) -> History:
    """A week of one expressway, and of 150,000 vehicles ten of them."""
    vehicles, days = (
        np.repeat(np.arange(VEHICLES), spec.HISTORY_DAYS),
        np.tile(np.arange(spec.HISTORY_DAYS) + 1, VEHICLES),
    )
    tolls, segments = folder / "toll.parquet", folder / "segment.parquet"
    write_columns(tolls, TOLL_SCHEMA, [vehicles, days, np.zeros_like(days), vehicles % 100])
    axes = (range(1, spec.WEEK_DAYS + 1), range(1, spec.DAY_MINUTES + 1), [0], [0, 1], range(spec.SEGMENTS))
    cells = [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]
    number = np.arange(len(cells[0]))
    write_columns(segments, SEGMENT_SCHEMA, [*cells, 20 + number % 45, number % 90, np.zeros_like(number)])
    return [tolls], [segments]


if __name__ == "__main__":
    main()
