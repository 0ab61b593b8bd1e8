"""Aurora's boxes, each alone: empty trains, window boundaries, ties, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from polling_baseline.engines.aurora.model.box import Drop, Filter, Map, Synchronise, Union
from polling_baseline.engines.aurora.model.hashing import Amounts, Numbering
from polling_baseline.engines.aurora.model.join import Join
from polling_baseline.engines.aurora.model.tables import Exchange, TableRead, TableWrite
from polling_baseline.engines.aurora.model.train import Train, cut, joined, stacked
from polling_baseline.engines.aurora.model.windows import GroupBy, Latch, Resample, Slide, Tumble


class Collect:
    """The simplest aggregate: keeps all tuples for a function of them."""

    def __init__(self, function):
        self._function, self._parts = function, []

    def add(self, columns):
        self._parts.append(columns)

    def close(self):
        return self._function(stacked(self._parts)) if self._parts else {}


def train(until, **columns):
    return Train({name: np.array(values) for name, values in columns.items()}, until)


def rows(given, *names):
    if given is None or not given.columns:
        return []
    return list(zip(*(given.columns[name].tolist() for name in names), strict=True))


EMPTY = Train({}, 90)


@pytest.mark.parametrize(
    "box",
    [
        Filter("f", lambda columns: columns["x"] > 0),
        Map("m", lambda columns: {"x": columns["x"]}),
        Drop("d", 0.5, np.random.default_rng(1)),
        TableRead("r", "t", lambda columns: {"y": columns["x"]}),
        TableWrite("w", "t", lambda columns: 1 / 0),
        GroupBy("g", 60, lambda columns: columns["x"]),
        Tumble("t", 60, lambda: Collect(lambda columns: columns)),
        Slide("s", 60, 5, lambda columns, last: columns),
        Resample("i", 10, "x", "y"),
    ],
    ids=lambda box: box.kind,
)
def test_an_empty_train_passes_every_box_and_moves_time_on(box):
    given = box.process(EMPTY, 0)
    assert len(given) == 0
    assert given.until == 90


def test_filter_and_map_keep_order_and_promise():
    given = Filter("f", lambda columns: columns["x"] > 1).process(train(5, second=[1, 2, 3], x=[2, 1, 3]), 0)
    assert (rows(given, "second", "x"), given.until) == ([(1, 2), (3, 3)], 5)
    none = Filter("f", lambda columns: columns["x"] > 9).process(train(5, second=[1], x=[2]), 0)
    assert (none.columns, none.until) == ({}, 5)
    given = Map("m", lambda columns: {"second": columns["second"], "y": columns["x"] * 2}).process(given, 0)
    assert rows(given, "y") == [(4,), (6,)]


def test_drop_takes_its_share_and_spares_the_rest_of_a_key():
    many = train(1, second=np.zeros(20_000, int), vehicle_id=np.repeat(np.arange(5000), 4))
    kept = Drop("d", 0.3, np.random.default_rng(7)).process(many, 0)
    assert 0.66 < len(kept) / len(many) < 0.74
    kept = Drop("d", 0.3, np.random.default_rng(7), "vehicle_id").process(many, 0)
    assert 0.66 < len(kept) / len(many) < 0.74
    assert set(np.unique(kept.columns["vehicle_id"], return_counts=True)[1]) == {4}
    assert len(Drop("d", 0.0, np.random.default_rng(7), "vehicle_id").process(many, 0)) == len(many)
    more = Drop("d", 0.5, np.random.default_rng(7), "vehicle_id").process(many, 0)
    assert set(more.columns["vehicle_id"]) < set(kept.columns["vehicle_id"])


def test_union_promises_what_the_slowest_stream_does():
    box = Union("u", 2)
    assert box.process(train(5, second=[4]), 0).until == -1
    assert box.process(train(3, second=[2]), 1).until == 3
    assert box.process(train(7, second=[6]), 1).until == 5


def test_synchronise_holds_tuples_until_the_signals_have_come():
    box = Synchronise("s", lambda seconds: seconds // 60 * 60, 2)
    assert box.process(train(62, second=[59, 60, 61]), 0) is None
    assert box.process(Train({}, 60), 1) is None
    first = box.process(Train({}, 59), 2)
    assert (rows(first, "second"), first.until) == ([(59,)], 60)
    assert box.held == 2
    assert box.process(Train({}, 70), 1) is None
    rest = box.process(Train({}, 60), 2)
    assert (rows(rest, "second"), rest.until, box.held) == ([(60,), (61,)], 62, 0)
    assert box.process(train(63, second=[62]), 0).until == 63


def test_tumble_closes_a_window_at_its_end_and_not_before():
    box = Tumble("t", 60, lambda: Collect(lambda columns: {"x": columns["x"].sum(keepdims=True)}))
    assert rows(box.process(train(60, second=[0, 59], x=[1, 2]), 0), "second", "x") == [(59, 3)]
    assert rows(box.process(train(119, second=[60, 118], x=[4, 5]), 0), "second", "x") == []
    # One train with tuples of three windows, one of them empty.
    given = box.process(train(300, second=[119, 240, 241], x=[6, 7, 8]), 0)
    assert rows(given, "second", "x") == [(119, 15), (299, 15)]
    assert given.until == 300


def test_slide_looks_at_the_last_windows_and_forgets_older_ones():
    box = Slide("s", 60, 3, lambda columns, last: {"n": np.array([len(columns["x"])]), "last": np.array([last])})
    given = []
    for minute in range(8):
        columns = {"second": [minute * 60], "x": [minute]} if minute in (0, 1, 5) else {}
        given += rows(box.process(train((minute + 1) * 60, **columns), 0), "second", "n", "last")
    assert [(second // 60, n) for second, n, _ in given] == [(0, 1), (1, 2), (2, 2), (3, 1), (5, 1), (6, 1), (7, 1)]
    assert all(second == last for second, _, last in given)


def test_latch_keeps_its_state_through_empty_windows():
    def total(state, columns, start):
        state += int(columns["x"].sum()) if columns else 0
        return state, {"total": np.array([state]), "start": np.array([start])}

    box = Latch("l", 10, 0, total)
    assert rows(box.process(train(9, second=[3], x=[5]), 0), "total") == []
    assert rows(box.process(train(30, second=[12], x=[1]), 0), "start", "total") == [(0, 5), (10, 6), (20, 6)]
    assert rows(box.process(Train({}, 40), 0), "start", "total") == [(30, 6)]


def test_group_by_numbers_keys_anew_in_each_window():
    box = GroupBy("g", 60, lambda columns: columns["key"])
    given = box.process(train(61, second=[0, 1, 1, 60], key=[7, 9, 7, 9]), 0)
    assert given.columns["group"].tolist() == [0, 1, 0, 0]
    assert box.process(train(70, second=[61, 62], key=[9, 8]), 0).columns["group"].tolist() == [0, 1]


def test_resample_interpolates_between_the_tuples_of_a_key():
    box = Resample("r", 10, "car", "mph")
    assert rows(box.process(train(6, second=[0, 5], car=[1, 2], mph=[10.0, 50.0]), 0), "second", "mph") == [(0, 10.0)]
    given = box.process(train(26, second=[25, 25], car=[1, 2], mph=[60.0, 70.0]), 0)
    assert rows(given, "second", "car", "mph") == [(10, 1, 30.0), (10, 2, 55.0), (20, 1, 50.0), (20, 2, 65.0)]
    # The next tuple of a car may come any time, and points may then lie just after its last one.
    assert given.until == 25


@pytest.mark.parametrize(("apart", "pairs"), [(0, 1), (29, 1), (30, 0)])
def test_join_pairs_equal_keys_within_the_distance(apart, pairs):
    box = Join("j", "key", 29)
    assert rows(box.process(train(101, second=[100], key=[1], side=[0]), 0), "side") == []
    given = box.process(train(200, second=[100 + apart, 100], key=[1, 2], side=[1, 1]), 1)
    assert rows(given, "key", "side", "other_side") == [(1, 0, 1)] * pairs
    # The same the other way round.
    box = Join("j", "key", 29)
    box.process(train(200, second=[100 + apart], key=[1], side=[1]), 1)
    assert len(rows(box.process(train(101, second=[100], key=[1], side=[0]), 0), "key")) == pairs


def test_join_gives_every_pair_once_and_forgets_what_is_too_old():
    box = Join("j", "key", 10, match=lambda pairs: pairs["id"] != pairs["other_id"])
    found = []
    for second in range(0, 50, 5):
        one = train(second + 1, second=[second, second], key=[1, 1], id=[second, second + 1])
        for port in (0, 1):
            found += rows(box.process(one, port), "id", "other_id")
    ids = [second + extra for second in range(0, 50, 5) for extra in (0, 1)]
    near = {(a, b) for a in ids for b in ids if a != b and abs(a // 5 - b // 5) <= 2}
    assert len(found) == len(set(found))
    assert set(found) == near
    assert max(len(kept["second"]) for kept in box._kept) <= 6


def test_exchange_waits_for_what_others_say():
    box = Exchange("e", ("id",), lambda columns, said: {**columns, "sum": sum(one["n"] for one in said)})
    assert box.question() == {}
    assert box.process(train(5, second=[1, 2], id=[8, 9]), 0) is None
    assert box.process(train(7, second=[6], id=[7]), 0) is None
    assert box.question()["id"].tolist() == [8, 9, 7]
    given = box.resolve([{"n": np.array([1, 2, 3])}, {"n": np.array([10, 20, 30])}])
    assert (rows(given, "id", "sum"), given.until) == ([(8, 11), (9, 22), (7, 33)], 7)
    assert box.resolve([]) is None


def test_trains_are_cut_and_joined_again():
    columns = {"second": np.array([1, 1, 1, 2, 2]), "x": np.arange(5)}
    trains = cut(columns, 2, 3, 0.5)
    assert [(len(part), part.until) for part in trains] == [(2, 1), (2, 2), (1, 3)]
    whole = joined([*trains[:1], Train({}, 1), *trains[1:]])
    assert (whole.columns["x"].tolist(), whole.until, whole.arrived) == ([0, 1, 2, 3, 4], 3, 0.5)
    [nothing] = cut({"second": np.zeros(0, int)}, 2, 3, 0.5)
    assert (nothing.columns, nothing.until) == ({}, 3)


def test_hash_tables_agree_with_dictionaries_while_they_grow():
    rng = np.random.default_rng(3)
    numbers, known = Numbering(), {}
    amounts, sums = Amounts(), {}
    for _ in range(40):
        keys = rng.integers(0, 2**40, 700) // 2**30 * 2**31
        assert numbers.of(keys).tolist() == [known.setdefault(key, len(known)) for key in keys.tolist()]
        amounts.add(keys, keys % 7)
        for key in keys.tolist():
            sums[key] = sums.get(key, 0) + key % 7
        assert amounts.of(keys).tolist() == [sums[key] for key in keys.tolist()]
    assert numbers.used == len(known)
    before = amounts.replace(np.array([2**31, 2**31, 5]), np.array([3, 0, 4]))
    assert before.tolist() == [sums[2**31], 3, 0]
    assert amounts.of(np.array([2**31, 5, 6])).tolist() == [0, 4, 0]
