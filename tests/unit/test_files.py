"""The lines of a flat file, however many parts it is read in."""

from __future__ import annotations

import gzip
import io
import re
import sys
from itertools import pairwise

import pytest

from driver.dataset.packed_file import opened
from driver.validate import file_parts
from driver.validate.file_parts import LARGEST_PART, LEAST_PART, blocks_of, lines_in, parts_of
from polling_baseline.refusal import Refusal

MARK = b"\xef\xbb\xbf"
CONTENTS = [
    b"",
    b"\n",
    b"\n\n",
    b"one",
    MARK + b"one\r\ntwo\rthree\n\nfive\r\r\nseven" + MARK,
    b"\xff\xfe\x00,\xc3\n" * 3,
    b"".join(b"%d," % number + b"x" * (number % 50) + b"\n" for number in range(500)),
    b"y" * 3000 + b"\n" + b"z" * 700,
]


def read(content: bytes, length: int) -> list[bytes]:
    file = io.BytesIO(content)
    parts = [(start, start + length) for start in range(0, max(len(content), 1), length)]
    blocks = [block for part in parts for _, block in blocks_of(file, *part)]
    return [line.as_buffer().to_pybytes() for block in blocks for line in lines_in(block)]


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
@pytest.mark.parametrize("length", [1, 2, 7, 1000, 1 << 20])
def test_every_line_is_read_once(content, length):
    lines = re.split(rb"\r\n|\r|\n", content.removeprefix(MARK))
    assert read(content, length) == (lines if lines[-1] else lines[:-1])


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("length", [7, 100, 1 << 20])
def test_very_long_lines(monkeypatch, end, length):
    """The end of a line that is too long is passed over; no other line is lost, whatever ends them."""
    monkeypatch.setattr(file_parts, "BLOCK", 20)
    monkeypatch.setattr(file_parts, "LONGEST_LINE", 60)
    lines = [b"a", b"b" * 45, b"", b"c" * 300, b"d", b"e" * 59, b"f"]
    found = read(end.join(lines), length)
    long = found[3]
    assert found == [*lines[:3], long, *lines[4:]]
    assert long in lines[3] and len(long) >= 60


def test_offsets_of_blocks(monkeypatch):
    monkeypatch.setattr(file_parts, "BLOCK", 20)
    for content in CONTENTS:
        file = io.BytesIO(content)
        for offset, block in list(blocks_of(file, 0, sys.maxsize)):
            assert content[offset:].startswith(block)


def test_parts(tmp_path):
    path = tmp_path / "file"
    path.touch()
    assert len(parts_of(path, 2)) == 1
    for size, tasks, parts in [(LEAST_PART, 2, 1), (3 * LEAST_PART, 2, 2), (3 * LARGEST_PART, 2, 3)]:
        with path.open("wb") as file:
            file.truncate(size)
        found = parts_of(path, tasks)
        assert (len(found), found[0][0], found[-1][1] >= size) == (parts, 0, True)
        assert all(one[1] == other[0] for one, other in pairwise(found))
    path.write_bytes(gzip.compress(b"packed"))
    assert parts_of(path, 2) == [(0, sys.maxsize)]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        pytest.param(lambda packed: packed[:-9], "is cut short", id="cut"),
        pytest.param(lambda packed: packed[:30] + b"!" * 9 + packed[39:], "is damaged", id="damaged"),
    ],
)
def test_what_gzip_cannot_unpack(tmp_path, spoil, sentence):
    path = tmp_path / "a.gz"
    path.write_bytes(spoil(gzip.compress(bytes(range(256)) * 9)))
    with pytest.raises(Refusal, match=sentence), opened(path) as (file, _):
        file.read()
