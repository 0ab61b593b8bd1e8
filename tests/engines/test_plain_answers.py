"""Lines that the arrays take for answers: the tables read the same in them, and none that they find odd."""

from __future__ import annotations

import sys

import pytest

from driver.validate.arrays.received import NotPlain, plain_answers
from driver.validate.received import received_of
from polling_baseline.batch import ANSWER_KINDS
from tests.conftest import shared_spark

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


def by_arrays(text, path):
    """The answer that a line is, by its fields in the order of the tables; None if it is not plainly one."""
    path.write_bytes(text.encode() + b"\n")
    try:
        ((kind, columns),) = plain_answers(path, 0, sys.maxsize)
    except NotPlain:
        return None
    values = [*(int(columns[name][0]) for name in kind.values), 0][:2]
    return kind.number, int(columns[kind.id][0]), int(columns["second"][0]), *values, int(columns["response_us"][0])


def test_both_read_the_same(tmp_path):
    output = tmp_path / "output.csv"
    output.write_text("\n".join(LINES) + "\n")
    names = ("kind", "id", "second", "value_1", "value_2", "response_us")
    rows = {row.text: row for row in received_of(shared_spark(), output).collect()}
    came = {text: by_arrays(text, tmp_path / "line.csv") for text in LINES}
    plain = {text: answer for text, answer in came.items() if answer}
    assert set(RIGHT) < set(plain)
    assert plain == {text: tuple(rows[text][name] for name in names) for text in plain if rows[text].note is None}


@pytest.mark.parametrize(
    "data",
    [
        pytest.param("\n".join([*RIGHT, "", RIGHT[0]]), id="blank"),
        pytest.param("\r\n".join(RIGHT), id="other-line-ends"),
        pytest.param("\n".join([*RIGHT, "5,1,2"]), id="unknown-type"),
        pytest.param("\n".join([*RIGHT, RIGHT[0] + ",1"]), id="too-many-fields"),
        pytest.param("\n".join([*RIGHT, "0,7,30"]), id="cut-short"),
        pytest.param("\n".join([*RIGHT, "\x00"]), id="binary"),
    ],
)
def test_one_odd_line_is_enough(tmp_path, data):
    path = tmp_path / "output.csv"
    path.write_bytes(data.encode())
    with pytest.raises(NotPlain):
        list(plain_answers(path, 0, sys.maxsize))


def test_parts_of_a_file(tmp_path):
    """Each line belongs to the part that it begins in."""
    path = tmp_path / "output.csv"
    path.write_text("\n".join(RIGHT))
    size = path.stat().st_size
    for cut in range(1, size):
        both = [*plain_answers(path, 0, cut), *plain_answers(path, cut, size)]
        assert [kind for kind, _ in both] == list(ANSWER_KINDS.values())
