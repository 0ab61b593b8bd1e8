"""The graphs of quality of service of each kind of answer: those of the benchmark, or those of a file.

    {"toll": {"delay": [[0, 1], [1, 1], [2, 0]], "delivered": [[0, 0], [0.8, 1]], "value": [[0, 1], [40, 1], [100, 0]]}}

A kind of answer, or a graph of one, that the file does not name stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from polling_baseline import spec
from polling_baseline.engines.aurora.model.qos import Graph, Quality
from polling_baseline.refusal import Refusal

GRAPHS = ("delay", "delivered", "value")
# The only one whose tuples have values that the shedder knows.
VALUED = "toll"


def quality_of(kind: str) -> Quality:
    """Good until half of what the benchmark allows, worthless at its limit; a toll matters most where Lav is low."""
    limit_s = spec.DEADLINE_S[kind]
    delay = Graph(((0.0, 1.0), (limit_s / 2, 1.0), (float(limit_s), 0.0)))
    worth = Graph(((0.0, 1.0), (float(spec.FREE_FLOW_MPH), 1.0), (float(spec.MAX_SPEED_MPH), 0.0)))
    return Quality(delay, value=worth if kind == VALUED else None)


def read_qualities(file: Path) -> dict[str, Quality]:
    """The graphs of the kinds of answer that a file names; a Refusal says what is wrong with it."""
    try:
        given = json.loads(file.read_text())
    except OSError as error:
        raise Refusal(f"cannot read {file}: {error.strerror}") from None
    except ValueError:
        raise Refusal(f"{file} is not JSON; docs/aurora.md shows what --qos takes") from None
    if not isinstance(given, dict) or not all(isinstance(graphs, dict) for graphs in given.values()):
        raise Refusal(f"{file} must hold an object: kind of answer -> graphs; docs/aurora.md shows one")
    if unknown := [kind for kind in given if kind not in spec.ANSWERS]:
        raise Refusal(f"{file}: there is no kind of answer {unknown[0]!r}; there are {', '.join(spec.ANSWERS)}")
    return {kind: _quality(kind, graphs, file) for kind, graphs in given.items()}


def _quality(kind: str, graphs: Mapping[str, object], file: Path) -> Quality:
    if unknown := [name for name in graphs if name not in GRAPHS]:
        raise Refusal(f"{file}: {kind} has no graph {unknown[0]!r}; there are {', '.join(GRAPHS)}")
    if "value" in graphs and kind != VALUED:
        raise Refusal(f"{file}: only {VALUED} has a graph of values; leave it out of {kind}")
    return replace(
        quality_of(kind), **{name: _graph(points, f"{file}: {kind}.{name}") for name, points in graphs.items()}
    )


def _graph(points: object, where: str) -> Graph:
    """Points from left to right, with utilities from 0 to 1."""
    try:
        pairs = tuple((float(x), float(y)) for x, y in points)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        pairs = ()
    rising = all(left < right for (left, _), (right, _) in pairwise(pairs))
    if len(pairs) < 2 or not rising or not all(0 <= y <= 1 for _, y in pairs) or pairs[0][0] < 0:
        raise Refusal(
            f"{where} must be a list of two or more points [x, utility]: x from 0 on and rising, utility 0 to 1"
        )
    return Graph(pairs)
