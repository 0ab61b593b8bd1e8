"""`docs/files.md` as data: its tables by heading; and whether a file on disk is as they say."""

from __future__ import annotations

import csv
import json
import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa

from driver.dataset.folder import DatasetInfo, FileInfo
from driver.dataset.relabel import DatasetLabel
from driver.json_record import fault_in
from driver.lesson import folder as lesson
from driver.publish.record import BundleRecord
from driver.rating import record as rating
from driver.report import comparison
from driver.report.measures import SpreadRecord
from driver.run import judge_status, verdict
from driver.run import record_types as run
from tests.support.headings import slug

PAGE = Path(__file__).resolve().parents[2] / "docs" / "files.md"
# The type that each table of keys is about.
RECORDS: dict[str, Any] = {
    "dataset.json": DatasetInfo,
    "File": FileInfo,
    "Data set label": DatasetLabel,
    "run.json": run.RunJson,
    "Options of a run": run.RunOptions,
    "Environment": run.Environment,
    "Machine": run.Machine,
    "Engine": run.EngineFacts,
    "Server": run.ServerLabel,
    "Answers of a kind": run.AnswerSummary,
    "Minute": run.MinuteSummary,
    "Response times of a minute": run.MinuteTimes,
    "Cycles": run.CycleSummary,
    "Feed": run.FeedSummary,
    "Outage": run.Outage,
    "verdict.json": verdict.Verdict,
    "judge.json": judge_status.JudgeStatus,
    "Verdict on a kind": verdict.AnswerVerdict,
    "Lines": verdict.LineCounts,
    "rating.json": rating.RatingRecord,
    "Candidate": rating.CandidateRecord,
    "Cause of a failure": rating.FailureCause,
    "reproduction.json": rating.ReproductionRecord,
    "Published": rating.PublishedRecord,
    "Variant": rating.VariantRecord,
    "Measured": rating.MeasuredRecord,
    "Slower machine": rating.SlowerRecord,
    "Curve": rating.CurveRecord,
    "Volume": rating.VolumeRecord,
    "comparison.json": comparison.ComparisonRecord,
    "Compared system": comparison.ComparedRecord,
    "Spread": SpreadRecord,
    "bundle.json": BundleRecord,
    "anatomy.json": rating.AnatomyRecord,
    "Rung": rating.RungRecord,
    "Load": rating.LoadRecord,
    "lesson.json": lesson.LessonRecord,
    "check.json": lesson.CheckRecord,
    "Counts of a kind": lesson.AnswerCounts,
}
ALONE = {int: "whole number", float: "number", str: "text", bool: "true or false", type(None): "null"}
UNIONS = (typing.Union, types.UnionType)
FIELDS = {"whole number": r"-?\d+", "number": r"-?\d+\.\d+", "text": ".*"}


def sections() -> dict[str, str]:
    """The text below each heading."""
    _, *parts = re.split(r"^#+ (.+)\n", PAGE.read_text(), flags=re.MULTILINE)
    assert len(parts) // 2 == len(set(parts[::2])), "two headings are equal"
    return dict(zip(parts[::2], parts[1::2], strict=True))


def table(heading: str) -> list[tuple[str, ...]]:
    """The rows below a heading, without the names of the columns; code is taken out of its quotes."""
    lines = re.findall(r"^\| (.+) \|$", sections()[heading], re.MULTILINE)
    return [tuple(cell.strip("`") for cell in line.split(" | ")) for line in lines[1:]]


def keys(heading: str) -> dict[str, tuple[bool, str]]:
    """Of each key of a table: whether it is optional, and its type in words."""
    rows = [(*re.fullmatch(r"(\S+?)`?(, optional)?", key).groups(), words) for key, words, _ in table(heading)]  # type: ignore[union-attr]
    assert len(rows) == len({key for key, _, _ in rows}), f"{heading} has a key twice"
    return {key: (bool(optional), words) for key, optional, words in rows}


def columns(heading: str) -> list[tuple[str, str]]:
    """The columns of a table, and their types."""
    return [(name, kind) for name, kind, _ in table(heading)]


def schema(of: pa.Schema) -> list[tuple[str, str]]:
    return [(field.name, str(field.type)) for field in of]


def pattern(hint: Any, several: bool = False) -> str:
    """What the page must say of a type; the word for the keys of an object is free."""
    if hint in (Any, object):
        return "anything"
    if hint in ALONE:
        return ALONE[hint] + ("s" if several else "")
    if is_typeddict(hint):
        return re.escape(f"[{_heading(hint)}](#{slug(_heading(hint))})")
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in UNIONS:
        choices = " or ".join(map(pattern, arguments))
        return rf"\({choices}\)" if several else choices
    if origin is list:
        return f"{'lists' if several else 'list'} of {pattern(arguments[0], several=True)}"
    assert origin is dict, hint
    return f"object: [A-Za-z ]+ -> {pattern(arguments[1])}"


def _heading(record: Any) -> str:
    return next(heading for heading, other in RECORDS.items() if other is record)


def records_in(hint: Any) -> set[Any]:
    """All records that a type is made of."""
    if is_typeddict(hint):
        return {hint}.union(*map(records_in, get_type_hints(hint).values()))
    return set().union(*map(records_in, get_args(hint)))


def check_json(file: Path, heading: str | None = None) -> None:
    """See that a file has all keys that the page says, with values of their types, and no other key."""
    value, record = json.loads(file.read_text()), RECORDS[heading or file.name]
    assert fault_in(value, record) is None
    assert set(_unknown(value, record)) == set()


def _unknown(value: Any, hint: Any) -> Iterator[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint) and isinstance(value, dict):
        heading, hints = _heading(hint), get_type_hints(hint)
        for key, inner in value.items():
            if key in hints:
                yield from _unknown(inner, hints[key])
            elif f"`{key}`" not in sections()[heading]:
                yield f"{heading}: {key}"
    elif origin is list and isinstance(value, list):
        for inner in value:
            yield from _unknown(inner, arguments[0])
    elif origin is dict and isinstance(value, dict):
        for inner in value.values():
            yield from _unknown(inner, arguments[1])
    elif origin in UNIONS:
        for choice in arguments:
            yield from _unknown(value, choice)


def check_csv(file: Path) -> None:
    """See that a file has the columns that the page says, with values of their types; what follows them are numbers."""
    documented = columns(file.name)
    with file.open(newline="") as lines:
        names, *rows = csv.reader(lines)
    assert names[: len(documented)] == [name for name, _ in documented]
    kinds = [kind for _, kind in documented] + ["number"] * (len(names) - len(documented))
    assert rows
    for row in rows:
        for name, kind, value in zip(names, kinds, row, strict=True):
            assert not value or re.fullmatch(FIELDS[kind], value, re.DOTALL), (name, value)
