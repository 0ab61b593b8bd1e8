"""Right or wrong, early or late: a system's answers against the right ones, counted.

An answer is identified by its kind, its VID or QID and its Time.  Of the E answers that are expected for an identity
and the R that came, min(E, R) are taken as given, as many right ones as there are among them:

    missing    E - R, if R is smaller        duplicate  R - E, if R is larger and E is not 0
    wrong      given, but not right          extra      R, if E is 0: nobody asked
    late       Emit - Time is above the kind's limit; exactly the limit is in time.  Of all that came and were expected.
    early      Emit is before Time

Response times are those of the first answer to each identity that was expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from driver.run.limits import Limits
from driver.run.verdict import FAULTS, AnswerVerdict
from driver.validate.odd_lines import SECOND_US
from driver.validate.overview import KINDS, Times, limit_us, times_of
from driver.validate.readings import Acceptance
from polling_baseline import spec
from polling_baseline.batch import Columns

COUNTS = ("expected", "received", *FAULTS, "lenient")
PER_MILLE = {"p50": 500, "p90": 900, "p99": 990, "p99.9": 999}
IDENTITY = ("kind", "id", "second")
EXPECTED = (*IDENTITY, "value_1", "value_2", "slack", "place", "chosen")
CAME = (*IDENTITY, "value_1", "value_2", "response_us", "line")
NO_RESPONSE = np.iinfo(np.int64).max
NOWHERE = -1


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted of each kind of answer; the response times of identities that were answered."""

    counts: npt.NDArray[np.int64]
    times: dict[int, Times]
    # Those of all answers that were looked at.
    all_times: dict[int, Times]

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.counts + other.counts,
            {kind: self.times[kind] + other.times[kind] for kind in KINDS},
            {kind: self.all_times[kind] + other.all_times[kind] for kind in KINDS},
        )


def no_counts() -> Counts:
    nothing = dict.fromkeys(KINDS, Times())
    return Counts(np.zeros((len(KINDS), len(COUNTS)), np.int64), nothing, nothing)


def tally(expected: Columns, came: Columns, limits: Limits, acceptance: Acceptance) -> Columns:
    """A row per identity: COUNTS, and the response time of the first answer, or NO_RESPONSE.

    Only what is `chosen` counts, and what nobody expects at all.  `place` is XWay, Dir and Seg of the report, if a
    notification of it is expected.
    """
    size = len(expected["id"])
    rows: Columns = {name: np.r_[expected[name], came[name]] for name in IDENTITY}
    is_came = np.arange(len(rows["id"])) >= size
    identity, first = _numbered(rows, is_came)
    matches = first[identity[size:]]
    values, lenient = acceptance.read(expected, came, np.where(matches < size, matches, -1))
    value_1, value_2 = (np.r_[expected[f"value_{number}"], received] for number, received in enumerate(values, 1))
    right = _right(identity, value_1, value_2, is_came, len(first))
    asked = np.bincount(identity[:size], minlength=len(first))
    tallied = {
        **{name: rows[name][first] for name in IDENTITY},
        **_faults(asked, right, came, identity[size:], limits, lenient),
        "place": np.r_[expected["place"], np.full(len(matches), NOWHERE)][first],
    }
    chosen = np.bincount(identity[:size][expected["chosen"]], minlength=len(first)) > 0
    return {name: column[chosen | (asked == 0)] for name, column in tallied.items()}


