"""The text of sql/ and stored_procs/: headers tell who calls, numbers and names stand in one place."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from polling_baseline.database.designs import DESIGNS

ROOT = Path(__file__).resolve().parents[2]
SPEC = ROOT / "sql" / "015_spec.sql"
FILES = sorted([*ROOT.glob("sql/**/*.sql"), *ROOT.glob("stored_procs/**/*.sql")])
CODE = {file: re.sub(r"--.*", "", file.read_text()) for file in FILES}
ROUTINES = {
    file: created[1]
    for file, code in CODE.items()
    if (created := re.match(r"\s*CREATE OR REPLACE (?:FUNCTION|PROCEDURE) lr\.(\w+)", code))
}

# A number on its own: no part of a name, of a placeholder (%1$I, $1) or of a quantity with a unit.
NUMBER = re.compile(r"(?<![\w.$%])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w$])")
# 0, 1 and 2 count and compare.  The others that are no number of the specification, where they stand:
STRUCTURE = {"0", "1", "2"}
OURS = {
    "lap.sql": {"1000"},  # milliseconds of a second
    "exact.sql": {"80", "40"},  # digits
    "floor_of.sql": {"1e-30"},
    "journey.sql": {"0.5"},  # to round
    "010_vehicle.sql": {"80"},  # fillfactor
    "010_tuning.sql": {"50", "0.05"},  # fillfactor, and the share of dead rows that a vacuum waits for
    "070_cycle.sql": {"9"},  # of a pattern
    "010_trip.sql": {"50"},  # fillfactor
    # The unit of fractions, how many of it are none, and a multiple of all numbers of days.
    "010_rules.sql": {"1000000000000000000000000000000", "1000", "2520", "16", "34359738368", "549755813888"},
}
# Small numbers of the specification, in the places where they would stand: a kind, a lane or a direction; no value.
SMALL = re.compile(r"\b(?:kind|lane|dir)\)?\s*(?:=|<>|[<>]=?|IN|BETWEEN)[\s(]*\d|,\s*-1\b|generate_series\(\d+, *\d")


def called(file: Path) -> str | None:
    """What the header says behind `Called`, in one line."""
    found = re.search(r"^-- Called  (.*(?:\n--         .*)*)", file.read_text(), re.M)
    return found and re.sub(r"\s*\n--\s*", " ", found[1])


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("file", ROUTINES, ids=name_of)
def test_called_names_the_callers(file: Path) -> None:
    name, header = ROUTINES[file], called(file)
    callers = {caller for other, caller in ROUTINES.items() if caller != name and f"lr.{name}(" in CODE[other]}
    by_driver = re.search("PROCEDURE.*SECURITY DEFINER", CODE[file], re.S)
    by_table = re.search("RETURNS trigger", CODE[file])
    if header is None:
        assert "functions" in file.parts and callers
        return
    assert set(re.findall(r"\blr\.(\w+)", header)) == callers
    assert ("the driver" in header) == bool(by_driver)
    assert header.startswith("as ") == bool(by_table)
    assert callers or by_driver or by_table


@pytest.mark.parametrize("file", [file for file in FILES if file != SPEC], ids=name_of)
def test_numbers_of_the_specification_stand_in_its_file(file: Path) -> None:
    assert set(NUMBER.findall(CODE[file])) <= STRUCTURE | OURS.get(file.name, set())
    assert SMALL.findall(CODE[file]) == []


@pytest.mark.parametrize(
    "code",
    ["p_second - 30", "v_second % 60 = 0", "kind = 2", "lane BETWEEN 1 AND 3", "NEW.lane <> 4", "coalesce(lav, -1)"],
)
def test_such_a_number_would_be_found(code: str) -> None:
    assert set(NUMBER.findall(code)) - STRUCTURE or SMALL.findall(code)


def test_every_number_is_used() -> None:
    everything = " ".join(CODE.values())
    names = re.findall(r"CREATE FUNCTION lr\.(\w+)\(\)", CODE[SPEC])
    assert [name for name in names if everything.count(f"lr.{name}()") == 1] == []


@pytest.mark.parametrize("design", DESIGNS)
def test_a_step_has_its_name_in_one_place(design: str) -> None:
    code = [code for file, code in CODE.items() if "designs" not in file.parts or file.parent.name == design]
    steps = Counter(re.findall(r"CALL lr\.lap\([^)]*'(\w+)'\)", " ".join(code)))
    assert steps and set(steps.values()) == {1}


def test_columns_are_listed() -> None:
    """A star stands only where a row goes into a variable of its table's type, or is counted."""
    stars = [line for code in CODE.values() for line in code.splitlines() if re.search(r"SELECT \*|\w\.\*", line)]
    assert [line for line in stars if not re.search(r"SELECT \* INTO v_\w+ FROM", line)] == []
    clients = [*ROOT.glob("polling_baseline/**/*.py"), *ROOT.glob("driver/**/*.py")]
    assert [name_of(file) for file in clients if "SELECT *" in file.read_text()] == []
