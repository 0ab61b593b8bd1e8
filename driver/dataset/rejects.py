"""The lines that an import does not take: kept aside as they are found, put in order at the end."""

from __future__ import annotations

import csv
import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from polling_baseline.refusal import Refusal
from polling_baseline.wording import printable

HEADER = ("file", "line", "reason", "text")
NAMED = 5

RejectedLine = tuple[str, int, str, bytes]  # kind of reason, line, reason, text
Reject = Callable[[Path, int, str, str], None]  # file, line, reason, text


class Rejects:
    """Counts rejects by file and by kind of reason, and writes them to `rejects.csv`, by file and line.

    With `strict`, the first few make a Refusal as soon as they are known.
    """

    def __init__(self, folder: Path, files: Iterable[Path], strict: bool) -> None:
        self.by_kind: Counter[str] = Counter()
        self.by_file: dict[str, Counter[str]] = defaultdict(Counter)
        self._folder, self._strict = folder, strict
        self._first: list[str] = []
        # Named now, so that they come in this order whichever has the first reject.
        self._parts: dict[str, dict[str, Path]] = {str(file): {} for file in files}

    @property
    def first(self) -> str:
        return self._first[0]

    def add(self, file: str, source: str, rejects: Iterable[RejectedLine]) -> None:
        """Take rejects of one file; those of one source, of which it may have several, come in rising order of line."""
        parts = self._parts.setdefault(file, {})
        part = parts.setdefault(source, self._folder / f"rejects-{list(self._parts).index(file)}-{source}")
        with part.open("a", newline="", encoding="utf-8", errors="backslashreplace") as out:
            writer = csv.writer(out)
            for kind, line, reason, text in rejects:
                self.by_kind[kind] += 1
                self.by_file[file][kind] += 1
                if len(self._first) < NAMED:
                    self._first.append(f"{file} line {line}: {reason}")
                writer.writerow((file, line, reason, printable(text)))
        if self._strict and len(self._first) == NAMED:
            self.refuse()

    def add_one(self, file: Path, line: int, reason: str, text: str) -> None:
        """Take a line of a history file; its lines come in rising order."""
        kind = f"history: {reason}"
        self.add(str(file), "history", [(kind, line, reason, text.encode("utf-8", "replace"))])

    def refuse(self) -> None:
        """Refuse the import if it is strict and something was rejected."""
        if self._strict and self._first:
            named = "".join(f"\n  {reject}" for reject in self._first)
            raise Refusal(
                f"--strict, and not every line is acceptable:{named}\n"
                "correct the input, or leave out --strict to keep such lines aside; nothing was written"
            )

    def close(self) -> None:
        """Write `rejects.csv`."""
        with (self._folder / "rejects.csv").open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out)
            writer.writerow(HEADER)
            for parts in self._parts.values():
                with ExitStack() as opened:
                    streams = [_rows(path, opened) for path in parts.values()]
                    rows: Iterator[list[str]] = heapq.merge(*streams, key=_line)
                    writer.writerows(rows)
                for path in parts.values():
                    path.unlink()


def _rows(path: Path, opened: ExitStack) -> Iterator[list[str]]:
    return csv.reader(opened.enter_context(path.open(newline="", encoding="utf-8")))


def _line(row: list[str]) -> int:
    return int(row[1])
