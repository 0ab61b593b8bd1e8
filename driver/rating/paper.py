"""What was measured in 2004: tables 7 and 8 of Arasu et al., "Linear Road", and section 4.3.1.

Both systems ran on one 3 GHz Pentium with 2 GB of memory.  The paper's clock had whole seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SCALE_FACTORS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)


@dataclass(frozen=True, slots=True)
class Published:
    """One system: its L-rating, its longest response times, and the engine of this kit that stands for it."""

    name: str
    engine: str
    rating: float
    fails_at: float
    # Table 8: the longest response time of a toll notification, in seconds, by scale factor.
    max_response_s: Mapping[float, int]
    # The Time of the first input that was answered late, at the scale factor that failed first.
    first_late_second: int


SYSTEMS = (
    Published(
        name="System X",
        engine="polling",
        rating=0.5,
        fails_at=1.0,
        max_response_s={0.5: 3, 1.0: 2031, 1.5: 16346, 2.0: 52443},
        first_late_second=4761,
    ),
    Published(
        name="Aurora",
        engine="aurora",
        rating=2.5,
        fails_at=3.0,
        max_response_s={0.5: 1, 1.0: 1, 1.5: 1, 2.0: 2, 2.5: 2, 3.0: 196},
        first_late_second=7931,
    ),
)
