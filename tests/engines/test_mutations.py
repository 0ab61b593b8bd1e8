"""A right output, changed in one way: the verdict changes as the specification says, and with the right counter.

All mutants are judged together: each is a copy of a trace, with expressways, vehicles and queries of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import pytest

from driver.spark.judge import Question, judged
from driver.spark.verdict import FAULTS
from polling_baseline import spec
from tests import traces
from tests.one_dataset import ID_AT, TIME_AT, VALUES_AT, Road, one_dataset, output_line

TRACES = ("fifty_one_cars", "alert_range", "balance_times", "daily_expenditure", "travel_east")
LIMIT_MS = [1000 * spec.DEADLINE_S[kind] for kind in spec.ANSWERS]
ALL = range(spec.RUN_SECONDS)
UNUSED = spec.UNUSED
STRANGER = 10_000_000


def time_of(answer):
    return answer[TIME_AT[answer[0]]]


def changed(answer, at, by):
    return (*answer[:at], answer[at] + by, *answer[at + 1 :])


def in_time(answers):
    return [(answer, 1000 * time_of(answer)) for answer in answers]


def delayed(answers, kind, by_ms):
    """The answers as they should be, but for the last one of a kind."""
    one = max((answer for answer in answers if answer[0] == kind), key=time_of)
    return [(answer, 1000 * time_of(answer) + (by_ms if answer == one else 0)) for answer in answers]


def replaced(answers, kind, *instead):
    """The same, with other answers instead of the last one of a kind."""
    one = max((answer for answer in answers if answer[0] == kind), key=time_of)
    return in_time([answer for answer in answers if answer != one] + [change(one) for change in instead])


def swapped(answers, kind):
    """Two vehicles' answers of one second, exchanged; else of two seconds, which then are nobody's."""
    mine = [answer for answer in answers if answer[0] == kind]
    at = ID_AT[kind]
    differing = [
        pair
        for pair in combinations(mine, 2)
        if pair[0][at] != pair[1][at] and any(pair[0][value] != pair[1][value] for value in VALUES_AT[kind])
    ]
    one, other = min(differing, key=lambda pair: time_of(pair[0]) != time_of(pair[1]))
    rest = [answer for answer in answers if answer not in (one, other)]
    exchanged = [changed(one, at, other[at] - one[at]), changed(other, at, one[at] - other[at])]
    fault = {"wrong": 2} if time_of(one) == time_of(other) else {"missing": 2, "extra": 2}
    return in_time(rest + exchanged), fault


def same(answer):
    return answer


def mutants(kind):
    """Name, what becomes of the answers, and the faults that it makes; a function that gives both for a swap."""
    id_at, time_at = ID_AT[kind], TIME_AT[kind]
    yield "as it should be", in_time, {}
    yield "drop", lambda answers: replaced(answers, kind), {"missing": 1}
    yield "duplicate", lambda answers: replaced(answers, kind, same, same), {"duplicate": 1}
    yield "past the limit", lambda answers: delayed(answers, kind, LIMIT_MS[kind] + 1), {"late": 1}
    yield "at the limit", lambda answers: delayed(answers, kind, LIMIT_MS[kind]), {}
    yield "before the input", lambda answers: delayed(answers, kind, -1), {"early": 1}
    for at in VALUES_AT[kind]:
        for by in (1, -1):
            # A balance as of a second earlier may be right.
            wrong = {} if (kind, at, by) == (2, 2, -1) else {"wrong": 1}
            yield (
                f"value {at} {by:+d}",
                lambda answers, at=at, by=by: replaced(answers, kind, lambda answer: changed(answer, at, by)),
                wrong,
            )
            yield (
                f"second answer, value {at} {by:+d}",
                lambda answers, at=at, by=by: replaced(answers, kind, lambda answer: changed(answer, at, by), same),
                {"duplicate": 1},
            )
    yield (
        "another id",
        lambda answers: replaced(answers, kind, lambda answer: changed(answer, id_at, STRANGER)),
        {"missing": 1, "extra": 1},
    )
    yield (
        "another Time",
        lambda answers: replaced(answers, kind, lambda answer: changed(answer, time_at, 1)),
        {"missing": 1, "extra": 1},
    )
    yield (
        "nobody asked",
        lambda answers: replaced(answers, kind, same, lambda answer: changed(answer, id_at, STRANGER)),
        {"extra": 1},
    )


def request(kind, vid, qid, xway, day):
    return (kind, 10, vid, UNUSED, xway, UNUSED, UNUSED, UNUSED, UNUSED, qid, *[UNUSED] * 4, day)


# Two requests with the same QID and Time; the first two answers are right.
TWINS = {
    "balance: twins": (
        Road(
            [request(2, 1, 8, UNUSED, UNUSED), request(2, 2, 8, UNUSED, UNUSED)],
            {},
            [],
            [(2, 10, 10, 8, 0), (2, 10, 9, 8, 0)],
        ),
        {
            "as they should be": ((0, 1), {}),
            "one left out": ((0,), {"missing": 1}),
            "three": ((0, 1, 1), {"duplicate": 1}),
        },
    ),
    "expenditure: twins": (
        Road(
            [request(3, 1, 9, 0, 1), request(3, 2, 9, 0, 1)],
            {(1, 1, 0): 5, (2, 1, 0): 7},
            [],
            [(3, 10, 9, 5), (3, 10, 9, 7)],
        ),
        {
            "as they should be": ((1, 0), {}),
            "the same twice": ((0, 0), {"wrong": 1}),
            "one left out": ((1,), {"missing": 1}),
        },
    ),
}


def twins():
    """Name, road, which of its answers come, and the faults that they make."""
    for name, (road, cases) in TWINS.items():
        for case, (places, faults) in cases.items():
            yield f"{name} {case}", road, places, faults


def trace_road(name):
    trace = traces.load(name)
    return Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected)


@pytest.fixture(scope="module")
def all_mutants(tmp_path_factory):
    """The data set, the output file, and for each mutant its name and its faults; and whose the ids are."""
    folder = tmp_path_factory.mktemp("mutants")
    chosen = [(kind, mutant) for kind in range(5) for mutant in [*mutants(kind), ("swap", None, None)]]
    roads = [trace_road(TRACES[kind]) for kind, _ in chosen] + [road for _, road, _, _ in twins()]
    dataset, by_road = one_dataset(roads, folder / "road")
    expected, owner, lines = {}, {}, []
    for (mutant, _, places, faults), answers in zip(twins(), by_road[len(chosen) :], strict=True):
        expected[mutant], owner[True, answers[0][ID_AT[answers[0][0]]]] = faults, mutant
        lines += [output_line(answers[place], 10_000) for place in places]
    for (kind, (name, mutate, faults)), answers in zip(chosen, by_road[: len(chosen)], strict=True):
        mutant = f"{spec.ANSWERS[kind]}: {name}"
        mutated, faults = (mutate(answers), faults) if mutate else swapped(answers, kind)
        expected[mutant] = faults
        for answer in answers:
            owner[answer[0] > 1, answer[ID_AT[answer[0]]]] = mutant
        lines += [output_line(*pair) for pair in mutated]
    (folder / "output.csv").write_text("\n".join(reversed(lines)) + "\n")
    return dataset, folder / "output.csv", expected, owner


def test_mutants(spark, all_mutants):
    dataset, output, expected, owner = all_mutants
    found = defaultdict(Counter)
    with judged(spark, Question(dataset, output, ALL)) as judgement:
        for row in judgement.tallied.collect():
            mutant = owner[row.kind > 1, row.id % STRANGER]
            found[mutant].update({fault: row[fault] for fault in FAULTS if row[fault]})
        answers = judgement.facts["answers"]
    assert {mutant: dict(faults) for mutant, faults in found.items()} == expected
    for kind in spec.ANSWERS:
        mine = [faults for mutant, faults in expected.items() if mutant.startswith(f"{kind}:")]
        assert {fault: answers[kind][fault] for fault in FAULTS} == {
            fault: sum(faults.get(fault, 0) for faults in mine) for fault in FAULTS
        }
    assert judgement.facts["verdict"] == "FAIL"
