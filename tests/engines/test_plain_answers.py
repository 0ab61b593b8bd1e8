"""Lines of an output file, plain and odd: a reader of columns and one of lines read the same in them."""

from __future__ import annotations

from collections import Counter

import pytest

from driver.validate.file_parts import blocks_of
from driver.validate.received import read_block
from tests.support.tables.received import received_of

NAMES = ("id", "second", "value_1", "value_2", "response_us")
RIGHT = ("0,7,30,30.5,25,8", "1,30,30.500,7,25", "2,30,31,30,9,80", "3,30,39.999999,9,-1", "4,30,60.1,9,-1,-1")
# What is put in the place of a field.
ODD = (
    "",
    " 7",
    "7 ",
    "+7",
    "-7",
    "--7",
    "-",
    "7-",
    "07",
    "7.",
    ".5",
    "-.5",
    ".",
    "7.0",
    "1.5",
    "7.1234567",
    "0.0000005",
)
ODDER = (
    "0x1F",
    "1e3",
    "NaN",
    "null",
    "'7'",
    '"7"',
    "7_0",
    "٧",
    "9" * 18,
    "9" * 19,
    "9" * 40,
    str(2**31),
    str(-(2**63)),
)
LINES = [
    *RIGHT,
    *[
        ",".join([*fields[:place], odd, *fields[place + 1 :]])
        for fields in (line.split(",") for line in RIGHT)
        for place in range(len(fields))
        for odd in (*ODD, *ODDER)
    ],
    *[line + more for line in RIGHT for more in (",", ",1", " ", "\t", ",,")],
    *[line.rpartition(",")[0] for line in RIGHT],
    *("5,30,30.5,7", "x", ",", "0", "0,", "-0,7,30,30.5,25,8"),
]


def read(data):
    """The answers of a block by the number of their line, what is noted of it, and the odd lines."""
    block = read_block(data.encode())
    answers = {}
    for kind, columns in block.answers.items():
        for number, row in enumerate(columns["at"].tolist()):
            answers[row] = (kind, *(int(columns[name][number]) for name in NAMES))
    return answers, block


def test_each_line_is_read_as_among_others():
    """Plain ones by columns, others by themselves: as many lines, and the same answers as one by one."""
    together, block = read("\n".join(LINES) + "\n")
    assert block.lines == len(LINES)
    alone = [read(line + "\n") for line in LINES]
    assert together == {number: answers[0] for number, (answers, _) in enumerate(alone) if answers}
    assert block.notes == sum((one.notes for _, one in alone), Counter())
    assert [text for _, text in block.odd] == [text for _, one in alone for _, text in one.odd]
    assert set(range(len(RIGHT))) <= set(together)


def test_lines_as_tables_of_spark_read_them(spark, tmp_path):
    """What is an answer, and what is odd about it."""
    output = tmp_path / "output.csv"
    output.write_text("\n".join(LINES) + "\n")
    rows = {row.text: row for row in received_of(spark, output).collect()}
    for line in LINES:
        answers, block = read(line + "\n")
        row = rows[line]
        assert (row.note, *block.notes) in ((None,), (row.note, row.note)), line
        if row.note in (None, "extra_fields"):
            assert answers[0] == tuple(row[name] for name in ("kind", *NAMES)), line
        else:
            assert answers == {}, line


@pytest.mark.parametrize(
    ("data", "answers", "notes"),
    [
        pytest.param("\n".join([*RIGHT, "", RIGHT[0]]), 6, {"blank": 1}, id="blank"),
        pytest.param("\r\n".join(RIGHT), 5, {}, id="other-line-ends"),
        pytest.param("\r".join(RIGHT), 5, {}, id="old-line-ends"),
        pytest.param("\n".join([*RIGHT, "5,1,2"]), 5, {"unknown_type": 1}, id="unknown-type"),
        pytest.param("\n".join([*RIGHT, RIGHT[0] + ",1"]), 6, {"extra_fields": 1}, id="too-many-fields"),
        pytest.param("\n".join([*RIGHT, "0,7,30"]), 5, {"malformed": 1}, id="cut-short"),
        pytest.param("\n".join([*RIGHT, "\x00"]), 5, {"unknown_type": 1}, id="binary"),
        pytest.param("\n".join([*RIGHT, f"0,7,{2**31},1,2,3"]), 5, {"malformed": 1}, id="no-time"),
        pytest.param("\n".join([*RIGHT, "0,7,-5,-5.5,2,3"]), 6, {}, id="before-the-first-second"),
    ],
)
def test_one_odd_line(data, answers, notes):
    read_answers, block = read(data)
    assert (len(read_answers), dict(block.notes)) == (answers, notes)


def test_parts_of_a_file(tmp_path):
    """Each line belongs to the part that it begins in."""
    path = tmp_path / "output.csv"
    path.write_text("\n".join(RIGHT))
    size = path.stat().st_size
    for cut in range(1, size):
        with path.open("rb") as file:
            blocks = [read_block(data) for part in ((0, cut), (cut, size)) for _, data in blocks_of(file, *part)]
        assert [kind for block in blocks for kind in block.answers] == [0, 1, 2, 3, 4]
