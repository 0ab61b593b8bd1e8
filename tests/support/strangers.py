"""Somebody who knows no secret, at the ports of Spark."""

from __future__ import annotations

import socket
import struct

RPC_REQUEST = 3


def answer_to(port: int, message: bytes) -> bytes:
    """What a server says to them, until it hangs up or has nothing to say."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(message)
        return connection.recv(1 << 16)


def spark_asks_for_a_secret(port: int) -> bool:
    """Whether a request without one is refused."""
    body = b"anything"
    request = struct.pack(">bqi", RPC_REQUEST, 1, len(body)) + body
    return b"Expected SaslMessage" in answer_to(port, struct.pack(">q", 8 + len(request)) + request)
