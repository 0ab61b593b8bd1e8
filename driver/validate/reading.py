"""How the judge reads the rules where the specification allows more than one reading."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """The specification's own reading by default; a lenient one accepts what systems written elsewhere do, as well."""

    lenient: bool = False
    # Rule 12: travel times come in whole minutes.
    in_minutes: bool = False


STRICT = Reading()
