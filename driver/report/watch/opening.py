"""Runs to be watched together: they must be of one road, and the road must be there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driver.dataset.folder import Dataset, open_dataset
from driver.progress import progress
from driver.report.watch.broadcast import RUNNING, Broadcast
from driver.report.watch.road import choose_xways, read_road
from driver.run.journal import OUTPUT
from driver.run.record import RunRecord, open_run
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_command


def open_broadcast(folders: Sequence[Path], dataset: Path | None = None, xways: str | None = None) -> Broadcast:
    """All that is known of these runs so far."""
    runs = [open_run(folder) for folder in folders]
    for run in runs:
        _check_output(run)
    _check_one_road(runs)
    data = _dataset(runs[0], folders, dataset)
    chosen = choose_xways(xways, list(data.traffic))
    first, last = runs[0].minutes
    with progress("reading the road", len(chosen) * (last - first + 1)) as advance:
        road = read_road(data, chosen, runs[0].config.seconds, advance)
    broadcast = Broadcast(runs, road)
    with progress("reading the answers", max(broadcast.left, 1)) as advance:
        broadcast.read_all(advance)
    return broadcast


def _check_output(run: RunRecord) -> None:
    if run.json["state"] != RUNNING and not (run.folder / OUTPUT).is_file():
        raise Refusal(f"{run.folder} has no {OUTPUT}, so there is nothing to watch; run it again with lrb run")


def _check_one_road(runs: Sequence[RunRecord]) -> None:
    first = runs[0]
    for run in runs[1:]:
        for what, own, others in (
            ("data sets", run.json["dataset"]["identity"], first.json["dataset"]["identity"]),
            ("numbers of expressways", run.json["dataset"]["xways"], first.json["dataset"]["xways"]),
            ("minutes", run.minutes, first.minutes),
        ):
            if own != others:
                raise Refusal(
                    f"{first.folder} and {run.folder} are runs of different {what}, so they have no time line in "
                    "common; watch them one by one, or make them alike with lrb run"
                )


def _dataset(run: RunRecord, folders: Sequence[Path], moved: Path | None) -> Dataset:
    """The data set of the runs, at its place or where it was moved to."""
    path = moved or Path(run.config.dataset)
    if moved is None and not path.exists():
        raise Refusal(
            f"{path}, the data set of {run.folder}, is no longer there; "
            f"give its place: {format_command('watch', *folders)} --dataset DATASET"
        )
    dataset = open_dataset(path)
    if dataset.identity != run.json["dataset"]["identity"]:
        raise Refusal(f"{path} is not the data set of {run.folder}; give the one that it was run on with --dataset")
    return run.config.part_of(dataset)
