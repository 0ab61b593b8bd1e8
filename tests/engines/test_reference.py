"""The reference on Spark: against answers worked out by hand, and a naive reading of the rules on random roads."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import pytest

from driver.spark.answers import output_lines
from driver.spark.reference import reference
from polling_baseline import spec
from tests import oracle, traces
from tests.one_dataset import Road, one_dataset
from tests.random_road import random_history, random_lines

SEEDS = range(20)


def trace_road(name):
    trace = traces.load(name)
    return Road(trace.lines, trace.toll_history, trace.segment_history, trace.expected)


def random_road(seed):
    lines = random_lines(seed)
    history = random_history(seed)
    return Road(lines, *history, oracle.answers(lines, *history))


def lines_given(spark, dataset, seconds=range(spec.RUN_SECONDS), xways=None):
    with reference(spark, dataset, seconds) as right:
        return [traces.without_emit(row.line.split(",")) for row in output_lines(right, xways).collect()]


@pytest.fixture(scope="module")
def all_traces(tmp_path_factory):
    return one_dataset([trace_road(name) for name in traces.NAMES], tmp_path_factory.mktemp("traces") / "road")


def test_traces(spark, all_traces):
    dataset, expected = all_traces
    assert_same(lines_given(spark, dataset), expected)


def test_random_roads(spark, tmp_path):
    dataset, expected = one_dataset([random_road(seed) for seed in SEEDS], tmp_path / "road")
    assert_same(lines_given(spark, dataset), expected)


def assert_same(given, by_road):
    wanted, came = Counter(chain.from_iterable(by_road)), Counter(given)
    missing, extra = wanted - came, came - wanted
    assert (sorted(missing)[:5], sorted(extra)[:5]) == ([], [])
