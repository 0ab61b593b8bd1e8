"""The command `lrb`, under a name that nobody else has.

Its packages are called `driver` and `polling_baseline`, and so may be others on PYTHONPATH: ours come first.  A wheel
carries them in this folder; in a checkout they lie beside it.
"""

from __future__ import annotations

import sys
from pathlib import Path


def run() -> None:
    folder = Path(__file__).resolve().parent
    sys.path.insert(0, str(folder if (folder / "driver").is_dir() else folder.parent))
    from driver.cli.__main__ import run as run_command

    run_command()
