"""The exercises: which file has the hole, how it is run, and which answers it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from driver.lesson import hints
from driver.lesson.fault import Fault
from polling_baseline.refusal import Refusal

FILES = Path(__file__).parent / "exercises"
# A design that handles all seconds of a cycle at once, and so is quickest where cycles are long.
IN_PLACE: Mapping[str, str] = MappingProxyType({"design": "2004"})


class BrokenFile(Exception):
    """A student's file cannot be run, or not to its end; the text says why."""


@dataclass(frozen=True, slots=True)
class Routine:
    """A stored routine with a hole: its signature, as ALTER ROUTINE wants it, and the tables that it may write."""

    signature: str
    writes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Exercise:
    """What a student gets, and what becomes of it."""

    name: str
    summary: str
    file: str
    # Which of the rules it is about, for the README.
    rules: str
    task: str
    # The kinds of answer that count.
    kinds: tuple[str, ...]
    # The rule that a fault is against.
    rule: Callable[[Fault], int]
    # What a student is told who has made no check yet, and after one: the first whose condition fits the faults.
    start_hint: str
    hints: Sequence[hints.Hint]
    engine: str = "polling"
    options: Mapping[str, str] = field(default_factory=dict)
    # Of an exercise in SQL.
    routine: Routine | None = None
    # Whether cars stand still on its road.
    accidents: bool = True

    @property
    def given(self) -> str:
        """The text of the file that a student starts from."""
        return (FILES / f"{self.file}.start").read_text()


TOLL = Exercise(
    "toll",
    "SQL: what does it cost to enter a segment?",
    "toll_for.sql",
    "rule 4",
    "Write the formula of the toll as a function of three numbers.",
    ("toll", "balance"),
    hints.rule_of_toll,
    "Write the three conditions of rule 4 as one CASE, and the formula in its ELSE.",
    hints.TOLL_HINTS,
    options=IN_PLACE,
    routine=Routine("FUNCTION lr.toll_for(numeric, numeric, boolean)"),
)
STOPS = Exercise(
    "stops",
    "SQL: which cars stand still, and until when?",
    "note_stops.sql",
    "rule 6",
    "Choose the reports that make a car stopped, and say how long it stays so.",
    ("accident", "toll"),
    lambda fault: 6,
    "Three conditions choose the rows: how many reports came from the place, from which lanes, and that there was one.",
    hints.STOP_HINTS,
    routine=Routine("PROCEDURE lr.note_stops()", ("stopped_car",)),
)
BALANCE = Exercise(
    "balance",
    "SQL: how much has a vehicle paid at the second of its request?",
    "answer_balances.sql",
    "rules 9 and 10",
    "Answer each request with what was charged to its vehicle up to the second of the request.",
    ("balance",),
    lambda fault: 10,
    "Join the requests with lr.vehicle. Which vehicles have no row there, and which have two?",
    hints.BALANCE_HINTS,
    options=IN_PLACE,
    routine=Routine("PROCEDURE lr.answer_balances(integer, integer)", ("account_balance",)),
)
ALERTS = Exercise(
    "alerts",
    "SQL: which segments are warned of an accident ahead?",
    "warnings.sql",
    "rules 7 and 8",
    "Find the segments from which an accident is ahead, and the nearest accident for each.",
    ("accident", "toll"),
    lambda fault: 8 if fault.fault == "wrong" else 7,
    "An accident warns five segments: its own and four upstream. generate_series gives the distances.",
    hints.ALERT_HINTS,
    options=IN_PLACE,
    routine=Routine("FUNCTION lr.warnings(integer)"),
)
LAV = Exercise(
    "lav",
    "A box of the stream engine: how fast was a segment in the last five minutes?",
    "lav.py",
    "rules 2 and 3",
    "Write the function of a sliding window, on columns.",
    ("toll",),
    hints.rule_of_toll,
    "Add up the averages of each segment with np.bincount, and divide by how many there are.",
    hints.LAV_HINTS,
    engine="aurora",
)
PROGRAM = Exercise(
    "program",
    "A program of your own: toll notifications from lines of text, in any language.",
    "system.py",
    "rules 1 to 5",
    "Answer every report that enters a segment, with the LAV and the toll that hold there.",
    ("toll",),
    hints.rule_of_toll,
    "Begin with who enters a segment, and answer LAV -1 and toll 0. That is right for all of minute 1.",
    hints.PROGRAM_HINTS,
    engine="exec",
    accidents=False,
)
EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {exercise.name: exercise for exercise in (TOLL, STOPS, BALANCE, ALERTS, LAV, PROGRAM)}
)


def find_exercise(name: str) -> Exercise:
    if name not in EXERCISES:
        raise Refusal(f"there is no exercise {name}; there are {', '.join(EXERCISES)}")
    return EXERCISES[name]
