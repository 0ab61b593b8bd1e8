"""Ad-hoc queries: the language of conditions, and the desk where other processes ask a running engine."""

from __future__ import annotations

import json
import pickle
import socket
import threading
import time

import numpy as np
import pytest

from polling_baseline.engines.aurora.ad_hoc.boxes import POINTS, parse_query
from polling_baseline.engines.aurora.ad_hoc.condition import LONGEST, parse_condition
from polling_baseline.engines.aurora.ad_hoc.desk import asked_rows
from polling_baseline.engines.aurora.engine import Aurora
from polling_baseline.engines.aurora.linear_road.history import SmallHistory
from polling_baseline.refusal import Refusal
from tests.engines.feeding import batches
from tests.support.random_road import random_lines

COLUMNS = {"speed": np.array([0, 9, 10, 100], np.int8), "lane": np.array([1, 2, 1, 4], np.int16)}
REQUEST = {"at": "reports", "where": None, "group": None, "every_s": 60}


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("speed < 10", [0, 1]),
        ("speed <= 10 and lane = 1", [0, 2]),
        ("speed = 0 or lane == 4", [0, 3]),
        ("not (lane = 1)", [1, 3]),
        ("lane <> 1", [1, 3]),
        ("lane != 1 and not speed > 50", [1]),
        ("0 < speed < 11", [1, 2]),
        ("speed * 2 > 150", [3]),
        ("speed * 100000 > 9000000", [3]),
        ("(speed + lane) % 3 = 2", [1, 2, 3]),
        ("speed % 0 = 0 and lane = 1", [0, 2]),
        ("-speed > -1", [0]),
        ("1 = 1", [0, 1, 2, 3]),
        ("1 > 2 or lane = 4", [3]),
        ("speed - 10 = 0 - lane + 1", [1, 2]),
    ],
)
def test_what_a_condition_chooses(text, rows):
    condition = pickle.loads(pickle.dumps(parse_condition(text, tuple(COLUMNS))))
    assert np.flatnonzero(condition(COLUMNS)).tolist() == rows


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no condition"),
        ("speed <", "no condition"),
        ("speed", "a number and no condition"),
        ("speed + 1", "a number and no condition"),
        ("height > 3", "no column height; there are speed, lane"),
        ("__import__('os').system('true') = 0", "cannot stand"),
        ("speed.__class__ = 1", "cannot stand"),
        ("(lambda: 1)() = 1", "cannot stand"),
        ("[speed][0] = 1", "cannot stand"),
        ("speed = 'x'", "cannot stand"),
        ("speed = 1.5", "cannot stand"),
        ("speed ** 9 > 1", "cannot stand"),
        ("speed in (1, 2)", "cannot stand"),
        ("speed if lane = 1 else 2", "cannot stand"),
        ("(speed := 3) = 3", "no condition"),
        ("speed = 99999999999", "cannot stand"),
        ("speed = True", "cannot stand"),
        ("speed = 1; lane = 2", "no condition"),
        ("(" * 300 + "speed = 1" + ")" * 300, f"{LONGEST} characters"),
        ("-" * 100 + "speed = 1", "levels of brackets"),
    ],
)
def test_what_is_no_condition(text, reason):
    with pytest.raises(Refusal, match=reason):
        parse_condition(text, tuple(COLUMNS))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"at": "tolls"}, "no connection point 'tolls'; there are reports"),
        ({"group": "height"}, "no column height at reports"),
        ({"every_s": 0}, "a window has 1 to"),
        ({"where": "seg"}, "no condition"),
    ],
)
def test_what_cannot_be_asked(wrong, reason):
    with pytest.raises(Refusal, match=reason):
        parse_query({**REQUEST, **wrong})


@pytest.fixture(scope="module")
def lines():
    return random_lines(3, minutes=6, xways=2)


def engine_of(workers: int) -> Aurora:
    engine = Aurora(SmallHistory({}, []), workers, processes=False)
    engine.install()
    return engine


def test_the_columns_of_a_point_are_those_that_flow_there(lines):
    engine = engine_of(1)
    seen = {}
    for batch in batches(lines, 1, 10):
        engine.process(batch)
        for name, vertex in engine.nodes[0].network.points.items():
            for train in vertex.point.history:
                seen[name] = {column for column, values in train.columns.items() if values.dtype.kind == "i"}
    assert seen == {name: set(columns) for name, columns in POINTS.items()}


