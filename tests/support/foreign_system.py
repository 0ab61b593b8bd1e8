"""A system that is not ours, good or bad: `docs/examples/plain_python.py`, with manners of its own.

foreign_system.py MANNER... [tcp-connect PORT | tcp-listen PORT]
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
sys.path.insert(0, str(EXAMPLES))

import plain_python  # noqa: E402

AT_S = 40  # the second at which a bad system shows that it is one
LINE, MANY = b"2,7,-1,7,7,0\n", 5_000_000


def use_socket(connection: socket.socket) -> None:
    """From now on the connection is standard input and output."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for descriptor in (0, 1):
        os.dup2(connection.fileno(), descriptor)
    connection.close()


def connected(port: int) -> socket.socket:
    """The driver may not listen yet."""
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.05)


def misbehave(manner: str, second: int) -> None:
    if manner == "slow":
        time.sleep(0.02)
    if second != AT_S:
        return
    out = sys.stdout.buffer
    if manner == "crash":
        sys.stdout.flush()
        raise RuntimeError("this system cannot go on")
    if manner == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if manner == "close":
        sys.stdout.flush()
        os.close(1)
        time.sleep(60)
    if manner == "garbage":
        out.write(b"0,1,2\x00,\x1b[31m\xff\n")
    if manner == "long":
        piece = b"7" * (1 << 20)
        for _ in range(100):
            out.write(piece)
    if manner == "flood":
        out.write(MANY * LINE)
    if manner == "future":
        out.write(b"3,9999,-1,1,0\n")
    if manner == "unknown":
        out.write(b"5,1,-1,1,0\n")
    if manner == "stall":
        out.flush()
        time.sleep(60)
    out.flush()


def lie(manner: str, answers: list[str]) -> list[str]:
    """What it says instead."""
    if manner == "lie":
        return [answer[:-1] + "7" if answer.startswith("0,") else answer for answer in answers]
    if manner == "twice":
        return answers + [answer for answer in answers if answer.startswith("0,")]
    if manner == "mute":
        return [answer for answer in answers if answer.startswith("mark")]
    if manner == "no-echo":
        return [answer for answer in answers if not answer.startswith("mark")]
    if manner == "early-emit":
        return [answer.replace(",-1,", ",0.001,", 1) for answer in answers]
    return answers


def main() -> None:
    words, *where = sys.argv[1:]
    manner = words.partition(",")[0]
    if where:
        kind, port = where[0], int(where[1])
        if kind == "tcp-connect":
            use_socket(connected(port))
        else:
            with socket.create_server(("127.0.0.1", port)) as server:
                use_socket(server.accept()[0])
    if manner == "no-ready":
        time.sleep(60)
    if manner == "hello":
        print("hello", flush=True)
    if manner == "fail-at-once":
        print("no licence", file=sys.stderr)
        sys.exit(7)
    if manner == "deaf":
        sys.stdin.readline()
        print("ready", flush=True)
        time.sleep(60)

    def tell(road: plain_python.LinearRoad) -> None:
        if road.answers and road.answers[-1].startswith("mark"):
            misbehave(manner, int(road.answers[-1].split()[1]))
        if answers := lie(manner, road.answers):
            print("\n".join(answers), flush=True)
        road.answers.clear()

    plain_python.tell = tell
    plain_python.main()
    if manner == "talk":
        sys.stdout.buffer.write(MANY * LINE)
    if manner == "hang":
        time.sleep(60)
    if manner == "bad-end":
        print("could not tidy up", file=sys.stderr)
        sys.exit(3)


if __name__ == "__main__":
    main()
