"""Judged runs and ratings made without an engine, bundles of them, and bundles that somebody has changed."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from driver.cli import main
from driver.rating.candidate import candidate_of, gave_out
from driver.rating.rating import _candidate_record
from driver.run.record import read_run, write_run
from tests.support.made_run import make_run, verdict

Change = Callable[[dict[str, Any]], None]


def judged_run(
    folder: Path, xways: float = 0.5, minutes: int = 2, change: Change = lambda record: None, **config: Any
) -> Path:
    """A run with the verdict that its times give; `change` alters what `run.json` says before it is judged."""
    make_run(folder, minutes, **config)
    record = json.loads((folder / "run.json").read_text())
    record["dataset"] |= {"xways": xways, "distinct": 1}
    change(record)
    said = verdict(record)
    (folder / "verdict.json").write_text(json.dumps(said))
    write_run(folder, {**record, "verdict": said["verdict"]})
    return folder


def bundle_of(folder: Path, path: Path, *options: str) -> Path:
    assert main(["bundle", str(folder), "--out", str(path), *options]) == 0
    return path


def rewritten(bundle: Path, path: Path, changes: dict[str, Change], fit: bool = True) -> Path:
    """The bundle with some of its JSON files changed, by the ends of their names; with `fit`, so are checksums."""
    with zipfile.ZipFile(bundle) as source:
        files = {name: source.read(name) for name in source.namelist()}
    for end, change in changes.items():
        (name,) = [name for name in files if name.endswith(end)]
        record = json.loads(files[name])
        change(record)
        files[name] = json.dumps(record).encode()
    if fit and "bundle.json" not in changes:
        manifest = json.loads(files["bundle.json"])
        manifest["files"] = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in files.items()
            if name != "bundle.json"
        }
        files["bundle.json"] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as target:
        for name, data in files.items():
            target.writestr(name, data)
    return path


def made_rating(folder: Path, xways: float, minutes: int = 2, **config: Any) -> Path:
    """A rating in which L passed and L + 1 was late."""
    runs = {
        f"runs/0001-{config.get('engine', 'polling')}-L{xways:g}": (xways, 0.02),
        f"runs/0002-{config.get('engine', 'polling')}-L{xways + 1:g}": (xways + 1, 6.0),
    }
    candidates = []
    for place, (of_run, took_s) in runs.items():
        judged_run(folder / place, of_run, minutes, service_s=lambda second, took_s=took_s: took_s, **config)
        candidates.append(candidate_of(folder / place, read_run(folder / place)))
    winner, loser = candidates
    run = read_run(winner.run)
    settings = {name: value for name, value in run["config"].items() if name != "xways"}
    record = {
        "format": 1,
        "rating": xways,
        "ratings": [xways],
        "kind": "part",
        "engine": run["config"]["engine"],
        "minutes": [1, minutes],
        "distinct": 1,
        "seed": 42,
        "clock": run["config"]["clock"],
        "step": 1.0,
        "max": 10.0,
        "winner": winner.run.name,
        "loser": loser.run.name,
        "gave_out": gave_out(loser.run),
        "candidates": [_candidate_record(candidate, folder) for candidate in candidates],
        "environment": run["environment"],
        "settings": settings,
    }
    (folder / "rating.json").write_text(json.dumps(record))
    return folder
