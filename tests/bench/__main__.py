"""`python -m tests.bench [NAME...]`: all measurements, or some, one after the other."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import subprocess
import sys

NAMES = (
    "traffic",
    "history",
    "imports",
    "load",
    "polling",
    "designs",
    "handover",
    "trigger",
    "duckdb",
    "look_ups",
    "aurora",
    "streaming",
    "streaming_floor",
    "streaming_scale",
    "lines",
    "validator",
    "live",
    "clocks",
)


def main(names: list[str]) -> None:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    print(f"{machine}, Python {platform.python_version()}, commit {commit}")
    if unknown := [name for name in names if importlib.util.find_spec(f"tests.bench.{name}") is None]:
        sys.exit(f"no bench is called {', '.join(unknown)}; there are {', '.join(NAMES)} and lessons")
    for name in names or NAMES:
        print(f"\n{name}", flush=True)
        importlib.import_module(f"tests.bench.{name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
