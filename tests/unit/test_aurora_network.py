"""Aurora's network: no loops, queues that lose nothing, connection points, QoS; how it is drawn and reckoned."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from polling_baseline import spec
from polling_baseline.engines.aurora.inspect.draw import svg
from polling_baseline.engines.aurora.inspect.forecast import Costs, Load, forecast, limits, train_costs, tuple_rates
from polling_baseline.engines.aurora.inspect.network_data import network_facts, together
from polling_baseline.engines.aurora.linear_road.history import EMPTY
from polling_baseline.engines.aurora.model.box import Filter, Map, Union
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.qos import Graph, Quality, Service
from polling_baseline.engines.aurora.model.scheduler import BoxFailure, Scheduler
from polling_baseline.engines.aurora.model.shedding import Policy, Shedder
from polling_baseline.engines.aurora.model.train import Train
from polling_baseline.engines.aurora.node import Node, Options

QUALITY = Quality(Graph(((0.0, 1.0), (2.0, 1.0), (4.0, 0.0))), value=Graph(((0.0, 1.0), (100.0, 0.0))))


def add_one(columns):
    return {**columns, "x": columns["x"] + 1}


def even(columns):
    return columns["x"] % 2 == 0


def small_network(clock=lambda: 0.0):
    """x -> x + 1 -> even ones -> out, and all of x + 1 -> all."""
    network = Network(clock)
    network.input("in")
    network.add(Map("plus", add_one), "in", "g")
    network.connection_point("sums", "plus", 20)
    network.add(Filter("even", even), "plus", "g")
    network.output("out", "even", QUALITY)
    network.output("all", "plus", QUALITY)
    return network


def train(second, *values, arrived=0.0):
    return Train({"second": np.full(len(values), second), "x": np.array(values)}, second + 1, arrived)


def given(network, output):
    return [value for columns in network.outputs[output].take() for value in columns["x"].tolist()]


def test_a_loop_a_missing_box_and_a_wrong_number_of_arrows_are_refused():
    network = small_network()
    with pytest.raises(ValueError, match="would close a loop"):
        network.connect("even", "plus", 0)
    with pytest.raises(ValueError, match="would close a loop"):
        network.connect("even", "even", 0)
    with pytest.raises(ValueError, match='after "nobody", which is not in the network'):
        network.add(Map("m", add_one), "nobody", "g")
    with pytest.raises(ValueError, match="has 2 ports and 1 boxes before it"):
        network.add(Union("u"), ["plus"], "g")
    with pytest.raises(ValueError, match='there is a box "plus" already'):
        network.add(Map("plus", add_one), "in", "g")


@pytest.mark.parametrize("order", ["priority", "box at a time", 1, 2, 3])
@pytest.mark.parametrize("train_size", [1, 3, 1000])
def test_every_order_gives_the_same_tuples_and_counts(order, train_size):
    network = small_network()
    for second in range(10):
        network.push("in", train(second, second, second + 5))
    Scheduler(network, train_size, order).run()
    assert given(network, "all") == [value + 1 for second in range(10) for value in (second, second + 5)]
    assert len(given(network, "out")) == 10
    cost = network.vertices["even"].cost
    assert (cost.tuples, cost.given) == (20, 10)
    assert not network.ready


def test_a_box_takes_trains_together_up_to_the_train_size():
    trains = {}
    for train_size in (1, 4, 100):
        network = small_network()
        for second in range(6):
            network.push("in", train(second, 1, 2))
        Scheduler(network, train_size, "box at a time").run()
        trains[train_size] = network.vertices["plus"].cost.trains
    assert trains == {1: 6, 4: 3, 100: 1}


def test_a_box_that_raises_is_named_with_its_first_tuple():
    network = small_network()
    network.add(Map("breaks", lambda columns: columns["missing"]), "even", "g")
    network.push("in", train(3, 1, 3))
    with pytest.raises(
        BoxFailure, match=r'box "breaks" failed on a train of 2 tuples, .*\'second\': 3, \'x\': 2.*KeyError'
    ):
        Scheduler(network, 10).run()


def test_an_ad_hoc_query_gets_the_history_of_its_point_then_the_live_stream():
    network = small_network()
    scheduler = Scheduler(network, 10)
    for second in range(0, 60, 5):
        network.push("in", train(second, second))
        scheduler.run()
    network.attach("sums", [Filter("odd", lambda columns: columns["x"] % 2 == 1)], "query", QUALITY)
    scheduler.run()
    # Time is 56: what came before 36 is forgotten.
    assert given(network, "query") == [41, 51]
    network.push("in", train(60, 60, 61))
    scheduler.run()
    assert given(network, "query") == [61]
    assert len(given(network, "all")) == 14
    with pytest.raises(ValueError, match='there is a box "odd" already'):
        network.attach("sums", [Filter("odd", even)], "another", QUALITY)
    network.detach("query")
    assert not {"odd", "query"} & set(network.vertices)
    network.push("in", train(61, 5))
    scheduler.run()
    assert given(network, "all") == [6]


def test_a_box_can_be_put_in_and_taken_out_while_tuples_wait():
    network = small_network()
    scheduler = Scheduler(network, 10)
    network.insert(Map("again", add_one), "in", "g")
    network.push("in", train(1, 1))
    scheduler.run()
    assert given(network, "all") == [3]
    network.send(network.vertices["again"], train(2, 1), 0)
    network.remove("again")
    scheduler.run()
    assert given(network, "all") == [2]


def test_graphs_of_quality():
    delay = QUALITY.delay
    assert [delay.utility(x) for x in (0, 2, 3, 4, 9)] == [1, 1, 0.5, 0, 0]
    assert [delay.slope(x) for x in (1, 2, 3.9, 4)] == [0, -0.5, -0.5, 0]
    assert delay.good_until == 2
    service = Service(QUALITY)
    service.deliver(3, 1.0)
    service.deliver(1, 3.0)
    assert service.facts() == {
        "tuples": 4,
        "utility": 0.875,
        "longest_s": 3.0,
        "beyond_good_zone": 1,
        "good_until_s": 2.0,
    }


def test_a_late_output_comes_first():
    network = small_network()
    scheduler = Scheduler(network, 10)
    network.outputs["out"].service.deliver(1, 3.0)
    assert network.outputs["out"].service.look() == 3.0
    scheduler.prioritise()
    priority = {name: vertex.priority for name, vertex in network.vertices.items()}
    assert priority["even"] > 0.4 > priority["all"]
    assert priority["in"] > 0.4
    # In time again, it waits its turn.
    network.outputs["out"].service.look()
    scheduler.prioritise()
    assert network.vertices["even"].priority < 0.4


@pytest.mark.parametrize("kind", ["none", "random", "semantic"])
def test_the_shedder_follows_the_delay_and_counts(kind):
    now = 0.0
    network = small_network(lambda: now)
    scheduler = Scheduler(network, 100)
    lost = []
    policies = {"in": Policy("x", "x", 100)}
    shedder = Shedder(network, kind, policies, np.random.default_rng(5), lambda columns: lost.extend(columns["x"]))
    sent = 0
    rates = []
    for second in range(60):
        now = float(second)
        delay = 3.0 if second < 20 else 0.5
        network.push("in", train(second, *range(100), arrived=now - delay))
        sent += 100
        scheduler.run()
        shedder.look(second, 0.5)
        rates.append(shedder.rates.get("in", 0.0))
    kept = len(given(network, "all"))
    assert kept == sent - len(lost)
    if kind == "none":
        assert (lost, rates) == ([], [0.0] * 60)
        return
    assert rates[:3] == [0.1, 0.2, 0.3]
    assert max(rates) == rates[19] == 0.95
    assert rates[-1] == 0.0
    assert "shed in" not in network.vertices
    assert shedder.facts()["tuples"] == {"in": len(lost)}
    assert sum(shedder.facts()["by_minute"]["in"].values()) == len(lost) > 0
    if kind == "semantic":
        # High values are worth least here.
        assert np.mean(lost) > 52


def test_shedding_begins_where_outputs_are_most_tolerant():
    network = Network(lambda: 10.0)
    for name, graph in (("strict", ((0.0, 0.0), (1.0, 1.0))), ("tolerant", ((0.0, 0.0), (0.5, 1.0), (1.0, 1.0)))):
        network.input(name)
        network.add(Map(f"{name} plus", add_one), name, "g")
        network.output(f"{name} out", f"{name} plus", Quality(QUALITY.delay, Graph(graph)))
    policies = {name: Policy("x", "x", 100) for name in ("strict", "tolerant")}
    shedder = Shedder(network, "random", policies, np.random.default_rng(5))
    for second in range(8):
        for name in policies:
            network.push(name, train(second, 1, 2, 3, arrived=0.0))
        Scheduler(network, 10).run()
        for name in policies:
            network.vertices[f"{name} plus"].cost.seconds = 1.0
        shedder.look(second, 0.5)
    # Up to half, nobody misses anything there.
    assert shedder.rates["tolerant"] >= 0.5
    assert [change["input"] for change in shedder.log][:5] == ["tolerant"] * 5


def facts_of_linear_road(alone=True):
    return network_facts(Node(EMPTY, alone, Options()))


def test_linear_road_is_a_network_of_the_stated_boxes():
    facts = facts_of_linear_road(alone=False)
    kinds = {box["kind"] for box in facts["boxes"]}
    assert kinds >= {"Filter", "Map", "GroupBy", "Join", "Slide", "Tumble", "Latch", "Read", "Write", "Synchronise"}
    assert {box["group"] for box in facts["boxes"]} == {"", "1 accidents", "2 statistics", "3 tolls", "requests"}
    assert set(facts["outputs"]) == set(spec.ANSWERS)
    signals = {source for source, target, port in facts["arrows"] if target == "minute before is over" and port}
    assert signals == {"accidents ahead", "segment statistics"}


@pytest.mark.parametrize("alone", [True, False])
def test_the_drawing_has_every_box_and_arrow_once(alone):
    facts = together([facts_of_linear_road(alone)] * 2)
    root = ElementTree.fromstring(svg(facts))
    names = {"{http://www.w3.org/2000/svg}" + name for name in ("rect", "path", "circle")}
    shapes = [element for element in root.iter() if element.tag in names]
    boxes = [shape for shape in shapes if shape.get("class") == "box"]
    assert len(boxes) == len(facts["boxes"])
    corners = {(box.get("x"), box.get("y")) for box in boxes}
    assert len(corners) == len(boxes)
    arrows = [shape for shape in shapes if (shape.get("class") or "").startswith("arrow")]
    assert len(arrows) == len({(source, target) for source, target, _ in facts["arrows"]})
    assert sum(shape.get("class") == "point" for shape in shapes) == len(facts["points"]) == 4


def measured(name, trains, tuples_in, tuples_out, seconds):
    facts = {"name": name, "kind": "Map", "group": "g", "table": None, "trains": trains}
    return {**facts, "tuples_in": tuples_in, "tuples_out": tuples_out, "seconds": seconds}


CHAIN = {
    "boxes": [
        measured("reports", 10, 1000, 1000, 0.0),
        measured("requests", 10, 0, 0, 0.0),
        measured("half", 10, 1000, 500, 0.011),
        measured("left", 10, 500, 500, 0.011),
        measured("right", 10, 500, 0, 0.001),
    ],
    "arrows": [["reports", "half", 0], ["half", "left", 0], ["half", "right", 0]],
}


def test_the_forecast_follows_rates_through_the_network():
    rates = tuple_rates(CHAIN, {"reports": 2000.0, "requests": 20.0})
    assert rates == {"reports": 2000, "requests": 20, "half": 2000, "left": 1000, "right": 1000}
    costs = Costs(dict.fromkeys(rates, 0.0001), CHAIN, 1e-6)
    # half: 10 us a tuple beyond 0.1 ms a train; left: 20 us; right: its trains are all it costs.
    load = Load(1000)
    cast = forecast(costs, 4, load, 2)
    assert cast.box_s["half"] == pytest.approx(0.0001 + 2000 * 10e-6)
    assert cast.box_s["left"] == pytest.approx(0.0001 + 1000 * 20e-6)
    assert cast.box_s["right"] == pytest.approx(0.0001)
    assert cast.worker_s == pytest.approx(sum(cast.box_s.values()) + 0.002)
    assert cast.cores_s == pytest.approx(2 * (cast.worker_s + 0.002))
    bounds = limits(costs, load, 2, 1e15)
    assert bounds["memory"] == spec.MAX_XWAYS
    most = bounds["a worker's second"]
    assert forecast(costs, most, load, 2).worker_s <= 0.8 < forecast(costs, most + 0.5, load, 2).worker_s
    assert bounds["the processors"] < most
    assert limits(costs, load, 2, 2e9)["memory"] < 10
    # Copies of one expressway share its history; a clock that does not wait has a driver that reads further ahead; and
    # whoever has paid stays in the accounts.
    own, copies, ahead, few = (
        forecast(costs, 4, other, 2).memory_bytes
        for other in (load, Load(1000, distinct=1), Load(1000, distinct=1, clock="real"), Load(1000, 30_000, 1))
    )
    assert few < copies < own and copies < ahead


def test_train_costs_are_those_of_an_idle_network():
    assert train_costs(CHAIN)["half"] == pytest.approx(0.0011)
    assert train_costs({"boxes": [measured("idle", 0, 0, 0, 0.0)]}) == {"idle": 0.0}
