"""A student's function in a box of Aurora's network."""

from __future__ import annotations

import importlib.util
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from driver.lesson.exercise import BrokenFile
from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.engine import Aurora
from polling_baseline.engines.aurora.linear_road.statistics import lav
from polling_baseline.engines.aurora.model.windows import Slide

BOX, FUNCTION = "five minutes", "lav"
RUN_LIMIT_S = 90


def adopt_box(engine: Aurora, file: Path) -> None:
    """Let the box that slides over five minutes ask the function of a student's file for LAV."""
    function = _load(file)

    def slide(columns: Columns, last_second: int) -> Columns:
        right = lav(columns, last_second)
        cells, velocities = (
            np.asarray(part) for part in function(*(columns[name].copy() for name in ("cell", "cars", "average")))
        )
        order = np.argsort(cells)
        if not np.array_equal(cells[order], right["cell"]) or velocities.shape != cells.shape:
            raise ValueError(f"{FUNCTION} must give each segment once, and one LAV for each")
        return {**right, "lav": velocities[order].astype(np.int64)}

    [node] = engine.nodes
    node.network.vertices[BOX].box = Slide(BOX, spec.MINUTE_S, spec.LAV_MINUTES, slide)


def _load(file: Path) -> Callable[..., Any]:
    """The function of the file."""
    module_spec = importlib.util.spec_from_file_location("student", file)
    assert module_spec is not None and module_spec.loader is not None
    module = importlib.util.module_from_spec(module_spec)
    try:
        module_spec.loader.exec_module(module)
    except Exception as error:
        raise BrokenFile(f"{file.name}: {type(error).__name__}: {error}") from None
    function = getattr(module, FUNCTION, None)
    if not callable(function):
        raise BrokenFile(f"{file.name} has no function {FUNCTION}")
    return function


@contextmanager
def time_limit() -> Iterator[None]:
    """What takes too long is stopped as if its box had failed; only the main thread can be stopped so."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise EngineFailure(f"it takes more than {RUN_LIMIT_S} s")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, RUN_LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
