"""The graphs of quality of service: from a file, in the network, and in what a run says of its answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from driver.report.service import service_text
from polling_baseline import spec
from polling_baseline.engines.aurora.engine import Aurora
from polling_baseline.engines.aurora.linear_road.history import SmallHistory
from polling_baseline.engines.aurora.linear_road.quality import quality_of, read_qualities
from polling_baseline.engines.aurora.model.network import Network
from polling_baseline.engines.aurora.model.shedding import Policy, Shedder
from polling_baseline.engines.aurora.node import Options
from polling_baseline.refusal import Refusal
from tests.engines.feeding import batches
from tests.support.random_road import random_lines


class Clock:
    """Each look takes so long."""

    def __init__(self, step_s: float) -> None:
        self.now, self._step_s = 0.0, step_s

    def __call__(self) -> float:
        self.now += self._step_s
        return self.now


def test_a_file_replaces_the_graphs_that_it_names(tmp_path):
    file = tmp_path / "qos.json"
    graphs = {"toll": {"delay": [[0, 1], [1, 1], [2, 0]]}, "balance": {"delivered": [[0, 0], [0.5, 1]]}}
    file.write_text(json.dumps(graphs))
    qualities = read_qualities(file)
    assert list(qualities) == ["toll", "balance"]
    assert (qualities["toll"].delay.good_until, qualities["toll"].delay.utility(1.5)) == (1, 0.5)
    assert qualities["toll"].value == quality_of("toll").value
    assert qualities["balance"].delivered.utility(0.6) == 1
    assert qualities["balance"].delay == quality_of("balance").delay


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "must hold an object"),
        ('{"toll": 3}', "must hold an object"),
        ('{"tolls": {}}', "no kind of answer 'tolls'; there are toll,"),
        ('{"toll": {"late": []}}', "toll has no graph 'late'"),
        ('{"balance": {"value": [[0, 1], [1, 0]]}}', "only toll has a graph of values"),
        ('{"toll": {"delay": [[0, 1]]}}', "toll.delay must be a list of two or more points"),
        ('{"toll": {"delay": [[1, 1], [0, 0]]}}', "x from 0 on and rising"),
        ('{"toll": {"delay": [[0, 1], [1, 2]]}}', "utility 0 to 1"),
        ('{"toll": {"delay": [[0, "x"], [1, 1]]}}', "must be a list of two or more points"),
        ('{"toll": {"delay": 3}}', "must be a list of two or more points"),
    ],
)
def test_what_is_no_file_of_graphs(tmp_path, text, reason):
    file = tmp_path / "qos.json"
    file.write_text(text)
    with pytest.raises(Refusal, match=reason):
        read_qualities(file)


def test_no_file(tmp_path):
    with pytest.raises(Refusal, match="cannot read"):
        read_qualities(tmp_path / "none.json")


def answered(options: Options, step_s: float = 0.0) -> dict[str, object]:
    """What an engine says of a small road, on a clock that moves with each look at it."""
    engine = Aurora(SmallHistory({}, []), 1, options, Clock(step_s))
    engine.install()
    for batch in batches(random_lines(5, minutes=3), 1, 1):
        engine.process(batch)
    facts = engine.facts()
    engine.stop()
    return facts


def test_what_is_delivered_at_once_is_worth_all():
    facts = answered(Options())
    assert dict.fromkeys(facts["utility"], 1.0) == facts["utility"]
    assert {*facts["utility"], "accident"} == set(spec.ANSWERS)
    assert "shed_tuples" not in facts and "headroom" not in facts


def test_what_is_late_is_worth_less_and_a_graph_decides_how_much(tmp_path):
    file = tmp_path / "qos.json"
    file.write_text('{"toll": {"delay": [[0, 0.5], [1, 0.5]]}}')
    late = answered(Options(), 0.2)
    assert late["utility"]["toll"] < 0.5
    assert answered(Options(qualities=read_qualities(file)), 0.2)["utility"]["toll"] == 0.5


@pytest.mark.parametrize("shed", ["random", "semantic"])
def test_what_is_shed_is_counted_and_costs_utility(shed):
    facts = answered(Options(shed=shed, headroom=0.5), 0.2)
    assert facts["shed_tuples"] > 0 and facts["headroom"] == 0.5
    assert all(0 <= worth < 1 for kind, worth in facts["utility"].items() if kind in ("toll", "balance"))
    record = {"state": "complete", "environment": {"engine": facts}, "feed": {"rows": 2000}}
    utility, said = service_text(record)
    assert utility.startswith("utility toll 0.")
    assert said.endswith(f"% of the input, {shed}") and f"{facts['shed_tuples']:,} tuples" in said


def test_less_headroom_sheds_more():
    rates = []
    for headroom in (1.0, 0.5):
        network = Network(lambda: 0.0)
        network.input("in")
        network.output("out", "in", quality_of("toll"))
        network.outputs["out"].service.deliver(1, 100.0)
        shedder = Shedder(network, "random", {"in": Policy("x", "x", 9)}, np.random.default_rng(5), headroom=headroom)
        shedder.look(0, 2.0)
        rates.append(shedder.rates["in"])
    assert rates == [0.5, 0.75]
