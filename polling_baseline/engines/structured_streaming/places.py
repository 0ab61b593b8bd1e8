"""Segments of all expressways as one line of numbers: arrays over it are the statistics of the whole road."""

from __future__ import annotations

from typing import Any

from polling_baseline import spec

DIRECTIONS = 2


def place_of(xway: Any, direction: Any, seg: Any) -> Any:
    return road_of(xway, direction) * spec.SEGMENTS + seg


def road_of(xway: Any, direction: Any) -> Any:
    """One direction of one expressway."""
    return xway * DIRECTIONS + direction
