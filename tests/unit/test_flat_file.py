"""The parser against a slow reading of the specification, and at the edges of what a file may be."""

from __future__ import annotations

import gzip
import random
import re
import tracemalloc
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from driver.dataset import flat_file as lines
from driver.dataset import packed_file as flat
from polling_baseline import spec
from polling_baseline.refusal import Refusal

REPORT = "0,0,1,50,0,1,0,0,100,-1,-1,-1,-1,-1,-1"
INTEGER = re.compile(rb"[ \t]*([+-]?[0-9]+)[ \t]*")


def judged(path: Path, data: bytes, size: int = 1 << 22) -> list[tuple[int, str | None, bytes]]:
    """(line number, kind of reject or None, text) of every line, in order."""
    path.write_bytes(data)
    found: list[tuple[int, str | None, bytes]] = []
    for chunk in lines.read_chunks(path, lines.ranges(), size):
        found += [(int(row["line"]), None, chunk.text(row)) for row in chunk.rows]
        found += [(int(at["line"]), lines.kind_of(int(at["verdict"])), chunk.text(at)) for at in chunk.rejects]
    return sorted(found, key=lambda each: each[0])


def oracle(data: bytes) -> list[tuple[int, str | None, bytes]]:
    """The same, as the specification says it, one line after the other."""
    pieces = data.removeprefix(lines.BYTE_ORDER_MARK).split(b"\n")
    if pieces[-1] == b"":
        pieces.pop()
    found, last = [], 0
    for number, text in enumerate((piece.removesuffix(b"\r") for piece in pieces), start=1):
        reason, last = _reason(text, last)
        found.append((number, reason, text))
    return found


