"""Bulk-load a data set's history into PostgreSQL: Spark tasks read Parquet, add up, and send binary COPY.

The new tables are filled beside the old ones and take their place at the very end: a load that fails changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg2

from driver.dataset.folder import Dataset
from driver.progress import Advance, progress
from driver.spark.units import for_each, step
from polling_baseline import spec
from polling_baseline.database.binary_copy import copy_in
from polling_baseline.database.claim import Claim
from polling_baseline.database.connection import Target
from polling_baseline.database.install import source
from polling_baseline.database.session import driver, execute, execute_script
from polling_baseline.database.settings import durability_of, read_settings
from polling_baseline.parquet import read_columns
from polling_baseline.project import ROOT
from polling_baseline.refusal import Refusal
from polling_baseline.scratch import scratch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from sqlalchemy import Connection

# The cells of one expressway: direction, day of the week, minute, segment.
CELLS = (2, spec.WEEK_DAYS, spec.DAY_MINUTES, spec.SEGMENTS)


@dataclass(frozen=True, slots=True)
class Unit:
    """One COPY: a file of TollHistory, or all files of an expressway's SegmentHistory, added up."""

    target: Target
    load: int
    files: Sequence[Path]
    xway: int | None = None


@dataclass(frozen=True, slots=True)
class LoadResult:
    """How many rows the tables got, SegmentHistory being added up on the way; and how long that and the keys took."""

    tolls: int
    averages: int
    copy_s: float
    keys_s: float


def load_history(
    spark: SparkSession | None, dataset: Dataset, claim: Claim, advance: Advance, logged: bool | None = None
) -> LoadResult:
    """Replace schema `lr_history` by the history of a data set; `advance` hears of each file.

    A data set without history needs no Spark.
    Tables are logged if the server keeps what was committed, or as `logged` says.
    """
    from sqlalchemy.exc import InvalidRequestError

    target = claim.target
    with target.open().execution_options(isolation_level="AUTOCOMMIT") as connection, _refusing(target):
        if logged is None:
            logged = durability_of(read_settings(connection)).logged_tables
        try:
            _run(connection, "010_tables", logged)
            units = units_of(dataset, target, _load_under_way(connection))
            begun_at = time.monotonic()
            rows = for_each(spark, units, copy_unit, scratch("load") / "progress", advance) if spark and units else []
            copied_at = time.monotonic()
            _run(connection, "020_keys")
            keys_s = time.monotonic() - copied_at
            statement = "INSERT INTO lr_history_new.source (identity, name) VALUES (:identity, :name)"
            execute(connection, statement, identity=dataset.identity, name=dataset.name)
            _run(connection, "030_swap")
        except BaseException:
            with suppress(psycopg2.Error, InvalidRequestError):
                execute_script(connection, "SET lock_timeout = '2s'; DROP SCHEMA IF EXISTS lr_history_new CASCADE")
            raise
    xways = len(rows) - len(dataset.toll_history)
    return LoadResult(tolls=sum(rows[xways:]), averages=sum(rows[:xways]), copy_s=copied_at - begun_at, keys_s=keys_s)


def loaded_identity(connection: Connection) -> str | None:
    """The identity of the data set whose history the database holds."""
    if not execute(connection, "SELECT to_regclass('lr_history.source') IS NOT NULL").scalar_one():
        return None
    return execute(connection, "SELECT history.identity FROM lr_history.source AS history").scalar()


def ensure_loaded(dataset: Dataset, claim: Claim, master: str) -> None:
    """Load the history unless the database holds it already; Spark is started only if it must be."""
    with claim.target.open() as connection, _refusing(claim.target):
        if loaded_identity(connection) == dataset.identity:
            return
    from driver.spark.session import session

    spark = session(master) if dataset.toll_history or dataset.segment_history else None
    with progress("load history", max(len(dataset.toll_history) + len(dataset.segment_history), 1)) as advance:
        load_history(spark, dataset, claim, advance)


def units_of(dataset: Dataset, target: Target, load: int) -> list[Unit]:
    """The expressways first: they take longest."""
    by_xway: dict[int, list[Path]] = {}
    for file in dataset.segment_history:
        by_xway.setdefault(int(file.name[5:8]), []).append(file)
    averages = [Unit(target, load, files, xway) for xway, files in by_xway.items()]
    return averages + [Unit(target, load, [file]) for file in dataset.toll_history]


def copy_unit(unit: Unit, progress_path: Path) -> int:
    """Send one unit, and give the number of its rows."""
    if unit.xway is None:
        table, columns = "toll_history", read_columns(unit.files[0])
    else:
        table, columns = "segment_average", _averages(unit.xway, unit.files)
    with _refusing(unit.target), unit.target.open() as connection, connection.begin():
        # A task may outlive the load that it belongs to; the next one's tables are not for it.
        execute(connection, "LOCK TABLE lr_history_new.source IN ACCESS SHARE MODE")
        if _load_under_way(connection) != unit.load:
            raise Refusal("another load has begun in the meantime")
        rows = copy_in(driver(connection).cursor(), f"lr_history_new.{table}", columns)
    step(progress_path, len(unit.files))
    return rows


def _load_under_way(connection: Connection) -> int:
    """A number that no other load has."""
    return int(execute(connection, "SELECT 'lr_history_new.source'::regclass::oid::bigint").scalar_one())


def _averages(xway: int, files: Sequence[Path]) -> dict[str, np.ndarray]:
    """Sums per direction, day of the week, minute and segment, for the cells that have a row."""
    size = int(np.prod(CELLS))
    days, lav, cars = np.zeros(size, np.int16), np.zeros(size, np.int64), np.zeros(size, np.int64)
    for file in files:
        column: dict[str, Any] = read_columns(file, ["day", "minute", "dir", "seg", "lav", "cars"])
        cell = column["dir"].astype(np.int32)
        places = (spec.day_of_week(column["day"]) - 1, column["minute"] - 1, column["seg"])
        for place, length in zip(places, CELLS[1:], strict=True):
            cell *= length
            cell += place
        # A file has seven days and a row per key: no cell comes twice.
        days[cell] += 1
        lav[cell] += column["lav"]
        cars[cell] += column["cars"]
    filled = np.flatnonzero(days)
    direction, day_of_week, minute, segment = (index.astype(np.int16) for index in np.unravel_index(filled, CELLS))
    return {
        "xway": np.full(len(filled), xway, np.int16),
        "dir": direction,
        "day_of_week": day_of_week + np.int16(1),
        "minute": minute + np.int16(1),
        "seg": segment,
        "days": days[filled],
        "lav_sum": lav[filled].astype(np.int64),
        "cars_sum": cars[filled].astype(np.int64),
    }


def _run(connection: Connection, name: str, logged: bool = False) -> None:
    """Execute a file of `sql/history`; several statements in one text are one transaction."""
    execute(connection, "SET client_min_messages = warning")
    execute_script(connection, source(ROOT / "sql" / "history" / f"{name}.sql", logged))


@contextmanager
def _refusing(target: Target) -> Iterator[None]:
    """What PostgreSQL says becomes a Refusal."""
    try:
        yield
    except psycopg2.Error as error:
        message = (error.diag.message_primary or str(error)).strip()
        raise Refusal(f"PostgreSQL at {target.label}: {message}; the history that it had is unchanged") from None
