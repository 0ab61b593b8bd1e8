"""The charts of a page as SVG files of their own, for slides: no style sheet, no variables, the legend drawn below."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as Xml

from driver.report.html.axis import HEIGHT, LEFT, WIDTH
from polling_baseline.files import complete_file
from polling_baseline.refusal import Refusal

SVG = "http://www.w3.org/2000/svg"
STYLE = (Path(__file__).parent / "page.css").read_text()
# The colours of a page on white paper, by their variables.
COLOURS = dict(re.findall(r"(--[\w-]+): ([^;]+);", STYLE.split("}")[0]))
RULES = "\n".join(re.findall(r"^svg .+$", STYLE, re.MULTILINE))
TITLE_Y, TOP, LINE = 16, 24, 18
# How many names fit beside one another, by the longest of them.
SHORT_NAME, LONG_NAME = 20, 40


def write_figures(page: str, folder: Path) -> list[Path]:
    """Write each chart of a page as `NUMBER-TITLE.svg`, and give the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for number, figure in enumerate(re.findall(r"<figure>.*?</figure>", page, re.DOTALL), 1):
            title, text = _alone(Xml.fromstring(figure))
            path = folder / f"{number:02d}-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')[:50]}.svg"
            with complete_file(path) as file:
                file.write(text.encode())
            paths.append(path)
    except OSError as error:
        raise Refusal(f"cannot write {folder}: {error.strerror or error}") from None
    return paths


def _alone(figure: Xml.Element) -> tuple[str, str]:
    """The title of a figure, and the whole of it as SVG."""
    title = "".join(_child(figure, "figcaption").itertext())
    keys = list(figure.iter("li"))
    chart = _child(figure, "svg")
    longest = max((len("".join(item.itertext())) for item in keys), default=0)
    per_line = 3 if longest <= SHORT_NAME else 2 if longest <= LONG_NAME else 1
    lines = -(-len(keys) // per_line)
    height = TOP + HEIGHT + LINE * lines + 8
    drawn = "".join(Xml.tostring(child, encoding="unicode") for child in chart)
    legend = "".join(_key(number, item, per_line) for number, item in enumerate(keys))
    text = (
        f'<svg xmlns="{SVG}" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'font-family="sans-serif"><style>{RULES}</style><rect width="{WIDTH}" height="{height}" fill="#fff"/>'
        f'<text x="{LEFT}" y="{TITLE_Y}" style="font-size:14px">{_escaped(title)}</text>'
        f'<g transform="translate(0 {TOP})">{drawn}{legend}</g></svg>\n'
    )
    return title, re.sub(r"var\((--[\w-]+)\)", lambda match: COLOURS[match[1]], text)


def _child(element: Xml.Element, tag: str) -> Xml.Element:
    child = element.find(tag)
    assert child is not None, tag
    return child


def _key(number: int, item: Xml.Element, per_line: int) -> str:
    """An item of the legend: a sample as the chart has it, and its name."""
    sample = item.find("span")
    style, look = ("", "") if sample is None else (sample.get("style", ""), sample.get("class", ""))
    match = re.search(r"(?:background|color):([^;]+)", style)
    colour = match[1] if match else "var(--faint)"
    x = LEFT + (WIDTH - LEFT) // per_line * (number % per_line)
    y = HEIGHT + LINE * (number // per_line) + 10
    if look.startswith("line"):
        drawn = f'<path class="curve {look}" style="stroke:{colour}" d="M{x} {y - 4}h18"/>'
    else:
        drawn = f'<rect x="{x}" y="{y - 8}" width="18" height="8" fill="{colour}"/>'
    return f'{drawn}<text x="{x + 24}" y="{y}">{_escaped("".join(item.itertext()))}</text>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
