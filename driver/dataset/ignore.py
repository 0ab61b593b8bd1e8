"""A data set without some kinds of request: the feed leaves them out, and the judge expects no answer to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from driver.dataset.folder import Dataset
from polling_baseline import spec
from polling_baseline.refusal import Refusal

# By the name of their answer.
REQUESTS = {spec.ANSWERS[kind]: kind for kind in spec.USED if kind != spec.REPORT}


def parse_kinds(text: str) -> tuple[str, ...]:
    """The kinds of request that a text names, with commas between, in the order of their number; or `none`."""
    if text == "none":
        return ()
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in REQUESTS:
            raise Refusal(f"--ignore {text}: a kind of request is {', '.join(REQUESTS)}; or none of them")
    return tuple(name for name in REQUESTS if name in names)


def without_requests(dataset: Dataset, kinds: Sequence[str]) -> Dataset:
    return replace(dataset, ignored=tuple(REQUESTS[name] for name in kinds))
