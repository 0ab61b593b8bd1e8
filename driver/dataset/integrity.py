"""Whether the files of a data set are still those that it was made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from driver.dataset.folder import Dataset, sha256_of
from driver.progress import progress
from polling_baseline.refusal import Refusal


def check_files(dataset: Dataset) -> None:
    """Refuse a data set if a file that counts is not what `dataset.json` says; a second of work per GB and core.

    A file is read once per command, unless it changes in the meantime.
    """
    total = sum(info["bytes"] for info in dataset.counted_files.values())
    pool = ThreadPoolExecutor()
    try:
        digests = pool.map(_digest, (dataset.path / name for name in dataset.counted_files))
        with progress("checking the data set", max(total, 1)) as advance:
            for (name, info), digest in zip(dataset.counted_files.items(), digests, strict=True):
                if digest != info["sha256"]:
                    raise Refusal(f"{dataset.path / name} is damaged; make the data set again")
                advance(info["bytes"])
    finally:
        pool.shutdown(cancel_futures=True)


def _digest(path: Path) -> str:
    try:
        status = path.stat()
        return _digest_of(path, status.st_ino, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}") from None


@cache
def _digest_of(path: Path, *_state: int) -> str:
    return sha256_of(path)
