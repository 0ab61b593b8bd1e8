"""Ratings that others have published, with what is known of how they were come by.

None of them names a verdict on all answers.  They stand below a board, never on it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRating:
    """A rating as its authors give it; `xways` is None where the system failed."""

    year: str
    system: str
    xways: float | None
    hardware: str
    source: str
    caveat: str


NO_VERDICT = "no verdict on all answers is named"
NO_TRAVEL_TIMES = f"{NO_VERDICT}; travel times were left out"

PUBLISHED = (
    PublishedRating(
        "2011", "SCSQ, parasplit", 512, "cluster, about 560 cores", "Zeitler and Risch, PVLDB 4", NO_VERDICT
    ),
    PublishedRating("2013", "SEEP", 350, "50 virtual machines", "Castro Fernandez and others, SIGMOD", NO_VERDICT),
    PublishedRating(
        "2016-20", "IBM Streams", 200, "4 machines of 16 cores, and Redis machines", "its makers", NO_VERDICT
    ),
    PublishedRating("2010", "SCSQ, autosplit", 64, "cluster", "Zeitler and Risch, DASFAA", NO_VERDICT),
    PublishedRating(
        "about 2017", "SQLstream", 60, "4 cores", "its makers", f"{NO_VERDICT}; 1,200 was extrapolated from it"
    ),
    PublishedRating("2004", "Aurora", 2.5, "one Pentium", "Arasu and others, VLDB", NO_TRAVEL_TIMES),
    PublishedRating("2006", "SPC", 2.5, "170 cores", "Jain and others, SIGMOD", NO_VERDICT),
    PublishedRating("2004", "System X", 0.5, "one Pentium, 3 GHz, 2 GB", "Arasu and others, VLDB", NO_TRAVEL_TIMES),
    PublishedRating("2026", "a kit for Kafka Streams", None, "12 cores", "its authors", "failed at 10 expressways"),
)
