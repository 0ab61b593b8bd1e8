"""What a kit would accept: for each answer its key, and all values that count as right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Key = tuple[int, int]
# By (Time, VID): LAV and toll.
Tolls = Mapping[Key, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class AcceptedAnswers:
    """Keys are (Time, VID) or (Time, QID); a balance is (ResultTime, Bal)."""

    tolls: Tolls
    # The segments that an alert may name.
    alerts: Mapping[Key, frozenset[int]]
    balances: Mapping[Key, Balance]
    expenditures: Mapping[Key, int]


@dataclass(frozen=True, slots=True)
class Balance:
    """Pairs of ResultTime and Bal; or, with `between`, any ResultTime from one to the other with one of the sums."""

    pairs: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    between: tuple[int, int] | None = None
    sums: frozenset[int] = field(default_factory=frozenset)

    def accepts(self, result_second: int, balance: int) -> bool:
        if self.between is None:
            return (result_second, balance) in self.pairs
        first, last = self.between
        return first <= result_second <= last and balance in self.sums
