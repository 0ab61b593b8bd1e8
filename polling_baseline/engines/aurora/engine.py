"""The engine `aurora`: the network in this process, or one in each of several that share the expressways."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from polling_baseline.batch import Answers, Batch, Columns
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.ad_hoc.desk import Desk
from polling_baseline.engines.aurora.inspect.draw import svg
from polling_baseline.engines.aurora.inspect.network_data import peak_bytes, together
from polling_baseline.engines.aurora.linear_road.history import Archive, History
from polling_baseline.engines.aurora.linear_road.network import REPORTS
from polling_baseline.engines.aurora.linear_road.quality import quality_of
from polling_baseline.engines.aurora.model.box import Box
from polling_baseline.engines.aurora.model.qos import Quality
from polling_baseline.engines.aurora.node import ROUNDS, Node, Options, Question
from polling_baseline.engines.aurora.warm_up import warm_up
from polling_baseline.engines.aurora.worker import LocalWorker, Process, Worker
from polling_baseline.spec import ANSWERS

# The answers that need reports; those from history do not.
FROM_REPORTS = ("toll", "accident", "balance")


class Source(Protocol):
    """Where a history comes from."""

    def load(self) -> History: ...

    def close(self) -> None: ...


class Aurora:
    """One worker runs in the calling thread, several in processes of their own; a clock of one's own, or
    `processes=False`, keeps all of them here."""

    name = "aurora"

    def __init__(
        self,
        history: Source,
        workers: int = 1,
        options: Options | None = None,
        clock: Callable[[], float] = time.perf_counter,
        processes: bool = True,
    ) -> None:
        self.workers = workers
        self._history, self._options, self._clock = history, options or Options(), clock
        self._here = workers == 1 or not processes or clock is not time.perf_counter
        # The networks of this process.
        self.nodes: list[Node] = []
        self._workers: list[Worker] = []
        self._answers: list[Answers] = []
        self._desk: Desk | None = None

    def install(self) -> None:
        history = self._history.load()
        numbers = range(self.workers)
        if self._here:
            alone = self.workers == 1
            warm_up(alone)
            self.nodes = [Node(history, alone, self._options, self._clock) for _ in numbers]
            self._workers = [LocalWorker(node) for node in self.nodes]
        else:
            folder = self._history.folder if isinstance(self._history, Archive) else None
            given = None if folder else history
            self._workers = [Process(number, folder, given, self._options) for number in numbers]
            self._all("ready")
        # Everyone has mapped its files: whatever happens now, none of them stays behind.
        self._history.close()

    def process(self, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        questions = self._all("feed", [(batch.seconds, share) for share in batch.shares])
        fed = time.perf_counter()
        parts = self._exchange(questions) if self.workers > 1 else self._all("finish")
        self._answers = [answers for part in parts for answers in part]
        if self._desk is not None:
            self._desk.serve(self)
        return {"network_ms": (fed - started) * 1000, "exchange_ms": (time.perf_counter() - fed) * 1000}

    def answers(self) -> Iterator[Answers]:
        return iter(self._answers)

    def attach(self, point: str, boxes: list[Box], output: str, quality: Quality) -> None:
        """Attach an ad-hoc query to a connection point; if workers are processes, its boxes are sent there, so their
        functions must be importable ones."""
        self._all("attach", [(point, boxes, output, quality)] * self.workers)

    def take(self, output: str) -> list[Columns]:
        """What an ad-hoc query has given since the last time."""
        return [columns for part in self._all("take", [(output,)] * self.workers) for columns in part]

    def detach(self, output: str) -> None:
        """Take an ad-hoc query away again."""
        self._all("detach", [(output,)] * self.workers)

    def listen(self, pointer: Path) -> None:
        """Let other processes ask from now on; where, stands in a file.  Without a socket, nobody can."""
        with suppress(OSError):
            self._desk = Desk(pointer)

    def stop(self) -> None:
        if self._desk is not None:
            self._desk.close()
            self._desk = None
        for worker in self._workers:
            worker.stop()
        self._workers = []
        self._history.close()

    def facts(self) -> dict[str, object]:
        options, measured = self._options, self.measured()
        engine_facts = {
            "train_size": options.train_size,
            "shed": options.shed,
            "order": str(options.order),
            # Of the workers, and of this process if it is none of them.
            "peak_bytes": measured["peak_bytes"] + (0 if self._here else peak_bytes()),
        }
        shed = sum(sum(part["tuples"].values()) for part in measured["shed"])
        if options.shed != "none":
            engine_facts |= {"shed_tuples": shed, "headroom": options.headroom}
        engine_facts["utility"] = self._utility(measured, shed)
        return engine_facts

    def _utility(self, measured: dict[str, Any], shed: int) -> dict[str, float]:
        """What each kind of answer was worth: by its delay, and by the share of reports that were let in."""
        [reports] = [box["tuples_in"] for box in measured["boxes"] if box["name"] == REPORTS]
        delivered = 1 - shed / reports if reports else 1.0
        worth = {}
        for kind in ANSWERS:
            output = measured["outputs"][kind]
            if output["utility"] is not None:
                quality = self._options.qualities.get(kind) or quality_of(kind)
                share = quality.delivered.utility(delivered if kind in FROM_REPORTS else 1.0)
                worth[kind] = round(output["utility"] * share, 4)
        return worth

    def files(self) -> dict[str, str]:
        """What a run keeps of the engine: the network with all that was measured, as data and as a drawing."""
        measured = self.measured()
        return {"network.json": json.dumps(measured, indent=1) + "\n", "network.svg": svg(measured)}

    def measured(self) -> dict[str, Any]:
        return together(self._all("facts"))

    def _exchange(self, questions: list[Question]) -> list[list[Answers]]:
        """All rounds of questions; the answers of each worker."""
        last = len(ROUNDS) - 1
        for number in range(last):
            questions = self._all("hear", [(number, replies) for replies in self._replies(questions)])
        return self._all("conclude", [(last, replies) for replies in self._replies(questions)])

    def _replies(self, questions: list[Question]) -> list[list[Question]]:
        """For each worker, what all others say to its questions; nobody is asked if nobody asks."""
        everyone = range(self.workers)
        if not any(questions):
            return [[] for _ in everyone]
        others = [[asker for asker in everyone if asker != worker and questions[asker]] for worker in everyone]
        replies = self._all("reply", [([questions[asker] for asker in others[worker]],) for worker in everyone])
        to_each: list[list[Question]] = [[] for _ in everyone]
        for worker in everyone:
            for asker, reply in zip(others[worker], replies[worker], strict=True):
                to_each[asker].append(reply)
        return to_each

    def _all(self, order: str, arguments: list[tuple[Any, ...]] | None = None) -> list[Any]:
        """Give all workers an order at once, and wait for what each says."""
        for worker, words in zip(self._workers, arguments or [()] * self.workers, strict=True):
            worker.send(order, words)
        results, failures = [], []
        # What one fails to do, others have done: their results must not be left for the next order.
        for worker in self._workers:
            try:
                results.append(worker.receive())
            except EngineFailure as failure:
                failures.append(failure)
        if failures:
            raise failures[0]
        return results
