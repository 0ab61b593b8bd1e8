"""Classical flat files, and history files beside them, become a data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from driver.dataset.flat_file import NOT_INTEGERS, TIME_LOWER, kind_of
from driver.dataset.folder import describe, new_folder
from driver.dataset.merge import Merge, merge
from driver.dataset.packed_file import STDIN
from driver.dataset.rejects import Reject, Rejects
from driver.progress import progress
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_count

HINTS = {
    kind_of(NOT_INTEGERS): "is it a flat file of Linear Road, 15 integers a line with commas between, LF at the end?",
    kind_of(TIME_LOWER): "it is not sorted by Time; sort it with: sort -s -t, -k2,2n",
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What to import, and how."""

    files: list[Path]
    toll_history: Path | None = None
    segment_history: Path | None = None
    xways: float | None = None
    strict: bool = False


# Writes the history into the folder of a data set, and counts its rows; each row that it does not take, it rejects.
ImportHistory = Callable[[Path, Reject], dict[str, int]]


def without_history(_folder: Path, _reject: Reject) -> dict[str, int]:
    return {"toll_history": 0, "segment_history": 0}


def import_dataset(
    options: ImportOptions, out: Path, force: bool = False, import_history: ImportHistory = without_history
) -> list[str]:
    """Write the data set `out`, and give what is worth a warning; nothing is left of it when something is refused."""
    for path in options.files:
        if options.files.count(path) > 1:
            raise Refusal(f"{path} is named twice")
    histories = [path for path in (options.toll_history, options.segment_history) if path]
    for path in histories:
        if not path.exists():
            raise Refusal(f"{path} does not exist")
    with new_folder(out, force) as folder:
        rejects = Rejects(folder, [*options.files, *histories], options.strict)
        sizes = [path.stat().st_size if path != STDIN and path.is_file() else 0 for path in options.files]
        with progress("import", max(sum(sizes), 1)) as advance:
            merged = merge(options.files, folder, options.xways, rejects, advance)
        _see_that_some_were_accepted(merged, rejects)
        xways = length_of_road(merged.seen, options.xways)
        counts = {
            "reports": int(merged.counts[spec.REPORT]),
            "balance": int(merged.counts[spec.BALANCE]),
            "expenditure": int(merged.counts[spec.EXPENDITURE]),
            "travel_time": int(merged.counts[spec.TRAVEL_TIME]),
            "vehicles": len(merged.vehicles),
            **import_history(folder, rejects.add_one),
            "rejects": rejects.by_kind.total(),
        }
        rejects.refuse()
        rejects.close()
        made_by: dict[str, object] = {
            "command": "import",
            "files": [str(path) for path in options.files],
            "xways": options.xways,
            "rejects_by_reason": dict(rejects.by_kind.most_common()),
        }
        seconds = merged.minutes * spec.MINUTE_S
        describe(folder, xways=xways, seconds=seconds, seed=None, counts=counts, options=made_by)
    return list(_warnings(merged, rejects))


def _see_that_some_were_accepted(merged: Merge, rejects: Rejects) -> None:
    if not any(merged.accepted.values()):
        rejects.refuse()
        files = " and ".join(merged.accepted)
        if not rejects.by_kind:
            raise Refusal(f"{files}: no lines at all; is the file complete?")
        kind = rejects.by_kind.most_common(1)[0][0]
        raise Refusal(f"{files}: no acceptable line ({rejects.first}); {HINTS.get(kind, 'is it the right file?')}")


def _warnings(merged: Merge, rejects: Rejects) -> Iterator[str]:
    """What is probably wrong with a file of which more than half was rejected."""
    for file, accepted in merged.accepted.items():
        kinds = rejects.by_file[file]
        if kinds.total() > accepted:
            kind, count = kinds.most_common(1)[0]
            advice = HINTS.get(kind, "is it the right file?")
            yield f"{file}: {count:,} of {format_count(accepted + kinds.total(), 'line')} rejected ({kind}); {advice}"


def length_of_road(seen: np.ndarray, xways: float | None) -> float:
    """L as it was given, or as the rows show it: half an expressway less if the last one has but one direction."""
    named = np.flatnonzero(seen[:, 2])
    last = int(named[-1]) if len(named) else 0
    if xways is None:
        return last + (0.5 if seen[last, :2].sum() == 1 else 1.0)
    last = math.ceil(xways) - 1
    if xways % 1 and seen[last, :2].all():
        raise Refusal(
            f"expressway {last} has reports in both directions, so L is not {xways:g}: use --xways {last + 1}"
        )
    return xways
