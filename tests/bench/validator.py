"""How long a verdict takes: from an expressway of three hours and an output file, Spark's start included."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_S = 60


def main(xways: str = "1", dataset: str = "") -> None:
    """Judge the right output of a generated data set, or of the one named, and print what that took."""
    with tempfile.TemporaryDirectory() as name:
        road, output = Path(dataset or f"{name}/road"), Path(name) / "output.csv"
        if not dataset:
            _lrb("generate", "--xways", xways, "--out", road)
        _lrb("expected", road, "--out", output)
        began_at = time.perf_counter()
        _lrb("validate", road, "--output", output)
        took_s = time.perf_counter() - began_at
        answers = sum(1 for _ in output.open("rb"))
    peak_gib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(
        f"validate: {took_s:.1f} s for L = {xways}, {answers:,} answers, largest process {peak_gib:.1f} GiB "
        f"(to keep: {LIMIT_S} s for L = 1, 8 GiB)"
    )


def _lrb(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "driver.cli", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main(*sys.argv[1:])
