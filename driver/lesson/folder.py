"""The folder of an exercise: lesson.json, a README, the file with the hole, and a road of the student's own."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TypedDict

from driver.json_record import read_json, write_json
from driver.lesson.exercise import Exercise, find_exercise
from driver.lesson.road import write_road
from polling_baseline.files import complete_folder
from polling_baseline.refusal import Refusal
from polling_baseline.wording import format_command

FORMAT = 1
NAME, CHECK, ROAD, RUN = "lesson.json", "check.json", "road", "run"
README = """\
# {summary}

{task} The rules are in docs/linear-road.md; this is about {rules}.

1. Open `{file}`. Its head says what it gets and what it must give; "Your work" marks the place.
2. `lrb lesson check {folder}` runs it on your road, judges every answer, and shows the first fault: given these
   reports, the rule demands this, you answered that. It exits with status 0 when all is right, and with 3 until then.
3. `lrb lesson hint {folder}` says what may be behind the faults of the last check.

The road in `road/` is yours alone, made from the seed "{student}": {minutes} minutes of one expressway with some
traffic jams{more}. `lrb show {folder}/road` shows it.

{rights}
"""
SQL_RIGHTS = (
    "Your SQL runs as the role lr_driver, in a database of the lessons' own: it may read the tables of the run, and\n"
    "write what this routine is there to write. A statement is stopped after 20 s."
)
PYTHON_RIGHTS = (
    "Your file runs as you, with your rights. Check files of others only where you would run their programs."
)


class LessonRecord(TypedDict):
    """`lesson.json`."""

    format: int
    exercise: str
    # What the student gave as --seed, and the number made of it.
    student: str
    seed: int


class AnswerCounts(TypedDict):
    """What came of one kind of answer."""

    expected: int
    received: int
    missing: int
    extra: int
    duplicate: int
    wrong: int


class CheckRecord(TypedDict):
    """`check.json`, and what `lrb lesson check --json` prints."""

    format: int
    exercise: str
    student: str
    # PASS, FAIL, or BROKEN if it could not be run to its end.
    verdict: str
    # 0 to 100; 100 means PASS.
    score: int
    answers: dict[str, AnswerCounts]
    # The first fault in words, line by line, or why it broke.
    evidence: list[str]
    hint: str
    # Of the student's file.
    sha256: str
    checked_at: str


def seed_of(student: str) -> int:
    """A number for a name; a number stands for itself."""
    if student.isdecimal() and int(student) < 2**63:
        return int(student)
    return int.from_bytes(hashlib.sha256(student.encode()).digest()[:4], "big")


def start_lesson(exercise: Exercise, student: str, folder: Path) -> LessonRecord:
    """Make the folder; one that exists is left alone."""
    if folder.exists():
        raise Refusal(
            f"{folder} exists; choose another --out, or go on there: {format_command('lesson', 'check', folder)}"
        )
    record: LessonRecord = {
        "format": FORMAT,
        "exercise": exercise.name,
        "student": student,
        "seed": seed_of(student),
    }
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with complete_folder(folder) as new:
            (new / ROAD).mkdir()
            write_road(new / ROAD, record["seed"], exercise.accidents)
            (new / exercise.file).write_text(exercise.given)
            (new / "README.md").write_text(_readme(exercise, student, folder))
            write_json(new / NAME, record)
    except OSError as error:
        raise Refusal(f"cannot write {folder}: {error.strerror or error}") from None
    return record


def open_lesson(folder: Path) -> tuple[Exercise, LessonRecord]:
    """What is to be done in a folder that `start_lesson` made."""
    try:
        record = read_json(folder / NAME, LessonRecord, "start the exercise again")
    except OSError:
        raise Refusal(f"{folder} is no exercise; start one with lrb lesson start NAME") from None
    exercise = find_exercise(record["exercise"])
    if not (folder / exercise.file).is_file():
        raise Refusal(f"{folder / exercise.file} is missing: that is the file to be completed")
    return exercise, record


def last_check(folder: Path) -> CheckRecord | None:
    try:
        return read_json(folder / CHECK, CheckRecord, "check again")
    except OSError:
        return None


def _readme(exercise: Exercise, student: str, folder: Path) -> str:
    from driver.lesson.road import MINUTES

    return README.format(
        summary=exercise.summary,
        task=exercise.task,
        rules=exercise.rules,
        file=exercise.file,
        folder=folder.name,
        student=student,
        minutes=MINUTES,
        more=" and accidents" if exercise.accidents else "",
        rights=SQL_RIGHTS if exercise.routine else PYTHON_RIGHTS,
    )
