"""One Spark session per process, quiet and offline, on the machine itself or on a cluster.

What Java and Spark have to say goes to a log in a temporary folder, which vanishes with the process.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.spark.java import java_home
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_DRIVER_MB = 8192
LOOPBACK = "127.0.0.1"
LOG = "spark.log"
END_S = 20


def session(master: str = "local[*]", app: str = "Linear Road") -> SparkSession:
    """The session of this process: the running one if there is one, whatever its master."""
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context:
        return SparkSession.builder.getOrCreate()
    # An interrupt is no error, but py4j shows its stack, on its own loggers and on the root.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_py4j)
    # The gateway to Java outlives a stopped session; the next one takes it again.
    gateway = SparkContext._gateway or _launch(master)
    conf = SparkConf(_jvm=gateway.jvm).setMaster(master).setAppName(app)
    try:
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except Py4JError as error:
        raise _refusal(master, gateway.scratch, str(getattr(error, "java_exception", error))) from None


def close() -> None:
    """End Spark and its Java with all that they are doing; the next `session` starts afresh."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext

    atexit.unregister(close)
    if (gateway := SparkContext._gateway) is None:
        return
    with warnings.catch_warnings(), suppress(Py4JError):
        warnings.simplefilter("ignore")
        # After an interrupt Java may not answer any more.
        if context := SparkContext._active_spark_context:
            context.stop()
    SparkContext._gateway = SparkContext._jvm = None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(END_S)
    shutil.rmtree(gateway.scratch, ignore_errors=True)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


def _launch(master: str) -> Any:
    """Start Java, and give the gateway that SparkContext wants."""
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    scratch = Path(tempfile.mkdtemp(prefix="lrb-spark-"))
    before = dict(os.environ)
    try:
        os.environ.update(_environment(master, scratch))
        conf = SparkConf(loadDefaults=False).setAll(list(_settings(master, scratch).items()))
        with (scratch / LOG).open("wb") as output:
            gateway = launch_gateway(conf, {"stdout": output, "stderr": output})
    except BaseException as error:
        refusal = _refusal(master, scratch) if isinstance(error, PySparkException) else None
        shutil.rmtree(scratch, ignore_errors=True)
        raise (refusal or error) from None
    finally:
        os.environ.clear()
        os.environ.update(before, PYSPARK_PYTHON=_python(master))
    gateway.scratch = scratch
    atexit.register(close)
    return gateway


def _refusal(master: str, scratch: Path, error: str = "") -> Refusal:
    """What the log says about a start that failed, in one sentence."""
    log = (scratch / LOG).read_text(errors="replace") + error
    cause = re.search(r"\bERROR \w+: (.+)", log) or re.search(r"(?:Exception|Error): (.+)", log)
    return Refusal(f"Spark does not start with --master {master}: {cause[1] if cause else log[-200:].strip()}")


def _environment(master: str, scratch: Path) -> dict[str, str]:
    import pyspark

    # The Spark that matches this pyspark, whatever else is installed; and an address that needs no name service.
    environment = {
        "JAVA_HOME": str(java_home(scratch)),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "PYSPARK_PYTHON": _python(master),
    }
    return environment | ({"SPARK_LOCAL_IP": LOOPBACK} if _is_local(master) else {})


def _python(master: str) -> str:
    """The interpreter of the tasks; a cluster's workers may keep theirs elsewhere, as PYSPARK_PYTHON then says."""
    return sys.executable if _is_local(master) else os.environ.get("PYSPARK_PYTHON", sys.executable)


def _settings(master: str, scratch: Path) -> dict[str, str]:
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    settings = {
        "spark.master": master,
        "spark.driver.memory": f"{min(memory_mb // 2, MAX_DRIVER_MB)}m",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.jars.ivy": str(scratch / "ivy"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.extraJavaOptions": _java_options(),
    }
    if _is_local(master):
        settings |= {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
    return settings


def _java_options() -> str:
    """What makes a judgement of three hours cheaper, unless the user has settings of their own.

    The collector for throughput; and only what is done very often is worth Java's slow compiler, which otherwise spends
    most of its time on the code that plans the work and on Spark's own compiler.
    """
    ours = "" if os.environ.get("JDK_JAVA_OPTIONS") else " -XX:+UseParallelGC -XX:CompileThresholdScaling=4"
    return "-XX:-UsePerfData" + ours


def _is_local(master: str) -> bool:
    return master.startswith("local")
