"""Singular and plural, decimals that decide, commands to paste, lines that fit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from polling_baseline.wording import (
    TEXT_CUT,
    WIDTH,
    fold_parts,
    format_command,
    format_count,
    format_seconds,
    printable,
)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 workers"), (1, "1 worker"), (2, "2 workers"), (1234567, "1,234,567 workers")]
)
def test_singular_and_plural(number: int, text: str) -> None:
    assert format_count(number, "worker") == text
    assert format_count(number, "worker", 20) == f"{number:>20,}" + text[text.index(" ") :]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4.9996, "5.000"),
        (5.0, "5.000"),
        (5.0004, "5.0004"),
        (5.000_001, "5.000001"),
        (5.001, "5.001"),
        (12_345.6789, "12,345.679"),
    ],
)
def test_a_late_time_is_seen_to_be_late(seconds: float, text: str) -> None:
    assert format_seconds(seconds, 5) == text


def test_fewer_decimals() -> None:
    assert [format_seconds(seconds, 5, 1) for seconds in (5.0, 5.04, 5.2)] == ["5.0", "5.04", "5.2"]


@pytest.mark.parametrize(
    "name",
    [
        "road1",
        "dé mo/road",
        "it's",
        "a\nb",
        '$HOME `id` "x" \\ * [1]',
        "\x1b[31mred\t",
        os.fsdecode(b"\xff'\\"),
        "-x;y",
        "",
    ],
)
def test_a_command_can_be_pasted(name: str) -> None:
    line = format_command("show", name)
    assert line.isprintable() and line.startswith("lrb show ")
    echo = (
        f"lrb() {{ '{sys.executable}' -c 'import os, sys; sys.stdout.buffer.write(os.fsencode(sys.argv[1]))' \"$2\"; }}"
    )
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run([bash, "-c", f"{echo}\n{line}"], capture_output=True, check=True)
    assert os.fsdecode(done.stdout) == name


def test_lines_that_fit() -> None:
    parts = [f"step {number} takes 12.3 ms" for number in range(20)]
    lines = fold_parts("steps   ", parts)
    assert max(map(len, lines)) <= WIDTH and len(lines) > 3
    assert lines[0].startswith("steps   step 0") and all(line.startswith("        step") for line in lines[1:])
    assert [part for line in lines for part in line[8:].split("   ")] == parts
    assert fold_parts("x  ", ["y" * 200]) == ["x  " + "y" * 200]


def test_what_is_not_text_is_escaped() -> None:
    assert printable(b"a\0\x1b[31m\xff\xc3\xa9\x85") == "a\\x00\\x1b[31m\\xff\u00e9\\x85"
    assert len(printable(b"x" * 10_000)) == TEXT_CUT
