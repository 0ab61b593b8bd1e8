"""Runs that were made several times, as a table: each reading, the median and the range."""

from __future__ import annotations

from collections.abc import Sequence

from driver.report.compare import Column
from driver.report.diagnosis import headline
from driver.report.html.frame import Markup, paragraph, section, table

NAMES = {
    "us_per_tuple": ("microseconds per tuple", ",.2f"),
    "tuples_per_s": ("tuples per busy second", ",.0f"),
    "toll_p50_s": ("toll response p50 (s)", ",.3f"),
    "toll_p99_s": ("toll response p99 (s)", ",.3f"),
    "toll_max_s": ("toll response max (s)", ",.3f"),
}


def repeated_section(comparison: Sequence[Column]) -> Markup | None:
    """Nothing if each was run once."""
    most = max(len(column.runs) for column in comparison)
    if most == 1:
        return None
    head = ("", "median", "lowest", "highest", *(f"run {number}" for number in range(1, most + 1)))
    tables = [table(head, list(_rows(column, most)), range(1, len(head)), column.label) for column in comparison]
    note = "Charts and counts of this page are those of one run of each: one that failed, or the one of median cost."
    return section("Repetition", paragraph(note), *tables)


def _rows(column: Column, most: int) -> list[tuple[str, ...]]:
    filled = [""] * (most - len(column.runs))
    rows: list[tuple[str, ...]] = [("verdict", "", "", "", *(headline(run)[0] for run in column.runs), *filled)]
    for name, (title, form) in NAMES.items():
        if spread := column.spreads[name]:
            values = [format(value, form) for value in (spread.median, spread.low, spread.high, *spread.values)]
            rows.append((title, *values, *[""] * (most - len(spread.values))))
    return rows
