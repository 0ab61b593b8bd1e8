"""`lrb`, and `python -m driver.cli`."""

from __future__ import annotations

import sys

from driver.cli import main


def run() -> None:
    sys.exit(main())


if __name__ == "__main__":
    run()
