"""Aurora gives the right answers: on every trace and random road, for any train size, order and number of workers."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from driver.run.poller import seconds_to_take
from polling_baseline import spec
from polling_baseline.batch import Answers, Batch, Columns, Share
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.engine import Aurora
from polling_baseline.engines.aurora.linear_road.history import SmallHistory
from polling_baseline.engines.aurora.model.box import Filter, Map
from polling_baseline.engines.aurora.model.qos import Graph, Quality
from polling_baseline.engines.aurora.node import Options
from polling_baseline.engines.aurora.worker import Process
from tests.engines.feeding import Answer, MakeEngine, Road, answers_of, batches, faults
from tests.support import oracle
from tests.support.random_road import random_history, random_lines

QUALITY = Quality(Graph(((0.0, 1.0), (2.5, 1.0), (5.0, 0.0))))
WAYS = [
    pytest.param(1, 1, Options(), id="second-by-second"),
    pytest.param(1, 29, Options(train_size=7), id="catching-up-in-tiny-trains"),
    pytest.param(1, 4, Options(train_size=1000, order="box at a time"), id="box-at-a-time"),
    pytest.param(1, 29, Options(train_size=333, order=1), id="any-order"),
    pytest.param(2, 1, Options(), id="two-workers"),
    pytest.param(3, 29, Options(train_size=50, order=2), id="three-workers-any-order"),
]


def aurora(options: Options | None = None, processes: bool = False) -> MakeEngine:
    def make(road: Road, workers: int) -> Aurora:
        return Aurora(
            SmallHistory(dict(road.toll_history), road.segment_history), workers, options, processes=processes
        )

    return make


@pytest.mark.parametrize(("workers", "longest", "options"), WAYS)
def test_short_roads(workers: int, longest: int, options: Options) -> None:
    assert faults(aurora(options), workers, longest, long=False) == {}


def test_long_roads() -> None:
    assert faults(aurora(Options(order=3)), 2, 29, long=True) == {}


@pytest.mark.parametrize("seed", range(100, 108))
def test_no_train_size_and_no_order_changes_an_answer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    road = Road(random_lines(seed, minutes=5, xways=3), *random_history(seed, xways=3))
    right = Counter(oracle.answers(road.lines, road.toll_history, road.segment_history))
    for _ in range(4):
        options = Options(train_size=int(rng.integers(1, 200)), order=int(rng.integers(1000)))
        workers, longest = int(rng.integers(1, 4)), int(rng.integers(1, 30))
        assert answers_of(aurora(options), road, workers, longest) == right, (options, workers, longest)


def test_a_run_may_begin_in_any_minute() -> None:
    road = Road([line for line in random_lines(4) if line[1] >= 180], {}, [])
    right = Counter(oracle.answers(road.lines, {}, []))
    for workers in (1, 2):
        engine = aurora()(road, workers)
        engine.install()
        found: Counter[Answer] = Counter()
        for batch in batches(road.lines, workers, 7):
            if batch.seconds[0] >= 180:
                engine.process(batch)
                for answers in engine.answers():
                    found.update(rows_of(answers))
        assert found == right


def slow_cars(columns: Columns) -> np.ndarray:
    return columns["speed_mph"] < 30


def broken(columns: Columns) -> Columns:
    raise ZeroDivisionError("nothing left")


def test_processes_share_the_expressways() -> None:
    """Real processes: the answers, an ad-hoc query, a box that raises there, and a worker that dies."""
    road = Road(random_lines(1, xways=3), *random_history(1, xways=3))
    right = Counter(oracle.answers(road.lines, road.toll_history, road.segment_history))
    engine = aurora(processes=True)(road, 2)
    found: Counter[Answer] = Counter()
    seen = []
    try:
        engine.install()
        engine.attach("reports", [Filter("slow", slow_cars)], "slow cars", QUALITY)
        for batch in batches(road.lines, 2, 10):
            engine.process(batch)
            for answers in engine.answers():
                found.update(rows_of(answers))
            seen += engine.take("slow cars")
        assert found == right
        slow = sorted(line[1:3] for line in road.lines if line[0] == spec.REPORT and line[3] < 30)
        assert sorted(zip(*(_column(seen, name) for name in ("second", "vehicle_id")), strict=True)) == slow
        assert engine.measured()["workers"] == 2
        with pytest.raises(EngineFailure, match=r'box "broken" failed .* the first of which is .*nothing left'):
            engine.attach("reports", [Map("broken", broken)], "never", QUALITY)
        worker = engine._workers[1]
        assert isinstance(worker, Process)
        os.kill(worker.pid, signal.SIGKILL)
        with pytest.raises(EngineFailure, match="worker aurora-1 ended"):
            engine.measured()
    finally:
        engine.stop()


def _column(parts: list[Columns], name: str) -> list[int]:
    return [value for columns in parts for value in columns[name].tolist()]


def rows_of(answers: Answers) -> Iterator[Answer]:
    columns = [column.tolist() for column in answers.columns.values()]
    kind = spec.ANSWERS.index(answers.kind)
    return ((kind, *row) for row in zip(*columns, strict=True))


def test_a_box_that_raises_stops_the_run() -> None:
    road = Road(random_lines(2, minutes=2), {}, [])
    engine = aurora()(road, 1)
    engine.install()
    [node] = engine.nodes
    node.network.insert(Map("faulty", broken), "remember", "3 tolls")
    with pytest.raises(EngineFailure, match='box "faulty" failed') as raised:
        for batch in batches(road.lines, 1, 1):
            engine.process(batch)
    first = next(line for line in road.lines if line[0] == spec.REPORT)
    assert f"'second': {first[1]}, " in str(raised.value)
    assert "nothing left" in str(raised.value)


def test_an_ad_hoc_query_sees_the_last_minute_and_then_what_comes() -> None:
    road = Road(random_lines(3, minutes=5), {}, [])
    engine = aurora()(road, 1)
    engine.install()
    attached_at = None
    seen: list[int] = []
    for batch in batches(road.lines, 1, 1):
        if batch.seconds[0] == 150:
            engine.attach("reports", [Filter("slow", slow_cars)], "slow cars", QUALITY)
            attached_at = batch.seconds[0]
        engine.process(batch)
        if attached_at is not None:
            seen += _column(engine.take("slow cars"), "second")
    reports = [line for line in road.lines if line[0] == spec.REPORT]
    expected = sorted(line[1] for line in reports if line[3] < 30 and line[1] >= 150 - spec.MINUTE_S)
    assert seen == expected
    assert min(seen) < 150


class FakeClock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def dense_lines(seconds: int, per_second: int) -> list[tuple[int, ...]]:
    """Cars that report every 30 s, half of them slow; and a balance request a second."""
    rng = np.random.default_rng(9)
    lines = []
    for second in range(seconds):
        for number in range(per_second):
            vid = (second % 30) * per_second + number
            speed = int(rng.integers(0, 40) if vid % 2 else rng.integers(60, 101))
            seg = (second // 60 + number % 5) % 100
            place = (speed, 0, 1 + number % 3, 0, seg, seg * spec.SEGMENT_FT + number)
            lines.append((spec.REPORT, second, vid, *place, *[spec.UNUSED] * 6))
        vid = int(rng.integers(0, 30 * per_second))
        lines.append((spec.BALANCE, second, vid, *[spec.UNUSED] * 6, second, *[spec.UNUSED] * 5))
    return lines


@pytest.mark.parametrize("shed", ["none", "random", "semantic"])
def test_under_overload(shed: str) -> None:
    """A box that takes 20 ms per report, and 100 reports a second: half of them must go."""
    lines = dense_lines(240, 100)
    clock = FakeClock()
    engine = Aurora(SmallHistory({}, []), 1, Options(shed=shed), clock)
    engine.install()
    [node] = engine.nodes

    def slow(columns: Columns) -> Columns:
        clock.now += 0.02 * len(columns["second"])
        return columns

    node.network.insert(Map("slow", slow), "reports", "1 accidents")
    lost: set[tuple[int, int]] = set()
    node.shedder.seen = lambda columns: lost.update(
        zip(columns["vehicle_id"].tolist(), columns["second"].tolist(), strict=True)
    )
    by_second = {batch.seconds[0]: batch for batch in batches(lines, 1, 1)}
    found: Counter[Answer] = Counter()
    delays = []
    second = 0
    while second < 240:
        clock.now = max(clock.now, float(second))
        seconds = seconds_to_take(second, min(int(clock.now), 239))
        engine.process(merged([by_second[part] for part in seconds], seconds))
        delays.append((seconds[-1], clock.now - seconds[0]))
        for answers in engine.answers():
            found.update(rows_of(answers))
        second = seconds.stop
    # Exact answers of the input that was let in: what was shed explains every difference, and nothing else does.
    survivors = [line for line in lines if line[0] != spec.REPORT or (line[2], line[1]) not in lost]
    assert found == Counter(oracle.answers(survivors, {}, []))
    facts = node.shedder.facts()
    if shed == "none":
        assert not lost
        assert facts["tuples"] == {}
        assert delays[-1][1] > 60
        return
    assert facts["tuples"] == {"reports": len(lost)}
    assert 0.3 < len(lost) / (100 * 240) < 0.8
    last_minute = [delay for second, delay in delays if second >= 180]
    assert max(last_minute) <= QUALITY.delay.good_until
    if shed == "semantic":
        # In every second, whoever was let in was slower than all who were not.
        slowest_lost, fastest_kept = {}, {}
        for _, at, vid, speed, *_ in (line for line in lines if line[0] == spec.REPORT):
            if (vid, at) in lost:
                slowest_lost[at] = min(speed, slowest_lost.get(at, speed))
            else:
                fastest_kept[at] = max(speed, fastest_kept.get(at, speed))
        assert all(slowest_lost[at] > fastest_kept[at] for at in slowest_lost.keys() & fastest_kept.keys())


def merged(parts: list[Batch], seconds: range) -> Batch:
    """Batches of single seconds as one."""

    def together(columns: list[Columns]) -> Columns:
        return {name: np.concatenate([part[name] for part in columns]) for name in columns[0]}

    shares = [part.shares[0] for part in parts]
    share = Share(together([one.reports for one in shares]), together([one.requests for one in shares]))
    return Batch(seconds, (share,))