def _faults(
    asked: npt.NDArray[np.int64],
    right: npt.NDArray[np.int64],
    came: Columns,
    identity: npt.NDArray[np.int64],
    limits: Limits,
    lenient: npt.NDArray[np.bool_],
) -> Columns:
    """The counts of each identity; `identity` has the number of each answer that came."""
    size, response = len(asked), came["response_us"]
    limit = np.array([limit_us(limits, kind) for kind in KINDS])
    received = np.bincount(identity, minlength=size)
    given, wanted = np.minimum(asked, received), asked > 0
    first_response = np.full(size, NO_RESPONSE)
    np.minimum.at(first_response, identity, response)

    def count(rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        return np.where(wanted, np.bincount(identity[rows], minlength=size), 0)

    return {
        "expected": asked,
        "received": received,
        "missing": asked - given,
        "extra": np.where(wanted, 0, received),
        "duplicate": np.where(wanted, received - given, 0),
        "wrong": given - right,
        "late": count(response > limit[came["kind"]]),
        "early": count(response < 0),
        "lenient": count(lenient),
        "response_us": np.where(wanted, first_response, NO_RESPONSE),
    }


def _numbered(rows: Columns, is_came: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The number of each row's identity, and the first row of each identity: one that is expected, if there is one."""
    order = np.lexsort((is_came, *(rows[name] for name in reversed(IDENTITY))))
    new = np.ones(len(order), bool)
    new[1:] = np.logical_or.reduce([rows[name][order][1:] != rows[name][order][:-1] for name in IDENTITY])
    identity = np.zeros(len(order), np.int64)
    identity[order] = np.cumsum(new) - 1
    return identity, order[new]


def _right(
    identity: npt.NDArray[np.int64],
    value_1: npt.NDArray[np.int64],
    value_2: npt.NDArray[np.int64],
    is_came: npt.NDArray[np.bool_],
    size: int,
) -> npt.NDArray[np.int64]:
    """How many of the answers that are expected for each identity came with their values."""
    order = np.lexsort((value_2, value_1, identity))
    columns = [column[order] for column in (identity, value_1, value_2)]
    starts = np.flatnonzero(np.r_[True, np.logical_or.reduce([c[1:] != c[:-1] for c in columns])][: len(order)])
    if not len(starts):
        return np.zeros(size, np.int64)
    came = np.add.reduceat(is_came[order].astype(np.int64), starts)
    asked = np.diff(np.r_[starts, len(order)]) - came
    return np.bincount(columns[0][starts], np.minimum(asked, came), size).astype(np.int64)


def count(tallied: Columns, came: Columns) -> Counts:
    of_kind = {kind: tallied["kind"] == kind for kind in KINDS}
    counts = [[int(tallied[name][of_kind[kind]].sum()) for name in COUNTS] for kind in KINDS]
    answered = tallied["response_us"] < NO_RESPONSE
    return Counts(
        np.array(counts, np.int64),
        {kind: times_of(tallied["response_us"][of_kind[kind] & answered]) for kind in KINDS},
        {kind: times_of(came["response_us"][came["kind"] == kind]) for kind in KINDS},
    )


def answer_verdicts(times: Mapping[int, Times], looked_at: Counts, limits: Limits) -> dict[str, AnswerVerdict]:
    """What `verdict.json` says of each kind: of the answers looked at one by one, and of the others, all right.

    `times` are those of all answers that came.
    """
    verdicts = {}
    for kind, name in enumerate(spec.ANSWERS):
        others = times[kind].without(looked_at.all_times[kind])
        right = int(others.counts.sum())
        late = int(others.counts[others.response_us > limit_us(limits, kind)].sum())
        early = int(others.counts[others.response_us < 0].sum())
        counts = dict(zip(COUNTS, looked_at.counts[kind].tolist(), strict=True))
        for count_name, more in (("expected", right), ("received", right), ("late", late), ("early", early)):
            counts[count_name] += more
        verdicts[name] = cast(AnswerVerdict, {**counts, **_percentiles(others + looked_at.times[kind])})
    return verdicts


def _percentiles(times: Times) -> dict[str, float | None]:
    reached, whole = np.cumsum(times.counts), int(times.counts.sum())

    def time(share: int) -> float | None:
        """The smallest response time that so many do not exceed."""
        at = np.searchsorted(reached * 1000, whole * share)
        return int(times.response_us[at]) / SECOND_US if whole else None

    return {name: time(share) for name, share in {**PER_MILLE, "max": 1000}.items()}


def count_faults(answers: Mapping[str, AnswerVerdict]) -> int:
    return sum(counts[fault] for counts in answers.values() for fault in FAULTS)
