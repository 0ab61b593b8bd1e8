"""What a network looks like and what was measured of it, as plain data: for `network.json`, drawings and analysis."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from typing import Any

from polling_baseline.engines.aurora.model.network import Output
from polling_baseline.engines.aurora.node import Node

# The unit in which a system counts memory.
KILOBYTE = 1 if sys.platform == "darwin" else 1024
SUMMED = ("trains", "tuples_in", "tuples_out", "seconds")


def peak_bytes() -> int:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE


def network_facts(node: Node) -> dict[str, Any]:
    network = node.network
    return {
        "boxes": [
            {
                "name": vertex.box.name,
                "kind": vertex.box.kind,
                "group": vertex.group,
                "table": getattr(vertex.box, "table", None),
                "trains": vertex.cost.trains,
                "tuples_in": vertex.cost.tuples,
                "tuples_out": vertex.cost.given,
                "seconds": vertex.cost.seconds,
            }
            for vertex in network.vertices.values()
        ],
        "arrows": [
            [vertex.box.name, target.box.name, port]
            for vertex in network.vertices.values()
            for target, port in vertex.arrows
        ],
        "points": [
            {"name": vertex.point.name, "after": vertex.box.name, "span_s": vertex.point.span}
            for vertex in network.points.values()
            if vertex.point is not None
        ],
        "outputs": {
            vertex.box.name: vertex.box.service.facts()
            for vertex in network.vertices.values()
            if isinstance(vertex.box, Output)
        },
        "shed": [node.shedder.facts()],
        "tuples": node.tuples,
        "seconds_fed": node.seconds,
        "workers": 1,
        # Of the whole process, which may hold more than the network.
        "processor_s": time.process_time(),
        "peak_bytes": peak_bytes(),
    }


def together(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The facts of workers that have the same network, added up."""
    whole = {
        **parts[0],
        "workers": len(parts),
        **{name: sum(part[name] for part in parts) for name in ("tuples", "processor_s", "peak_bytes")},
    }
    whole["shed"] = [shed for part in parts for shed in part["shed"]]
    by_name: dict[str, dict[str, Any]] = {}
    for part in parts:
        for box in part["boxes"]:
            known = by_name.setdefault(box["name"], {**box, **dict.fromkeys(SUMMED, 0)})
            for name in SUMMED:
                known[name] += box[name]
    whole["boxes"] = list(by_name.values())
    outputs: dict[str, dict[str, Any]] = {}
    for part in parts:
        for name, output in part["outputs"].items():
            outputs[name] = _both(outputs[name], output) if name in outputs else output
    return {**whole, "outputs": outputs}


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    tuples = one["tuples"] + other["tuples"]
    sums = [part["tuples"] * part["utility"] for part in (one, other) if part["tuples"]]
    return {
        "tuples": tuples,
        "utility": round(sum(sums) / tuples, 4) if tuples else None,
        "longest_s": max(one["longest_s"], other["longest_s"]),
        "beyond_good_zone": one["beyond_good_zone"] + other["beyond_good_zone"],
        "good_until_s": one["good_until_s"],
    }
