"""A `rating.json` made without a search, in which everything is as large as it gets."""

from __future__ import annotations

from typing import Any

from driver.run.limits import TIBBETTS

CANDIDATE = {
    "xways": 999.5,
    "run": "runs/0001",
    "minutes": [161, 180],
    "verdict": "in time",
    "right": False,
    "max_response_s": 52_443.123,
    "tuples_per_s": 123_456_789,
}
RATING: dict[str, Any] = {
    "kind": "peak",
    "engine": "structured_streaming",
    "rating": 999.5,
    "minutes": [161, 180],
    "clock": "virtual",
    "seed": 2**63 - 1,
    "step": 0.5,
    "distinct": 999,
    "max": 1000.0,
    "loser": None,
    "settings": {"limits": dict(TIBBETTS)},
    "candidates": [CANDIDATE],
}
