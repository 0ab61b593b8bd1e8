"""Which processes work where."""

from __future__ import annotations

from pathlib import Path

import psutil


def working_in(folder: Path) -> list[psutil.Process]:
    """The processes whose working folder is this one or below it, also if it has been removed."""
    processes = psutil.process_iter(["cwd"])
    return [process for process in processes if Path(process.info["cwd"] or "/").is_relative_to(folder)]
