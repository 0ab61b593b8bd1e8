"""The reference on Spark: against answers worked out by hand, and a naive reading of the rules on random roads."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain

import pyarrow.parquet as pq

from driver.spark.answers import balance_ranges, output_lines
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


def lines_of(right):
    return [traces.without_emit(row.line.split(",")) for row in output_lines(right, None).collect()]


def test_traces(spark, tmp_path):
    dataset, expected = one_dataset([trace_road(name) for name in traces.NAMES], tmp_path / "road")
    with reference(spark, dataset, range(spec.RUN_SECONDS)) as right:
        assert_same(lines_of(right), expected)


def test_random_roads(spark, tmp_path):
    dataset, expected = one_dataset([random_road(seed) for seed in SEEDS], tmp_path / "road")
    with reference(spark, dataset, range(spec.RUN_SECONDS)) as right:
        assert_same(lines_of(right), expected)
        ranges = balance_ranges(right, None).collect()
    given = defaultdict(dict)
    for second, query_id, _, first, last, balance in ranges:
        given[second, query_id].update(dict.fromkeys(range(first, last + 1), balance))
    lines = [tuple(row.values()) for path in dataset.traffic.values() for row in pq.read_table(path).to_pylist()]
    assert dict(given) == {
        (second, query_id): balances for second, query_id, balances in oracle.admissible_balances(lines)
    }


def assert_same(given, by_road):
    wanted, came = Counter(chain.from_iterable(by_road)), Counter(given)
    missing, extra = wanted - came, came - wanted
    assert (sorted(missing)[:5], sorted(extra)[:5]) == ([], [])
