"""The answers to the input of one minute, expected and received, and what they count.

A minute whose answers are all there, or can only come late, is put aside on the disk.  If another answer to it comes,
it is fetched again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from driver.dataset.folder import Dataset
from driver.run.limits import Limits
from driver.run.verdict import FAULTS
from driver.validate.copies import copied
from driver.validate.live.right_stream import RightMinute
from driver.validate.live.tree_file import Tree
from driver.validate.reading import STRICT
from driver.validate.readings import Acceptance
from driver.validate.reference.money import Accounts, accounts_of
from driver.validate.reference.trips import joined
from driver.validate.tally import CAME, EXPECTED, Counts, count, tally
from polling_baseline import spec
from polling_baseline.batch import REQUEST_COLUMNS, Columns

TYPES: Mapping[str, type] = {"kind": np.int8, "chosen": bool}
ACCOUNTS = ("request", "vehicle", "moment", "charged")


def no_rows(names: Sequence[str]) -> Columns:
    return {name: np.zeros(0, TYPES.get(name, np.int64)) for name in names}


def expected_in(dataset: Dataset, right: RightMinute) -> Columns:
    """The answers of every expressway, copies included."""
    parts = [no_rows(EXPECTED)]
    for kind, rows in right.answers.items():
        for copy in copied(dataset, rows):
            size = len(copy["id"])
            parts.append({**copy, "kind": np.full(size, kind, np.int8), "chosen": np.ones(size, bool)})
    return joined(parts, EXPECTED)


@dataclass
class Ledger:
    """One minute; without a minute, the answers to seconds that the run does not have."""

    expected: Columns = field(default_factory=lambda: no_rows(EXPECTED))
    accounts: Accounts = field(default_factory=lambda: accounts_of(no_rows((*REQUEST_COLUMNS, "home")), []))
    came: Columns = field(default_factory=lambda: no_rows(CAME))
    # What came since it was counted.
    news: list[Columns] = field(default_factory=list)
    tallied: Columns = field(default_factory=dict)

    def settle(self, limits: Limits) -> Counts:
        """Bring together what is expected and what came, and count."""
        self.came = joined([self.came, *self.news], CAME)
        self.news.clear()
        self.tallied = tally(self.expected, self.came, limits, Acceptance(STRICT, self.accounts))
        return count(self.tallied, self.came)

    @property
    def is_complete(self) -> bool:
        return not self.news and not self.tallied["missing"].any()

    def faults_by(self, now: float, limits: Limits) -> dict[str, int]:
        """The faults so far; an answer is missing when its time is over."""
        limit_s = np.array([limits[kind] for kind in spec.ANSWERS])[self.tallied["kind"]]
        over = self.tallied["second"] + limit_s < now
        counts = {fault: self.tallied[fault] for fault in FAULTS}
        return {fault: int((rows * over if fault == "missing" else rows).sum()) for fault, rows in counts.items()}

    def by_kind(self) -> dict[tuple[str, str], int]:
        """The faults by kind of answer and name."""
        counts = {
            (name, fault): int(self.tallied[fault][self.tallied["kind"] == kind].sum())
            for kind, name in enumerate(spec.ANSWERS)
            for fault in FAULTS
        }
        return {key: number for key, number in counts.items() if number}

    def state(self) -> Tree:
        """For a file; what is counted follows from it."""
        came = joined([self.came, *self.news], CAME)
        accounts = {name: getattr(self.accounts, name) for name in ACCOUNTS}
        return {"expected": self.expected, "came": came, "accounts": accounts}


def ledger_from(state: Tree) -> Ledger:
    return Ledger(state["expected"], Accounts(**state["accounts"]), state["came"])
