"""The kernel: a road, second by second, as machine code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from driver.generate.traffic.accidents import have_accidents
from driver.generate.traffic.lanes import change_lanes, turn_off
from driver.generate.traffic.model import Driving, Mishap
from driver.generate.traffic.motion import move
from driver.generate.traffic.road import Road, admit, report
from driver.generate.traffic.trips import Accidents, Trips
from polling_baseline.compiled import compiled


def _compiled(version: str) -> Callable[..., int]:
    def drive(
        road: Road,
        trips: Trips,
        accidents: Accidents,
        driving: Driving,
        mishap: Mishap,
        salt: int,
        from_second: int,
        until_second: int,
        out: np.ndarray,
    ) -> int:
        """Let the seconds pass and write what is reported in them; gives the number of reports."""
        rows = len(version) * 0
        for second in range(from_second, until_second):
            admit(road, trips, driving, second)
            rows = report(road, trips, second, out, rows)
            have_accidents(road, accidents, mishap, second)
            for lane in range(len(road.standing)):
                move(road, driving, mishap, lane, salt, second)
            turn_off(road, trips, driving, second + 1)
            change_lanes(road, trips, driving, second % len(road.standing), salt, second)
        return rows

    return compiled(drive, error_model="numpy")


def _sources() -> str:
    """What the kernel is made of; numba's cache sees a change in this file alone, but also in a closure's values."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


drive = _compiled(_sources())
