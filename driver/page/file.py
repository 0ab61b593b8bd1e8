"""Pages on disk."""

from __future__ import annotations

import os
from pathlib import Path

from polling_baseline.refusal import Refusal


def write_page(path: Path, text: str) -> None:
    """Write a page under a temporary name first, so that no half page is ever seen."""
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise Refusal(f"cannot write {path}: {error.strerror}") from None
