"""How fast flat files become a data set, and a data set flat files."""

from __future__ import annotations

import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from driver.dataset.export import export
from driver.dataset.folder import TrafficWriter, describe, open_dataset
from driver.dataset.import_ import ImportOptions, import_dataset
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA

LINES = 4_000_000


def main(lines: int = LINES) -> None:
    """Export a made-up expressway of three hours, import it again, and print the rates."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = _made_up(folder / "road", lines)
        _import(folder / "warm.csv", folder / "warm", b"0,0,1,50,0,1,0,0,100,-1,-1,-1,-1,-1,-1\n")
        for kind, gzip in (("plain", False), ("gzip", True)):
            began_at = time.perf_counter()
            (path,) = export(open_dataset(folder / "road"), folder / kind, gzip, force=False)
            exported_at = time.perf_counter()
            _import(path, folder / f"{kind}-road")
            imported_at = time.perf_counter()
            same = open_dataset(folder / f"{kind}-road").identity == open_dataset(folder / "road").identity
            print(
                f"import: {rows / (imported_at - exported_at):,.0f} lines/s, "
                f"export: {rows / (exported_at - began_at):,.0f} lines/s ({kind}, {rows:,} lines, "
                f"{'the same data set' if same else 'NOT THE SAME DATA SET'})"
            )


def _import(path: Path, out: Path, content: bytes | None = None) -> None:
    if content is not None:
        path.write_bytes(content)
    wanted = ImportOptions([path])
    import_dataset(wanted, out, force=False)


def _made_up(folder: Path, lines: int) -> int:
    """A data set of about so many rows: each vehicle reports every 30 s from 20 segments, more of them later on."""
    rng = np.random.default_rng(1)
    vehicles = lines // 60
    number = np.repeat(np.arange(vehicles), 60)
    entry = np.sqrt(rng.random(vehicles)) * (spec.RUN_SECONDS - 1)
    second = entry.astype(int)[number] + np.tile(np.arange(60) * spec.REPORT_PERIOD_S, vehicles)
    position = rng.integers(0, 70 * spec.SEGMENT_FT, vehicles)[number] + np.tile(np.arange(60) * 1760, vehicles)
    columns = {
        "kind": np.zeros_like(number),
        "second": second,
        "vehicle_id": number,
        "speed_mph": rng.integers(20, 70, len(number)),
        "xway": np.zeros_like(number),
        "lane": rng.integers(1, 4, len(number)),
        "dir": number % 2,
        "seg": position // spec.SEGMENT_FT,
        "position_ft": position,
    }
    table = pa.table({name: columns.get(name, np.full_like(number, -1)) for name in INPUT_SCHEMA.names})
    table = table.filter(pa.array(second < spec.RUN_SECONDS)).sort_by("second")
    starts = np.searchsorted(table["second"].to_numpy(), np.arange(0, spec.RUN_SECONDS + 1, spec.MINUTE_S))
    with TrafficWriter(folder, 0) as writer:
        for start, stop in pairwise(starts):
            writer.write_minute(table.slice(start, stop - start).cast(INPUT_SCHEMA))
    counts = {"reports": table.num_rows, "vehicles": vehicles}
    describe(folder, xways=1.0, seconds=spec.RUN_SECONDS, seed=None, counts=counts, options={})
    return int(table.num_rows)


if __name__ == "__main__":
    main()
