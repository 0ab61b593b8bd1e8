"""Many flat files become one file of traffic per expressway.

The files are read side by side, a minute at a time, so that memory depends on the traffic of a minute and on the number
of vehicles, never on the length of a file.  Which line wins, and where a request goes, does not depend on how the
lines are spread over files, except that of two reports of one vehicle and second the one in the file named first wins.
"""

from __future__ import annotations

import heapq
import math
import resource
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import numpy as np
import pyarrow as pa

from driver.dataset.flat_file import SECOND_REPORT, Chunk, kind_of, ranges, read_chunks, reason_for
from driver.dataset.folder import TrafficWriter, read_minutes, traffic_path
from driver.dataset.rejects import RejectedLine, Rejects
from driver.dataset.vehicles import FREE, Vehicles, slot_of
from polling_baseline import spec
from polling_baseline.batch import INPUT_SCHEMA
from polling_baseline.compiled import compiled

CHUNK_BYTES = 1 << 22
MIN_CHUNK_BYTES = 1 << 17
CHUNKS_BYTES = 1 << 27
# What _settle says instead of an expressway.
DUPLICATE, ORPHAN = -2, -1
ORPHANS = "orphans"
COLUMNS = tuple(INPUT_SCHEMA.names)


class Source:
    """One input file: its accepted lines minute by minute, its rejects as they come."""

    def __init__(self, path: Path, chunks: Iterator[Chunk], bounds: np.ndarray, rejects: Rejects) -> None:
        self.path, self.accepted = path, 0
        self._chunks, self._bounds, self._rejects = chunks, bounds, rejects
        self._chunk: Chunk | None = None
        self._next()

    def _next(self) -> None:
        """Go on to the next chunk that has an accepted line."""
        for chunk in self._chunks:
            self._reject(chunk)
            self.accepted += len(chunk.rows)
            if len(chunk.rows):
                self._chunk, self._at = chunk, 0
                self._seconds = np.ascontiguousarray(chunk.rows["second"])
                return
        self._chunk = None

    def _reject(self, chunk: Chunk) -> None:
        if len(chunk.rejects):
            self._rejects.add(str(self.path), "lines", (self._rejected(chunk, at) for at in chunk.rejects))

    def _rejected(self, chunk: Chunk, at: np.void) -> RejectedLine:
        verdict, text = int(at["verdict"]), chunk.text(at)
        return kind_of(verdict), int(at["line"]), reason_for(verdict, text, self._bounds), text

    @property
    def minute(self) -> int | None:
        """The minute of the next accepted line."""
        return None if self._chunk is None else spec.minute_of(int(self._seconds[self._at]))

    def take(self, minute: int) -> Iterator[tuple[np.ndarray, Chunk]]:
        """The lines of that minute, each piece with the chunk that holds its text."""
        while self._chunk and self.minute == minute:
            end = int(np.searchsorted(self._seconds, minute * spec.MINUTE_S))
            yield self._chunk.rows[self._at : end], self._chunk
            self._at = end
            if end == len(self._seconds):
                self._next()


@compiled
def _settle(kind, second, vehicle_id, xway, direction, ids, values, seen, home):  # type: ignore[no-untyped-def]
    """Find each row's expressway, for rows sorted by second; of a second's reports of a vehicle the first stays.

    `values` holds each vehicle's last report: its second and its expressway.  `seen` notes the directions of each
    expressway that have reports, and in its third column that the expressway is named at all.
    """
    start = 0
    for end in range(1, len(kind) + 1):
        if end < len(kind) and second[end] == second[start]:
            continue
        for row in range(start, end):
            home[row] = xway[row]
            if kind[row] == spec.REPORT:
                slot = slot_of(ids, vehicle_id[row])
                if values[slot, 0] == second[row]:
                    home[row] = DUPLICATE
                    continue
                ids[slot] = vehicle_id[row]
                values[slot, 0], values[slot, 1] = second[row], xway[row]
                seen[xway[row], direction[row]] = True
            if kind[row] != spec.BALANCE:
                seen[xway[row], 2] = True
        # Only now are all reports of this second known.
        for row in range(start, end):
            if kind[row] == spec.BALANCE:
                slot = slot_of(ids, vehicle_id[row])
                home[row] = ORPHAN if ids[slot] == FREE else values[slot, 1]
        start = end


