"""The SQL of `sql/duckdb`, by the names of its files, with what the engine fills in.

In the files, `lr.minute_s()` stands for the number MINUTE_S of the specification, `lr.minute()` for a number that the
engine knows, and `lr.ring_now` or `lr.ring_previous` for those tables of the ring that a step reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from polling_baseline import spec
from polling_baseline.project import ROOT

FOLDER = ROOT / "sql" / "duckdb"
NUMBERS = {name.lower(): value for name, value in vars(spec).items() if name.isupper() and isinstance(value, int)}
COMMENT = re.compile(r"--.*")
NUMBER = re.compile(r"\blr\.(\w+)\(\)")
RING = re.compile(r"\blr\.ring_(\w+)\b")


def statement(name: str, rings: dict[str, Sequence[str]], numbers: dict[str, int]) -> str:
    """The statements of the one file that has this name behind its number."""
    text = NUMBER.sub(lambda match: str(numbers.get(match[1], match[0])), _source(name))
    return RING.sub(lambda match: _together(rings[match[1]]), text)


@cache
def _source(name: str) -> str:
    [file] = FOLDER.glob(f"[0-9][0-9][0-9]_{name}.sql")
    code = COMMENT.sub("", file.read_text())
    code = code.replace("lr.travel_lanes()", str(spec.TRAVEL_LANES))
    return NUMBER.sub(lambda match: str(NUMBERS.get(match[1], match[0])), code)


def _together(tables: Sequence[str]) -> str:
    return tables[0] if len(tables) == 1 else f"({' UNION ALL '.join(f'FROM {table}' for table in tables)})"
