"""The board as one page: results by L or by L per core, with filters; below, what others have published."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from driver.publish.published import PUBLISHED, PublishedRating
from driver.publish.results import Exclusion, Result
from driver.report.html.frame import Markup, folded, page, paragraph, section, table
from polling_baseline.wording import format_count

FOLDER = Path(__file__).parent
MEASURES = {"xways": "L", "core": "L per core"}
SPANS = {"whole": "whole: three hours", "peak": "peak: the last 20 minutes", "part": "another part"}
CORNERS = ("", "system", "L, largest first", "conditions", "machine", "from")
# What can be chosen, by the name of the row's attribute.
FILTERS = ("machine", "engine", "design", "durability", "clock", "span", "distinct", "judged", "found")
TITLES = {
    "span": "whole or peak",
    "distinct": "distinct expressways",
    "found": "rating or single run",
}


def board_page(results: Sequence[Result], left_out: Sequence[Exclusion]) -> str:
    machines = len({result.machine for result in results})
    lede = "No result yet."
    if results:
        of_machines = f"{format_count(len(results), 'result')} of {format_count(machines, 'machine')}"
        lede = f"{of_machines}; every one judged: all answers are there, right and in time."
    parts = [_board(results, bool(left_out)), _published(), _about()]
    if left_out:
        rows = [(one.source, one.why) for one in left_out]
        parts.append(section("Left out", folded(format_count(len(rows), "result"), table(("where", "why"), rows))))
    return page(
        "Linear Road: the board",
        lede,
        parts,
        "Made by lrb board.",
        style=(FOLDER / "board.css").read_text(encoding="utf-8"),
        script=(FOLDER / "board.js").read_text(encoding="utf-8"),
    )


def _board(results: Sequence[Result], some_left_out: bool) -> Markup:
    if not results:
        why = (
            "see below what was left out, and why"
            if some_left_out
            else "no run, rating, comparison or bundle was found"
        )
        return section("Results", paragraph(f"No result may enter: {why}."))
    most = max(result.xways for result in results)
    rows = "".join(_row(number, result, most) for number, result in enumerate(results, 1))
    heading = "".join(f'<th scope="col">{escape(name)}</th>' for name in CORNERS)
    grid = f'<table class="board own"><thead><tr>{heading}</tr></thead><tbody>{rows}</tbody></table>'
    return section("Results", _form(results), Markup("<output aria-live='polite'></output>"), Markup(grid))


def _attributes(result: Result) -> dict[str, str]:
    """What a row is chosen and sorted by."""
    return {
        "machine": result.machine,
        "engine": result.engine,
        "design": result.design,
        "durability": result.durability,
        "clock": result.clock,
        "span": result.span,
        "distinct": str(result.distinct),
        "judged": result.judged,
        "found": "rating" if result.is_rating else "single run",
        "xways": f"{result.xways:g}",
        "xways-text": f"{result.xways:g}",
        "xways-beside": f"{result.xways_per_core:.3g} per core",
        "core": f"{result.xways_per_core:.6g}",
        "core-text": f"{result.xways_per_core:.3g}",
        "core-beside": f"L = {result.xways:g}",
    }


def _form(results: Sequence[Result]) -> Markup:
    """Selects for what results differ in; what all have in common is only said.  Hidden where no script runs."""
    values = [_attributes(result) for result in results]
    fields = []
    for name in FILTERS:
        choices = sorted({own[name] for own in values}, key=lambda value: (len(value), value))
        options = [f'<option value="{escape(v)}">{escape(SPANS.get(v, v))}</option>' for v in choices]
        title, mark = TITLES.get(name, name), f'data-filter="{name}"'
        if len(choices) == 1:
            fields.append(f"<div {mark}>{title}<span>{escape(SPANS.get(choices[0], choices[0]))}</span></div>")
            continue
        options.insert(0, '<option value="">all</option>')
        fields.append(f'<label>{title}<select name="{name}" {mark}>{"".join(options)}</select></label>')
    measures = "".join(f'<option value="{name}">{title}</option>' for name, title in MEASURES.items())
    fields.append(f'<label>order by<select name="measure">{measures}</select></label>')
    return Markup(
        f'<form class="filters" hidden aria-label="Filters">{"".join(fields)}'
        '<button type="reset">show all</button></form>'
    )


def _row(number: int, result: Result, most: float) -> str:
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in _attributes(result).items())
    spread = f"median of {', '.join(f'{one:g}' for one in result.ratings)}" if len(result.ratings) > 1 else ""
    own = "single run" if result.runs == 1 else f"held in {result.runs} of {result.runs} runs"
    kind = "rating" if result.is_rating else f"{own}: more may be possible"
    minutes = f"minutes {result.minutes[0]} to {result.minutes[1]}"
    conditions = [
        f"{result.clock} clock",
        minutes if result.span == "part" else f"{result.span}: {minutes}",
        f"durability {result.durability}",
        format_count(result.distinct, "distinct expressway"),
        result.judged,
    ]
    busy = ["something else was running"] if result.others_busy else []
    per_core = f"{result.xways_per_core:.3g} per core"
    return (
        f"<tr{data}><td>{number}</td><td><strong>{escape(result.label)}</strong><small>{kind}</small></td>"
        f'<td class="most" data-name="L">{_bar(f"{result.xways:g}", result.xways / most)}'
        f'<small class="beside">{per_core}</small><small>{escape(spread)}</small></td>'
        f'<td data-name="conditions">{escape(", ".join([*conditions, *busy]))}</td>'
        f'<td data-name="machine">{escape(result.machine)}</td>'
        f'<td data-name="from">{escape(result.started)}<small>{escape(result.source)}, commit {escape(result.commit)}'
        "</small></td></tr>\n"
    )


def _bar(text: str, share: float) -> str:
    return f'<div class="bar"><b>{text}</b><span><i style="width:{100 * share:.1f}%"></i></span></div>'


def _published() -> Markup:
    most = max(one.xways or 0.0 for one in PUBLISHED)
    rows = "".join(_published_row(one, most) for one in PUBLISHED)
    head = "".join(f'<th scope="col">{name}</th>' for name in ("system", "L", "hardware", "source", "caveat"))
    grid = f'<table class="board published"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    note = (
        "These figures are as their authors give them. No judge can check them, and hardware and rules differ, so they "
        "cannot be compared with the results above."
    )
    return section("Published elsewhere, since 2004", paragraph(note), Markup(f'<div class="published">{grid}</div>'))


def _published_row(one: PublishedRating, most: float) -> str:
    length = _bar(f"{one.xways:g}", one.xways / most) if one.xways else "failed"
    return (
        f"<tr><td><strong>{escape(one.system)}</strong><small>{escape(one.year)}</small></td>"
        f'<td class="most" data-name="L">{length}</td><td data-name="hardware">{escape(one.hardware)}</td>'
        f'<td data-name="source">{escape(one.source)}</td><td data-name="caveat">{escape(one.caveat)}</td></tr>\n'
    )


def _about() -> Markup:
    return section(
        "How to read it",
        paragraph(
            "L is the number of expressways that a system held: the judge found every answer present once, right and "
            "in time. A rating also tried more, and failed; a single run did not. On the virtual clock, waiting is "
            "skipped, and response times are those of a run in real time."
        ),
        paragraph(
            "Large L are copies of the distinct expressways, with numbers of their own. Peak is the last 20 minutes of "
            "three hours, when traffic is densest. Of each system under the same conditions, the largest L is shown."
        ),
    )
