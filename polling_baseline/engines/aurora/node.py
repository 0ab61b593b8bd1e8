"""One network at work: a batch in, answers out, and in between questions to the networks of other expressways.

A batch goes through in rounds.  After the first, a network has the reports that may continue a trip from elsewhere
and, at the end of a minute, the stops that a report elsewhere may have ended; after the second, the balances to which
others may add.  Each round's questions are answered by all other networks from their tables, complete by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from polling_baseline.batch import Answers, Columns, Share
from polling_baseline.engines.aurora.linear_road.history import History
from polling_baseline.engines.aurora.linear_road.network import POLICIES, REPORTS, REQUESTS, build, new_tables
from polling_baseline.engines.aurora.linear_road.vehicles import UNKNOWN
from polling_baseline.engines.aurora.model.box import Box
from polling_baseline.engines.aurora.model.qos import Quality, Service
from polling_baseline.engines.aurora.model.scheduler import Scheduler
from polling_baseline.engines.aurora.model.shedding import HEADROOM, Shedder
from polling_baseline.engines.aurora.model.tables import Exchange
from polling_baseline.engines.aurora.model.train import Train, cut
from polling_baseline.spec import ANSWERS

TRAIN_SIZE = 50_000
ROUNDS = (("begun elsewhere", "seen elsewhere"), ("paid elsewhere",))
Question = dict[str, Columns]


@dataclass(frozen=True, slots=True)
class Options:
    train_size: int = TRAIN_SIZE
    shed: str = "none"
    # `priority`, `box at a time`, or the seed of a random order.
    order: str | int = "priority"
    seed: int = 0
    # On its own clock, everything takes so many times as long.
    slower: float = 1.0
    # How much of its time the network may be busy before load is shed.
    headroom: float = HEADROOM
    # The graphs of quality of service, where they are not the benchmark's.
    qualities: Mapping[str, Quality] = field(default_factory=dict)


class SlowClock:
    """The time of a slower machine: it passes while the network works, and stands still while the driver does.

    So what the driver takes between two batches is not multiplied, and no load is shed because of it.
    """

    def __init__(self, clock: Callable[[], float], factor: float) -> None:
        self._clock, self._factor = clock, factor
        self._now = 0.0
        # When the work under way began, by the machine's clock.
        self._since: float | None = None

    def __call__(self) -> float:
        return self._now if self._since is None else self._now + self._factor * (self._clock() - self._since)

    def start(self, second: int) -> None:
        """Begin work on what arrived at a second, or later, when the work before was done."""
        self._now, self._since = max(self(), float(second)), self._clock()

    def stop(self) -> None:
        self._now, self._since = self(), None


class Node:
    def __init__(
        self, history: History, alone: bool, options: Options, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._slow = SlowClock(clock, options.slower) if options.slower != 1 else None
        clock = self._slow or clock
        self._tables = new_tables()
        self.network = build(history, self._tables, alone, clock)
        for name, quality in options.qualities.items():
            self.network.outputs[name].service = Service(quality)
        self._scheduler = Scheduler(self.network, options.train_size, options.order)
        self.shedder = Shedder(
            self.network, options.shed, POLICIES, np.random.default_rng(options.seed), headroom=options.headroom
        )
        self._options, self._clock = options, clock
        self._second = -1
        # The earliest that any second has come, were it second 0: second t arrives t later.
        self._zero = float("inf")
        self.tuples, self.seconds = 0, 0
        # Of the batch under way.
        self._busy_s, self._fed_s = 0.0, 0

    def feed(self, seconds: range, share: Share) -> Question:
        """Take a batch and go as far as this network knows; give the first round's questions."""
        if self._slow:
            self._slow.start(seconds[-1])
        self._zero = min(self._zero, self._clock() - seconds[-1])
        arrived = self._zero + seconds[0]
        if self._second < 0:
            for name in self.network.inputs:
                self.network.push(name, Train({}, seconds.start, arrived))
        for name, columns in ((REPORTS, share.reports), (REQUESTS, share.requests)):
            for train in cut(columns, self._options.train_size, seconds.stop, arrived):
                self.network.push(name, train)
        self._second = seconds[-1]
        self.tuples += len(share)
        self.seconds += len(seconds)
        self._fed_s = len(seconds)
        self._run()
        return self.question(0)

    def reply(self, question: Question) -> Question:
        """What this network knows of another's question."""
        reply: Question = {}
        tables = self._tables
        for name, asked in question.items():
            if name == "begun elsewhere":
                last_seg = tables.vehicles.segments(asked["vehicle_id"], asked["second"])
                owed = np.zeros(len(last_seg), np.int64)
                known = last_seg != UNKNOWN
                owed[known] = tables.owed.release(asked["vehicle_id"][known], asked["second"][known])
                reply[name] = {"last_seg": last_seg, "owed": owed}
            elif name == "seen elsewhere":
                seen = tables.vehicles.first_seen(asked["vehicle_id"], asked["stopped"], asked["ends"])
                reply[name] = {"seen": seen}
            else:
                reply[name] = {"balance": tables.accounts.balance(asked["vehicle_id"], asked["second"])}
        return reply

    def hear(self, number: int, replies: list[Question]) -> Question:
        """Go on with the replies of all others in a round; give the next round's questions, if there is one."""
        for name in ROUNDS[number]:
            vertex = self.network.vertices[name]
            assert isinstance(vertex.box, Exchange)
            train = vertex.box.resolve([one[name] for one in replies if name in one])
            if train is not None:
                vertex.cost.given += len(train)
                self.network.emit(vertex, train)
        self._run()
        return self.question(number + 1) if number + 1 < len(ROUNDS) else {}

    def finish(self) -> list[Answers]:
        """The answers of the batch."""
        answers = []
        for kind in ANSWERS:
            answers += [Answers(kind, columns) for columns in self.network.outputs[kind].take()]
        self.shedder.look(self._second, self._busy_s / self._fed_s if self._fed_s else 0.0)
        self._busy_s, self._fed_s = 0.0, 0
        if self._slow:
            self._slow.stop()
        return answers

    def conclude(self, number: int, replies: list[Question]) -> list[Answers]:
        """The last round, and the answers."""
        self.hear(number, replies)
        return self.finish()

    def attach(self, point: str, boxes: list[Box], output: str, quality: Quality) -> None:
        """An ad-hoc query, from now on."""
        self.network.attach(point, boxes, output, quality)
        self._scheduler.run()

    def _run(self) -> None:
        started = self._clock()
        self._scheduler.run()
        self._busy_s += self._clock() - started

    def question(self, number: int) -> Question:
        vertices = [self.network.vertices.get(name) for name in ROUNDS[number]]
        boxes = [vertex.box for vertex in vertices if vertex is not None]
        asked = {box.name: box.question() for box in boxes if isinstance(box, Exchange)}
        return {name: columns for name, columns in asked.items() if columns}
