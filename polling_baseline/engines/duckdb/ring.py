"""Which tables hold the last seconds: one a cycle, named for its first second."""

from __future__ import annotations

from polling_baseline import spec

# It has the form of all others, and no rows.
EMPTY = "lr.ring"


class Ring:
    """The cycles whose tables are there, oldest first."""

    def __init__(self, cycles: list[range]) -> None:
        self._cycles = cycles

    def tables(self, seconds: range) -> list[str]:
        """Those with these seconds, and maybe others; if there are none, the empty one."""
        return [table_of(cycle) for cycle in self._cycles if _overlap(cycle, seconds)] or [EMPTY]

    def add(self, cycle: range) -> None:
        self._cycles.append(cycle)

    def drop(self, cycle: range) -> list[str]:
        """Forget the tables that no cycle after this one needs, and give their names."""
        old = [one for one in self._cycles if one.stop <= cycle.stop - spec.MINUTE_S]
        self._cycles = self._cycles[len(old) :]
        return [table_of(one) for one in old]


def table_of(cycle: range) -> str:
    return f"lr.ring_{cycle.start:05d}"


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
