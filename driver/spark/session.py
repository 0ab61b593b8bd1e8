"""One Spark session per process, quiet and offline, on the machine itself or on a cluster.

Java works in a private folder, which vanishes with the process and holds its log and all its temporary files.  They
are named from there: Spark would take a comma in a path for the end of a folder's name.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.spark.class_archive import archive_option, keep_archive
from driver.spark.cluster import LOOPBACK, Cluster, find_cluster
from driver.spark.java import java_home
from polling_baseline.project import ROOT
from polling_baseline.refusal import Refusal
from polling_baseline.scratch import scratch, scratch_lock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("lrb")
MAX_DRIVER_MB = 8192
LOG = "spark.log"
UTF8_LOCALE = "C.UTF-8"
# Java may have an archive to write.
END_S = 60
REACH_S = 5.0


def session(master: str = "local[*]", app: str = "Linear Road", steady: bool = False) -> SparkSession:
    """The session of this process: the running one if there is one, whatever its master.

    With `steady`, it is to do the same work again and again.
    """
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context:
        return SparkSession.builder.getOrCreate()
    _check_reachable(master)
    # An interrupt is no error, but py4j shows its stack, on its own loggers and on the root.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    logging.getLogger().addFilter(_is_not_py4j)
    # The gateway to Java outlives a stopped session; the next one takes it again.
    gateway = SparkContext._gateway or _launch(master, steady)
    conf = SparkConf(_jvm=gateway.jvm).setMaster(master).setAppName(app)
    if ours := _our_cluster(master):
        # Past the command line, which others can read.
        conf.set("spark.authenticate.secret", ours.secret)
    try:
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except Py4JError as error:
        raise _refusal(master, gateway.folder, str(getattr(error, "java_exception", error))) from None


def _check_reachable(master: str) -> None:
    """Refuse a standalone cluster that nobody answers for; Spark itself would try for minutes."""
    addresses = re.findall(r"([^,/]+):(\d+)", master) if master.startswith("spark://") else []
    for host, port in addresses:
        with suppress(OSError), socket.create_connection((host, int(port)), REACH_S):
            return
    if addresses:
        raise Refusal(
            f"no Spark cluster answers at --master {master}; lrb cluster start starts one on this machine, "
            "and without --master this machine does it alone"
        )


def close(in_haste: bool = False) -> None:
    """End Spark and its Java with all that they are doing; the next `session` starts afresh.

    At its end, Java may write an archive of its classes, which takes seconds, unless one is in haste.
    """
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
    if in_haste:
        gateway.proc.kill()
    gateway.proc.stdin.close()
    java, spark = gateway.homes
    if ends_by_itself(gateway.proc):
        keep_archive(java, spark, gateway.folder)
    shutil.rmtree(gateway.folder, ignore_errors=True)


def ends_by_itself(java: subprocess.Popen[Any], within_s: float = END_S) -> bool:
    """Wait for a Java that was told to end; one that takes too long is killed, and what it was writing is not whole."""
    try:
        return java.wait(within_s) >= 0
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()
        return False


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


def _launch(master: str, steady: bool) -> Any:
    """Start Java, and give the gateway that SparkContext wants."""
    import pyspark
    from pyspark import SparkConf
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    log.info("starting Spark")
    folder = scratch("spark")
    before, temporary = dict(os.environ), tempfile.tempdir
    try:
        homes = java_home(folder).absolute(), Path(pyspark.__file__).parent
        os.environ.update(_environment(master, folder, *homes))
        # Where pyspark and Java tell each other the port of the gateway and its secret.
        tempfile.tempdir = str(folder)
        settings = _settings(master, folder, f"{_java_options(steady)} {archive_option(*homes, folder)}")
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with (folder / LOG).open("wb") as output:
            options = {"stdout": output, "stderr": output, "cwd": folder, "pass_fds": (scratch_lock(),)}
            gateway = launch_gateway(conf, options)
    except BaseException as error:
        refusal = _refusal(master, folder) if isinstance(error, PySparkException) else None
        shutil.rmtree(folder, ignore_errors=True)
        raise (refusal or error) from None
    finally:
        tempfile.tempdir = temporary
        os.environ.clear()
        os.environ.update(before, PYSPARK_PYTHON=_python(master))
    gateway.folder, gateway.homes = folder, homes
    atexit.register(close)
    return gateway


def _refusal(master: str, folder: Path, error: str = "") -> Refusal:
    """What the log says about a start that failed, in one sentence."""
    log = (folder / LOG).read_text(errors="replace") + error
    cause = re.search(r"\bERROR \w+: (.+)", log) or re.search(r"(?:Exception|Error): (.+)", log)
    return Refusal(f"Spark does not start with --master {master}: {cause[1] if cause else log[-200:].strip()}")


def _environment(master: str, folder: Path, java: Path, spark: Path) -> dict[str, str]:
    # The Spark that matches this pyspark, whatever else is installed; and an address that needs no name service.
    environment = {
        "JAVA_HOME": str(java),
        "SPARK_HOME": str(spark),
        "PYSPARK_PYTHON": _python(master),
        "PYTHONPATH": _python_path(),
        "TMPDIR": str(folder),
        # In a locale without UTF-8, or in one that is not installed, Java could not name every file.
        "LC_ALL": UTF8_LOCALE,
    }
    return environment | ({"SPARK_LOCAL_IP": LOOPBACK} if is_local(master) or _our_cluster(master) else {})


def _python_path() -> str:
    """What tasks import from besides the installed packages; they work in another folder."""
    given = [str(Path(name).absolute()) for name in os.environ.get("PYTHONPATH", "").split(os.pathsep) if name]
    return os.pathsep.join([str(ROOT), *given])


def _python(master: str) -> str:
    """The interpreter of the tasks; a cluster's workers may keep theirs elsewhere, as PYSPARK_PYTHON then says."""
    return sys.executable if is_local(master) else os.environ.get("PYSPARK_PYTHON", sys.executable)


