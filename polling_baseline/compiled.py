"""Machine code for loops that numpy cannot do: compiled once, and kept on disk for later commands."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core import event

from polling_baseline.project import state_folder
from polling_baseline.refusal import Refusal

log = logging.getLogger("lrb")


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Numba's machine code for a function; kept beside it or in the state folder, whichever can be written to."""
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:
        return numba.njit(nogil=True, **options)(function)


class _Teller(event.Listener):
    """Says once that this command compiles; what is found on disk is loaded in silence."""

    announced = False

    def on_start(self, event: event.Event) -> None:
        if not self.announced and multiprocessing.parent_process() is None:
            log.info("compiling, which takes up to a minute, once")
        self.announced = True

    def on_end(self, event: event.Event) -> None:
        pass


def _choose_folder() -> None:
    beside = Path(__file__).with_name("__pycache__")
    place = beside if beside.exists() else beside.parent
    if not numba.config.CACHE_DIR and not (place.is_dir() and os.access(place, os.W_OK)):
        with suppress(Refusal):
            numba.config.CACHE_DIR = str(state_folder() / "compiled")


_choose_folder()
event.register("numba:compile", _Teller())
