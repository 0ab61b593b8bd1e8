"""How a stream engine served its outputs: what their answers were worth, and what was dropped for that."""

from __future__ import annotations

from collections.abc import Sequence

from driver.run.record import RunRecord
from driver.run.record_types import RunJson
from polling_baseline.wording import fold_parts, format_count

# The kind of answer that comparisons and pages are about.
KIND = "toll"


def service_text(record: RunJson) -> list[str]:
    """What the answers of a stream engine were worth, and what it dropped; a broken run cannot ask."""
    engine = record["environment"]["engine"]
    if not engine.get("utility") or record["state"] == "broken":
        return []
    parts = [f"{kind.replace('_', ' ')} {worth:.3f}" for kind, worth in engine["utility"].items()]
    return [*fold_parts("utility ", parts), *_shed_text(record)]


def _shed_text(record: RunJson) -> list[str]:
    engine, fed = record["environment"]["engine"], record["feed"]["rows"]
    if "shed_tuples" not in engine:
        return []
    share = engine["shed_tuples"] / max(1, fed)
    return [f"shed    {format_count(engine['shed_tuples'], 'tuple')}, {share:.1%} of the input, {engine['shed']}"]


def service_facts(run: RunRecord) -> list[tuple[str, str]]:
    """What tolls were worth, and what was dropped, for a page."""
    engine = run.json["environment"]["engine"]
    pairs = [("Utility of tolls", f"{engine['utility'][KIND]:.3f}")] if KIND in engine.get("utility", {}) else []
    return [*pairs, ("Shed", f"{engine['shed_tuples']:,} tuples")] if "shed_tuples" in engine else pairs


def service_rows(runs: Sequence[RunRecord]) -> list[tuple[str, list[str]]]:
    """The same side by side, where one of the engines may drop something."""
    engines = [run.json["environment"]["engine"] for run in runs]
    if not any("shed_tuples" in engine for engine in engines):
        return []
    return [
        ("tuples shed", [f"{engine['shed_tuples']:,}" if "shed_tuples" in engine else "-" for engine in engines]),
        (
            f"utility of {KIND}s",
            [f"{engine['utility'][KIND]:.3f}" if KIND in engine.get("utility", {}) else "-" for engine in engines],
        ),
    ]
