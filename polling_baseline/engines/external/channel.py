"""The ways to a foreign system: a program that is started, or a connection."""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import signal
import socket
import subprocess
import threading
from typing import Protocol

from polling_baseline.refusal import Refusal
from polling_baseline.wording import printable

log = logging.getLogger("lrb")
# What is kept of a program's complaints, and how many lines of it are shown.
STDERR_BYTES, STDERR_LINES = 1 << 16, 3
KILL_AFTER_S = 3.0
LOOPBACK = "127.0.0.1"


class Channel(Protocol):
    """Bytes to a system and from it."""

    # Whom we talk to, for sentences.
    label: str

    def open(self, patience_s: float) -> tuple[int, int]:
        """Reach the system; give the descriptors to read from and to write to."""

    def close_input(self) -> None:
        """Nothing more will be written."""

    def end(self, patience_s: float) -> str | None:
        """The system has closed its side, and should end: give what went wrong."""

    def last_words(self) -> str:
        """What is known about its end, as a clause to append; empty if there is nothing."""

    def complaints(self) -> bytes:
        """The end of what it wrote to stderr."""

    def hang_up(self) -> None:
        """End it, whatever it does; who reads or writes meets the end."""

    def close(self) -> None:
        """Give the descriptors back; nobody uses them any more."""


class Program:
    """A command, started by us, that reads standard input and writes standard output."""

    def __init__(self, command: str) -> None:
        self.label = command
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise Refusal(f"--command {command}: {str(error).lower()}") from None
        if not self._words:
            raise Refusal("--command is empty: name the program and its arguments")
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints = bytearray()
        self._listener: threading.Thread | None = None

    def open(self, patience_s: float) -> tuple[int, int]:
        pipe = subprocess.PIPE
        program = self._words[0]
        try:
            # In a session of its own, so that Ctrl-C is the driver's to handle, and everything it starts can be ended.
            self._process = subprocess.Popen(
                self._words, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, start_new_session=True
            )
        except FileNotFoundError:
            raise Refusal(f"there is no program {program}; give its path, or put its folder on PATH") from None
        except PermissionError:
            raise Refusal(f"{program} cannot be executed; chmod +x {shlex.quote(program)}") from None
        except OSError as error:
            raise Refusal(
                f"{program} cannot be started: {error.strerror}; "
                "a script needs a first line such as #!/usr/bin/env python3"
            ) from None
        assert self._process.stdin and self._process.stdout
        self._listener = threading.Thread(target=self._listen, name="stderr", daemon=True)
        self._listener.start()
        return self._process.stdout.fileno(), self._process.stdin.fileno()

    def _listen(self) -> None:
        assert self._process and self._process.stderr
        descriptor = self._process.stderr.fileno()
        with contextlib.suppress(OSError):
            while piece := os.read(descriptor, 1 << 16):
                self._complaints += piece
                del self._complaints[:-STDERR_BYTES]

    def close_input(self) -> None:
        if self._process and self._process.stdin:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def end(self, patience_s: float) -> str | None:
        assert self._process
        try:
            status = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return f"it closed its output, but did not end within {patience_s:g} s"
        return None if status == 0 else "it failed at its end"

    def last_words(self) -> str:
        if not self._process:
            return ""
        # What it wrote before it died may still be on its way.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)
        if self._listener and self._process.poll() is not None:
            self._listener.join(0.5)
        last_lines = [printable(line) for line in self.complaints().splitlines() if line.strip()][-STDERR_LINES:]
        return _clauses(
            _status(self._process.poll()), f"its last words were: {' / '.join(last_lines)}" if last_lines else ""
        )

    def complaints(self) -> bytes:
        return bytes(self._complaints)

    def hang_up(self) -> None:
        # The number of one that has ended may be somebody else's by now.
        if self._process is None or self._process.poll() is not None:
            return
        for number, wait_s in ((signal.SIGTERM, KILL_AFTER_S), (signal.SIGKILL, None)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(wait_s)

    def close(self) -> None:
        if self._process:
            self.close_input()
            for stream in (self._process.stdout, self._process.stderr):
                if stream:
                    stream.close()


def _status(status: int | None) -> str:
    if status is None:
        return ""
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _clauses(*parts: str) -> str:
    return "; ".join(part for part in parts if part)


class _Socket:
    """What both ends of a connection have in common."""

    label = ""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None

    def _take(self, connection: socket.socket) -> tuple[int, int]:
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = connection
        return connection.fileno(), connection.fileno()

    def close_input(self) -> None:
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)

    def end(self, patience_s: float) -> str | None:
        return None

    def last_words(self) -> str:
        return ""

    def complaints(self) -> bytes:
        return b""

    def hang_up(self) -> None:
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._socket:
            self._socket.close()


class Connection(_Socket):
    """A system that listens at this address."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = parse_address(address, "--connect")
        self.label = f"the system at {format_address(self._address)}"

    def open(self, patience_s: float) -> tuple[int, int]:
        try:
            return self._take(socket.create_connection(self._address, patience_s))
        except OSError as error:
            raise Refusal(
                f"cannot connect to {format_address(self._address)}: {error.strerror or error}; start the system first"
            ) from None


class Listener(_Socket):
    """A system that connects to us, the first that does; after it, nobody can."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = parse_address(address, "--listen")
        self.label = f"the system that connected to {format_address(self._address)}"

    def open(self, patience_s: float) -> tuple[int, int]:
        host, _ = self._address
        try:
            server = socket.create_server(self._address, family=_family(host), backlog=1)
        except OSError as error:
            reason = error.strerror or str(error)
            raise Refusal(f"cannot listen at {format_address(self._address)}: {reason}; choose another port") from None
        with server:
            log.info("waiting for a system to connect to %s", format_address(server.getsockname()[:2]))
            server.settimeout(patience_s)
            try:
                return self._take(server.accept()[0])
            except TimeoutError:
                raise Refusal(
                    f"no system connected to {format_address(self._address)} within {patience_s:g} s; "
                    "--patience waits longer"
                ) from None


def parse_address(text: str, option: str) -> tuple[str, int]:
    """HOST:PORT, [HOST]:PORT, or a port of this machine."""
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise Refusal(f"{option} {text}: give HOST:PORT, as in {LOOPBACK}:9000")
    return host.removeprefix("[").removesuffix("]") or LOOPBACK, int(port)


def format_address(address: tuple[str, int]) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
