"""Which box runs next, and on how many of its tuples.

A box takes whole trains, joined up to the train size, and what it gives is pushed on as far as it goes before anything
else is begun (a superbox); between the starts of such chains, the box whose outputs lose most by waiting comes first.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.model.network import Network, Output, Vertex
from polling_baseline.engines.aurora.model.train import Train, joined

Choose = Callable[[list[Vertex]], Vertex]


class BoxFailure(EngineFailure):
    """A box raised; the text names it and the first tuple of its train."""


class Scheduler:
    """Runs a network until all queues are empty.

    `order` is `priority`, `box at a time` (no superboxes) or, for tests, the seed of a random order.
    """

    def __init__(self, network: Network, train_size: int, order: str | int = "priority") -> None:
        self._network, self._train_size = network, train_size
        self._superboxes = order == "priority"
        self._choose: Choose = _highest
        if isinstance(order, int):
            rng = random.Random(order)
            self._choose = rng.choice

    def run(self) -> None:
        network = self._network
        if self._superboxes:
            self.prioritise()
        while network.ready:
            following: Vertex | None = self._choose(list(network.ready))
            while following is not None:
                following = self._step(following)

    def prioritise(self) -> None:
        """Set each box's priority: the utility that its outputs lose per second of waiting, then nearness to them."""
        vertices = self._network.vertices.values()
        for vertex in vertices:
            vertex.priority = vertex.order * 1e-9
        for name, output in self._network.outputs.items():
            service = output.service
            urgency = -service.quality.delay.slope(service.recent_s)
            if urgency > 0:
                for vertex in vertices:
                    if any(target.box.name == name for target in self._network.reachable(vertex.box.name)):
                        vertex.priority += urgency

    def _step(self, vertex: Vertex) -> Vertex | None:
        """Run a box on one train; give the box behind it if the train goes straight on."""
        network, cost = self._network, vertex.cost
        train, port = self._take(vertex)
        started = network.clock()
        try:
            given = vertex.box.process(train, port)
        except Exception as error:
            first = train.first() if train.columns else "no tuple"
            raise BoxFailure(
                f'box "{vertex.box.name}" failed on a train of {len(train):,} tuples, the first of which is {first}: '
                f"{type(error).__name__}: {error}"
            ) from error
        cost.add(len(train), 0 if given is None else len(given), network.clock() - started)
        if isinstance(vertex.box, Output):
            cost.given = cost.tuples
        if given is None:
            return None
        network.emit(vertex, given)
        if self._superboxes and vertex.arrows:
            return max((target for target, _ in vertex.arrows), key=_priority)
        return None

    def _take(self, vertex: Vertex) -> tuple[Train, int]:
        queue = vertex.queue
        train, port = queue.popleft()
        if queue and queue[0][1] == port:
            trains, rows = [train], len(train)
            while queue and queue[0][1] == port and rows + len(queue[0][0]) <= self._train_size:
                train, _ = queue.popleft()
                trains.append(train)
                rows += len(train)
            train = joined(trains)
        if not queue:
            del self._network.ready[vertex]
        return train, port


def _priority(vertex: Vertex) -> float:
    return vertex.priority


def _highest(ready: list[Vertex]) -> Vertex:
    return max(ready, key=_priority)
