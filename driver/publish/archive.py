"""A bundle from anywhere, unpacked: nothing in it is taken for granted."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from driver.json_record import fault_in
from driver.publish.record import FORMAT, KINDS, MANIFEST, OF_A_RUN, BundleRecord
from polling_baseline.refusal import Refusal
from polling_baseline.scratch import scratch

AGAIN = "get it again, or ask for another"
MOST_FILES = 5_000
# All files together; and one file packed so much better than records ever are is a bomb.
MOST_BYTES = 4 << 30
MOST_OF_A_RECORD = 64 << 20
MOST_TIMES_PACKED = 400
SMALL = 1 << 20
PLACE = re.compile(r"runs/[A-Za-z0-9_-][A-Za-z0-9._-]*/(?:" + "|".join(map(re.escape, OF_A_RUN)) + ")")
RECORDS = {MANIFEST, *filter(None, KINDS.values())}
BLOCK = 1 << 20


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, BundleRecord]]:
    """The folder of a bundle whose checksums all fit, while the block lasts, and its manifest."""
    try:
        with zipfile.ZipFile(path) as bundle:
            _check_entries(path, bundle)
            manifest = _manifest(path, bundle)
            folder = scratch("bundle")
            for name, info in manifest["files"].items():
                _unpack(path, bundle, name, info["bytes"], info["sha256"], folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise Refusal(f"{path} is damaged or cut, or no zip file ({error}); {AGAIN}") from None
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror or error}") from None
    yield folder, manifest


def _check_entries(path: Path, bundle: zipfile.ZipFile) -> None:
    """Before a byte is unpacked: names, kinds and sizes."""
    entries = bundle.infolist()
    if len(entries) > MOST_FILES:
        raise Refusal(f"{path} has {len(entries):,} files, more than any bundle; {AGAIN}")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise Refusal(f"{path} would unpack to more than {MOST_BYTES >> 30} GB; {AGAIN}")
    seen: set[str] = set()
    for entry in entries:
        name = entry.filename
        if name.startswith(("/", "\\")) or ":" in name or "\\" in name or ".." in name.split("/"):
            raise Refusal(f"{path} has a file that would leave its folder, {name!r}; do not trust it")
        if name in seen:
            raise Refusal(f"{path} has {name!r} twice; {AGAIN}")
        seen.add(name)
        if name not in RECORDS and not PLACE.fullmatch(name):
            raise Refusal(f"{path} has a file that no bundle has, {name!r}; {AGAIN}")
        if entry.flag_bits & 1 or stat.S_ISLNK(entry.external_attr >> 16):
            raise Refusal(f"{path} has an encrypted file or a link, {name!r}; {AGAIN}")
        packed_well = entry.file_size > MOST_TIMES_PACKED * max(entry.compress_size, 1)
        is_large = name.endswith(".json") and entry.file_size > MOST_OF_A_RECORD
        if is_large or (packed_well and entry.file_size > SMALL):
            raise Refusal(f"{path} unpacks {name!r} to {entry.file_size:,} bytes, as only a zip bomb does; {AGAIN}")


def _manifest(path: Path, bundle: zipfile.ZipFile) -> BundleRecord:
    if MANIFEST not in bundle.namelist():
        raise Refusal(f"{path} is a zip file, but no bundle: it has no {MANIFEST}; lrb bundle makes one")
    try:
        manifest = json.loads(bundle.read(MANIFEST))
    except (ValueError, RecursionError):
        raise Refusal(f"{path} is damaged: {MANIFEST} is not JSON; {AGAIN}") from None
    if (
        isinstance(manifest, dict)
        and isinstance(format_number := manifest.get("format"), int)
        and format_number > FORMAT
    ):
        raise Refusal(f"{path} has format {format_number}, this lrb reads {FORMAT}; take a newer lrb")
    if fault := fault_in(manifest, BundleRecord):
        raise Refusal(f"{path} is damaged: in {MANIFEST}, {fault}; {AGAIN}")
    record = cast(BundleRecord, manifest)
    if record["kind"] not in KINDS:
        raise Refusal(f"{path} is damaged: no bundle is a {record['kind']!r}; {AGAIN}")
    inside = set(bundle.namelist()) - {MANIFEST}
    if inside != record["files"].keys():
        other = min(inside ^ record["files"].keys())
        raise Refusal(f"{path} was changed: {other!r} is not both in it and in its list of files; {AGAIN}")
    return record


def _unpack(path: Path, bundle: zipfile.ZipFile, name: str, size: int, sha256: str, folder: Path) -> None:
    """One file into the folder, if it is what the manifest says."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, length = hashlib.sha256(), 0
    with bundle.open(name) as source, target.open("wb") as file:
        while (block := source.read(BLOCK)) and length <= size:
            digest.update(block)
            length += file.write(block)
    if length != size or digest.hexdigest() != sha256:
        raise Refusal(f"{path} was changed: {name} is not what its checksum says; {AGAIN}")
