"""What was measured in 2004: tables 7 and 8 of Arasu et al., "Linear Road", and section 4.3.1.

Both systems ran on one 3 GHz Pentium with 2 GB of memory.  The paper's clock had whole seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Of a toll notification; and the one of which the paper asks what it would change.
LIMIT_S, STRICTER_LIMIT_S = 5, 3
# Both systems ignored these.
IGNORED = ("travel_time",)


@dataclass(frozen=True, slots=True)
class PaperSystem:
    """One system: its L-rating and its longest response times."""

    name: str
    rating: float
    fails_at: float
    # Table 8: the longest response time of a toll notification, in seconds, by scale factor.
    max_response_s: Mapping[float, int]
    # The Time of the first input that was answered late, at the scale factor that failed first.
    first_late_second: int
    # Tuples per second in and out, on average, at the L-rating.
    input_per_s: int
    output_per_s: int


SYSTEM_X = PaperSystem(
    name="System X",
    rating=0.5,
    fails_at=1.0,
    max_response_s=MappingProxyType({0.5: 3, 1.0: 2031, 1.5: 16346, 2.0: 52443}),
    first_late_second=4761,
    input_per_s=560,
    output_per_s=100,
)
AURORA = PaperSystem(
    name="Aurora",
    rating=2.5,
    fails_at=3.0,
    max_response_s=MappingProxyType({0.5: 1, 1.0: 1, 1.5: 1, 2.0: 2, 2.5: 2, 3.0: 196}),
    first_late_second=7931,
    input_per_s=2800,
    output_per_s=486,
)
SYSTEMS = (SYSTEM_X, AURORA)
SCALE_FACTORS = tuple(AURORA.max_response_s)
# Section 4.3.1: three hours of one expressway.
VOLUMES = MappingProxyType(
    {
        "position reports": 12_000_000,
        "balance requests": 60_000,
        "expenditure requests": 12_000,
        "toll notifications": 2_000_000,
        "accident alerts": 28_000,
    }
)


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to build a system of the paper with this kit: an engine and its options."""

    name: str
    system: PaperSystem
    engine: str
    options: Mapping[str, str]
    # The scale factors that are run if not all are; the others follow from what a cycle takes.
    run_at: tuple[float, ...] = ()
    # Whether a tuple takes the longer the more segments there are.
    reads_segments: bool = False


# Of the ways that the paper does not tell of, one run that passed in 2004 and one that failed.
PASSED_AND_FAILED = (SYSTEM_X.rating, SYSTEM_X.fails_at)
VARIANTS = (
    Variant("2004", SYSTEM_X, "polling", MappingProxyType({"design": "2004", "indexes": "on"})),
    Variant(
        "2004-unindexed",
        SYSTEM_X,
        "polling",
        MappingProxyType({"design": "2004", "indexes": "off"}),
        PASSED_AND_FAILED,
    ),
    Variant(
        "subquery",
        SYSTEM_X,
        "polling",
        MappingProxyType({"design": "subquery", "indexes": "on"}),
        PASSED_AND_FAILED,
        reads_segments=True,
    ),
    Variant("ring", SYSTEM_X, "polling", MappingProxyType({"design": "ring"}), PASSED_AND_FAILED),
    Variant("trigger", SYSTEM_X, "trigger", MappingProxyType({"granularity": "row"}), PASSED_AND_FAILED),
    Variant("duckdb", SYSTEM_X, "duckdb", MappingProxyType({}), PASSED_AND_FAILED),
    Variant("box", AURORA, "aurora", MappingProxyType({"order": "box"})),
    Variant("superbox", AURORA, "aurora", MappingProxyType({"order": "superbox"})),
)
# Stream engines that others wrote are run if they are named: one takes as long for an empty second as for a full one.
ON_REQUEST = (
    Variant(
        "structured_streaming",
        AURORA,
        "structured_streaming",
        MappingProxyType({}),
        (AURORA.rating, AURORA.fails_at),
    ),
)
# What is run for a first impression; the other scale factors follow from what a cycle of this run takes.
BRIEF = MappingProxyType({"2004": 1.0, "box": 3.0})
