"""The page: the same files for a server and, put together, as one file that needs none."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

from driver.report.html.frame import STYLE
from driver.report.watch.broadcast import Broadcast

FOLDER = Path(__file__).with_name("page")
INDEX = FOLDER / "index.html"
STYLES = (STYLE, FOLDER / "watch.css")
# In this order: a later one uses what is in those before.
SCRIPTS = tuple(FOLDER / f"{name}.js" for name in ("data", "picture", "race", "cards", "vehicle", "player", "start"))
POLICY = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
SERVER_POLICY = f"{POLICY}; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"


def files() -> dict[str, Path]:
    """What a server gives, by its path."""
    return {"/": INDEX} | {f"/{file.name}": file for file in (*STYLES, *SCRIPTS)}


def served_index() -> str:
    styles = "".join(f'<link rel="stylesheet" href="{file.name}">\n' for file in STYLES)
    scripts = "".join(f'<script src="{file.name}" defer></script>\n' for file in SCRIPTS)
    return _index(styles + scripts, "")


def one_file(broadcast: Broadcast) -> str:
    """The page with all frames and vehicles inside; nothing is fetched."""
    styles, scripts = ([file.read_text(encoding="utf-8") for file in group] for group in (STYLES, SCRIPTS))
    policy = f"{POLICY}; style-src {_hashes(styles)}; script-src {_hashes(scripts)}"
    head = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
    head += "".join(f"<style>{text}</style>\n" for text in styles)
    blobs = {"frames": broadcast.frames_blob(), "vehicles": broadcast.vehicles()}
    data = "".join(
        f'<script type="application/octet-stream" id="{name}">{base64.b64encode(blob).decode()}</script>\n'
        for name, blob in blobs.items()
    )
    return _index(head, data + "".join(f"<script>{text}</script>\n" for text in scripts))


def _index(head: str, end: str) -> str:
    text = INDEX.read_text(encoding="utf-8")
    return text.replace("<!-- head -->\n", head).replace("<!-- end -->\n", end)


def _hashes(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
