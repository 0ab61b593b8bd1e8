"""A batch, shared out: each vehicle has its shard, whichever expressway it is on."""

from __future__ import annotations

import itertools

import numpy as np

from polling_baseline.batch import Batch, Columns
from polling_baseline.engines.structured_streaming.columns import taken
from polling_baseline.engines.structured_streaming.places import place_of
from polling_baseline.engines.structured_streaming.shard import Work

# Spreads neighbours over all shards; odd, and not the number that spreads them over pages.
SPREAD = np.uint32(2246822519)


def shared_out(batch: Batch, shards: int, summary: bytes | None = None) -> list[Work]:
    """What each shard gets of a batch; the summary of the minute before is for all of them."""
    [share] = batch.shares
    reports = dict(share.reports)
    xway, direction, seg = (reports.pop(name).astype(np.int32) for name in ("xway", "dir", "seg"))
    reports["place"] = place_of(xway, direction, seg)
    parts = zip(_parts(reports, shards), _parts(share.requests, shards), strict=True)
    return [Work(batch.seconds, *part, summary) for part in parts]


def shard_of(vehicles: np.ndarray, shards: int) -> np.ndarray:
    return (vehicles.astype(np.uint32) * SPREAD >> np.uint32(16)).astype(np.uint16) % np.uint16(shards)


def _parts(columns: Columns, shards: int) -> list[Columns]:
    """The rows of each shard, in their old order."""
    if shards == 1:
        return [columns]
    shard = shard_of(columns["vehicle_id"], shards)
    order = np.argsort(shard, kind="stable")
    edges = np.searchsorted(shard[order], range(shards + 1))
    return [taken(columns, order[start:stop]) for start, stop in itertools.pairwise(edges)]
