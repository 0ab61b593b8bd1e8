"""The forms in which other kits write answers, told apart by the fields of their lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from driver.dataset.packed_file import opened
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS
from polling_baseline.refusal import Refusal
from polling_baseline.wording import TEXT_CUT, printable

TOLL, ALERT, BALANCE, EXPENDITURE, TRAVEL, SECOND_BALANCE = 0, 1, 2, 3, 4, 5
MOST_LINES = 5_000_000
Fields = tuple[str, ...]
Form = Mapping[int, Fields]
OWN: Form = MappingProxyType({kind.number: kind.fields[1:] for kind in ANSWER_KINDS.values()})
PERL: Form = MappingProxyType(
    {
        TOLL: ("vehicle_id", "second", "emit", "lav", "toll"),
        ALERT: ("second", "emit", "vehicle_id", "seg"),
        BALANCE: ("second", "emit", "query_id", "result_second", "balance"),
        EXPENDITURE: ("second", "emit", "query_id", "tolls"),
        # Not looked at.
        TRAVEL: OWN[TRAVEL],
    }
)
# What that validator writes itself: without Emit, a line for each answer that it accepts.
PERL_WITHOUT_EMIT: Form = MappingProxyType(
    {kind: tuple(name for name in fields if name != "emit") for kind, fields in PERL.items()}
)
WALMART: Form = MappingProxyType(
    {
        **OWN,
        ALERT: ("second", "emit", "xway", "seg", "dir", "vehicle_id"),
        SECOND_BALANCE: OWN[BALANCE],
    }
)
LAYOUTS: Mapping[str, tuple[Form, ...]] = MappingProxyType(
    {"kit": (OWN,), "perl2004": (PERL, PERL_WITHOUT_EMIT), "walmart2015": (WALMART,)}
)
_OWN_VALUES = {kind.number: kind.values for kind in ANSWER_KINDS.values()}
_OWN_IDS = {kind.number: kind.id for kind in ANSWER_KINDS.values()}
VALUES = MappingProxyType({**_OWN_VALUES, SECOND_BALANCE: _OWN_VALUES[BALANCE]})
IDS = MappingProxyType({**_OWN_IDS, SECOND_BALANCE: _OWN_IDS[BALANCE]})


class Answer(NamedTuple):
    """A line of an output: `id` is a VID or a QID, `values` are those that its kind has, `emit` may not be known."""

    kind: int
    second: int
    id: int
    values: tuple[int, ...]
    emit: float | None


@dataclass(slots=True)
class Output:
    """All answers of some files; lines that are none are counted, with the first of them as examples."""

    answers: list[Answer] = field(default_factory=list)
    lines: int = 0
    blank: int = 0
    odd: int = 0
    examples: list[list[object]] = field(default_factory=list)


def read_output(
    files: Sequence[Path], layout: str, is_request: Callable[[int, int], bool], most_lines: int | None = None
) -> Output:
    """The answers in these files, if they are in this layout; `is_request` knows the Time and QID of balances.

    Of each file so many lines, if that is said; else all of it.
    """
    read = {path: list(islice(_lines(path), most_lines)) for path in files}
    parts = {path: _answers_of(path, lines, layout) for path, lines in read.items()}
    if len({id(form) for form, _ in parts.values()}) > 1:
        raise Refusal("some files have Emit and some have not: give files of one form")
    output = Output()
    for path, (_, answers) in parts.items():
        output.lines += len(answers)
        for number, (text, answer) in enumerate(zip(read[path], answers, strict=True), 1):
            if answer is not None:
                output.answers.append(answer)
            elif not text.strip():
                output.blank += 1
            else:
                output.odd += 1
                if len(output.examples) < 5:
                    output.examples.append([number, text[:TEXT_CUT]])
        _check_order(path, answers, layout, is_request)
    return output


def _lines(path: Path) -> Iterator[str]:
    if not path.is_file():
        raise Refusal(f"{path} is not a file; name the file that the answers are in")
    with opened(path) as (file, _):
        for number, line in enumerate(file):
            if number == MOST_LINES:
                raise Refusal(f"{path} has more than {MOST_LINES:,} lines; other readings look at smaller files only")
            yield printable(line.rstrip(b"\r\n"))


def parsed(text: str, form: Form) -> Answer | None:
    """A line as an answer; None if it is none of this form."""
    kind_text, _, rest = text.partition(",")
    words = rest.split(",")
    kind = int(kind_text) if kind_text.isascii() and kind_text.isdecimal() else -1
    names = form.get(kind)
    # Python would also take 1_000 for a number.
    if names is None or len(words) != len(names) or "_" in rest or not rest.isascii():
        return None
    texts = dict(zip(names, words, strict=True))
    try:
        emit = float(texts.pop("emit")) if "emit" in texts else None
        numbers = {name: int(value) for name, value in texts.items()}
    except ValueError:
        return None
    values = tuple(numbers[name] for name in VALUES[kind])
    return Answer(kind, numbers["second"], numbers[IDS[kind]], values, emit)


def _answers_of(path: Path, lines: Sequence[str], layout: str) -> tuple[Form, list[Answer | None]]:
    """The form of the layout that a file has, and each line by it; another layout is refused, and so is a mixture."""
    tried = [(form, [parsed(line, form) for line in lines]) for form in LAYOUTS[layout]]
    best, answers = min(tried, key=lambda one: one[1].count(None))
    strays = [line for line, answer in zip(lines, answers, strict=True) if answer is None and line.strip()]
    if strays:
        _refuse_other(path, [line for line in lines if line.strip()], strays, layout)
    return best, answers


def _refuse_other(path: Path, written: Sequence[str], strays: Sequence[str], layout: str) -> None:
    """Unless the strays are of no layout at all."""
    fits = {name: max(_fitting(written, form) for form in forms) for name, forms in LAYOUTS.items()}
    other = max(fits, key=lambda name: fits[name])
    if fits[other] > fits[layout] and (fits[other] == len(written) or not fits[layout]):
        raise Refusal(f"{path} is not in the layout {layout}: it looks like {other}; give --layout {other}")
    for name, forms in LAYOUTS.items():
        for form in forms:
            if foreign := next((line for line in strays if parsed(line, form)), None):
                form_name = f"{name}{'' if 'emit' in form[TOLL] else ' without Emit'}"
                raise Refusal(
                    f"{path} has lines of several layouts: {foreign!r} is of {form_name}; give files of one layout"
                )


def _fitting(lines: Sequence[str], form: Form) -> int:
    return sum(parsed(line, form) is not None for line in lines)


def _check_order(
    path: Path, answers: Sequence[Answer | None], layout: str, is_request: Callable[[int, int], bool]
) -> None:
    """QID and ResultTime are both numbers: only the requests tell which is which."""
    hits: Counter[str] = Counter()
    for answer in answers:
        if answer and answer.kind == BALANCE:
            hits["said"] += is_request(answer.second, answer.id)
            hits["swapped"] += is_request(answer.second, answer.values[0])
    if hits["swapped"] > 2 * hits["said"]:
        other = "perl2004" if layout != "perl2004" else "kit"
        raise Refusal(
            f"{path} is not in the layout {layout}: its balances have QID where ResultTime should be, or the reverse; "
            f"it looks like {other}; give --layout {other}"
        )


def own_lines(output: Output) -> Iterator[str]:
    """The answers in this kit's own layout; one without Emit is taken to be in time, a second balance is left out."""
    for answer in output.answers:
        if answer.kind == SECOND_BALANCE:
            continue
        values = dict(zip(VALUES[answer.kind], answer.values, strict=True))
        texts = {
            "second": str(answer.second),
            IDS[answer.kind]: str(answer.id),
            "emit": f"{answer.second if answer.emit is None else answer.emit:.6f}",
            **{name: str(value) for name, value in values.items()},
        }
        yield ",".join([str(answer.kind), *(texts[name] for name in OWN[answer.kind])])


def names_of(kind: int) -> str:
    """The name of a kind of answer."""
    return spec.ANSWERS[BALANCE if kind == SECOND_BALANCE else kind]
