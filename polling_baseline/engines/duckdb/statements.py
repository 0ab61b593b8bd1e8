"""The SQL of `sql/duckdb`, by the names of its files; and the numbers that it takes from Python."""

from __future__ import annotations

from functools import cache

from duckdb import DuckDBPyConnection

from polling_baseline import spec
from polling_baseline.project import ROOT

FOLDER = ROOT / "sql" / "duckdb"
# What the engine tells the statements of a cycle.
VARIABLES = ("from_second", "until_second", "minute", "journey_hours")


@cache
def statement(name: str) -> str:
    """The text of the one file that has this name behind its number."""
    [file] = FOLDER.glob(f"[0-9][0-9][0-9]_{name}.sql")
    return file.read_text()


def create_numbers(connection: DuckDBPyConnection) -> None:
    """Each number of the specification as a macro, and each variable."""
    for name, number in vars(spec).items():
        if name.isupper() and isinstance(number, int | tuple) and all(isinstance(part, int) for part in _parts(number)):
            connection.execute(f"CREATE MACRO lr.{name.lower()}() AS {_literal(number)}")
    for name in VARIABLES:
        connection.execute(f"CREATE MACRO lr.{name}() AS getvariable('{name}')")


def set_variables(connection: DuckDBPyConnection, **values: int | list[str]) -> None:
    for name, value in values.items():
        connection.execute(f"SET VARIABLE {name} = {value}")


def _parts(number: int | tuple[object, ...]) -> tuple[object, ...]:
    return number if isinstance(number, tuple) else (number,)


def _literal(number: int | tuple[object, ...]) -> str:
    return str(list(number) if isinstance(number, tuple) else number)
