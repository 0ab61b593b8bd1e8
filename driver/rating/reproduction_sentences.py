"""What the tables of a reproduction say, in sentences."""

from __future__ import annotations

from driver.rating.paper import LIMIT_S
from driver.rating.record import ReproductionRecord, VariantRecord
from driver.rating.reproduce import ratio_of_ratings
from driver.run.limits import describe_limits, limits_in_force


def sentences(record: ReproductionRecord) -> list[str]:
    """What the tables say."""
    lines = []
    for system in record["systems"]:
        variants = [variant for variant in record["variants"] if variant["system"] == system]
        ranked = sorted(variants, key=lambda variant: variant["slower"]["mean_error"])
        if ranked:
            lines += _about(ranked[0], record)
            lines += [
                f"{other['name']} misses the paper's figures by {other['slower']['mean_error']:.2f} times on average."
                for other in ranked[1:]
            ]
    if ratio := ratio_of_ratings(record):
        lines.append(f"Aurora holds {ratio:g} times as many expressways as System X; in the paper 5 times.")
    if others := describe_limits(limits_in_force(record["limits"])):
        lines.append(
            f"With {others}, the shortest is {record['limit_s']} s: it decides, as the answers to one second come "
            "together."
        )
    if any(variant["slower"]["predicted"] for variant in record["variants"]):
        lines.append("~ was not run: it follows from what the cycles of another scale factor took, by their tuples.")
    lines.append(
        "One factor holds the processor, the disk, the database and the program of 2004; none of them can be told from "
        "the others."
    )
    return lines


def _about(variant: VariantRecord, record: ReproductionRecord) -> list[str]:
    slower, system = variant["slower"], variant["system"]
    paper = record["systems"][system]
    worst = max(slower["errors"], key=lambda name: slower["errors"][name])
    where = worst if worst == "first late" else f"L = {worst}"
    lines = [
        f"{variant['name']} explains {system} best: slowed down {slower['factor']:,.1f} times, it misses the paper's "
        f"figures by {slower['mean_error']:.2f} times on average, and by {slower['errors'][worst]:.1f} times at worst "
        f"({where})."
    ]
    if not slower["hits"]:
        lines.append(
            f"No factor gives {slower['fitted_to_s']:,} s at L = {paper['fails_at']:g} and "
            f"less than {LIMIT_S} s at L = {paper['rating']:g}: this one is the largest with which that is in time."
        )
    return lines
