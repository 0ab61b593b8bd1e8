"""The engines by name, and what each needs before it can start."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from driver.run.config import BY_ROW, RunConfig
from polling_baseline.database.claim import Claim, claim_database
from polling_baseline.database.connection import Target, find_target
from polling_baseline.database.designs import DEFAULT_DESIGN
from polling_baseline.database.settings import Durability, adopt_profile, check_durability, differences, read_settings
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from driver.dataset.folder import Dataset
    from polling_baseline.engine import Engine

log = logging.getLogger("lrb")
# The engines that need a server.
ON_POSTGRESQL = ("polling", "trigger")


@dataclass(frozen=True, slots=True)
class Backends:
    """Where engines run: the database server if they use one, and the Spark that loads its history or is the engine."""

    dsn: str | None = None
    master: str = "local[*]"
    # On that server, if not the usual one.
    database: str | None = None


def open_engine(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    """The engine that a run's options name, with the data set's history where it needs it; `install` comes next."""
    return ENGINES[config.engine](config, dataset, backends)


def _polling(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from polling_baseline.engines.system_x.polling import Polling

    design = config.engine_options.get("design", DEFAULT_DESIGN)
    return Polling(_database(config, dataset, backends), config.workers, config.profile, design, config.engine_options)


def _trigger(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from polling_baseline.engines.system_x.trigger import Trigger

    granularity = config.engine_options.get("granularity", "row")
    workers = 1 if granularity in BY_ROW else config.workers
    return Trigger(_database(config, dataset, backends), workers, config.profile, granularity)


def _database(config: RunConfig, dataset: Dataset, backends: Backends) -> Claim:
    """A database for this run alone, with the history loaded, on a server that keeps what the durability promises."""
    from driver.history.load import ensure_loaded

    target = find_target(backends.dsn, config.profile, backends.database)
    claim = claim_database(target, f"run {dataset.name}")
    try:
        with target.open() as connection:
            _adopt_profile(connection, target, config.profile)
            check_durability(connection, target.label, config.profile)
        ensure_loaded(dataset, claim, backends.master)
    except BaseException:
        claim.close()
        raise
    return claim


def _adopt_profile(connection: Connection, target: Target, durability: Durability) -> None:
    """See what the sessions of a run can have of the profile, and say so if it is not all."""
    others = differences(read_settings(connection), durability)
    adopt_profile(connection, durability)
    if others and not target.embedded:
        own = len(others) - len(differences(read_settings(connection), durability))
        _warn_once(
            f"{len(others)} settings of {target.label} differ from the profile for durability {durability}, "
            f"{own} of which this run sets for itself; "
            f'"lrb db settings --durability {durability} --dsn {shlex.quote(target.psql[0])}" prints the statements '
            "that set them all"
        )


@cache
def _warn_once(text: str) -> None:
    """A rating makes many runs on one server."""
    log.warning(text)


def _aurora(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from polling_baseline.engines.aurora.engine import Aurora
    from polling_baseline.engines.aurora.linear_road.history import Archive
    from polling_baseline.engines.aurora.linear_road.quality import read_qualities
    from polling_baseline.engines.aurora.model.shedding import HEADROOM
    from polling_baseline.engines.aurora.node import TRAIN_SIZE, Options

    given = config.engine_options
    order = {"superbox": "priority", "box": "box at a time"}[given.get("order", "superbox")]
    options = Options(
        int(given.get("train_size", TRAIN_SIZE)),
        given.get("shed", "none"),
        order,
        slower=config.slower,
        headroom=float(given.get("headroom", HEADROOM)),
        qualities=read_qualities(Path(given["qos"])) if "qos" in given else {},
    )
    archive = Archive(dataset.toll_history, dataset.segment_history, lambda: _history_progress(dataset))
    return Aurora(archive, config.workers, options)


def _sqlite(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from polling_baseline.engines.sqlite.engine import SQLite

    return SQLite(dataset.toll_history, dataset.segment_history, lambda: _history_progress(dataset))


def _history_progress(dataset: Dataset) -> AbstractContextManager[Callable[[float], None]]:
    from driver.progress import progress

    files = [*dataset.toll_history, *dataset.segment_history]
    return progress("history", max(1, sum(path.stat().st_size for path in files)))


def _duckdb(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from polling_baseline.engines.duckdb.engine import DuckDB

    return DuckDB(dataset.toll_history, dataset.segment_history, config.workers, config.profile.keeps_commits)


def _structured_streaming(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from driver.progress import progress
    from driver.spark.cluster import find_cluster
    from driver.spark.session import is_local, session
    from polling_baseline.engines.structured_streaming.engine import Options, StructuredStreaming

    given = config.engine_options
    checkpoint = Path(given["checkpoint"]) if "checkpoint" in given else None
    if checkpoint is None and not is_local(backends.master) and find_cluster(backends.master) is None:
        raise Refusal(
            f"the workers of {backends.master} must see the state of the run: give --checkpoint, a folder on storage "
            "that all of them share with this machine, at the same path"
        )
    shards, warm_up_s = (int(given[name]) if name in given else None for name in ("shards", "warm_up"))
    options = Options(dataset.xways, shards, config.profile.keeps_commits, checkpoint, warm_up_s)
    history = dataset.toll_history, dataset.segment_history
    return StructuredStreaming(lambda: session(backends.master, steady=True), *history, options, progress)


def _foreign(config: RunConfig, dataset: Dataset, backends: Backends) -> Engine:
    from driver.run.introduction import introduce
    from polling_baseline.engines.external.channel import Channel, Connection, Listener, Program
    from polling_baseline.engines.external.engine import External, ExternalOptions, PacedExternal

    given = config.engine_options
    ways: dict[str, Callable[[str], Channel]] = {"command": Program, "listen": Listener, "connect": Connection}
    [channel] = [way(given[option]) for option, way in ways.items() if option in given]
    manners = ExternalOptions(given["marks"] == "on", float(given["patience"]))
    # On the real clock a system answers in its own time; the virtual one waits for it.
    kind = PacedExternal if config.clock == "real" else External
    return kind(config.engine, channel, lambda folder: introduce(config, dataset, folder), config.seconds, manners)


ENGINES: Mapping[str, Callable[[RunConfig, Dataset, Backends], Engine]] = MappingProxyType(
    {
        "polling": _polling,
        "trigger": _trigger,
        "duckdb": _duckdb,
        "sqlite": _sqlite,
        "aurora": _aurora,
        "structured_streaming": _structured_streaming,
        "exec": _foreign,
        "tcp": _foreign,
    }
)
