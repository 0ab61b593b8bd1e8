"""The oracle gives the answers that were worked out by hand, and nothing else."""

from collections import Counter

import pytest

from polling_baseline import spec
from tests import traces
from tests.support import oracle
from tests.support.random_road import random_history, random_lines


@pytest.mark.parametrize("name", traces.NAMES)
def test_trace(name):
    trace = traces.load(name)
    given = Counter(oracle.answers(trace.lines, trace.toll_history, trace.segment_history))
    expected = Counter(trace.expected)
    assert sorted((expected - given).elements()) == [], "missing"
    assert sorted((given - expected).elements()) == [], "extra"


@pytest.mark.parametrize("name", traces.NAMES)
def test_trace_has_acceptable_lines(name):
    assert_acceptable(traces.load(name).lines)


def test_random_roads_have_acceptable_lines_and_all_kinds_of_answers():
    found: Counter[str] = Counter()
    for seed in range(5):
        lines = random_lines(seed)
        assert lines == random_lines(seed)
        assert_acceptable(lines)
        given = oracle.answers(lines, *random_history(seed))
        found.update(spec.ANSWERS[answer[0]] for answer in given)
        found["toll above 0"] += sum(answer[0] == oracle.TOLL and answer[-1] > 0 for answer in given)
        found["balance above 0"] += sum(answer[0] == oracle.BALANCE and answer[-1] > 0 for answer in given)
    assert all(found[kind] > 10 for kind in (*spec.ANSWERS, "toll above 0", "balance above 0")), found


def test_admissible_balances_are_those_of_the_last_60_seconds():
    trace = traces.load("balance_times")
    at_90, at_150 = (found.balances for found in oracle.admissible_balances(trace.lines) if found.query_id in (4, 7))
    assert at_90 == dict.fromkeys(range(30, 90), 0) | {90: 2}
    assert at_150 == dict.fromkeys(range(90, 151), 2)


def assert_acceptable(lines: list[tuple[int, ...]]) -> None:
    seconds = [line[1] for line in lines]
    assert seconds == sorted(seconds)
    vehicles = [line[1:3] for line in lines if line[0] == spec.REPORT]
    assert len(vehicles) == len(set(vehicles))
    for line in lines:
        values = dict(zip(spec.FIELDS, line, strict=True))
        for field in spec.USED[line[0]]:
            low, high = spec.RANGES[field]
            assert low <= values[field] <= high, (field, line)
