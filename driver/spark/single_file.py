"""Tables as one file each, written by Spark's tasks in parts and put together in order."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import DataFrame

from driver.spark.java import path_for_java
from polling_baseline.files import complete_file, partial_folder
from polling_baseline.refusal import Refusal


def write_lines(table: DataFrame, path: Path, heading: str = "") -> None:
    """Write a sorted table as CSV, or as it is if it has but one column; the file appears when it is complete."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial_folder(path) as folder, complete_file(path) as whole:
            parts = folder / "parts"
            if len(table.columns) == 1:
                table.write.text(path_for_java(parts))
            else:
                table.write.csv(path_for_java(parts), escape='"', emptyValue="")
            whole.write(heading.encode())
            for part in sorted(parts.glob("part-*")):
                with part.open("rb") as piece:
                    shutil.copyfileobj(piece, whole)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}") from None
