"""How response time and cost grow with L, for each system: as text and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from driver.report.compare import common_departures, labels, others_text
from driver.report.measures import has_failed, measures, spreads, typical
from driver.run.record import RunRecord
from polling_baseline.wording import fold_parts, format_table

CSV_NAME = "scaling.csv"
MEASURES = ("tuples_per_s", "us_per_tuple", "toll_p50_s", "toll_p99_s", "toll_max_s")
COLUMNS = ("system", "engine", "xways", "repetition", "run", "state", "verdict", "tuples", *MEASURES)
# What is shown, and with how many decimals.
SHOWN = {"us_per_tuple": "microseconds per tuple", "toll_p99_s": "toll response p99 (s)"}
FORMS = {"us_per_tuple": ",.2f", "toll_p99_s": ",.3f"}


@dataclass(frozen=True, slots=True)
class Series:
    """One system at rising L; each with all its runs."""

    label: str
    loads: dict[float, list[RunRecord]]

    @property
    def typical(self) -> dict[float, RunRecord]:
        return {xways: typical(runs) for xways, runs in self.loads.items()}


def series_of(systems: Sequence[dict[float, list[RunRecord]]]) -> list[Series]:
    """Each system under its label, which does not depend on L."""
    chosen = [typical(next(iter(loads.values()))) for loads in systems]
    return [Series(label, loads) for label, loads in zip(labels(chosen), systems, strict=True)]


def csv_text(systems: Sequence[Series]) -> str:
    """A line per run, with a heading."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for system in systems:
        for xways, runs in system.loads.items():
            for number, run in enumerate(runs, 1):
                measured = measures(run)
                verdict = run.verdict["verdict"] if run.verdict else ""
                known = [run.config.engine, f"{xways:g}", number, run.folder.name, run.json["state"], verdict]
                numbers = ["" if (value := measured[name]) is None else f"{value:.6g}" for name in MEASURES]
                writer.writerow([system.label, *known, run.json["feed"]["rows"], *numbers])
    return file.getvalue()


def text(systems: Sequence[Series]) -> list[str]:
    """A table per measure: a line per L, a column per system; * where a run failed."""
    runs = [run for system in systems for run in system.typical.values()]
    first, (since, until) = runs[0], runs[0].minutes
    heading = [first.json["dataset"]["name"], f"minutes {since} to {until}", f"{first.config.clock} clock"]
    repeat = max(len(of_load) for system in systems for of_load in system.loads.values())
    heading += [*common_departures(runs), *([f"median of {repeat} runs, and their range"] if repeat > 1 else [])]
    loads = sorted({xways for system in systems for xways in system.loads})
    lines = fold_parts("", heading)
    for name, title in SHOWN.items():
        rows = [[f"{xways:g}", *(cell(system, xways, name) for system in systems)] for xways in loads]
        lines += ["", f"{title}, by L", *format_table(("L", *(system.label for system in systems)), rows)]
    if any("*" in line for line in lines):
        lines += ["", "* a run of it was late, wrong or broken"]
    others = others_text([run for system in systems for of_load in system.loads.values() for run in of_load])
    return [*lines, *(["", *others] if others else [])]


def cell(system: Series, xways: float, name: str) -> str:
    """The median and the range of a measure; nothing where the system was not run."""
    runs = system.loads.get(xways)
    if not runs or (spread := spreads(runs)[name]) is None:
        return "-"
    return spread.words(FORMS[name]) + ("*" if any(map(has_failed, runs)) else "")
