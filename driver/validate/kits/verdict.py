"""An output by the rules of another kit: the same counts as the judge's own, where that kit looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

import numpy as np

from driver.dataset.folder import Dataset
from driver.dataset.relabel import dataset_label
from driver.run.verdict import FORMAT, AnswerVerdict, Verdict, faults_in
from driver.validate.kits import perl2004, walmart2015
from driver.validate.kits.answers import AcceptedAnswers, Key
from driver.validate.kits.layouts import ALERT, BALANCE, EXPENDITURE, SECOND_BALANCE, TOLL, TRAVEL, Answer, Output
from driver.validate.kits.road import RoadView
from polling_baseline import spec

PAPER = "paper"
TIMES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99.9": 99.9, "max": 100.0}


@dataclass(frozen=True, slots=True)
class KitReading:
    """How a kit looks at an output: its rules, what it does not see, and which response times it allows."""

    name: str
    accepted: Callable[[RoadView], AcceptedAnswers]
    blind_to: frozenset[str]
    limits: Mapping[str, float]
    # Where its rules differ from the paper's, by what shows it.
    points: Mapping[str, str]


READINGS: Mapping[str, KitReading] = MappingProxyType(
    {
        "perl2004": KitReading(
            "perl2004",
            perl2004.accepted_answers,
            frozenset({"duplicate"}),
            MappingProxyType({}),
            MappingProxyType(
                {
                    "lav": "its statistics of the minutes before differ",
                    "toll": "an accident takes two vehicles at speed 0, there again 120 s later",
                    "notification": "a vehicle is told the toll of a segment once in the whole run",
                    "accident": "an accident takes two vehicles at speed 0, there again 120 s later",
                    "balance": "a balance is as of an earlier notification, and may have several values",
                    "expenditure": "what the history does not have is not answered",
                    "travel_time": "travel times are not looked at",
                }
            ),
        ),
        "walmart2015": KitReading(
            "walmart2015",
            walmart2015.accepted_answers,
            frozenset({"missing", "duplicate"}),
            MappingProxyType({"toll": 5.0, "accident": 5.0, "balance": 5.0, "expenditure": 10.0}),
            MappingProxyType(
                {
                    "lav": "LAV is the mean of all speed readings, rounded half up, and 0 without any",
                    "toll": "its LAV, and one accident per segment, decide about the toll",
                    "notification": "a trip begins on the entry lane, more than 60 s after the last report",
                    "accident": "a segment has one accident in the whole run, on any lane",
                    "balance": "a balance may be the one before the last charge, as of 30 s before",
                    "expenditure": "what the history does not have is not answered",
                    "travel_time": "travel times are not looked at",
                }
            ),
        ),
    }
)


def accepts(accepted: AcceptedAnswers, answer: Answer) -> bool | None:
    """Whether an answer is right by a kit's rules; None if nothing asked for it."""
    key: Key = answer.second, answer.id
    if answer.kind == TOLL:
        return answer.values == accepted.tolls[key] if key in accepted.tolls else None
    if answer.kind == ALERT:
        return answer.values[0] in accepted.alerts[key] if key in accepted.alerts else None
    if answer.kind == EXPENDITURE:
        return answer.values[0] == accepted.expenditures[key] if key in accepted.expenditures else None
    return accepted.balances[key].accepts(*answer.values) if key in accepted.balances else None


def keys_of(accepted: AcceptedAnswers) -> dict[str, set[Key]]:
    """What must be answered, by kind."""
    return {
        "toll": set(accepted.tolls),
        "accident": set(accepted.alerts),
        "balance": set(accepted.balances),
        "expenditure": set(accepted.expenditures),
        "travel_time": set(),
    }


def judge_by(
    reading: KitReading, accepted: AcceptedAnswers, output: Output, dataset: Dataset, seconds: range
) -> Verdict:
    by_kind: dict[str, list[Answer]] = {name: [] for name in spec.ANSWERS}
    for answer in output.answers:
        if answer.kind != TRAVEL:
            by_kind[spec.ANSWERS[BALANCE if answer.kind == SECOND_BALANCE else answer.kind]].append(answer)
    keys = keys_of(accepted)
    answers = {kind: _counted(reading, accepted, by_kind[kind], keys[kind], kind) for kind in spec.ANSWERS}
    verdict: Verdict = {
        "format": FORMAT,
        "verdict": "PASS",
        "dataset": dataset_label(dataset),
        "minutes": [spec.minute_of(seconds.start), spec.minute_of(seconds.stop - 1)],
        "xways": "all",
        "lenient": False,
        "accidents_end": "specification",
        "answers": answers,
        "lines": {
            "total": output.lines,
            "blank": output.blank,
            "unknown_type": 0,
            "malformed": output.odd,
            "extra_fields": 0,
            "examples": output.examples,
        },
        "reading": reading.name,
    }
    if any(faults_in(verdict).values()) or output.odd:
        verdict["verdict"] = "FAIL"
    return verdict


def _counted(
    reading: KitReading, accepted: AcceptedAnswers, answers: Iterable[Answer], expected: set[Key], kind: str
) -> AnswerVerdict:
    given = list(answers)
    judged = [accepts(accepted, answer) for answer in given]
    came = Counter((answer.second, answer.id) for answer, right in zip(given, judged, strict=True) if right is not None)
    limit = reading.limits.get(kind)
    times = [answer.emit - answer.second for answer in given if answer.emit is not None]
    counts = {
        "missing": len(expected - came.keys()),
        "extra": judged.count(None),
        "duplicate": sum(number - 1 for number in came.values()),
        "wrong": judged.count(False),
        "late": sum(time > limit for time in times) if limit else 0,
        "early": sum(time < 0 for time in times) if limit else 0,
    }
    shown = _percentiles(times) if times else dict.fromkeys(TIMES)
    return cast(
        AnswerVerdict,
        {
            "expected": len(expected),
            "received": len(given),
            **{name: 0 if name in reading.blind_to else count for name, count in counts.items()},
            "lenient": 0,
            **shown,
        },
    )


def _percentiles(times: list[float]) -> dict[str, float]:
    values = np.percentile(times, list(TIMES.values()), method="inverted_cdf")
    return {name: round(float(value), 6) for name, value in zip(TIMES, values, strict=True)}
