"""Pages on disk."""

from __future__ import annotations

from pathlib import Path

from polling_baseline.files import complete_file
from polling_baseline.refusal import Refusal


def write_page(path: Path, text: str) -> None:
    try:
        with complete_file(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}") from None
