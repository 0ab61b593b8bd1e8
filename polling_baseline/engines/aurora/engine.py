"""The engine `aurora`: the network in this process, or one in each of several that share the expressways."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from polling_baseline.batch import Answers, Batch, Columns
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.box import Box
from polling_baseline.engines.aurora.draw import svg
from polling_baseline.engines.aurora.facts import network_facts, together
from polling_baseline.engines.aurora.history import Archive, History
from polling_baseline.engines.aurora.node import ROUNDS, Node, Options, Question
from polling_baseline.engines.aurora.qos import Quality
from polling_baseline.engines.aurora.warm_up import warm_up
from polling_baseline.engines.aurora.worker import serve

STOP_S = 5.0


class Source(Protocol):
    """Where a history comes from."""

    def load(self) -> History: ...

    def close(self) -> None: ...


class Aurora:
    """With one worker, everything happens in the calling thread; `clock` is for tests of that case."""

    name = "aurora"

    def __init__(
        self,
        history: Source,
        workers: int = 1,
        options: Options | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.workers = workers
        self._history, self._options, self._clock = history, options or Options(), clock
        self.node: Node | None = None
        self._processes: list[BaseProcess] = []
        self._pipes: list[Connection] = []
        self._answers: list[Answers] = []

    def install(self) -> None:
        history = self._history.load()
        if self.workers == 1:
            warm_up(alone=True)
            self.node = Node(history, True, self._options, self._clock)
            return
        folder = self._history.folder if isinstance(self._history, Archive) else None
        # A new interpreter for each: this process has threads, which a fork would not survive.
        context = multiprocessing.get_context("spawn")
        for number in range(self.workers):
            ours, theirs = context.Pipe()
            arguments = (theirs, folder, None if folder else history, self._options)
            process = context.Process(target=serve, args=arguments, name=f"aurora-{number}", daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)
        self._all("ready", [()] * self.workers)

    def process(self, batch: Batch) -> Mapping[str, float]:
        if self.node is not None:
            return self._process_here(self.node, batch)
        started = time.perf_counter()
        questions = self._all("feed", [(batch.seconds, share) for share in batch.shares])
        fed = time.perf_counter()
        for number in range(len(ROUNDS)):
            questions = self._all("hear", [(number, said) for said in self._replies(questions)])
        heard = time.perf_counter()
        self._answers = [answers for part in self._all("finish", [()] * self.workers) for answers in part]
        finished = time.perf_counter()
        return {
            "network_ms": (fed - started) * 1000,
            "exchange_ms": (heard - fed) * 1000,
            "collect_ms": (finished - heard) * 1000,
        }

    def answers(self) -> Iterator[Answers]:
        return iter(self._answers)

    def attach(self, point: str, boxes: list[Box], output: str, quality: Quality) -> None:
        """Attach an ad-hoc query to a connection point; with several workers, its boxes are sent there, so their
        functions must be importable ones."""
        if self.node is not None:
            self.node.attach(point, boxes, output, quality)
        else:
            self._all("attach", [(point, boxes, output, quality)] * self.workers)

    def take(self, output: str) -> list[Columns]:
        """What an ad-hoc query has given since the last time."""
        if self.node is not None:
            return self.node.network.outputs[output].take()
        return [columns for part in self._all("take", [(output,)] * self.workers) for columns in part]

    def stop(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(STOP_S)
            if process.is_alive():
                process.terminate()
                process.join()
        self._pipes, self._processes = [], []
        self._history.close()

    def facts(self) -> dict[str, object]:
        options = self._options
        return {"train_size": options.train_size, "shed": options.shed, "order": str(options.order)}

    def files(self) -> dict[str, str]:
        """What a run keeps of the engine: the network with all that was measured, as data and as a drawing."""
        measured = self.measured()
        return {"network.json": json.dumps(measured, indent=1) + "\n", "network.svg": svg(measured)}

    def measured(self) -> dict[str, Any]:
        parts = [network_facts(self.node)] if self.node is not None else self._all("facts", [()] * self.workers)
        return together(parts)

    def _process_here(self, node: Node, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        node.feed(batch.seconds, batch.shares[0])
        self._answers = node.finish()
        return {"network_ms": (time.perf_counter() - started) * 1000, "exchange_ms": 0.0, "collect_ms": 0.0}

    def _replies(self, questions: list[Question]) -> list[list[Question]]:
        """For each worker, what all others say to its questions; nobody is asked if nobody asks."""
        everyone = range(self.workers)
        if not any(questions):
            return [[] for _ in everyone]
        others = [[asker for asker in everyone if asker != worker and questions[asker]] for worker in everyone]
        replies = self._all("reply", [([questions[asker] for asker in others[worker]],) for worker in everyone])
        said: list[list[Question]] = [[] for _ in everyone]
        for worker in everyone:
            for asker, reply in zip(others[worker], replies[worker], strict=True):
                said[asker].append(reply)
        return said

    def _all(self, order: str, arguments: list[tuple[Any, ...]]) -> list[Any]:
        """Give all workers an order at once, and wait for what each says."""
        try:
            for pipe, words in zip(self._pipes, arguments, strict=True):
                pipe.send((order, words))
            results = [pipe.recv() for pipe in self._pipes]
        except (EOFError, OSError) as error:
            raise EngineFailure("a worker of aurora ended; see what it wrote to stderr") from error
        for done, result in results:
            if not done:
                raise EngineFailure(result)
        return [result for _, result in results]
