"""Where other processes ask a running engine: a socket, a line of JSON, then rows until one side hangs up.

Clients are read and written by threads of their own; the network is touched between two batches only, by whoever runs
the engine.  A client that does not read fast enough is hung up on: a run waits for nobody.
"""

from __future__ import annotations

import contextlib
import json
import queue
import shutil
import socket
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from polling_baseline.batch import Columns
from polling_baseline.engines.aurora.ad_hoc.boxes import NO_HURRY, Query, QueryRequest, parse_query
from polling_baseline.engines.aurora.model.box import Box
from polling_baseline.engines.aurora.model.qos import Quality
from polling_baseline.refusal import Refusal
from polling_baseline.scratch import scratch

LONGEST_LINE = 10_000
# So many batches may wait for a client; and so long may it take to ask.
WAITING, ASK_S = 1000, 10


class Attachable(Protocol):
    """What the desk needs of an engine."""

    def attach(self, point: str, boxes: list[Box], output: str, quality: Quality) -> None: ...

    def take(self, output: str) -> list[Columns]: ...

    def detach(self, output: str) -> None: ...


@dataclass(eq=False)
class _Client:
    connection: socket.socket
    query: Query
    name: str
    lines: queue.Queue[str | None] = field(default_factory=lambda: queue.Queue(WAITING))
    gone: threading.Event = field(default_factory=threading.Event)


class Desk:
    """Listens on a socket whose path stands in a file, so that others find it."""

    def __init__(self, pointer: Path) -> None:
        self._pointer, self._folder = pointer, scratch("queries")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path = self._folder / "desk"
        try:
            self._listener.bind(str(path))
        except OSError:
            self._listener.close()
            raise
        self._listener.listen()
        self._arrived: queue.SimpleQueue[_Client] = queue.SimpleQueue()
        self._served: list[_Client] = []
        self._number = 0
        pointer.write_text(f"{path}\n")
        threading.Thread(target=self._listen, daemon=True).start()

    def serve(self, engine: Attachable) -> None:
        """Between two batches: attach who has come, hand out what there is, detach who has gone."""
        while not self._arrived.empty():
            client = self._arrived.get()
            engine.attach(client.query.at, client.query.boxes(client.name), client.name, NO_HURRY)
            self._served.append(client)
        for client in list(self._served):
            rows = _rows(engine.take(client.name), client.query)
            with contextlib.suppress(queue.Full):
                if rows:
                    client.lines.put_nowait(json.dumps({"rows": rows}))
                if not client.gone.is_set():
                    continue
            client.gone.set()
            engine.detach(client.name)
            self._served.remove(client)

    def close(self) -> None:
        """Nobody can ask any more; who has asked gets what there is, and hears that it was all."""
        self._pointer.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in self._served:
            with contextlib.suppress(queue.Full):
                client.lines.put_nowait(None)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._meet, args=(connection,), daemon=True).start()

    def _meet(self, connection: socket.socket) -> None:
        """Hear what a client wants, and write to it until it goes."""
        with connection, contextlib.suppress(OSError):
            connection.settimeout(ASK_S)
            try:
                query = parse_query(_request(connection))
            except (Refusal, ValueError, KeyError, TypeError) as error:
                _send(connection, {"error": str(error)})
                return
            self._number += 1
            client = _Client(connection, query, f"ad hoc {self._number}")
            _send(connection, {"columns": list(query.columns)})
            connection.settimeout(None)
            threading.Thread(target=_notice_end, args=(client,), daemon=True).start()
            self._arrived.put(client)
            try:
                while (line := client.lines.get()) is not None:
                    connection.sendall(line.encode() + b"\n")
            finally:
                client.gone.set()
                # Closing alone would not reach the client while another thread still listens to it.
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def _request(connection: socket.socket) -> QueryRequest:
    text = b""
    while not text.endswith(b"\n"):
        part = connection.recv(4096)
        if not part or len(text) > LONGEST_LINE:
            raise ValueError("a request is one line of JSON")
        text += part
    request = json.loads(text)
    return {"at": request["at"], "where": request["where"], "group": request["group"], "every_s": request["every_s"]}


def _send(connection: socket.socket, message: dict[str, object]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _notice_end(client: _Client) -> None:
    """A client says nothing more: what comes from it is its end."""
    with contextlib.suppress(OSError):
        while client.connection.recv(4096):
            pass
    client.gone.set()
    with contextlib.suppress(queue.Full):
        client.lines.put_nowait(None)


def _rows(parts: list[Columns], query: Query) -> list[list[Any]]:
    """What all workers have given; the counts of a group are added up."""
    rows = [row for columns in parts for row in zip(*(columns[name].tolist() for name in query.columns), strict=True)]
    if not query.group:
        return [list(row) for row in rows]
    counts: Counter[tuple[int, int]] = Counter()
    for second, group, tuples in rows:
        counts[second, group] += tuples
    return [[*key, count] for key, count in sorted(counts.items())]


def asked_rows(pointer: Path, request: QueryRequest, show: Callable[[list[str], list[list[Any]]], None]) -> None:
    """Ask the engine whose desk a file points to, and show columns and rows as they come, until the run ends."""
    try:
        path = pointer.read_text().strip()
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(path)
    except OSError:
        raise Refusal(
            f"{pointer.parent} is no run of engine aurora that is under way; start one with lrb run --engine aurora"
        ) from None
    with connection, connection.makefile("r") as lines:
        _send(connection, dict(request))
        columns: list[str] = []
        for line in lines:
            message = json.loads(line)
            if "error" in message:
                raise Refusal(message["error"])
            columns = message.get("columns", columns)
            show(columns, message.get("rows", []))
