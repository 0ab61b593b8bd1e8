"""The command `lrb`, under a name that nobody else has.

Its packages are called `driver` and `polling_baseline`, and so may be others on PYTHONPATH: ours come first.  A wheel
carries them in this folder; of a checkout, an editable install has put the folder on Python's path.
"""

from __future__ import annotations

import sys
from pathlib import Path


def run() -> None:
    beside = Path(__file__).resolve().parent
    places = [beside, *map(Path, sys.path)]
    ours = next(place for place in places if (place == beside and (place / "driver").is_dir()) or _is_checkout(place))
    sys.path.insert(0, str(ours))
    from driver.cli.__main__ import run as run_command

    run_command()


def _is_checkout(folder: Path) -> bool:
    return (folder / "driver" / "launcher").is_dir()
