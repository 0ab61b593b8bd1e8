"""Load shedding: when outputs leave their good zone, tuples are dropped where they come in, and counted.

Random: a Drop box takes a share of the keys (all tuples of a vehicle, so that trips stay whole).  Semantic: a Filter
takes the values that are worth least to the outputs.  The share is what the load needs, and grows while delay is beyond
the good zone; when there is room again, it shrinks, and at 0 the box goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.model.box import Box, Drop, Filter, taken
from polling_baseline.engines.aurora.model.network import Network, Output
from polling_baseline.engines.aurora.model.qos import Graph, Service
from polling_baseline.engines.aurora.model.train import Train

HIGHEST_RATE = 0.95
# One step up while too late, half a step down while there is room: below this part of the good zone.
STEP, ROOM = 0.1, 0.5
# How much of its time the network may be busy; and the weight of the latest batch in what is known of the load.
HEADROOM, LATEST = 0.9, 0.3


class SheddingFilter(Filter):
    """Drops about a share `rate` of the tuples: those whose value is worth least, as seen in the trains before."""

    def __init__(self, name: str, rate: float, column: str, worth: Graph, largest: int) -> None:
        super().__init__(name, lambda columns: ~self.unlucky(columns))
        self.rate, self._column = rate, column
        self._seen = np.ones(largest + 1)
        utilities = np.array([worth.utility(value) for value in range(largest + 1)])
        # From the least worth up; among equals, the higher value goes first.
        self._cheapest = np.lexsort((-np.arange(largest + 1), utilities))

    def unlucky(self, columns: Columns) -> npt.NDArray[np.bool_]:
        values = columns[self._column]
        self._seen = 0.5 * self._seen + np.bincount(values, minlength=len(self._seen))
        share = np.cumsum(self._seen[self._cheapest]) / self._seen.sum()
        worthless = np.zeros(len(self._seen), bool)
        worthless[self._cheapest[share <= self.rate]] = True
        return worthless[values]


class CountingBox(Box):
    """A shedding box, and the exact number of what it took, by minute."""

    def __init__(self, box: Drop | SheddingFilter, seen: Callable[[Columns], None] | None) -> None:
        super().__init__(box.name)
        self.box, self._seen = box, seen
        self.kind = box.kind  # type: ignore[misc]
        self.shed: Counter[int] = Counter()

    def process(self, train: Train, port: int) -> Train | None:
        if not train.columns:
            return train
        unlucky = self.box.unlucky(train.columns)
        lost = np.flatnonzero(unlucky)
        if not len(lost):
            return train
        minutes, counts = np.unique(train.columns["second"][lost] // 60 + 1, return_counts=True)
        self.shed.update(dict(zip(minutes.tolist(), counts.tolist(), strict=True)))
        if self._seen is not None:
            self._seen(taken(train.columns, lost))
        rows = np.flatnonzero(~unlucky)
        return Train(taken(train.columns, rows) if len(rows) else {}, train.until, train.arrived)


@dataclass(slots=True)
class Policy:
    """What may be shed at an input: `by` a key at random, or by the worth of a column's values."""

    by: str
    column: str
    largest: int


@dataclass(slots=True)
class Shedder:
    network: Network
    kind: str
    policies: dict[str, Policy]
    rng: np.random.Generator
    seen: Callable[[Columns], None] | None = None
    # How much of its time the network may be busy.
    headroom: float = HEADROOM
    # How busy the network would be if nothing were shed.
    load: float = 0.0
    rates: dict[str, float] = field(default_factory=dict)
    boxes: dict[str, CountingBox] = field(default_factory=dict)
    log: list[dict[str, object]] = field(default_factory=list)

    def look(self, second: int, busy: float) -> None:
        """After each batch, on which the network was `busy` so many seconds per second of input: shed more, less, or as
        before."""
        shed = max(self.rates.values(), default=0.0)
        self.load += (LATEST if self.load else 1.0) * (busy / (1 - shed) - self.load)
        services = {name: output.service for name, output in self.network.outputs.items()}
        for service in services.values():
            service.look()
        late = [name for name, service in services.items() if _beyond(service, 1.0)]
        room = not any(_beyond(service, ROOM) for service in services.values())
        if self.kind == "none":
            return
        needed = max(0.0, 1 - self.headroom / self.load) if self.load > 0 else 0.0
        if late:
            place = self._place(late)
            self._set(place, min(HIGHEST_RATE, max(needed, self.rates.get(place, 0.0) + STEP)), second)
        elif room:
            for place, rate in list(self.rates.items()):
                self._set(place, min(rate, max(needed, rate - STEP / 2)), second)

    def facts(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "tuples": {place: box.shed.total() for place, box in self.boxes.items()},
            "by_minute": {place: dict(sorted(box.shed.items())) for place, box in self.boxes.items()},
            "changes": self.log,
        }

    def _place(self, late: list[str]) -> str:
        """The input, of those that feed a late output, where a step more costs least for the time that it saves."""

        def price(name: str) -> float:
            behind = list(self.network.reachable(name))
            saved_s = sum(vertex.cost.seconds for vertex in behind)
            delivered = 1 - self.rates.get(name, 0.0)
            graphs = [vertex.box.service.quality.delivered for vertex in behind if isinstance(vertex.box, Output)]
            lost = sum(graph.utility(delivered) - graph.utility(delivered - STEP) for graph in graphs)
            return lost / saved_s if saved_s else float("inf")

        feeding = [
            name for name in self.policies if any(vertex.box.name in late for vertex in self.network.reachable(name))
        ]
        return min(feeding or self.policies, key=price)

    def _set(self, place: str, rate: float, second: int) -> None:
        rate = round(rate, 4)
        if rate == self.rates.get(place, 0.0):
            return
        name = f"shed {place}"
        if place not in self.boxes:
            self.boxes[place] = CountingBox(self._box(name, place), self.seen)
        self.boxes[place].box.rate = rate
        if rate and name not in self.network.vertices:
            self.network.insert(self.boxes[place], place, "shedding")
        elif not rate:
            self.network.remove(name)
        self.rates[place] = rate
        self.log.append({"second": second, "input": place, "rate": rate})

    def _box(self, name: str, place: str) -> Drop | SheddingFilter:
        policy = self.policies[place]
        if self.kind == "random":
            return Drop(name, 0.0, self.rng, policy.by)
        return SheddingFilter(name, 0.0, policy.column, self._worth(), policy.largest)

    def _worth(self) -> Graph:
        """The value graph of the outputs; a network that sheds semantically has one."""
        graphs = [out.service.quality.value for out in self.network.outputs.values()]
        return next(graph for graph in graphs if graph is not None)


def _beyond(service: Service, share: float) -> bool:
    """Is the recent delay beyond so much of the good zone?"""
    return service.recent_s > share * service.quality.delay.good_until
