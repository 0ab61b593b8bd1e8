"""Who runs a network: this process, or one of its own that does what it is told over a pipe, in order."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.inspect.network_data import network_facts
from polling_baseline.engines.aurora.linear_road.history import EMPTY, History, opened
from polling_baseline.engines.aurora.node import Node, Options
from polling_baseline.engines.aurora.warm_up import warm_up

STOP_S = 5.0


class Worker(Protocol):
    """One network; an order is sent, then its result received."""

    def send(self, order: str, arguments: tuple[Any, ...]) -> None: ...

    def receive(self) -> Any: ...

    def stop(self) -> None: ...


class LocalWorker:
    """A network in this process."""

    def __init__(self, node: Node) -> None:
        self._orders = orders_of(node)
        self._result: Any = None

    def send(self, order: str, arguments: tuple[Any, ...]) -> None:
        self._result = self._orders[order](*arguments)

    def receive(self) -> Any:
        return self._result

    def stop(self) -> None:
        pass


class Process:
    """A network in a process of its own: a new interpreter, since threads would not survive a fork."""

    def __init__(self, number: int, folder: Path | None, given: History | None, options: Options) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._name = f"aurora-{number}"
        self._process = context.Process(
            target=serve, args=(theirs, folder, given, options), name=self._name, daemon=True
        )
        self._process.start()
        theirs.close()

    def send(self, order: str, arguments: tuple[Any, ...]) -> None:
        try:
            self._pipe.send((order, arguments))
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> Any:
        try:
            done, result = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise self._lost() from error
        if not done:
            raise EngineFailure(result)
        return result

    def stop(self) -> None:
        self._pipe.close()
        self._process.join(STOP_S)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join()
        self._process.close()

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def _lost(self) -> EngineFailure:
        return EngineFailure(f"worker {self._name} ended; it may have run out of memory")


def orders_of(node: Node) -> dict[str, Callable[..., Any]]:
    return {
        "feed": node.feed,
        "reply": lambda questions: [node.reply(question) for question in questions],
        "hear": node.hear,
        "finish": node.finish,
        "conclude": node.conclude,
        "attach": node.attach,
        "detach": node.network.detach,
        "take": lambda output: node.network.outputs[output].take(),
        "facts": lambda: network_facts(node),
        "ready": lambda: None,
    }


def serve(pipe: Connection, folder: Path | None, given: History | None, options: Options) -> None:
    """Answer each (order, arguments) with (True, result) or (False, why not), until the pipe closes."""
    # Ctrl-C reaches all processes of a terminal; what it means is for the one that gives the orders to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(EOFError, BrokenPipeError):
        warm_up(alone=False)
        orders = orders_of(Node(opened(folder) if folder else given or EMPTY, False, options))
        while True:
            order, arguments = pipe.recv()
            try:
                pipe.send((True, orders[order](*arguments)))
            except EngineFailure as failure:
                pipe.send((False, str(failure)))
            except Exception as error:
                pipe.send((False, f"{type(error).__name__}: {error}"))
