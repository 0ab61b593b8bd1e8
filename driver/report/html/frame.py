"""The frame of a page, and its plainest parts.

Whatever comes in as `str` is text and is escaped; only what these modules made themselves is Markup.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NewType
from urllib.parse import quote

Markup = NewType("Markup", str)

STYLE = Path(__file__).with_name("page.css")


def page(title: str, lede: str, parts: Iterable[Markup], footer: str = "", style: str = "", script: str = "") -> str:
    """A whole HTML document; `style` and `script` are what only this page has."""
    ending = f"<script>\n{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE.read_text(encoding='utf-8')}{style}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape(title)}</h1>\n<p class="lede">{escape(lede)}</p></header>\n<main>\n'
        + "\n".join(parts)
        + f"\n</main>\n<footer>{escape(footer)}</footer>\n{ending}</body>\n</html>\n"
    )


def section(heading: str, *parts: Markup) -> Markup:
    return Markup(f"<section>\n<h2>{escape(heading)}</h2>\n" + "\n".join(parts) + "\n</section>")


def paragraph(text: str) -> Markup:
    return Markup(f"<p>{escape(text)}</p>")


def banner(word: str, mood: str, text: str, *links: Markup) -> Markup:
    """What counts most, in large letters; `mood` is pass, fail or open."""
    inside = [f"<strong>{escape(word)}</strong>", f"<span>{escape(text)}</span>", *links]
    return Markup(f'<p class="banner {mood}">{" ".join(inside)}</p>')


def link(path: str, text: str) -> Markup:
    """To another file, by its path from this page's folder."""
    return Markup(f'<a href="{escape(quote(os.fsencode(path)))}">{escape(text)}</a>')


def columns(*parts: Markup) -> Markup:
    """Side by side where there is room for two."""
    return Markup('<div class="columns">\n' + "\n".join(parts) + "\n</div>")


def folded(summary: str, *parts: Markup) -> Markup:
    """Shown when asked for, and on paper."""
    return Markup(f"<details><summary>{escape(summary)}</summary>\n" + "\n".join(parts) + "\n</details>")


def facts(pairs: Iterable[tuple[str, str]]) -> Markup:
    """A few numbers that count most, each under its name."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return Markup(f'<dl class="facts">{items}</dl>')


def table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = (), caption: str = "") -> Markup:
    """A table; the columns in `numbers` are set to the right, a text that begins with blanks is set in."""
    right = set(numbers)

    def line(cells: Sequence[str], tag: str) -> str:
        marks = (_mark(cell, column in right) for column, cell in enumerate(cells))
        joined = "".join(f"<{tag}{mark}>{escape(cell)}</{tag}>" for cell, mark in zip(cells, marks, strict=True))
        return f"<tr>{joined}</tr>\n"

    body = "".join(line(row, "td") for row in rows)
    named = f"<caption>{escape(caption)}</caption>" if caption else ""
    return Markup(
        f'<div class="wide"><table>{named}<thead>{line(head, "th")}</thead><tbody>{body}</tbody></table></div>'
    )


def _mark(cell: str, number: bool) -> str:
    names = [*(["number"] if number else []), *(["inner"] if cell.startswith("  ") else [])]
    return f' class="{" ".join(names)}"' if names else ""
