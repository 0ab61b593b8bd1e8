"""A drawing that an engine left as an SVG file, taken into the page."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from driver.report.html.frame import Markup

SVG = "http://www.w3.org/2000/svg"
# A page runs nothing and fetches nothing, whatever the drawing holds.
ACTIVE = {"script", "foreignObject", "image", "use", "iframe", "a", "animate", "set"}


def drawing(path: Path) -> Markup | None:
    """The drawing without anything active; nothing if there is no such file, or if it is no SVG."""
    try:
        root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ElementTree.ParseError):
        return None
    if root.tag not in ("svg", f"{{{SVG}}}svg"):
        return None
    _make_passive(root)
    ElementTree.register_namespace("", SVG)
    return Markup(f'<div class="wide drawing">{ElementTree.tostring(root, encoding="unicode")}</div>')


def _make_passive(element: ElementTree.Element) -> None:
    for name in [name for name in element.attrib if _is_active(name, element.attrib[name])]:
        del element.attrib[name]
    for child in list(element):
        if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] in ACTIVE:
            element.remove(child)
        else:
            _make_passive(child)
    if element.tag.endswith("style"):
        # The drawing's own style must not reach the rest of the page.
        element.text = "" if _fetches(element.text or "") else f".drawing {{ {element.text} }}"


def _is_active(name: str, value: str) -> bool:
    plain = name.rpartition("}")[2].lower()
    return plain.startswith("on") or plain in ("href", "src") or _fetches(value)


def _fetches(text: str) -> bool:
    """Whether a style refers to something outside; `url(#name)` is within the drawing."""
    return "@import" in text or "url(" in text.replace("url(#", "").replace("url('#", "").replace('url("#', "")
