"""Who else may talk to the Java that we start: nobody."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

RPC_REQUEST = 3


def answer_to(port: int, message: bytes) -> bytes:
    """What a server says to somebody who knows no secret, until it hangs up or has nothing to say."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(message)
        return connection.recv(1 << 16)


def test_ports_of_spark_ask_for_a_secret(spark):
    context = spark.sparkContext
    blocks = context._jsc.sc().getExecutorMemoryStatus().keys().head()
    body = b"anything"
    request = struct.pack(">bqi", RPC_REQUEST, 1, len(body)) + body
    for port in (int(context.getConf().get("spark.driver.port")), int(blocks.rpartition(":")[2])):
        answer = answer_to(port, struct.pack(">q", 8 + len(request)) + request)
        assert b"Expected SaslMessage" in answer


def test_the_gateway_asks_for_a_secret(spark):
    port = spark.sparkContext._gateway.java_parameters.port
    assert b"Authentication error" in answer_to(port, b"c\nz:java.lang.System\nexit\ni1\ne\n")


def test_no_secret_is_in_the_list_of_processes(spark):
    gateway = spark.sparkContext._gateway
    command = Path(f"/proc/{gateway.proc.pid}/cmdline").read_bytes()
    assert b"spark.authenticate=true" in command
    assert b"secret" not in command.lower()
    assert gateway.java_parameters.auth_token.encode() not in command
    assert gateway.java_parameters.auth_token not in (gateway.folder / "spark.log").read_text()
