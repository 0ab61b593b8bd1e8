"""A network: boxes, the arrows between them with their queues, connection points, inputs and outputs.

It has no loops.  Boxes can be put into arrows, and queries attached to connection points, while it runs.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.model.box import Box
from polling_baseline.engines.aurora.model.qos import Quality, Service
from polling_baseline.engines.aurora.model.train import Train


class Input(Box):
    """Where a stream comes in."""

    kind = "Input"

    def process(self, train: Train, port: int) -> Train | None:
        return train


class Output(Box):
    """Where an application finds its tuples; it looks at the delay of each train that it gets."""

    kind = "Output"

    def __init__(self, name: str, quality: Quality, clock: Callable[[], float]) -> None:
        super().__init__(name)
        self.service = Service(quality)
        self._clock = clock
        self._delivered: list[Columns] = []

    def process(self, train: Train, port: int) -> Train | None:
        if train.columns:
            self.service.deliver(len(train), self._clock() - train.arrived)
            self._delivered.append(train.columns)
        return None

    def take(self) -> list[Columns]:
        """What came since the last time."""
        taken, self._delivered = self._delivered, []
        return taken


@dataclass(slots=True)
class Cost:
    """What was measured of one box."""

    trains: int = 0
    tuples: int = 0
    given: int = 0
    seconds: float = 0.0

    def add(self, tuples: int, given: int, seconds: float) -> None:
        self.trains += 1
        self.tuples += tuples
        self.given += given
        self.seconds += seconds


@dataclass(slots=True)
class Point:
    """A connection point: keeps what passed in the last `span` seconds, for queries that come later."""

    name: str
    span: int
    history: deque[Train] = field(default_factory=deque)

    def keep(self, train: Train) -> None:
        if train.columns:
            self.history.append(train)
        while self.history and self.history[0].until <= train.until - self.span:
            self.history.popleft()


@dataclass(slots=True, eq=False)
class Vertex:
    """A box in its place."""

    box: Box
    group: str
    arrows: list[tuple[Vertex, int]] = field(default_factory=list)
    queue: deque[tuple[Train, int]] = field(default_factory=deque)
    cost: Cost = field(default_factory=Cost)
    point: Point | None = None
    priority: float = 0.0
    order: int = 0


class Network:
    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.vertices: dict[str, Vertex] = {}
        self.inputs: dict[str, Vertex] = {}
        self.outputs: dict[str, Output] = {}
        self.points: dict[str, Vertex] = {}
        # Vertices whose queue is not empty, in the order in which that happened.
        self.ready: dict[Vertex, None] = {}

    def input(self, name: str) -> str:
        self.inputs[name] = self._place(Input(name), "")
        return name

    def add(self, box: Box, after: str | Sequence[str], group: str) -> str:
        """Put a box behind others, one for each of its ports; give its name."""
        sources = [after] if isinstance(after, str) else list(after)
        if len(sources) != box.ports:
            raise ValueError(f'box "{box.name}" has {box.ports} ports and {len(sources)} boxes before it')
        unknown = [name for name in sources if name not in self.vertices]
        if unknown:
            raise ValueError(f'box "{box.name}" comes after "{unknown[0]}", which is not in the network')
        self._place(box, group)
        for port, source in enumerate(sources):
            self.connect(source, box.name, port)
        return box.name

    def output(self, name: str, after: str, quality: Quality, group: str = "") -> None:
        box = Output(name, quality, self.clock)
        self.add(box, after, group)
        self.outputs[name] = box

    def connect(self, source: str, target: str, port: int) -> None:
        """Draw an arrow; one that closes a loop is refused."""
        if any(vertex is self.vertices[source] for vertex in self.reachable(target)):
            raise ValueError(f'an arrow from "{source}" to "{target}" would close a loop')
        self.vertices[source].arrows.append((self.vertices[target], port))

    def connection_point(self, name: str, after: str, span: int) -> None:
        """Keep the last `span` seconds of what leaves a box."""
        vertex = self.vertices[after]
        vertex.point = Point(name, span)
        self.points[name] = vertex

    def attach(self, point: str, boxes: Sequence[Box], output: str, quality: Quality) -> None:
        """An ad-hoc query: a chain of boxes that gets the connection point's history, then the live stream."""
        vertex = self.points[point]
        assert vertex.point is not None
        after = vertex.box.name
        names = [box.name for box in boxes] + [output]
        if taken := [name for name in names if name in self.vertices]:
            raise ValueError(f'there is a box "{taken[0]}" already')
        for box in boxes:
            after = self.add(box, after, "ad hoc")
        self.output(output, after, quality, "ad hoc")
        first, _ = vertex.arrows[-1]
        for train in vertex.point.history:
            self.send(first, train, 0)

    def detach(self, output: str) -> None:
        """Take an ad-hoc query away again, with all boxes that nothing else needs."""
        gone = self.vertices[output]
        del self.outputs[output]
        while gone.group == "ad hoc" and not gone.arrows:
            before = [vertex for vertex in self.vertices.values() if any(to is gone for to, _ in vertex.arrows)]
            del self.vertices[gone.box.name]
            self.ready.pop(gone, None)
            for vertex in before:
                vertex.arrows = [arrow for arrow in vertex.arrows if arrow[0] is not gone]
            [gone] = before

    def insert(self, box: Box, after: str, group: str) -> None:
        """Put a box of one port into all arrows that leave another."""
        source = self.vertices[after]
        vertex = self._place(box, group)
        vertex.arrows, source.arrows = source.arrows, [(vertex, 0)]

    def remove(self, name: str) -> None:
        """Take an inserted box out again; what waits before it, goes past it."""
        vertex = self.vertices.pop(name)
        self.ready.pop(vertex, None)
        for other in self.vertices.values():
            other.arrows = [
                arrow for to, port in other.arrows for arrow in (vertex.arrows if to is vertex else [(to, port)])
            ]
        for train, _ in vertex.queue:
            for target, port in vertex.arrows:
                self.send(target, train, port)

    def send(self, target: Vertex, train: Train, port: int) -> None:
        target.queue.append((train, port))
        self.ready[target] = None

    def push(self, name: str, train: Train) -> None:
        """A train for an input."""
        self.send(self.inputs[name], train, 0)

    def emit(self, vertex: Vertex, train: Train) -> None:
        """A train that leaves a box: to its connection point, and into the queues of all boxes behind it."""
        if vertex.point is not None:
            vertex.point.keep(train)
        for target, port in vertex.arrows:
            self.send(target, train, port)

    def reachable(self, name: str) -> Iterable[Vertex]:
        """A vertex and all behind it."""
        seen: dict[Vertex, None] = {}
        waiting = [self.vertices[name]]
        while waiting:
            vertex = waiting.pop()
            if vertex not in seen:
                seen[vertex] = None
                waiting += [target for target, _ in vertex.arrows]
        return seen

    def _place(self, box: Box, group: str) -> Vertex:
        if box.name in self.vertices:
            raise ValueError(f'there is a box "{box.name}" already')
        vertex = Vertex(box, group, order=len(self.vertices))
        self.vertices[box.name] = vertex
        return vertex