class Client(threading.Thread):
    """A client in a thread of its own, as another process would be."""

    def __init__(self, pointer, **wanted):
        super().__init__(daemon=True)
        self.pointer, self.request = pointer, {**REQUEST, **wanted}
        self.columns, self.rows, self.refusal = [], [], ""
        self.start()

    def run(self):
        try:
            asked_rows(self.pointer, self.request, self.show)
        except Refusal as refusal:
            self.refusal = str(refusal)

    def show(self, columns, rows):
        self.columns = columns
        self.rows += rows


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_query_gets_what_was_kept_and_then_what_comes(lines, tmp_path, workers):
    pointer = tmp_path / "queries"
    engine = engine_of(workers)
    engine.listen(pointer)
    before = [set(node.network.vertices) for node in engine.nodes]
    clients = []
    for batch in batches(lines, workers, 10):
        if batch.seconds[0] >= 150 and not clients:
            clients = [
                Client(pointer, where="speed_mph < 30"),
                Client(pointer, where="speed_mph < 30", group="seg", every_s=30),
                Client(pointer, at="nowhere"),
            ]
            clients[2].join(20)
            wait_for(lambda: engine._desk._arrived.qsize() == 2)
        engine.process(batch)
    assert "no connection point" in clients[2].refusal
    last = max(line[1] for line in lines)
    wait_for(lambda: clients[0].rows and clients[0].rows[-1][0] > last - 30)
    assert clients[0].columns == list(POINTS["reports"])
    # Attached after the batch of about 150 to 159; the connection point keeps a minute, in whole trains.
    first = min(row[0] for row in clients[0].rows)
    assert 90 <= first <= 105
    slow = [line for line in lines if line[0] == 0 and line[3] < 30 and line[1] >= first]
    wait_for(lambda: len(clients[0].rows) == len(slow))
    assert sorted((row[0], row[1]) for row in clients[0].rows) == sorted((line[1], line[2]) for line in slow)
    # Whole windows only: the last one has not closed.
    until = last // 30 * 30
    counts = {}
    for line in slow:
        if line[1] < until:
            window = line[1] // 30 * 30 + 29, line[7]
            counts[window] = counts.get(window, 0) + 1
    wait_for(lambda: len(clients[1].rows) >= len(counts))
    assert {(second, seg): count for second, seg, count in clients[1].rows if second < until} == counts
    engine.stop()
    for client in clients:
        client.join(20)
        assert not client.is_alive()
    assert not pointer.exists()
    assert [set(node.network.vertices) for node in engine.nodes] != before


def test_who_hangs_up_is_detached(lines, tmp_path):
    pointer = tmp_path / "queries"
    engine = engine_of(1)
    engine.listen(pointer)
    [network] = [node.network for node in engine.nodes]
    before = set(network.vertices)
    feed = batches(lines, 1, 10)
    engine.process(next(feed))
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(pointer.read_text().strip())
        connection.sendall(json.dumps({**REQUEST, "group": "seg"}).encode() + b"\n")
        assert json.loads(connection.makefile().readline()) == {"columns": ["second", "seg", "tuples"]}
        wait_for(lambda: engine._desk._arrived.qsize() == 1)
        engine.process(next(feed))
        assert set(network.vertices) - before == {"ad hoc 1 group", "ad hoc 1"}
    wait_for(lambda: engine._desk._served[0].gone.is_set())
    engine.process(next(feed))
    assert set(network.vertices) == before
    # Nonsense is answered, and touches nothing.
    for nonsense in (b"{}\n", b"no json\n", b'{"at": 1, "where": [], "group": {}, "every_s": "x"}\n'):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(pointer.read_text().strip())
            connection.sendall(nonsense)
            assert "error" in json.loads(connection.makefile().readline())
    for batch in feed:
        engine.process(batch)
    assert set(network.vertices) == before
    engine.stop()


def test_without_a_run_nobody_answers(tmp_path):
    with pytest.raises(Refusal, match="no run of engine aurora that is under way"):
        asked_rows(tmp_path / "queries", REQUEST, lambda columns, rows: None)
