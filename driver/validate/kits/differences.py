"""Why the paper's reading finds fault with answers that another kit's reading accepts: by kind, fault and reason."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from driver.validate.kits.answers import AcceptedAnswers
from driver.validate.kits.layouts import BALANCE, SECOND_BALANCE, TOLL, TRAVEL, Answer
from driver.validate.kits.verdict import READINGS, accepts, keys_of
from polling_baseline import spec

# Kind of answer, VID or QID, Time, and the name of the fault.
FaultRow = tuple[int, int, int, str]
UNEXPLAINED = "no reading accepts that"
OF_KIND = {"accident": "accident", "balance": "balance", "expenditure": "expenditure", "travel_time": "travel_time"}


def reasons(
    faults: Iterable[FaultRow],
    expected: Mapping[tuple[int, int, int], Sequence[tuple[int, int]]],
    answers: Iterable[Answer],
    readings: Mapping[str, AcceptedAnswers],
) -> Counter[tuple[str, str, str]]:
    """How many faults there are by kind of answer, fault and reason; `expected` has what the paper wants."""
    given: dict[tuple[int, int, int], list[Answer]] = defaultdict(list)
    for answer in answers:
        given[BALANCE if answer.kind == SECOND_BALANCE else answer.kind, answer.id, answer.second].append(answer)
    keys = {name: keys_of(accepted) for name, accepted in readings.items()}
    counts: Counter[tuple[str, str, str]] = Counter()
    for kind, id, second, fault in faults:
        identity = kind, id, second
        name = spec.ANSWERS[kind]
        explaining = [
            reading
            for reading, accepted in readings.items()
            if _explains(accepted, keys[reading][name], kind, (second, id), fault, given[identity])
        ]
        reason = UNEXPLAINED
        if explaining:
            point = _point(kind, fault, expected.get(identity, ()), given[identity])
            reason = f"{explaining[0]}: {READINGS[explaining[0]].points[point]}"
        counts[name, fault, reason] += 1
    return counts


def _explains(
    accepted: AcceptedAnswers,
    keys: set[tuple[int, int]],
    kind: int,
    key: tuple[int, int],
    fault: str,
    given: Sequence[Answer],
) -> bool:
    """Whether by this reading it is no fault."""
    if kind == TRAVEL:
        return True
    if fault == "missing":
        return key not in keys
    return fault in ("wrong", "extra", "duplicate") and bool(given) and all(accepts(accepted, one) for one in given)


def _point(kind: int, fault: str, expected: Sequence[tuple[int, int]], given: Sequence[Answer]) -> str:
    """Which of a reading's points shows in a fault."""
    if kind != TOLL:
        return OF_KIND[spec.ANSWERS[kind]]
    if fault != "wrong":
        return "notification"
    lavs = {lav for lav, _ in expected}
    return "toll" if any(answer.values[0] in lavs for answer in given) else "lav"
