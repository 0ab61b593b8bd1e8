"""How a link names a heading of a page."""

from __future__ import annotations

import re


def slug(heading: str) -> str:
    """As GitHub spells it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
