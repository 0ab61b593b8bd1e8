"""The SQL of `sql/sqlite`, by the names of its files.

Numbers are parameters: those of the specification by their names, `:minute_s` for MINUTE_S.  The tables of the ring
have their names filled in.
"""

from __future__ import annotations

import re
from functools import cache

from polling_baseline import spec
from polling_baseline.project import ROOT

FOLDER = ROOT / "sql" / "sqlite"
NUMBERS = {name.lower(): value for name, value in vars(spec).items() if name.isupper() and isinstance(value, int)}
# A minute's end looks at its 60 s and at the 29 s before.
RING_SECONDS = spec.MINUTE_S + spec.REPORT_PERIOD_S
COMMENT = re.compile(r"--.*")


@cache
def statements(name: str, slot: int = 0) -> tuple[str, ...]:
    """The statements of the one file that has this name behind its number, for one table of the ring as that of now."""
    [file] = FOLDER.glob(f"[0-9][0-9][0-9]_{name}.sql")
    code = COMMENT.sub("", file.read_text())
    for table, number in (("now", slot), ("previous", (slot - spec.REPORT_PERIOD_S) % RING_SECONDS)):
        code = code.replace(f"lr.ring_{table}", f"lr.ring_{number:02d}")
    return tuple(statement.strip() for statement in code.split(";") if statement.strip())
