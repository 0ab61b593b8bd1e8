"""The designs of System X: different tables and procedures that give the same answers, as rungs of a ladder.

A design is a list of folders below `sql/designs/` and `stored_procs/designs/`, each of which replaces routines of those
before it, and the options that it has.  An option's value is a file, `sql/designs/FOLDER/OPTION/VALUE.sql`, or no file
if it adds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from polling_baseline.refusal import Refusal

DEFAULT_DESIGN = "ring"
# With the values that each takes, the default first.
IN_PLACE_OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"indexes": ("on", "off"), "keep": ("run", "minutes")}
)


@dataclass(frozen=True, slots=True)
class Design:
    """Where its files are, which options it has, and whether several connections can share its work."""

    folders: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shares_work: bool = False

    def files(self, root: Path, options: Mapping[str, str]) -> tuple[list[Path], list[Path]]:
        """Its tables and its routines, in load order; an option that is not given has its default."""
        chosen = {name: options.get(name, values[0]) for name, values in self.options.items()}
        tables, routines = [], []
        for folder in self.folders:
            sql = root / "sql" / "designs" / folder
            values = [sql / name / f"{value}.sql" for name, value in chosen.items()]
            tables += [*sorted(sql.glob("*.sql")), *filter(Path.exists, values)]
            routines += sorted((root / "stored_procs" / "designs" / folder).glob("*.sql"))
        return tables, routines


DESIGNS: Mapping[str, Design] = MappingProxyType(
    {
        "2004": Design(("2004",), IN_PLACE_OPTIONS),
        "cursor": Design(("2004", "cursor"), IN_PLACE_OPTIONS),
        "subquery": Design(("2004", "subquery"), IN_PLACE_OPTIONS),
        "merge": Design(("2004", "merge")),
        DEFAULT_DESIGN: Design(("ring",), shares_work=True),
    }
)


def find_design(name: str) -> Design:
    if name not in DESIGNS:
        raise Refusal(f"there is no design {name} of System X; there are {', '.join(DESIGNS)}")
    return DESIGNS[name]
