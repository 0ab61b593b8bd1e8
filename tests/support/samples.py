"""Data of real expressways, which are no part of the project: tests that need them are skipped without."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# The folder that holds them.
VARIABLE = "LRB_SAMPLES"
SAMPLES = Path(os.environ.get(VARIABLE, "no-such-folder")).absolute()
# The first 418 s of an expressway, 15 integers a line.
SAMPLE = SAMPLES / "mitsim-0-418s.csv.gz"

needs_sample = pytest.mark.skipif(not SAMPLE.is_file(), reason=f"{VARIABLE} names no folder with {SAMPLE.name}")
