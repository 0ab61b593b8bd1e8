"""Which tables hold the last seconds: one a cycle, named for the place of its first second in its minute."""

from __future__ import annotations

from polling_baseline import spec

# It has the form of all others, and no rows.
EMPTY = "lr.ring"


class Ring:
    """The cycles whose tables are there, oldest first."""

    def __init__(self, cycles: list[range]) -> None:
        self._cycles = cycles

    def rows(self, seconds: range) -> str:
        """What SQL reads to get all rows of these seconds and no others."""
        parts = [_part(cycle, seconds) for cycle in self._cycles if _overlap(cycle, seconds)]
        if len(parts) == 1 and " " not in parts[0]:
            return parts[0]
        return f"({' UNION ALL '.join(f'FROM {part}' for part in parts)})" if parts else EMPTY

    def add(self, cycle: range) -> None:
        self._cycles.append(cycle)

    def drop(self, cycle: range) -> list[str]:
        """Forget the tables that no cycle after this one needs, and name those that this one has not replaced."""
        old = [one for one in self._cycles if one.stop <= cycle.stop - spec.MINUTE_S]
        self._cycles = self._cycles[len(old) :]
        return [table_of(one) for one in old if table_of(one) not in map(table_of, self._cycles)]


def table_of(cycle: range) -> str:
    return f"lr.ring_{cycle.start % spec.MINUTE_S:02d}"


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _part(cycle: range, seconds: range) -> str:
    if seconds.start <= cycle.start and cycle.stop <= seconds.stop:
        return table_of(cycle)
    return f"{table_of(cycle)} WHERE second BETWEEN {seconds[0]} AND {seconds[-1]}"
