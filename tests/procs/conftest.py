"""Rows for the routines' input tables: a test names what matters to it, the rest is filled in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from polling_baseline import spec
from polling_baseline.database.embedded.server import Server
from polling_baseline.database.install import install
from polling_baseline.database.session import driver
from tests.conftest import Sql, clone

Add = Callable[..., None]

PLACE = {"vehicle_id": 1, "speed_mph": 30, "lane": 1, "position_ft": 0}
RING = {
    **PLACE,
    "segment_id": 0,
    "tally": 60,
    "lav": spec.NO_LAV,
    "stop_reports": 1,
    "counted": True,
    "started": False,
    "ended": False,
    "crossed": False,
    "toll": 0,
    "paid": 0,
}
REQUEST = {
    "request_second": 0,
    "vehicle_id": 1,
    "query_id": 1,
    "xway": 0,
    "from_seg": 0,
    "to_seg": 0,
    "day_of_week": 1,
    "minute_of_day": 1,
    "day": 1,
}
DEFAULTS = {
    "lr.position_report": {**PLACE, "xway": 0, "dir": spec.EAST, "seg": 0},
    "lr.request": REQUEST,
    "lr.movement": {name: RING[name] for name in RING if name not in ("speed_mph", "tally", "counted")},
    "lr.trip": {
        **{name: PLACE[name] for name in ("vehicle_id", "lane", "position_ft")},
        "segment_id": 0,
        "stop_reports": 1,
        "toll": 0,
    },
    "lr.vehicle": {"vehicle_id": 1, "trips_begun": 1, "trips_ended": 0, "balance": 0},
    "lr.stopped_car": {"vehicle_id": 1, "road_id": 0, "lane": 1, "position_ft": 0},
    "lr.segment_minute": {"segment_id": 0, "cars": 1, "average_mph": 30},
    "lr.segment_toll": {"segment_id": 0, "lav": spec.NO_LAV, "toll": 0},
    "lr_history.segment_average": {"xway": 0, "dir": spec.EAST, "day_of_week": 1, "days": 1, "cars_sum": 0},
}
# The steps of a cycle, as `cycles.csv` names them but for _ms.
STEPS = ("minute", "advance", "tally", "notify", "balance", "history")


def segment(seg: int, dir: int = spec.EAST, xway: int = 0) -> int:
    """What lr.segment_id gives."""
    return (xway * 2 + dir) * spec.SEGMENTS + seg


def ring(second: int) -> str:
    """What lr.ring_table gives."""
    return f"ring_{second % 120:03}"


@pytest.fixture
def add(sql: Sql) -> Add:
    """`add("lr.vehicle", balance=8)` inserts one row."""

    def insert(table: str, **values: Any) -> None:
        _insert(sql, table, {**DEFAULTS.get(table, {}), **values})

    return insert


@pytest.fixture
def add_ring(sql: Sql) -> Add:
    """`add_ring(59, toll=2)` inserts one row into the ring's table of second 59."""

    def insert(second: int, schema: str = "lr", **values: Any) -> None:
        _insert(sql, f"{schema}.{ring(second)}", {**RING, **values})

    return insert


@pytest.fixture(scope="session")
def _connection_of_two(server: Server, template: str) -> Iterator[Any]:
    with _installed(server, template, workers=2) as connection:
        yield connection


@pytest.fixture
def cursor_of_two(_connection_of_two: Any) -> Iterator[Any]:
    """What `cursor` is, in a database of two workers: `lr` and `lr_1`."""
    yield from _undone(_connection_of_two)


@pytest.fixture(scope="session")
def _connection_of_2004(server: Server, template: str) -> Iterator[Any]:
    with _installed(server, template, design="2004", options={"keep": "minutes"}) as connection:
        yield connection


@pytest.fixture
def cursor_of_2004(_connection_of_2004: Any) -> Iterator[Any]:
    """What `cursor` is, in a database of design 2004, which keeps reports for some minutes."""
    yield from _undone(_connection_of_2004)


@pytest.fixture(scope="session")
def _connection_of_subquery(server: Server, template: str) -> Iterator[Any]:
    with _installed(server, template, design="subquery") as connection:
        yield connection


@pytest.fixture
def cursor_of_subquery(_connection_of_subquery: Any) -> Iterator[Any]:
    """What `cursor` is, in a database of design subquery."""
    yield from _undone(_connection_of_subquery)


@pytest.fixture(scope="session")
def _connection_with_row_triggers(server: Server, template: str) -> Iterator[Any]:
    with _installed(server, template, triggers="row") as connection:
        yield connection


@pytest.fixture
def row_cursor(_connection_with_row_triggers: Any) -> Iterator[Any]:
    """What `cursor` is, in a database with row triggers."""
    yield from _undone(_connection_with_row_triggers)


@pytest.fixture(scope="session")
def _connection_with_statement_triggers(server: Server, template: str) -> Iterator[Any]:
    with _installed(server, template, triggers="statement") as connection:
        yield connection


@pytest.fixture
def statement_cursor(_connection_with_statement_triggers: Any) -> Iterator[Any]:
    """What `cursor` is, in a database with statement triggers."""
    yield from _undone(_connection_with_statement_triggers)


@contextmanager
def _installed(server: Server, template: str, **options: Any) -> Iterator[Any]:
    """A connection to a database whose schemas were built with these options."""
    with clone(server, template) as target, target.open() as session:
        install(session, **options)
        yield driver(session)


def _undone(connection: Any) -> Iterator[Any]:
    """A cursor whose transaction is rolled back in the end."""
    with connection.cursor() as cursor:
        yield cursor
    connection.rollback()


def _insert(sql: Sql, table: str, values: dict[str, Any]) -> None:
    places = ", ".join(["%s"] * len(values))
    sql(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})", *values.values())