class Merge:
    """Takes the rows of one minute after the other; closes with a complete `traffic` folder."""

    def __init__(self, folder: Path, rejects: Rejects) -> None:
        self.counts = np.zeros(max(spec.USED) + 1, np.int64)
        self.seen = np.zeros((spec.MAX_XWAYS, 3), np.bool_)
        self.vehicles = Vehicles(values=2)
        self.minutes = 0
        self.accepted: dict[str, int] = {}
        self._folder, self._rejects = folder, rejects
        self._writers: dict[int, TrafficWriter] = {}
        self._pool, self._writing = ThreadPoolExecutor(), list[Future[None]]()

    def take(self, minute: int, taken: list[tuple[Source, np.ndarray, Chunk]]) -> None:
        """Take a minute's lines, in the order of the files."""
        rows = np.concatenate([piece for _, piece, _ in taken])
        in_time = np.argsort(rows["second"], kind="stable")
        columns = [rows[name][in_time] for name in ("kind", "second", "vehicle_id", "xway", "dir")]
        self.vehicles.reserve(len(rows))
        home, home_in_time = np.empty((2, len(rows)), np.int16)
        _settle(*columns, self.vehicles.ids, self.vehicles.values, self.seen, home_in_time)
        home[in_time] = home_in_time
        self._reject(taken, np.flatnonzero(home == DUPLICATE))
        self.counts += np.bincount(rows["kind"][home != DUPLICATE], minlength=len(self.counts))
        self._finish_writing()
        self._writing = [
            self._pool.submit(self._writer(xway).write_minute, table) for xway, table in _by_xway(rows, home)
        ]
        self.minutes = minute

    def _finish_writing(self) -> None:
        """One minute is written while the next one is read, no more."""
        for write in self._writing:
            write.result()

    def _reject(self, taken: list[tuple[Source, np.ndarray, Chunk]], duplicates: np.ndarray) -> None:
        kind, start = kind_of(SECOND_REPORT), 0
        for source, piece, chunk in taken:
            first, last = np.searchsorted(duplicates, (start, start + len(piece)))
            if first < last:
                rows = piece[duplicates[first:last] - start]
                rejects = [(kind, int(row["line"]), kind, chunk.text(row)) for row in rows]
                self._rejects.add(str(source.path), "duplicates", rejects)
                source.accepted -= len(rejects)
            start += len(piece)

    def _writer(self, xway: int) -> TrafficWriter:
        """The writer of an expressway; requests that have none yet go to a folder of their own."""
        if xway not in self._writers:
            folder = self._folder / ORPHANS if xway == ORPHAN else self._folder
            self._writers[xway] = TrafficWriter(folder, max(xway, 0))
        return self._writers[xway]

    def close(self) -> None:
        """Complete all files, and give the requests without an expressway to the lowest one."""
        self._pool.shutdown()
        self._finish_writing()
        for writer in self._writers.values():
            writer.__exit__()
        if ORPHAN in self._writers:
            named = np.flatnonzero(self.seen[:, 2])
            _adopt(self._folder, int(named[0]) if len(named) else 0)
        self._writers.clear()


def _by_xway(rows: np.ndarray, home: np.ndarray) -> Iterator[tuple[int, pa.Table]]:
    """The rows of each expressway; requests in an order that depends on nothing but themselves."""
    reports = np.flatnonzero((rows["kind"] == spec.REPORT) & (home != DUPLICATE))
    requests = np.flatnonzero(rows["kind"] != spec.REPORT)
    requests = requests[np.lexsort([rows[name][requests] for name in reversed(COLUMNS)])]
    at = np.concatenate([reports, requests])
    at = at[np.argsort(home[at], kind="stable")]
    starts = np.flatnonzero(np.diff(home[at], prepend=DUPLICATE))
    for part in np.split(at, starts[1:]):
        if len(part):
            yield int(home[part[0]]), pa.table({name: rows[name][part] for name in COLUMNS})


def _adopt(folder: Path, xway: int) -> None:
    """Merge the orphans' file into that of an expressway."""
    path, orphans = traffic_path(folder, xway), folder / ORPHANS
    if path.exists():
        path = path.rename(orphans / "adopter.parquet")
        streams = [read_minutes(path), read_minutes(traffic_path(orphans, 0))]
    else:
        streams = [read_minutes(traffic_path(orphans, 0))]
    with TrafficWriter(folder, xway) as writer:
        merged = heapq.merge(*streams, key=itemgetter(0))
        for _, minute in groupby(merged, key=itemgetter(0)):
            table = pa.concat_tables(table for _, table in minute)
            writer.write_minute(table.sort_by([(name, "ascending") for name in COLUMNS]).combine_chunks())
    shutil.rmtree(orphans)


def merge(
    files: list[Path], folder: Path, xways: float | None, rejects: Rejects, advance: Callable[[float], None]
) -> Merge:
    """Write the `traffic` of a data set from flat files, in the order given."""
    bounds = ranges(spec.MAX_XWAYS if xways is None else math.ceil(xways))
    size = max(MIN_CHUNK_BYTES, min(CHUNK_BYTES, CHUNKS_BYTES // len(files)))
    _allow_open_files(len(files) + spec.MAX_XWAYS)
    sources = [Source(path, read_chunks(path, bounds, size, advance), bounds, rejects) for path in files]
    result = Merge(folder, rejects)
    try:
        while minutes := [source.minute for source in sources if source.minute]:
            minute = min(minutes)
            result.take(minute, [(source, *piece) for source in sources for piece in source.take(minute)])
    finally:
        result.close()
    result.accepted = {str(source.path): source.accepted for source in sources}
    return result


def _allow_open_files(more: int) -> None:
    """Every file that is read or written stays open: ask the system for more than its usual 1024, as far as it lets."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = more + 256
    if soft != resource.RLIM_INFINITY and soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
