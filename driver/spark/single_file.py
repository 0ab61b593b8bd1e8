"""Tables as one file each, written by Spark's tasks in parts and put together in order."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from polling_baseline.refusal import Refusal


def write_lines(table: DataFrame, path: Path, heading: str = "") -> None:
    """Write a sorted table as CSV, or as it is if it has but one column; the file appears when it is complete."""
    parts = path.absolute().with_name(f".{path.name}.parts-{os.getpid()}")
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(table.columns) == 1:
            table.write.text(str(parts))
        else:
            table.write.csv(str(parts), escape='"', emptyValue="")
        with partial.open("wb") as whole:
            whole.write(heading.encode())
            for part in sorted(parts.glob("part-*")):
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole)
        partial.replace(path)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}") from None
    finally:
        shutil.rmtree(parts, ignore_errors=True)
        partial.unlink(missing_ok=True)
