"""A run, a rating or a comparison as one file to hand on: its records, its cycles and the digest of its answers.

No data set, no secret and no path of this machine is in it.  The same folder gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from driver.json_record import read_json
from driver.publish import record as names
from driver.publish.output_digest import output_digest
from driver.publish.private import public_record, public_run
from driver.publish.record import FORMAT, KINDS, MANIFEST, BundleRecord
from driver.rating.record import RatingRecord
from driver.report.comparison import ComparisonRecord, read_comparison
from driver.run.record import read_run
from driver.run.verdict import read_verdict
from polling_baseline.files import complete_file
from polling_baseline.refusal import Refusal

# Every file in a bundle is from then.
BEGINNING = (1980, 1, 1, 0, 0, 0)
READABLE = 0o644 << 16
UNIX = 3
Announce = Callable[[str], None]


def kind_of(folder: Path) -> str:
    """`run`, `rating` or `comparison`."""
    if (folder / names.RUN).is_file():
        return "run"
    for kind, file in KINDS.items():
        if file and (folder / file).is_file():
            return kind
    raise Refusal(f"{folder} is no run, rating or comparison; lrb run, lrb rate and lrb compare make one")


def make_bundle(folder: Path, path: Path, with_output: bool, announce: Announce) -> BundleRecord:
    """Write the bundle of a folder, and give its manifest."""
    kind = kind_of(folder)
    runs, files = _runs_of(folder, kind)
    # What broke before its first answer cannot be judged.
    open_runs = [run for run in runs.values() if kind == "run" or (run / names.OUTPUT).is_file()]
    if kind != "rating" and (unjudged := [run for run in open_runs if read_verdict(run) is None]):
        raise Refusal(f"{unjudged[0]} is not judged, and nobody takes it without a verdict; judge it with lrb validate")
    for number, (place, run) in enumerate(runs.items(), 1):
        announce(f"reading {run.name}, {number} of {len(runs)}")
        files |= {f"{place}/{name}": data for name, data in _files_of(run, with_output).items()}
    manifest: BundleRecord = {
        "format": FORMAT,
        "kind": kind,
        "name": _clean(folder.resolve().name),
        "program": version("linear-road"),
        "files": {
            name: {"bytes": len(files[name]), "sha256": hashlib.sha256(files[name]).hexdigest()}
            for name in sorted(files)
        },
    }
    _write(path, {MANIFEST: _json(manifest), **{name: files[name] for name in sorted(files)}})
    return manifest


def _runs_of(folder: Path, kind: str) -> tuple[dict[str, Path], dict[str, bytes]]:
    """The folders of the runs by their places in the bundle, and the record beside them, which names these places."""
    if kind == "run":
        return {f"runs/{_clean(folder.resolve().name)}": folder}, {}
    if kind == "rating":
        rating = _read_rating(folder)
        places = {f"runs/{_clean(Path(one['run']).name)}": folder / one["run"] for one in rating["candidates"]}
        named = [{**one, "run": f"runs/{_clean(Path(one['run']).name)}"} for one in rating["candidates"]]
        return places, {"rating.json": _json(public_record({**rating, "candidates": named}))}
    comparison = read_comparison(folder)
    places, systems, number = {}, [], 0
    for system in comparison["systems"]:
        own = []
        for run in system["runs"]:
            number += 1
            own.append(f"runs/{number:03d}-{_clean(Path(run).name)}")
            places[own[-1]] = folder / run
        # They may have been judged after they were compared.
        judged = [read_verdict(folder / run) for run in system["runs"]]
        verdicts = [verdict and verdict["verdict"] for verdict in judged]
        systems.append({**system, "runs": own, "verdicts": verdicts})
    public: ComparisonRecord = {**comparison, "systems": systems}  # type: ignore[typeddict-item]
    return places, {"comparison.json": _json(public_record(public))}


def _read_rating(folder: Path) -> RatingRecord:
    remedy = "it may not be finished: the same lrb rate goes on with it"
    return read_json(folder / "rating.json", RatingRecord, remedy)


def _files_of(run: Path, with_output: bool) -> dict[str, bytes]:
    files = {names.RUN: _json(public_run(read_run(run)))}
    if (verdict := read_verdict(run)) is not None:
        # What an odd line says is nobody's business.
        files[names.VERDICT] = _json({**verdict, "lines": {**verdict["lines"], "examples": []}})
    if (run / names.CYCLES).is_file():
        files[names.CYCLES] = (run / names.CYCLES).read_bytes()
    output = run / names.OUTPUT
    if output.is_file():
        if digest := output_digest(output):
            files[names.DIGEST] = ("\n".join(digest) + "\n").encode()
        if with_output:
            files[names.OUTPUT] = output.read_bytes()
    return files


def _clean(name: str) -> str:
    """A name that every system takes."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".") or "result"


def _json(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=1) + "\n").encode()


def _write(path: Path, files: Mapping[str, bytes]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with complete_file(path) as file, zipfile.ZipFile(file, "w") as bundle:
            for name, data in files.items():
                entry = zipfile.ZipInfo(name, BEGINNING)
                entry.compress_type, entry.external_attr, entry.create_system = zipfile.ZIP_DEFLATED, READABLE, UNIX
                bundle.writestr(entry, data, compresslevel=6)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}; choose another --out") from None