def _settings(master: str, folder: Path, java_options: str) -> dict[str, str]:
    memory_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    settings = {
        "spark.master": master,
        "spark.driver.memory": f"{min(memory_mb // 2, MAX_DRIVER_MB)}m",
        "spark.local.dir": ".",
        "spark.sql.warehouse.dir": "warehouse",
        "spark.jars.ivy": str(folder / "ivy"),
        # The tasks find our packages first, whatever else PYTHONPATH names or the working folder holds.
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.executorEnv.PYTHONSAFEPATH": "1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Otherwise each operation on a column looks up its line of Python, which a small judgement feels.
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        # Nobody looks at the page that would show each plan, and to write it down takes as long as to make it.
        "spark.sql.ui.explainMode": "simple",
        "spark.sql.maxPlanStringLength": "1",
        "spark.driver.extraJavaOptions": java_options,
        "spark.executorEnv.LC_ALL": UTF8_LOCALE,
    }
    ours = _our_cluster(master)
    if ours:
        settings |= {"spark.executor.memory": f"{ours.memory_mb}m"}
    if is_local(master) or ours:
        settings |= {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
        # Other users of the machine reach the ports, too.  Java draws the secret, or has it from our cluster.
        settings |= {"spark.authenticate": "true"}
    return settings


def _java_options(steady: bool) -> str:
    """What makes a judgement of three hours cheaper, unless the user has settings of their own.

    The collector for throughput; and only what is done very often is worth Java's slow compiler, which otherwise spends
    most of its time on the code that plans the work and on Spark's own compiler.  Of steady work, that is all of it.
    """
    ours = " -XX:+UseParallelGC" + ("" if steady else " -XX:CompileThresholdScaling=4")
    return "-XX:-UsePerfData -Djava.io.tmpdir=." + ("" if os.environ.get("JDK_JAVA_OPTIONS") else ours)


def _our_cluster(master: str) -> Cluster | None:
    return find_cluster(master) if master.startswith("spark:") else None


def is_local(master: str) -> bool:
    return re.fullmatch(r"local(\[.*\])?", master) is not None