def _reason(text: bytes, last: int) -> tuple[str | None, int]:
    words = [INTEGER.fullmatch(word) for word in text.split(b",")]
    if len(words) != 15 or None in words:
        return "not 15 integers", last
    values = dict(zip(spec.FIELDS, (int(word[1]) for word in words if word), strict=True))
    if values["Type"] not in spec.USED:
        return "unknown Type", last
    for field in spec.FIELDS:
        if field in spec.USED[values["Type"]]:
            low, high = spec.RANGES[field]
            if not low <= values[field] <= high:
                return f"{field} out of range", last
    if values["Time"] < last:
        return "Time is lower than on an earlier line", last
    return None, values["Time"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lines") / "input.csv"


ODD = [
    *("-1", "0", "1", "4", "5", "7", "8", "69", "70", "99", "100", "101", "1440", "1441", "10799", "10800", "-0", "+3"),
    *(
        "527999",
        "528000",
        *(str(2**power + more) for power in (31, 63, 64) for more in (-1, 0, 5)),
        "9" * 40,
        "-" + "9" * 40,
    ),
    *(
        "0" * 30 + "5",
        " 5",
        "5\t",
        "5\r",
        "\v5",
        "",
        " ",
        "+",
        "-",
        "--1",
        "+-1",
        "- 1",
        "1.0",
        "1e1",
        "0x1",
        "1_0",
        "٣",
    ),
]
numbers = st.one_of(st.sampled_from(ODD), st.integers(-5, 110).map(str))
valid = st.builds(
    lambda kind, second, vehicle, rest: ",".join(map(str, (kind, second, vehicle, *rest))),
    st.sampled_from([0, 0, 0, 2, 3, 4, 1]),
    st.integers(0, 90),
    st.integers(0, 3),
    st.tuples(*[st.integers(0, 4)] * 3, st.integers(0, 1), *[st.integers(1, 7)] * 8),
)
mutated = st.builds(
    lambda line, at, word: ",".join(word if number == at else old for number, old in enumerate(line.split(","))),
    valid,
    st.integers(0, 14),
    numbers,
)
anything = st.one_of(
    valid.map(str.encode),
    mutated.map(str.encode),
    st.lists(numbers, min_size=13, max_size=17).map(lambda words: ",".join(words).encode()),
    st.binary(max_size=80),
)
files = st.lists(st.tuples(anything, st.sampled_from([b"\n", b"\n", b"\r\n", b"\r", b""])), max_size=12).map(
    lambda pieces: b"".join(line + end for line, end in pieces)
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=files)
@example(data=b"")
@example(data=b"\n\n\r\n")
@example(data=lines.BYTE_ORDER_MARK + REPORT.encode())
@example(data=b"\0" * 100)
@example(data=REPORT.encode() + b"\r" + REPORT.encode() + b"\r")
def test_parser_says_what_the_specification_says(path, data):
    if data.startswith(flat.GZIP_MAGIC):
        return
    assert judged(path, data) == oracle(data)


def test_many_mutated_lines(path):
    rng = random.Random(7)
    data = bytearray()
    for number in range(30_000):
        words = [rng.choice("02340")] + [str(number // 3)] + [str(rng.randint(1, 4)) for _ in range(13)]
        words[6] = rng.choice("01")
        for _ in range(rng.choice((0, 0, 1, 2))):
            words[rng.randrange(15)] = rng.choice(ODD)
        line = bytearray(",".join(words).encode())
        for _ in range(rng.choice((0, 0, 0, 1, 3))):
            line[rng.randrange(len(line))] = rng.choice((rng.randrange(256), *b"0,\n-\r "))
        data += line + rng.choice((b"\n", b"\n", b"\r\n"))
    expected = oracle(bytes(data))
    assert judged(path, bytes(data), 10_000) == expected
    assert {kind for _, kind, _ in expected} >= {None, "not 15 integers", "unknown Type", "DOW out of range"}


@pytest.mark.parametrize("size", [1, 7, 60, 4096])
def test_chunk_borders_do_not_matter(path, size):
    data = b"".join(b"0,%d,1,50,0,1,0,0,100,-1,-1,-1,-1,-1,-1\r\nbad\n" % second for second in range(40))
    assert judged(path, data, size) == oracle(data)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0,0,1", "not 15 integers"),
        (REPORT + ",", "not 15 integers"),
        (REPORT.replace("50", "5 0"), "not 15 integers"),
        ("", "not 15 integers"),
        ("1" + REPORT[1:], "unknown Type 1"),
        ("-3" + REPORT[1:], "unknown Type -3"),
        ("18446744073709551616" + REPORT[1:], "unknown Type 18446744073709551616"),
        ("0,10800" + REPORT[3:], "Time 10800 is out of range 0..10799"),
        ("0,0,2147483648" + REPORT[5:], "VID 2147483648 is out of range 0..2147483647"),
        (REPORT.replace("50", "101"), "Spd 101 is out of range 0..100"),
        ("0,0,1,50,1000,1,0,0,100,-1,-1,-1,-1,-1,-1", "XWay 1000 is out of range 0..999"),
        ("0,0,1,50,0,5,0,0,100,-1,-1,-1,-1,-1,-1", "Lane 5 is out of range 0..4"),
        ("0,0,1,50,0,1,2,0,100,-1,-1,-1,-1,-1,-1", "Dir 2 is out of range 0..1"),
        ("0,0,1,50,0,1,0,100,100,-1,-1,-1,-1,-1,-1", "Seg 100 is out of range 0..99"),
        ("0,0,1,50,0,1,0,0, 528000,-1,-1,-1,-1,-1,-1", "Pos 528000 is out of range 0..527999"),
        ("2,0,1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1,-1", "QID -1 is out of range 0..9223372036854775807"),
        ("2,0,1,-1,-1,-1,-1,-1,-1,9223372036854775808,-1,-1,-1,-1,-1", "QID 9223372036854775808 is out of range"),
        ("3,0,1,-1,0,-1,-1,-1,-1,5,-1,-1,-1,-1,70", "Day 70 is out of range 1..69"),
        ("4,0,1,-1,0,-1,-1,-1,-1,5,100,0,1,1,-1", "Sinit 100 is out of range 0..99"),
        ("4,0,1,-1,0,-1,-1,-1,-1,5,0,-1,1,1,-1", "Send -1 is out of range 0..99"),
        ("4,0,1,-1,0,-1,-1,-1,-1,5,0,0,0,1,-1", "DOW 0 is out of range 1..7"),
        ("4,0,1,-1,0,-1,-1,-1,-1,5,0,0,1,1441,-1", "TOD 1441 is out of range 1..1440"),
    ],
)
def test_reason_names_field_value_and_range(path, line, reason):
    path.write_text(f"{REPORT}\n{line}\n")
    (chunk,) = lines.read_chunks(path, lines.ranges())
    (reject,) = chunk.rejects
    assert reject["line"] == 2
    assert lines.reason_for(int(reject["verdict"]), chunk.text(reject), lines.ranges()).startswith(reason)


def test_unused_fields_become_minus_one(path):
    path.write_text(f"2,7,8,{'9' * 30},77,9,9,9,9,{2**63 - 1},5,5,5,5,5\n")
    (chunk,) = lines.read_chunks(path, lines.ranges())
    (row,) = chunk.rows
    assert [int(row[name]) for name in spec.FIELDS.values()] == [2, 7, 8, *[-1] * 6, 2**63 - 1, *[-1] * 5]


@pytest.mark.parametrize(("length", "kind"), [(lines.MAX_LINE, None), (lines.MAX_LINE + 1, "longer than 65536 bytes")])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("size", [1 << 10, 1 << 22])
def test_longest_line(path, length, kind, end, size):
    line = REPORT.rjust(length)
    assert [found[:2] for found in judged(path, f"{line}{end}".encode(), size)] == [(1, kind)]


def test_a_line_of_100_mb_takes_little_memory(path):
    with path.open("wb") as out:
        out.write(f"{REPORT}\n".encode())
        for _ in range(100):
            out.write(b"7" * (1 << 20))
        out.write(f"\n{REPORT}\n".encode())
    lines.ranges()
    tracemalloc.start()
    try:
        chunks = list(lines.read_chunks(path, lines.ranges()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        path.unlink()
    assert peak < 40 << 20
    assert [int(at["line"]) for chunk in chunks for at in chunk.rejects] == [2]
    assert [int(row["line"]) for chunk in chunks for row in chunk.rows] == [1, 3]


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.999])
def test_cut_gzip_is_refused(path, cut):
    packed = gzip.compress(f"{REPORT}\n".encode() * 1000)
    path.write_bytes(packed[: int(len(packed) * cut)])
    with pytest.raises(Refusal, match="cut short"):
        list(lines.read_chunks(path, lines.ranges()))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=200), at=st.integers(0, 200), byte=st.integers(0, 255))
def test_damaged_gzip_is_refused_or_read(path, data, at, byte):
    packed = bytearray(gzip.compress(data))
    packed[at % len(packed)] = byte
    path.write_bytes(packed)
    with suppress(Refusal):
        list(lines.read_chunks(path, lines.ranges()))


def test_gzip_in_several_members_is_one_file(path):
    path.write_bytes(gzip.compress(f"{REPORT}\n".encode()) * 3)
    assert sum(len(chunk.rows) for chunk in lines.read_chunks(path, lines.ranges())) == 3


def test_ranges_follow_the_number_of_expressways():
    xway = lines.FIELDS.index("XWay")
    assert np.array_equal(lines.ranges(2)[spec.REPORT, xway], (0, 1))
