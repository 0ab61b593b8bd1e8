"""Where this program lies: a checkout, or the folder `linear_road` that a wheel installs."""

from __future__ import annotations

from pathlib import Path

# It holds both packages, sql/ and stored_procs/.
ROOT = Path(__file__).resolve().parents[1]
CHECKOUT = ROOT if (ROOT / "pyproject.toml").is_file() else None
