"""What an engine is: a handful of methods.

Pacing, clocks, percentiles and files belong to the driver, so that no engine can measure itself kindly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from polling_baseline.batch import Answers, Batch


class EngineFailure(Exception):
    """The engine cannot go on; the text says why, for whoever started the run."""


class Engine(Protocol):
    name: str
    # How many shares a batch must have.
    workers: int

    def install(self) -> None:
        """Start from nothing but the history, with all that must be warm before the clock starts."""

    def process(self, batch: Batch) -> Mapping[str, float]:
        """Return when the batch's answers can be read; give the milliseconds of each step."""

    def answers(self) -> Iterator[Answers]:
        """The answers of the batch processed last."""

    def stop(self) -> None:
        """Release everything."""

    # An engine may also have finish() -> bool: the input is through, say what is left to say; False means that many
    # answers wait to be taken, and that it must be called again;
    # files() -> dict[str, str]: what it leaves in the run's folder, by name;
    # and discard(): remove what it keeps for a resumption, as the run is complete.

    def facts(self) -> dict[str, object]:
        """Version and settings, for `run.json`."""


@runtime_checkable
class Resumable(Engine, Protocol):
    """An engine whose state outlives it: after a crash a run goes on from the last cycle that was committed."""

    def resume(self, engine_facts: Mapping[str, object]) -> range | None:
        """Instead of `install`: find the state of the run whose `facts` these are, or refuse.

        Give the seconds of the last batch that was committed, if only in part: the driver hands it to `complete`.
        """

    def complete(self, batch: Batch) -> Mapping[str, float]:
        """Do what is still to be done of that batch, which may be nothing; `answers` then gives all its answers."""


@runtime_checkable
class PacedEngine(Engine, Protocol):
    """An engine that answers in its own time: `process` only hands over, `answers` gives what has come since."""

    def through(self) -> list[tuple[int, float]]:
        """The seconds that it is done with since the last call, each with the moment, by time.perf_counter."""
