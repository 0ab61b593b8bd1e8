"""Who else may talk to the Java that we start, nobody; and how long it lives, no longer than its command."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from polling_baseline.scratch import PREFIX, remove_abandoned
from tests.conftest import lrb_options
from tests.support.processes import working_in
from tests.support.strangers import answer_to, spark_asks_for_a_secret

START = "from driver.spark.session import session; session('local[1]')"


def test_ports_of_spark_ask_for_a_secret(spark):
    context = spark.sparkContext
    blocks = context._jsc.sc().getExecutorMemoryStatus().keys().head()
    for port in (int(context.getConf().get("spark.driver.port")), int(blocks.rpartition(":")[2])):
        assert spark_asks_for_a_secret(port)


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


def wait_until(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_java_ends_with_its_command_and_then_its_folder_goes(tmp_path):
    """Were the next command to remove the folder of a Java that is starting, that Java would live for ever."""
    process = subprocess.Popen([sys.executable, "-c", START], env=lrb_options({"TMPDIR": tmp_path})["env"])
    wait_until(lambda: any("org/apache/spark" in log.read_text() for log in tmp_path.glob("*/*/spark.log")))
    process.kill()
    process.wait()

    def all_is_gone() -> bool:
        remove_abandoned(tmp_path.glob(f"{PREFIX}*"))
        return not working_in(tmp_path) and not list(tmp_path.iterdir())

    wait_until(all_is_gone)
