"""The page on this machine: a server that only this machine reaches, and that answers no other page's questions."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from driver.report.watch.broadcast import Broadcast
from driver.report.watch.page import INDEX, SERVER_POLICY, files, served_index
from polling_baseline.refusal import Refusal

HOST = "127.0.0.1"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
# A comment in the stream of events, so that either end notices when the other is gone.
HEARTBEAT_S = 10.0
# As large as vehicles, seconds and events may have.
NUMBER = re.compile(r"[0-9]{1,10}")
RETRY_MS = 1000
PERIOD_S = 1.0


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Stopping waits for no listener.
    block_on_close = False
    broadcast: Broadcast

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        port = self.server.server_port
        # A page from elsewhere may give its own name this machine's address: then it stands here.
        if self.headers.get("Host") not in (f"{HOST}:{port}", f"localhost:{port}"):
            return self._say(HTTPStatus.FORBIDDEN, "this server answers its own page only")
        address = urlsplit(self.path)
        answer: Callable[[dict[str, list[str]]], None] | None = {
            "/events": self._events,
            "/frames": lambda query: self._send(self.server.broadcast.frames_blob(), "application/octet-stream"),
            "/vehicle": self._vehicle,
        }.get(address.path)
        if answer:
            return answer(parse_qs(address.query))
        return self._file(address.path)

    def _file(self, path: str) -> None:
        file = files().get(path)
        if file is None:
            return self._say(HTTPStatus.NOT_FOUND, "there is no such page; see /")
        text = served_index() if file == INDEX else file.read_text(encoding="utf-8")
        return self._send(text.encode(), f"{TYPES[file.suffix]}; charset=utf-8")

    def _vehicle(self, query: dict[str, list[str]]) -> None:
        """By its number, or by where it was when."""
        numbers = {name: int(values[0]) for name, values in query.items() if NUMBER.fullmatch(values[0])}
        if "id" not in numbers and not numbers.keys() >= {"place", "second"}:
            return self._say(HTTPStatus.BAD_REQUEST, "give id, or place and second, as whole numbers")
        broadcast = self.server.broadcast
        vehicle_id = numbers["id"] if "id" in numbers else broadcast.nearest(numbers["place"], numbers["second"])
        if vehicle_id is None:
            return self._say(HTTPStatus.NOT_FOUND, "no vehicle entered that segment then")
        return self._send(broadcast.vehicles(vehicle_id), "application/octet-stream")

    def _events(self, query: dict[str, list[str]]) -> None:
        """One stream for all runs; a browser that comes again says which event it had last."""
        last = self.headers.get("Last-Event-ID") or query.get("after", [""])[0]
        name, _, text = last.partition("-")
        number = int(text) if NUMBER.fullmatch(text) else -1
        self.close_connection = True
        self._begin(HTTPStatus.OK, "text/event-stream")
        self.wfile.write(f"retry: {RETRY_MS}\n\n".encode())
        with suppress(ConnectionError):
            while True:
                events = self.server.broadcast.events_after(name, number, HEARTBEAT_S)
                for event in events:
                    self.wfile.write(f"id: {name}-{event.number}\nevent: {event.kind}\ndata: {event.data}\n\n".encode())
                    if event.kind in ("restart", "end"):
                        return
                    number = event.number
                if not events:
                    self.wfile.write(b": still here\n\n")
                self.wfile.flush()

    def _say(self, status: HTTPStatus, text: str) -> None:
        self._send(f"{text}\n".encode(), "text/plain; charset=utf-8", status)

    def _send(self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._begin(status, kind, length=len(body))
        with suppress(ConnectionError):
            self.wfile.write(body)

    def _begin(self, status: HTTPStatus, kind: str, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Security-Policy": SERVER_POLICY,
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            **({"Connection": "close"} if length is None else {"Content-Length": str(length)}),
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody wants to read of each request."""


@contextmanager
def serving(broadcast: Broadcast, port: int) -> Iterator[str]:
    """Serve the page until the block ends; give its address.  Port 0 is any that is free."""
    try:
        server = _Server((HOST, port), _Handler)
    except OverflowError:
        raise Refusal(f"--port must be 0 to 65535, not {port}") from None
    except OSError as error:
        raise Refusal(
            f"cannot listen on {HOST}:{port}: {error.strerror}; choose another --port, or leave it out"
        ) from None
    server.broadcast = broadcast
    thread = threading.Thread(target=server.serve_forever, name="watch", daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/"
    finally:
        broadcast.close()
        server.shutdown()
        server.server_close()


def follow(broadcast: Broadcast, stopping: threading.Event, beside: int | None = None) -> None:
    """Look at the files once a second until told to stop, or until the process `beside` is gone; then once more."""
    while not stopping.wait(PERIOD_S) and (beside is None or os.getppid() == beside):
        broadcast.advance()
    broadcast.advance()
