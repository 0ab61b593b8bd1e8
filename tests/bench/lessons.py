"""The lessons' own commands, at full size: what their tables are made of, and their figures as the commands write them.

`python -m tests.bench lessons` takes some ten minutes and is not part of the whole.  It leaves the runs in a scratch
folder, whose name it prints, and puts the figures that the lessons show into docs/lessons/figures.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from driver.cli import main as lrb
from driver.run.record import read_run
from tests.commands.test_lessons import FOLDER, PAGES
from tests.commands.test_readme import commands
from tests.conftest import ROOT

FIGURE = re.compile(r"\]\((figures/[^)]+\.svg)\)")


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="lrb-lessons-"))
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("figures").mkdir()
        for words in commands(*PAGES):
            print("\n$ lrb", *words, flush=True)
            lrb(words)
    finally:
        os.chdir(before)
    print(f"\nthe runs are in {folder}")
    for path in sorted((folder / "runs").iterdir()):
        print(_measured(path))
    copy_figures(folder)


def copy_figures(folder: Path) -> None:
    """Those that the lessons show; the number before the name of a chart depends on which charts a run has."""
    for name in FIGURE.findall("\n".join((ROOT / page).read_text() for page in PAGES)):
        figure = FOLDER / name
        [made] = {*folder.glob(name), *(folder / name).parent.glob(f"[0-9][0-9]-{figure.name}")}
        figure.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, figure)


def _measured(path: Path) -> str:
    run: dict[str, Any] = dict(read_run(path))
    cycles, toll, engine = run["cycles"], run["answers"]["toll"], run["environment"]["engine"]
    rows = run["feed"]["rows"]
    parts = [
        f"{path.name:<16} tuples {rows:,}, {rows / cycles['count']:,.0f} per cycle",
        f"cycles {cycles['count']}, mean {cycles['mean_ms']:.1f} ms",
        f"tolls {toll['received']:,}, late {toll['late']:,}, p50 {toll['p50']:.3f} s, max {toll['max']:.3f} s",
        "steps " + ", ".join(f"{name} {ms:.2f}" for name, ms in cycles["steps_mean_ms"].items()),
        *(f"{name} {engine[name]}" for name in ("wal_bytes", "dead_rows", "shed_tuples", "utility") if name in engine),
    ]
    return "; ".join(parts)


if __name__ == "__main__":
    main()
