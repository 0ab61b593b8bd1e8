"""One direction of an expressway, minute by minute, and two directions put together.

A direction is a function of (seed, xway, direction): it can be simulated alone, anywhere, and its first minutes do not
depend on how many follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from driver.dataset.folder import ID_BLOCK, TrafficWriter
from driver.generate.traffic.drive import drive
from driver.generate.traffic.model import ROAD_FT, Model
from driver.generate.traffic.requests import Columns, draw_requests
from driver.generate.traffic.road import empty_road
from driver.generate.traffic.trips import draw_accidents, draw_trips
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA

KINDS = {
    "reports": spec.REPORT,
    "balance": spec.BALANCE,
    "expenditure": spec.EXPENDITURE,
    "travel_time": spec.TRAVEL_TIME,
}


def first_id(xway: int, direction: int) -> int:
    """The first vehicle number of a direction, and the first query number; the others follow without a gap."""
    return xway * ID_BLOCK + direction * (ID_BLOCK // 2)


def simulate(
    seed: int,
    xway: int,
    direction: int,
    seconds: int,
    advance: Callable[[float], None] = lambda minutes: None,
    model: Model = Model(),  # noqa: B008 - an immutable value
) -> Iterator[pa.Table]:
    """The input of one direction, a table per minute, in no particular order within it."""
    streams = np.random.SeedSequence([seed, xway, direction]).spawn(3)
    demand_rng, asking_rng, driving_rng = (np.random.default_rng(stream) for stream in streams)
    accident_rng = np.random.default_rng(np.random.SeedSequence([seed, xway]))
    trips = draw_trips(demand_rng, model.demand, model.driving)
    accidents = draw_accidents(accident_rng, direction, model.mishap)
    road = empty_road(trips, accidents)
    salt = int(driving_rng.integers(2**31))
    out = np.empty((5, 2 * len(trips.due) + 1), np.int32)
    base = query_id = first_id(xway, direction)
    for begin in range(0, seconds, spec.MINUTE_S):
        until = min(begin + spec.MINUTE_S, seconds)
        rows = drive(road, trips, accidents, model.driving, model.mishap, salt, begin, until, out)
        reports = _reports(out[:, :rows], xway, direction, base)
        requests = draw_requests(asking_rng, reports, xway, query_id, model.asking)
        query_id += len(requests["second"])
        yield pa.concat_tables([_table(reports), _table(requests)])
        advance(1)


def _reports(out: np.ndarray, xway: int, direction: int, base: int) -> Columns:
    second, vehicle, speed_mph, lane, at_ft = out
    position_ft = at_ft if direction == spec.EAST else ROAD_FT - 1 - at_ft
    return {
        "kind": np.full(len(second), spec.REPORT),
        "second": second,
        "vehicle_id": vehicle + base,
        "speed_mph": speed_mph,
        "xway": np.full(len(second), xway),
        "lane": lane,
        "dir": np.full(len(second), direction),
        "seg": position_ft // spec.SEGMENT_FT,
        "position_ft": position_ft,
    }


def _table(columns: Columns) -> pa.Table:
    unused = np.full(len(columns["second"]), spec.UNUSED)
    arrays = [
        columns.get(name, unused).astype(kind.to_pandas_dtype())
        for name, kind in zip(INPUT_SCHEMA.names, INPUT_SCHEMA.types, strict=True)
    ]
    return pa.Table.from_arrays([pa.array(values) for values in arrays], schema=INPUT_SCHEMA)


def simulate_to(
    path: Path,
    seed: int,
    xway: int,
    direction: int,
    seconds: int,
    progress_path: Path | None = None,
    model: Model = Model(),  # noqa: B008 - an immutable value
) -> int:
    """Write one direction as an Arrow file with a batch per minute; gives the number of its vehicles.

    `progress_path` grows by a byte per minute, so that another process can see how far this one is.
    """
    vehicles = 0
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, INPUT_SCHEMA) as writer:
        for table in simulate(seed, xway, direction, seconds, model=model):
            if table.num_rows:
                # Numbers are given without a gap, so the highest tells how many there are.
                vehicles = max(vehicles, pc.max(table["vehicle_id"]).as_py() + 1 - first_id(xway, direction))
            arrays = [column.combine_chunks() for column in table.columns]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=INPUT_SCHEMA))
            if progress_path:
                with progress_path.open("ab") as file:
                    file.write(b".")
    return vehicles


def merge(folder: Path, xway: int, parts: Sequence[Path]) -> dict[str, int]:
    """Write the file of an expressway from those of its directions, and count its reports and requests."""
    counts: Counter[int] = Counter()
    with ExitStack() as stack, TrafficWriter(folder, xway) as writer:
        readers = [pa.ipc.open_file(stack.enter_context(pa.memory_map(str(part)))) for part in parts]
        for minute in range(readers[0].num_record_batches):
            table = pa.Table.from_batches([reader.get_batch(minute) for reader in readers])
            writer.write_minute(table)
            counts.update(dict(enumerate(np.bincount(table["kind"]).tolist())))
    return {name: counts[kind] for name, kind in KINDS.items()}
