"""The first faults of each kind, explained: given these inputs, this rule demands this, the system answered that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from driver.run.limits import Limits
from driver.validate.causes import Case, Surroundings, guesses
from driver.validate.copies import original_ids
from driver.validate.faults import Fault, PartFaults, find_first, lines_of, sources_of, with_evidence
from driver.validate.inputs import reports_of
from driver.validate.judge import Judgement
from driver.validate.odd_lines import read_line
from driver.validate.reference.accidents import ahead_of
from driver.validate.reference.right_answers import ACCIDENT, BALANCE, TOLL
from polling_baseline import spec
from polling_baseline.wording import format_count

# What demands an answer, and what demands its values.
RULES = {
    "toll": ("rule 5", "rules 3 and 4"),
    "accident": ("rules 5 and 8", "rule 8"),
    "balance": ("rule 10", "rule 10"),
    "expenditure": ("rule 11", "rule 11"),
    "travel_time": ("rule 12", "rule 12"),
}
MOST_CHARGES = 3
# Of a copied expressway, the data set has the original's input.
OF_ORIGINAL = "   (of the original)"


@dataclass(frozen=True, slots=True)
class Explanation:
    """One fault for people: what was given, the numbers that enter, what is demanded, what came, and guesses."""

    fault: Fault
    given: Sequence[str]
    numbers: Sequence[str]
    rule: str
    demands: str
    answered: Sequence[str]
    perhaps: Sequence[str]


def explain(judgement: Judgement, count: int) -> list[Explanation]:
    """So many faults of each kind, the earliest ones."""
    part = find_first(judgement, count)
    return list(_explained(judgement, part))


def _explained(judgement: Judgement, part: PartFaults) -> Iterator[Explanation]:
    right, sources = judgement.right, sources_of(judgement)
    texts = lines_of(sources, {number for numbers in part.lines.values() for number in numbers})
    statistics = right.conditions.statistics
    early = ahead_of(right.accidents, statistics, end_early=True)
    original = {row[:3]: int(original_ids(right.dataset, np.array([row[1]]))[0]) for row in part.rows}
    notified = {(original[row[:3]], row[2]) for row in part.rows if row[0] <= ACCIDENT}
    reports = reports_of(right.dataset, notified)
    for row, fault in zip(part.rows, with_evidence(sources, part), strict=True):
        identity, (kind, _, second, name) = row[:3], row
        own = reports.get(original[identity], []) if kind <= ACCIDENT else []
        report = next((other for other in own if other.second == second), None)
        there = None
        if report:
            minute = report.second // spec.MINUTE_S
            there = Surroundings(report.place, minute, right.conditions, right.averages, early)
        lines = part.lines.get(identity, [])
        values = part.expected.get(identity, [])
        charges = right.accounts.charges(values[0][0], second) if kind == BALANCE and values else []
        case = Case(
            kind,
            name,
            second,
            values,
            [read_line(texts[number]) for number in lines],
            report,
            [other for other in own if other.second < second],
            there,
            charges,
        )
        yield Explanation(
            fault,
            [line + (OF_ORIGINAL if original[identity] != fault.id else "") for line in _given(fault, case)],
            list(_numbers(case)),
            _rule(fault),
            _demands(fault, judgement.question.limits),
            [f"{texts[number]}   (line {number:,})" for number in lines] or ["nothing"],
            guesses(case),
        )


def _given(fault: Fault, case: Case) -> Iterator[str]:
    if case.kind <= ACCIDENT and case.report:
        before = next((other for other in case.earlier if case.second - other.second == spec.REPORT_PERIOD_S), None)
        yield before.line if before else "no report of this vehicle 30 s before: a trip begins"
    yield fault.input or f"no input with Time {fault.time} and this id"


def _numbers(case: Case) -> Iterator[str]:
    if case.there:
        yield f"{format_count(case.there.cars, 'car')} in the minute before (minute {case.there.minute})"
        yield _lav_text(case.there)
        ahead = " and ".join(map(str, case.there.ahead))
        yield f"accident ahead in segment {ahead}" if ahead else "no accident ahead"
    if case.kind == BALANCE and case.right:
        charged = [f"{toll:,} at {second}" for second, toll in case.charges[-MOST_CHARGES:]]
        yield f"charged before: {', '.join(charged) or 'nothing'}"


def _lav_text(there: Surroundings) -> str:
    speeds = there.speeds
    if not speeds:
        return f"LAV {there.lav}: no data in the five minutes before"
    mean = sum(speeds.values(), Fraction()) / len(speeds)
    minutes = ", ".join(str(minute + 1) for minute in speeds)
    exact = str(mean) if mean.denominator == 1 else f"{mean} = {float(mean):.4f}"
    return f"LAV {there.lav}, cut off from the mean {exact} of {'minutes' if len(speeds) > 1 else 'minute'} {minutes}"


def _demands(fault: Fault, limits: Limits) -> str:
    if fault.fault == "early":
        return f"{fault.expected} not before {fault.time}"
    within = f" within {limits[fault.answer]} s" if fault.fault == "late" else ""
    return f"{fault.expected or 'no answer'}{within}"


def _rule(fault: Fault) -> str:
    if fault.fault in ("late", "early"):
        return "the limit"
    presence, values = RULES[fault.answer]
    return values if fault.fault == "wrong" else presence


def lines_of_explanation(explanation: Explanation) -> list[str]:
    """One fault in a few lines."""
    fault = explanation.fault
    whose = "vehicle" if fault.answer in spec.ANSWERS[TOLL : ACCIDENT + 1] else "request"
    minute = spec.minute_of(fault.time)
    lines = [f"{fault.answer} {fault.fault}: Time {fault.time} (minute {minute}), {whose} {fault.id}"]
    parts = [
        ("given", explanation.given),
        ("numbers", explanation.numbers),
        (explanation.rule, [f"demands {explanation.demands}"]),
        ("answered", explanation.answered),
        ("perhaps", [f"{guess} (a guess)" for guess in explanation.perhaps]),
    ]
    width = max(len("answered"), len(explanation.rule)) + 2
    for name, texts in parts:
        lines += [f"  {name if number == 0 else '':<{width}}{text}" for number, text in enumerate(texts)]
    return lines
