"""The engines by name, and what each needs before it can start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from polling_baseline.database.connection import Target, find_target
from polling_baseline.database.settings import check_durable

if TYPE_CHECKING:
    from driver.dataset import Dataset
    from driver.result import RunConfig
    from polling_baseline.engine import Engine

# What fires the trigger engine's rules: each INSERT, each row of a second's COPY, or that COPY as a whole.
GRANULARITIES = ("row", "copy", "statement")
# These keep each vehicle in one place, and so have one worker.
BY_ROW = ("row", "copy")


@dataclass(frozen=True, slots=True)
class Place:
    """Where engines run: the database server if they use one, and the Spark that loads its history."""

    dsn: str | None = None
    master: str = "local[*]"


def open_engine(config: RunConfig, dataset: Dataset, place: Place) -> Engine:
    """The engine that a run's options name, with the data set's history where it needs it; `install` comes next."""
    return ENGINES[config.engine](config, dataset, place)


def _polling(config: RunConfig, dataset: Dataset, place: Place) -> Engine:
    from polling_baseline.engines.polling import Polling

    return Polling(_database(config, dataset, place), config.workers, config.durability)


def _trigger(config: RunConfig, dataset: Dataset, place: Place) -> Engine:
    from polling_baseline.engines.trigger import Trigger

    granularity = config.engine_options.get("granularity", "row")
    workers = 1 if granularity in BY_ROW else config.workers
    return Trigger(_database(config, dataset, place), workers, config.durability, granularity)


def _database(config: RunConfig, dataset: Dataset, place: Place) -> Target:
    """A server that keeps what the run's durability promises, with the history loaded."""
    from driver.spark.load import ensure_loaded

    target = find_target(place.dsn, config.durability)
    if config.durability == "on":
        with closing(target.connect()) as connection:
            check_durable(connection, target.label)
    ensure_loaded(dataset, target, place.master)
    return target


ENGINES: Mapping[str, Callable[[RunConfig, Dataset, Place], Engine]] = MappingProxyType(
    {"polling": _polling, "trigger": _trigger}
)
