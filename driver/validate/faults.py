"""Why a verdict is what it is: each fault with the evidence that a person needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driver.dataset.folder import Dataset
from driver.run.verdict import FAULTS
from driver.validate.copies import original_ids
from driver.validate.file_parts import lines_in
from driver.validate.inputs import Key, Line, find_inputs
from driver.validate.judge import Judgement
from driver.validate.overview import Span, read_spans
from driver.validate.reference.accidents import segments_ahead
from driver.validate.reference.money import Accounts
from driver.validate.reference.right_answers import ACCIDENT, BALANCE, Conditions
from driver.validate.tally import IDENTITY
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Columns

# Kind, VID or QID, and Time.
Identity = tuple[int, int, int]
# A fault names so many lines at most.
MOST_TEXTS = 5


class Fault(NamedTuple):
    """One fault, in the order of the columns of `faults.csv`."""

    answer: str
    fault: str
    time: int
    id: int
    expected: str | None
    received: str | None
    input: str | None
    cars: int | None
    lav: int | None
    accidents_ahead: str | None


@dataclass(frozen=True, slots=True)
class PartFaults:
    """The faults of a part: a row each of identity and fault, in order; and the answers of each identity.

    `expected` has the values of the right answers, `lines` the numbers of the lines that came.
    """

    rows: Sequence[tuple[int, int, int, str]]
    expected: dict[Identity, list[tuple[int, int]]]
    lines: dict[Identity, list[int]]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where evidence is found."""

    dataset: Dataset
    output: Path
    spans: Sequence[Span]
    conditions: Conditions
    accounts: Accounts


def sources_of(judgement: Judgement) -> Sources:
    right, output = judgement.right, judgement.question.output.absolute()
    return Sources(right.dataset, output, judgement.overview.spans, right.conditions, right.accounts)


def find_first(judgement: Judgement, count: int) -> PartFaults:
    """So many of each fault of each kind of answer, the earliest ones."""
    if judgement.comparison is None:
        return PartFaults([], {}, {})
    parts = judgement.comparison.each(lambda _, tallied, expected, came: find_faults(tallied, expected, came, count))
    kept: dict[tuple[int, str], list[tuple[int, int, int, str]]] = defaultdict(list)
    for kind, id, second, fault in (row for part in parts for row in part.rows):
        if len(kept[kind, fault]) < count:
            kept[kind, fault].append((kind, id, second, fault))
    expected = {identity: values for part in parts for identity, values in part.expected.items()}
    lines = {identity: numbers for part in parts for identity, numbers in part.lines.items()}
    return PartFaults([row for _, rows in sorted(kept.items()) for row in rows], expected, lines)


def find_faults(tallied: Columns, expected: Columns, came: Columns, most: int | None = None) -> PartFaults:
    """The faults of a part by time, kind, id and name; with `most`, the first so many of each kind and fault."""
    rows: list[tuple[int, int, int, str]] = []
    order = np.lexsort([tallied[name] for name in ("id", "kind", "second")])
    for fault in FAULTS:
        at = order[tallied[fault][order] > 0]
        for kind in range(len(spec.ANSWERS)):
            chosen = at[tallied["kind"][at] == kind][:most]
            columns = [tallied[name][chosen].tolist() for name in IDENTITY]
            rows += [(*identity, fault) for identity in zip(*columns, strict=True)]
    rows.sort(key=lambda row: (row[2], row[0], row[1], row[3]))
    identities = {row[:3] for row in rows}
    return PartFaults(rows, _texts(identities, expected, "value_1", "value_2"), _texts(identities, came, "line"))


def _texts(identities: set[Identity], columns: Columns, *names: str) -> dict[Identity, list[Any]]:
    """What some columns have for each of these identities, a few of them."""
    ids, seconds = ([identity[at] for identity in identities] for at in (1, 2))
    near = np.flatnonzero(np.isin(columns["id"], ids) & np.isin(columns["second"], seconds))
    texts: dict[Identity, list[Any]] = defaultdict(list)
    keys = zip(*(columns[name][near].tolist() for name in IDENTITY), strict=True)
    values = zip(*(columns[name][near].tolist() for name in names), strict=True)
    for key, value in zip(keys, values, strict=True):
        if key in identities and len(texts[key]) < MOST_TEXTS:
            texts[key].append(value if len(names) > 1 else value[0])
    return dict(texts)


