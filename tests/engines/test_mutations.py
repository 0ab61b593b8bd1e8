"""A right output, changed in one way: the verdict changes as the specification says, and with the right counter.

All mutants are judged together: each is a copy of a trace, with expressways, vehicles and queries of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from itertools import combinations

import pytest

from driver.run.verdict import FAULTS
from driver.validate.judge import Question, judged
from polling_baseline import spec
from tests import traces
from tests.engines.lenient_readings import cleared_early, cleared_road, readings, trace_road
from tests.support.one_dataset import ID_AT, TIME_AT, VALUES_AT, Road, one_dataset, output_line
from tests.support.tallied import tallied

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


def all_roads():
    """Name, road, and what gives the output with its milliseconds and the faults from the road's right answers."""
    for kind, name in enumerate(TRACES):
        road = trace_road(name)
        for mutant, mutate, faults in mutants(kind):
            yield f"{spec.ANSWERS[kind]}: {mutant}", road, partial(both, mutate, faults)
        yield f"{spec.ANSWERS[kind]}: swap", road, partial(swapped, kind=kind)
    for name, road, places, faults in twins():
        yield name, road, partial(both, partial(picked, places), faults)
    for reading in readings():
        name = f"{spec.ANSWERS[reading.right[0]]}: {reading.name}"
        yield name, reading.road, partial(both, partial(read, reading), {"wrong": 1})
    early = partial(cleared_early, tolls=True, alerts=True)
    yield "toll: no accident", cleared_road(), lambda answers: (in_time(early(answers)), {"wrong": 2, "missing": 1})
    for name in traces.NAMES:
        yield f"trace {name}", trace_road(name), partial(both, in_time, {})


def both(mutate, faults, answers):
    return mutate(answers), faults


def picked(places, answers):
    return in_time([answers[place] for place in places])


def read(reading, answers):
    return in_time(reading.answers(answers))


@pytest.fixture(scope="module")
def all_mutants(tmp_path_factory):
    """The data set, the output file, and for each mutant its name and its faults; and whose the ids are."""
    folder = tmp_path_factory.mktemp("mutants")
    chosen = list(all_roads())
    dataset, by_road = one_dataset([road for _, road, _ in chosen], folder / "road")
    expected, owner, lines = {}, {}, []
    for (name, _, mutate), answers in zip(chosen, by_road, strict=True):
        mutated, expected[name] = mutate(answers)
        for answer in answers:
            owner[answer[0] > 1, answer[ID_AT[answer[0]]]] = name
        lines += [output_line(*pair) for pair in mutated]
    (folder / "output.csv").write_text("\n".join(reversed(lines)) + "\n")
    return dataset, folder / "output.csv", expected, owner


def test_mutants(spark, all_mutants):
    dataset, output, expected, owner = all_mutants
    found, by_kind = defaultdict(Counter), defaultdict(Counter)
    with judged(spark, Question(dataset, output, ALL)) as judgement:
        for row in tallied(judgement):
            faults = {fault: row[fault] for fault in FAULTS if row[fault]}
            found[owner[row["kind"] > 1, row["id"] % STRANGER]].update(faults)
            by_kind[spec.ANSWERS[row["kind"]]].update(faults)
        answers = judgement.verdict["answers"]
    assert {mutant: dict(found[mutant]) for mutant in expected} == expected
    assert {kind: Counter({fault: answers[kind][fault] for fault in FAULTS}) for kind in answers} == by_kind
    assert judgement.verdict["verdict"] == "FAIL"
