"""Lines of an output file that are not plainly answers: what they are nevertheless, or what is odd about them.

A field is a number if it is one but for blanks around it and a sign; Emit may also have more decimals or an exponent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from polling_baseline.batch import ANSWER_KINDS, AnswerKind

BLANK, UNKNOWN, MALFORMED, LONGER = "blank", "unknown_type", "malformed", "extra_fields"
NOTES = (BLANK, UNKNOWN, MALFORMED, LONGER)
# The value of a LAV that is empty, as one reading of the specification has it where there is no data.
EMPTY = -(2**62)
KINDS = {str(kind.number): kind for kind in ANSWER_KINDS.values()}
SPACE = "".join(map(chr, range(0x21))) + "\x7f"
INTEGER = re.compile(r"[+-]?[0-9]+")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?")
# Emit has twelve digits before the point at most, and six after it count.
WHOLE_DIGITS, MICROSECOND = 12, Decimal("0.000001")
MOST_DIGITS = 38
SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """What a line says: an answer if it has a kind, and a note if something is odd about it."""

    note: str | None
    kind: AnswerKind | None = None
    id: int = 0
    second: int = 0
    value_1: int = 0
    value_2: int = 0
    response_us: int = 0


def read_line(text: str) -> Line:
    if not text.strip(" "):
        return Line(BLANK)
    fields = text.split(",")
    kind = KINDS.get(fields[0])
    if kind is None:
        return Line(UNKNOWN)
    if len(fields) < len(kind.fields):
        return Line(MALFORMED)
    texts = dict(zip(kind.fields, fields, strict=False))
    emit_us = _microseconds(texts["emit"])
    id, second = _integer(texts[kind.id], 63), _integer(texts["second"], 31)
    values = [_value(texts[name], empty=name == "lav") for name in kind.values]
    if emit_us is None or id is None or second is None or None in values:
        return Line(MALFORMED)
    value_1, value_2 = [value for value in [*values, 0] if value is not None][:2]
    note = LONGER if len(fields) > len(kind.fields) else None
    return Line(note, kind, id, second, value_1, value_2, emit_us - second * SECOND_US)


def _value(text: str, empty: bool) -> int | None:
    return EMPTY if empty and not text.strip(" ") else _integer(text, 63)


def _integer(text: str, bits: int) -> int | None:
    digits = text.strip(SPACE)
    if not INTEGER.fullmatch(digits) or len(digits.lstrip("+-0")) > MOST_DIGITS:
        return None
    number = int(digits)
    return number if -(1 << bits) <= number < 1 << bits else None


def _microseconds(text: str) -> int | None:
    digits = text.strip(SPACE[:-1])
    if not NUMBER.fullmatch(digits):
        return None
    number = Decimal(digits)
    if number.adjusted() >= MOST_DIGITS or not _is_near(number):
        return None
    return int(number.quantize(MICROSECOND, ROUND_HALF_UP) * SECOND_US)


def _is_near(number: Decimal) -> bool:
    """Whether its whole part, rounded as it will be, has no more digits than it may have."""
    return number.copy_abs() < Decimal(10) ** WHOLE_DIGITS - MICROSECOND / 2
