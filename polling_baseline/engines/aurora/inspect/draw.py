"""The network as a drawing: boxes and arrows by subnetwork and, after a run, where the time went."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from polling_baseline.wording import format_count

COLUMNS = 9
BOX_W, BOX_H, GAP_X, GAP_Y = 118, 78, 28, 26
LEFT, TOP, TITLE_H, BAND_GAP = 20, 64, 36, 20
WIDTH = 2 * LEFT + COLUMNS * BOX_W + (COLUMNS - 1) * GAP_X + 24
ENDS = ("Input", "Output")
# A page that the drawing is put into must not be changed by it: every rule is for the drawing alone.
STYLE = """
.aurora text { font-family: system-ui, sans-serif; font-size: 11px; fill: #1b1f24; }
.aurora .title { font-size: 16px; font-weight: 600; }
.aurora .band { font-size: 13px; font-weight: 600; fill: #57606a; }
.aurora .kind { font-size: 9.5px; fill: #57606a; }
.aurora .name { font-weight: 600; }
.aurora .small { font-size: 9.5px; fill: #32383f; }
.aurora .arrow { fill: none; stroke: #6e7781; stroke-width: 1.3; }
.aurora .far { stroke: #8c959f; stroke-dasharray: 4 3; }
.aurora .box { stroke: #57606a; stroke-width: 1; }
.aurora .group { fill: #f6f8fa; stroke: #d0d7de; }
.aurora .point { fill: #1b1f24; }
"""


@dataclass(slots=True)
class BoxPlace:
    """A box of the drawing: its entry in `network.json`, and its upper left corner."""

    entry: dict[str, Any]
    band: str
    x: float = 0.0
    y: float = 0.0
    row: int = 0
    column: int = 0


def svg(network: dict[str, Any]) -> str:
    """A whole SVG document; `network` is what `network.json` holds."""
    boxes = _placed(network)
    bands, height = _lay_out(network, boxes)
    total_s = sum(box.entry["seconds"] for box in boxes.values())
    parts = [
        f'<svg class="aurora" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" '
        f'height="{height:g}" role="img" aria-label="query network">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="aurora-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#6e7781"/></marker></defs>',
        f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>',
        *_heading(network, total_s),
        *(_band(name, top, bottom) for name, top, bottom in bands),
        *(_arrow(boxes[source], boxes[target]) for source, target, _ in _distinct(network["arrows"])),
        *(_box(box, total_s) for box in boxes.values()),
        *(_point(boxes[point["after"]], point) for point in network["points"]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _placed(network: dict[str, Any]) -> dict[str, BoxPlace]:
    """Each box in its band; inputs and outputs go with the boxes beside them."""
    groups = {box["name"]: box["group"] for box in network["boxes"]}
    for source, target, _ in network["arrows"]:
        if not groups[source]:
            groups[source] = groups[target]
    for source, target, _ in network["arrows"]:
        if not groups[target]:
            groups[target] = groups[source]
    return {box["name"]: BoxPlace(box, groups[box["name"]]) for box in network["boxes"]}


def _lay_out(network: dict[str, Any], boxes: dict[str, BoxPlace]) -> tuple[list[tuple[str, float, float]], float]:
    """Give each box its corner: in its band, by its distance from the band's first; the bands, and the height."""
    bands, top = [], float(TOP)
    for name in sorted({box.band for box in boxes.values()}):
        mine = {key: box for key, box in boxes.items() if box.band == name}
        inside = [(source, target) for source, target, _ in network["arrows"] if source in mine and target in mine]
        layers = _layers(list(mine), inside)
        levels = _levels(layers, inside)
        for key, box in mine.items():
            box.row, box.column = divmod(layers[key], COLUMNS)
        y = top + TITLE_H
        for row in range(max(box.row for box in mine.values()) + 1):
            tallest = 1 + max(levels[key] for key, box in mine.items() if box.row == row)
            for key, box in mine.items():
                if box.row == row:
                    box.x = LEFT + 12 + box.column * (BOX_W + GAP_X)
                    box.y = y + levels[key] * (BOX_H + GAP_Y)
            y += tallest * (BOX_H + GAP_Y)
        bands.append((name, top, y))
        top = y + BAND_GAP
    return bands, top


def _layers(names: list[str], arrows: list[tuple[str, str]]) -> dict[str, int]:
    """The longest way to each box; there are no loops."""
    layers = dict.fromkeys(names, 0)
    for _ in names:
        for source, target in arrows:
            layers[target] = max(layers[target], layers[source] + 1)
    return layers


def _levels(layers: dict[str, int], arrows: list[tuple[str, str]]) -> dict[str, int]:
    """How far down each box stands in its layer: level with the highest box before it, if that place is free."""
    levels: dict[str, int] = {}
    taken: set[tuple[int, int]] = set()
    for name in sorted(layers, key=lambda name: layers[name]):
        level = min((levels[source] for source, target in arrows if target == name), default=0)
        while (layers[name], level) in taken:
            level += 1
        taken.add((layers[name], level))
        levels[name] = level
    return levels


def _distinct(arrows: list[list[Any]]) -> list[list[Any]]:
    """A box may have two arrows from the same one; they are drawn once."""
    return list({(source, target): [source, target, port] for source, target, port in arrows}.values())


def _heading(network: dict[str, Any], total_s: float) -> list[str]:
    boxes = sum(box["kind"] not in ENDS for box in network["boxes"])
    lines = [f'<text class="title" x="{LEFT}" y="26">Linear Road on Aurora: {boxes} boxes</text>']
    if network["tuples"]:
        workers = format_count(network["workers"], "worker")
        caption = f"{_count(network['tuples'])} tuples, {workers}, {total_s:.2f} s in boxes; the redder, the more of it"
        caption += "; c: time per tuple, s: tuples out per tuple in"
        lines.append(f'<text class="small" x="{LEFT}" y="46">{caption}</text>')
    shed = sum(sum(part["tuples"].values()) for part in network["shed"])
    if shed:
        lines.append(f'<text class="small" x="{LEFT + 760}" y="46">{_count(shed)} tuples were shed</text>')
    return lines


def _band(name: str, top: float, bottom: float) -> str:
    words = name if name in ("requests", "ad hoc", "shedding") else f"subnetwork {name}"
    return (
        f'<rect class="group" x="{LEFT}" y="{top:g}" width="{WIDTH - 2 * LEFT}" height="{bottom - top:g}" rx="8"/>'
        f'<text class="band" x="{LEFT + 12}" y="{top + 17:g}">{escape(words)}</text>'
    )


def _arrow(source: BoxPlace, target: BoxPlace) -> str:
    x0, y0 = source.x + BOX_W, source.y + BOX_H / 2
    x1, y1 = target.x, target.y + BOX_H / 2
    far = source.band != target.band
    if far or x1 < x0:
        # Down the gap beside the source, then along above the target.
        out, lane = x0 + GAP_X / 3, target.y - (11 if far else 7)
        path = f"M{x0:g},{y0:g} H{out:g} V{lane:g} H{x1 - GAP_X / 3:g} V{y1:g} H{x1 - 2:g}"
    elif y0 == y1 and x1 - x0 <= GAP_X:
        path = f"M{x0:g},{y0:g} L{x1 - 2:g},{y1:g}"
    else:
        bend = x0 + GAP_X / 2
        path = f"M{x0:g},{y0:g} C{bend:g},{y0:g} {x1 - GAP_X / 2:g},{y1:g} {x1 - 2:g},{y1:g}"
    return f'<path class="arrow{" far" if far else ""}" d="{path}" marker-end="url(#aurora-tip)"/>'


def _box(box: BoxPlace, total_s: float) -> str:
    entry = box.entry
    round_ends = BOX_H / 2 if entry["kind"] in ENDS else 6
    share = entry["seconds"] / total_s if total_s else 0.0
    kind = entry["kind"].lower() if entry["kind"] in ENDS else entry["kind"]
    table = f" · {entry['table']}" if entry["table"] else ""
    middle = box.x + BOX_W / 2
    lines = [("kind", f"{kind}{table}"), *(("name", line) for line in _wrapped(entry["name"]))]
    if entry["trains"] and total_s:
        lines += [("small", line) for line in _measured(entry, share)]
    step = 13.0
    y = box.y + (BOX_H - step * len(lines)) / 2 + 10
    text = "".join(
        f'<text class="{style}" x="{middle:g}" y="{y + step * number:g}" text-anchor="middle">{escape(line)}</text>'
        for number, (style, line) in enumerate(lines)
    )
    return (
        f'<g><title>{escape(_title(entry, share))}</title><rect class="box" x="{box.x:g}" y="{box.y:g}" '
        f'width="{BOX_W}" height="{BOX_H}" rx="{round_ends:g}" fill="{_colour(share)}"/>{text}</g>'
    )


def _measured(entry: dict[str, Any], share: float) -> list[str]:
    came, went = entry["tuples_in"], entry["tuples_out"]
    if entry["kind"] in ENDS:
        return [f"{_count(came)} tuples"]
    lines = [f"{_count(came)} → {_count(went)}"]
    if came:
        lines.append(f"c {_time(entry['seconds'] / came)}  s {went / came:.2g}  {share:.0%}")
    return lines


def _title(entry: dict[str, Any], share: float) -> str:
    return (
        f"{entry['kind']} {entry['name']}: {format_count(entry['trains'], 'train')}, "
        f"{format_count(entry['tuples_in'], 'tuple')} in, "
        f"{entry['tuples_out']:,} out, {entry['seconds']:.3f} s ({share:.1%})"
    )


def _point(box: BoxPlace, point: dict[str, Any]) -> str:
    span = point["span_s"]
    words = f"{point['name']}: {span // 60} min" if span >= 60 else f"{point['name']}: {span} s"
    x, y = box.x + BOX_W, box.y + BOX_H / 2
    return (
        f'<circle class="point" cx="{x:g}" cy="{y:g}" r="5"><title>connection point {escape(words)}</title></circle>'
        f'<text class="kind" x="{x:g}" y="{box.y + BOX_H + 11:g}" text-anchor="end">● {escape(words)}</text>'
    )


def _wrapped(name: str, width: int = 16) -> list[str]:
    lines = [""]
    for word in name.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _colour(share: float) -> str:
    """White to red; a quarter of the time is as red as it gets."""
    heat = min(1.0, share / 0.25)
    red, green, blue = (round(255 + (end - 255) * heat) for end in (255, 130, 110))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _count(number: int) -> str:
    for unit, size in ((" M", 1_000_000), (" k", 1_000)):
        if number >= 10 * size:
            return f"{number / size:,.0f}{unit}"
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number)


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.{0 if seconds >= 10 * size else 1}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
