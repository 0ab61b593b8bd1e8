"""The SQL of `sql/duckdb`, by the names of its files, with what the engine fills in.

In the files, `lr.minute_s()` stands for the number MINUTE_S of the specification, `lr.minute()` for a number that the
engine knows, and `lr.ring_now` or `lr.ring_previous` for those rows of the ring that a step reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from duckdb import DuckDBPyConnection, Statement

from polling_baseline import spec
from polling_baseline.project import ROOT

FOLDER = ROOT / "sql" / "duckdb"
NUMBERS = {name.lower(): value for name, value in vars(spec).items() if name.isupper() and isinstance(value, int)}
COMMENT = re.compile(r"--.*")
NUMBER = re.compile(r"\blr\.(\w+)\(\)")
RING = re.compile(r"\blr\.ring_(\w+)\b")
# A step has one text for each table of the ring; those of a regular run fit.
KEPT = 1000

Parser = Callable[[str, Mapping[str, str], Mapping[str, int]], list[Statement]]


def parser(connection: DuckDBPyConnection) -> Parser:
    """Gives the statements of a file.  DuckDB plans a statement each time anew, but need not parse it again."""

    @lru_cache(KEPT)
    def parsed(name: str, rings: tuple[tuple[str, str], ...], numbers: tuple[tuple[str, int], ...]) -> list[Statement]:
        return connection.extract_statements(statement(name, dict(rings), dict(numbers)))

    return lambda name, rings, numbers: parsed(name, tuple(rings.items()), tuple(numbers.items()))


def statement(name: str, rings: Mapping[str, str], numbers: Mapping[str, int]) -> str:
    """The text of the one file that has this name behind its number."""
    text = NUMBER.sub(lambda match: str(numbers.get(match[1], match[0])), _source(name))
    return RING.sub(lambda match: rings[match[1]], text)


@cache
def _source(name: str) -> str:
    [file] = FOLDER.glob(f"[0-9][0-9][0-9]_{name}.sql")
    code = COMMENT.sub("", file.read_text())
    code = code.replace("lr.travel_lanes()", str(spec.TRAVEL_LANES))
    return NUMBER.sub(lambda match: str(NUMBERS.get(match[1], match[0])), code)
