"""How fast both histories are generated, written to disk, and read back from flat files."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from driver.dataset.export import export
from driver.dataset.folder import describe, open_dataset
from driver.generate.history import generate_history
from driver.history.import_ import import_history
from driver.spark.session import session

VEHICLES = 150_000
DAYS = 69
IMPORT_DAYS = 7


def main() -> None:
    spark = session()

    def generate(folder: str, xways: float, vehicles: int, days: int) -> tuple[dict[str, int], float]:
        begun_at = time.monotonic()
        blocks = {0: [(0, vehicles)]} if vehicles else {}
        counts = generate_history(spark, Path(folder), 42, xways, blocks, days, lambda amount: None)
        return counts, time.monotonic() - begun_at

    with tempfile.TemporaryDirectory() as scratch:
        generate(scratch, 1, VEHICLES, 14)  # warm up
        counts, seconds = generate(scratch, 1, 0, DAYS)
        print(f"SegmentHistory   {counts['segment_history'] / seconds:>12,.0f} rows/s")
        counts, seconds = generate(scratch, 0, VEHICLES, DAYS)
        print(f"TollHistory      {counts['toll_history'] / seconds:>12,.0f} rows/s")
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as copy:
        counts, _ = generate(scratch, 1, VEHICLES, IMPORT_DAYS)
        describe(Path(scratch), xways=1, seconds=60, seed=42, counts=counts, options={})
        segments, tolls = sorted(export(open_dataset(Path(scratch)), Path(copy) / "flat", packed=False, force=False))
        begun_at = time.monotonic()
        import_history(spark, Path(copy), tolls, segments, lambda *reject: None)
        print(f"history import   {sum(counts.values()) / (time.monotonic() - begun_at):>12,.0f} lines/s")


if __name__ == "__main__":
    main()