def with_evidence(sources: Sources, part: PartFaults) -> list[Fault]:
    """The faults as people read them."""
    texts = lines_of(sources, {number for numbers in part.lines.values() for number in numbers})
    keys = {row[:3]: _input_key(sources.dataset, *row[:3]) for row in part.rows}
    inputs = find_inputs(sources.dataset, set(keys.values()))
    faults = []
    for kind, id, second, fault in part.rows:
        identity = kind, id, second
        line = inputs.get(keys[identity])
        received = sorted(texts[number] for number in part.lines.get(identity, ()))
        expected = _expected_texts(sources, identity, part.expected.get(identity, []))
        faults.append(
            Fault(
                spec.ANSWERS[kind],
                fault,
                second,
                id,
                " | ".join(expected) or None,
                " | ".join(received) or None,
                ",".join(map(str, line)) if line else None,
                *_conditions(sources.conditions, line if kind <= ACCIDENT else None),
            )
        )
    return faults


def lines_of(sources: Sources, numbers: set[int]) -> dict[int, str]:
    """Lines of the output file by their numbers."""
    texts: dict[int, str] = {}
    ordered = np.array(sorted(numbers), np.int64)
    first = np.array([span.first_line for span in sources.spans], np.int64)
    at = np.unique(np.searchsorted(first, ordered, "right") - 1)
    for span, data in read_spans(sources.output, [sources.spans[number] for number in at.tolist()]):
        lines = lines_in(data)
        inside = ordered[(ordered >= span.first_line) & (ordered < span.first_line + span.lines)]
        for number in inside.tolist():
            texts[number] = lines[number - span.first_line].as_buffer().to_pybytes().decode("utf-8", "replace")
    return texts


def _input_key(dataset: Dataset, kind: int, id: int, second: int) -> Key:
    original = int(original_ids(dataset, np.array([id]))[0])
    return (spec.REPORT if kind <= ACCIDENT else kind), original, second


def _expected_texts(sources: Sources, identity: tuple[int, int, int], values: Sequence[tuple[int, int]]) -> list[str]:
    kind, id, second = identity
    if kind != BALANCE:
        return sorted(answer_line(kind, id, second, value) for value in values)
    texts = set()
    for vehicle, _ in values:
        _, start, until, balance = sources.accounts.ranges(np.array([vehicle]), np.array([second]))
        for first, last, amount in zip(start.tolist(), until.tolist(), balance.tolist(), strict=True):
            texts.add(f"{amount} at ResultTime {max(first, 0)} to {last}")
    return sorted(texts)[:MOST_TEXTS]


def answer_line(kind: int, id: int, second: int, values: tuple[int, int], emit: str = "Emit") -> str:
    """A line of an output file, but for balances."""
    form = ANSWER_KINDS[spec.ANSWERS[kind]]
    fields = {"kind": kind, form.id: id, "second": second, "emit": emit, **dict(zip(form.values, values, strict=False))}
    return ",".join(str(fields[name]) for name in form.fields)


def _conditions(conditions: Conditions, line: Line | None) -> tuple[int | None, int | None, str | None]:
    """Cars of the minute before, Lav, and the accidents ahead, where a report came from."""
    if line is None:
        return None, None, None
    report = dict(zip(spec.FIELDS.values(), line, strict=True))
    place = (report["xway"] * 2 + report["dir"]) * spec.SEGMENTS + report["seg"]
    cell = place - conditions.statistics.first_place, report["second"] // spec.MINUTE_S
    lav, ahead = int(conditions.statistics.lav[cell]), segments_ahead(place, int(conditions.ahead[cell]))
    known = lav != spec.NO_LAV
    return (
        int(conditions.statistics.cars[cell]) if known else None,
        lav if known else None,
        " ".join(map(str, ahead)) or None,
    )
