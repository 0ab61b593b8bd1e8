"""`python -m tests.engines.dying engine._cycle after 3 run ...`: `lrb run ...` that kills itself at that call.

`torn` instead of `before` or `after`: after the call, and with what was written so far on the disk.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any

from driver.cli import main
from driver.run.recording import Recording
from polling_baseline.engines.duckdb.session import Session
from polling_baseline.engines.structured_streaming.query import Query
from polling_baseline.engines.system_x.polling import Polling
from polling_baseline.engines.system_x.trigger import Trigger

CLASSES = {"engine": (Polling, Trigger), "session": (Session,), "query": (Query,), "recording": (Recording,)}


def die_at(name: str, when: str, call: int) -> None:
    """Replace the function by one that does the same, but for one call."""
    owner, _, method = name.partition(".")
    calls = itertools.count(1)
    for each in CLASSES[owner]:
        setattr(each, method, deadly(getattr(each, method), when, call, calls))


def deadly(function: Callable[..., Any], when: str, call: int, calls: Iterator[int]) -> Callable[..., Any]:
    def called(self: Any, *args: Any) -> Any:
        now = next(calls) == call
        if now and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(self, *args)
        if now:
            if when == "torn":
                self._output.write(b"0,1,2,3.0")
                self._output.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return called


if __name__ == "__main__":
    die_at(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.exit(main(sys.argv[4:]))
