"""A network in a process of its own: it does what it is told over a pipe, one thing after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from polling_baseline.engine import EngineFailure
from polling_baseline.engines.aurora.facts import network_facts
from polling_baseline.engines.aurora.history import EMPTY, History, opened
from polling_baseline.engines.aurora.node import Node, Options
from polling_baseline.engines.aurora.warm_up import warm_up


def serve(pipe: Connection, folder: Path | None, given: History | None, options: Options) -> None:
    """Answer each message (name, arguments) with (True, result) or (False, why not), until the pipe closes."""
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        warm_up(alone=False)
        node = Node(opened(folder) if folder else given or EMPTY, False, options)
        orders: dict[str, Callable[..., Any]] = {
            "feed": node.feed,
            "reply": lambda questions: [node.reply(question) for question in questions],
            "hear": node.hear,
            "finish": node.finish,
            "attach": node.attach,
            "take": lambda output: node.network.outputs[output].take(),
            "facts": lambda: network_facts(node),
            "ready": lambda: None,
        }
        while True:
            name, arguments = pipe.recv()
            try:
                pipe.send((True, orders[name](*arguments)))
            except EngineFailure as failure:
                pipe.send((False, str(failure)))
