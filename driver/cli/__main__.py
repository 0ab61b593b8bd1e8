"""`lrb`, and `python -m driver.cli`."""

from __future__ import annotations

import atexit
import os
import sys

from driver.cli import main


def run() -> None:
    """Run a command and end with its status.

    Native libraries may still be ending threads of theirs; Python's own way out would pull the ground from under them
    and now and then abort a command that has done all its work.
    """
    status = main()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
