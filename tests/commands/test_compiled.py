"""Machine code is kept for later commands, wherever the program is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# A function of the program that compiled code calls; says where it is kept, and whether it was found there.
PROGRAM = """
import logging
logging.basicConfig(level=logging.INFO, format="lrb: %(message)s")
from driver.dataset.vehicles import Vehicles, _move
Vehicles(1).reserve(1 << 16)
print(_move.stats.cache_path, sum(_move.stats.cache_hits.values()), sum(_move.stats.cache_misses.values()))
"""


@pytest.fixture
def installed(tmp_path) -> Path:
    """The part of the program that compiles, in a folder with an odd name."""
    folder = tmp_path / "a [1] b*é"
    parts = ("__init__", "compiled", "project", "refusal")
    for name in (*(f"polling_baseline/{part}" for part in parts), "driver/__init__", "driver/dataset/__init__"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / f"{name}.py", folder / f"{name}.py")
    shutil.copy(ROOT / "driver" / "dataset" / "vehicles.py", folder / "driver" / "dataset" / "vehicles.py")
    return folder


def kept(folder: Path, state: Path) -> tuple[Path, str, str]:
    """Where the code is kept, how often it was found there, and what was said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**environment, "LRB_STATE": str(state), "HOME": "/nowhere", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    place, *counts = done.stdout.rsplit(maxsplit=2)
    return Path(place), " ".join(counts), done.stderr


@pytest.mark.parametrize("writable", [True, False])
def test_the_second_time_it_is_found(installed, tmp_path, writable):
    state = tmp_path / "state *[é]"
    if not writable:
        for name in ("driver", "polling_baseline"):
            (installed / name / "__pycache__").touch()
    place, counts, said = kept(installed, state)
    assert place.is_relative_to(installed if writable else state / "compiled")
    assert (counts, said) == ("0 1", "lrb: compiling, which takes up to a minute, once\n")
    assert kept(installed, state) == (place, "1 0", "")
