"""Where this program lies, a checkout or the folder `linear_road` that a wheel installs; and where it keeps things."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from polling_baseline.refusal import Refusal

# It holds both packages, sql/ and stored_procs/.
ROOT = Path(__file__).resolve().parents[1]
CHECKOUT = ROOT if (ROOT / "pyproject.toml").is_file() else None


def state_folder() -> Path:
    """Where everything lies that a command keeps for the next one; it may not exist yet."""
    if given := os.environ.get("LRB_STATE"):
        return Path(given).expanduser().absolute()
    if CHECKOUT:
        folder = CHECKOUT / ".lrb"
        if os.access(folder if folder.exists() else CHECKOUT, os.W_OK):
            return folder
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "linear-road"
        return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "linear-road"
    except RuntimeError:
        raise Refusal("your user has no home folder; set LRB_STATE to a folder that you may write to") from None
