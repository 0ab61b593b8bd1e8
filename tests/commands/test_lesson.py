"""`lrb lesson`: each exercise fails with its hole, passes with the right file, and has a hint for typical mistakes."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from driver.cli import main
from driver.dataset.folder import ID_BLOCK, Dataset, open_dataset
from driver.dataset.relabel import relabelled
from driver.lesson import student_box, student_sql
from driver.lesson.check import FAULTS, LIMITS, first_fault, hint_for, run_file
from driver.lesson.exercise import EXERCISES, BrokenFile
from driver.lesson.fault import Fault, Reports
from driver.lesson.folder import CheckRecord, LessonRecord, seed_of
from driver.lesson.road import write_road
from driver.validate.faults import PartFaults, find_first, sources_of, with_evidence
from driver.validate.judge import Question, judged
from polling_baseline import spec
from polling_baseline.database.session import execute
from tests.conftest import refused, shared_spark
from tests.support.files_page import check_json
from tests.support.lesson_files import RIGHT, WRONG, wrong_file
from tests.support.one_dataset import ID_AT

# Each file that is handed in, by exercise: the right one, the hole, the wrong ones.
HANDED_IN = {
    name: [RIGHT[name], EXERCISES[name].given, *(wrong_file(name, changes) for changes, _ in WRONG[name])]
    for name in EXERCISES
}
# More faults than all files together have.
MANY = 1_000_000


@pytest.fixture(scope="module")
def faults(own_environment, server, tmp_path_factory):
    """The faults of every file: all are run on one road and judged together, as if each had an expressway."""
    folder = tmp_path_factory.mktemp("lessons")
    found = {}
    for accidents in (True, False):
        road = folder / f"road {accidents}"
        road.mkdir()
        write_road(road, seed_of("ann"), accidents)
        dataset = open_dataset(road)
        files = [
            (name, number, text)
            for name, texts in HANDED_IN.items()
            if EXERCISES[name].accidents == accidents
            for number, text in enumerate(texts)
        ]
        outputs = [_output(EXERCISES[name], text, dataset, folder / f"{name}-{number}") for name, number, text in files]
        together = _judged_together(dataset, outputs, folder / "all.csv")
        found |= {(name, number): faults for (name, number, _), faults in zip(files, together, strict=True)}
    return found


def _output(exercise, text: str, dataset: Dataset, folder: Path) -> Path:
    folder.mkdir()
    (folder / exercise.file).write_text(text)
    run_file(exercise, folder / exercise.file, dataset, folder / "run")
    return folder / "run" / "output.csv"


def _judged_together(dataset: Dataset, outputs: list[Path], file: Path) -> list[list[Fault]]:
    with file.open("w") as lines:
        for copy, output in enumerate(outputs):
            for line in output.read_text().splitlines():
                fields = line.split(",")
                at = ID_AT[int(fields[0])] + (int(fields[0]) > 0)
                fields[at] = str(int(fields[at]) + copy * ID_BLOCK)
                lines.write(",".join(fields) + "\n")
    copies = relabelled(replace(dataset, options={"command": "generate"}), float(len(outputs)))
    question = Question(copies, file, range(dataset.seconds), limits=LIMITS)
    with judged(shared_spark(), question) as judgement:
        faults = with_evidence(sources_of(judgement), _first_of_each(find_first(judgement, MANY)))
        rows = [fault._asdict() for fault in faults]
    reports, together = Reports(dataset), [[] for _ in outputs]
    for row in rows:
        copy, row["id"] = divmod(row["id"], ID_BLOCK)
        together[copy].append(Fault(row, reports))
    return together


def _first_of_each(found: PartFaults) -> PartFaults:
    """As many of each fault of each expressway as a check looks at."""
    seen, rows = Counter(), []
    for kind, id, second, fault in found.rows:
        group = kind, id // ID_BLOCK, fault
        seen[group] += 1
        if seen[group] <= FAULTS:
            rows.append((kind, id, second, fault))
    kept = {row[:3] for row in rows}
    expected, lines = ({key: part[key] for key in kept & part.keys()} for part in (found.expected, found.lines))
    return PartFaults(rows, expected, lines)


def _concerned(name: str, faults: list[Fault]) -> list[Fault]:
    """An exercise that ignores requests is not asked for their answers."""
    kinds = ("toll", "accident") if EXERCISES[name].engine == "exec" else spec.ANSWERS
    return [fault for fault in faults if fault.answer in kinds]


@pytest.mark.parametrize("name", EXERCISES)
def test_the_right_file_has_no_fault(faults, name):
    assert _concerned(name, faults[name, 0]) == []


@pytest.mark.parametrize("name", EXERCISES)
def test_the_hole_has_faults(faults, name):
    found = _concerned(name, faults[name, 1])
    assert found
    assert hint_for(EXERCISES[name], found) != EXERCISES[name].hints[-1].text


@pytest.mark.parametrize(
    ("name", "number", "words"),
    [
        pytest.param(name, number, words, id=f"{name}-{words}")
        for name, mistakes in WRONG.items()
        for number, (_, words) in enumerate(mistakes, 2)
    ],
)
def test_a_typical_mistake_has_the_hint_that_fits(faults, name, number, words):
    found = _concerned(name, faults[name, number])
    assert words in hint_for(EXERCISES[name], found)
    first = first_fault(EXERCISES[name], found)
    evidence = first.evidence(EXERCISES[name].rule(first))
    assert evidence[0].startswith("given        vehicle ")
    assert [line.split()[0] for line in evidence[-2:]] == ["rule", "you"]


def test_three_mistakes_at_least_per_exercise():
    assert {name: len(mistakes) >= 3 for name, mistakes in WRONG.items()} == dict.fromkeys(EXERCISES, True)


def test_from_start_to_right(spark, server, tmp_path, monkeypatch, capsys):
    """A student's way: list, start, hint, check, a hint that fits, the right file."""
    monkeypatch.chdir(tmp_path)
    assert main(["lesson", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(EXERCISES)
    assert main(["lesson", "start", "toll", "--seed", "ann"]) == 0
    assert "lrb lesson check toll" in capsys.readouterr().out
    assert sorted(path.name for path in Path("toll").iterdir()) == ["README.md", "lesson.json", "road", "toll_for.sql"]
    assert "rule 4" in Path("toll/README.md").read_text()
    check_json(Path("toll/lesson.json"))
    assert main(["lesson", "hint", "toll"]) == 0
    assert capsys.readouterr().out == f"{EXERCISES['toll'].start_hint}\n"
    assert main(["lesson", "check", "toll"]) == 3
    said = capsys.readouterr().out
    assert said.startswith("FAIL   toll   ann   score ")
    assert "rule 4       demands LAV " in said and "you          answered LAV " in said
    check_json(Path("toll/check.json"))
    assert main(["lesson", "hint", "toll"]) == 0
    assert capsys.readouterr().out.startswith("Nobody pays. ")
    Path("toll/toll_for.sql").write_text(RIGHT["toll"])
    assert main(["lesson", "check", "toll", "--json"]) == 0
    record: CheckRecord = json.loads(capsys.readouterr().out)
    assert (record["verdict"], record["score"], record["evidence"]) == ("PASS", 100, [])
    assert main(["lesson", "hint", "toll"]) == 0
    assert "nothing to hint at" in capsys.readouterr().out


def test_a_file_that_breaks_is_not_right(server, tmp_path, capsys):
    """Several folders at once: a line of JSON for each, whatever becomes of them."""
    broken = {
        "toll": ("SELECT 1", "does not define FUNCTION lr.toll_for"),
        "stops": ("CREATE OR REPLACE PROCEDURE lr.note_stops()\nLANGUAGE sql AS 'SELEKT 1'", "syntax error"),
        "lav": ("def lav(cell, cars, average):\n    return cell[:0], cars[:0]", "each segment once"),
        "program": ("print('hello')", "ready"),
    }
    for name, (text, _) in broken.items():
        assert main(["lesson", "start", name, "--out", str(tmp_path / name)]) == 0
        (tmp_path / name / EXERCISES[name].file).write_text(text)
    capsys.readouterr()
    assert main(["lesson", "check", "--json", *(str(tmp_path / name) for name in broken)]) == 3
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(record["verdict"], record["score"]) for record in records] == [("BROKEN", 0)] * len(broken)
    for record in records:
        assert broken[record["exercise"]][1] in record["evidence"][0], record


@pytest.fixture
def hand_in(server, tmp_path):
    """`hand_in("toll", text)` runs a file as a check does; why it broke."""
    (tmp_path / "road").mkdir()
    write_road(tmp_path / "road", 1)
    dataset = open_dataset(tmp_path / "road")

    def run(name: str, text: str) -> str:
        file = tmp_path / EXERCISES[name].file
        file.write_text(text)
        with pytest.raises(BrokenFile) as broken:
            run_file(EXERCISES[name], file, dataset, tmp_path / "run")
        return str(broken.value)

    return run


def _note_stops(body: str) -> str:
    return f"CREATE OR REPLACE PROCEDURE lr.note_stops() LANGUAGE plpgsql AS $$ BEGIN {body} END $$;"


@pytest.mark.parametrize(
    "harm",
    [
        "DROP SCHEMA lr CASCADE;",
        "DROP SCHEMA lr_history CASCADE;",
        "DELETE FROM lr.vehicle;",
        "CREATE TEMPORARY TABLE mine (id integer);",
        "COPY lr.cycle TO PROGRAM 'cat > /tmp/stolen';",
        "PERFORM pg_catalog.pg_read_file('postgresql.conf');",
        "ALTER ROLE lr_driver SUPERUSER;",
        "SET ROLE lr_owner;",
        "PERFORM pg_catalog.pg_terminate_backend(1);",
    ],
)
def test_what_a_students_sql_may_not_do(hand_in, harm):
    assert re.search("permission|must be owner|cannot set parameter", hand_in("stops", _note_stops(harm)))


def test_what_a_role_may_change_of_itself_is_taken_back(server, tmp_path):
    """For all its logins, for those to a database, and its password: the next run is as if nobody had."""
    (tmp_path / "road").mkdir()
    write_road(tmp_path / "road", 1)
    file = tmp_path / EXERCISES["toll"].file
    harm = (
        "SET default_transaction_read_only = on",
        f"IN DATABASE {student_sql.DATABASE} SET search_path = public",
        "PASSWORD 'mine'",
    )
    file.write_text(";\n".join([RIGHT["toll"].rstrip().rstrip(";"), *(f"ALTER ROLE lr_driver {one}" for one in harm)]))
    run_file(EXERCISES["toll"], file, open_dataset(tmp_path / "road"), tmp_path / "run")
    with server.target.open() as connection:
        changed = "SELECT count(*) FROM pg_db_role_setting WHERE setrole = 'lr_driver'::regrole"
        assert execute(connection, changed).scalar_one() == 0
        password = "SELECT rolpassword FROM pg_authid WHERE rolname = 'lr_driver'"
        assert execute(connection, password).scalar_one() is None


def test_a_students_sql_may_not_take_long(hand_in, server, monkeypatch):
    monkeypatch.setattr(student_sql, "STATEMENT_LIMIT_S", 1)
    assert "statement timeout" in hand_in("stops", _note_stops("PERFORM pg_sleep(30);"))
    # Who lifts the limit is cut off.
    monkeypatch.setattr(student_sql, "RUN_LIMIT_S", 2)
    endless = "PERFORM set_config('statement_timeout', '0', FALSE); PERFORM pg_sleep(0.9);"
    assert "connection" in hand_in("stops", _note_stops(endless))
    with server.target.on(student_sql.DATABASE).open() as connection:
        sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'lr_driver' AND datname = current_database()"
        assert execute(connection, sessions).scalar_one() == 0


def test_a_students_box_may_not_take_long(hand_in, monkeypatch):
    monkeypatch.setattr(student_box, "RUN_LIMIT_S", 1)
    assert "takes more than 1 s" in hand_in("lav", "def lav(cell, cars, average):\n    while True:\n        pass\n")


def test_refusals(lrb, tmp_path):
    assert "there is no exercise tolls; there are toll," in refused(lrb("lesson", "start", "tolls"))
    assert "is no exercise; start one" in refused(lrb("lesson", "check", tmp_path))
    (tmp_path / "lesson.json").write_text("{}")
    assert "has no format; start the exercise again" in refused(lrb("lesson", "hint", tmp_path))
    assert "exists; choose another --out" in refused(lrb("lesson", "start", "toll", "--out", tmp_path))


def test_a_road_is_a_students_own(tmp_path):
    made = {}
    for student in ("ann", "bob", "ann"):
        folder = tmp_path / f"{student}{len(made)}"
        folder.mkdir()
        write_road(folder, seed_of(student))
        made[folder.name] = open_dataset(folder).identity
    assert made["ann0"] == made["ann2"] != made["bob1"]
    assert (seed_of("42"), seed_of("ann") != seed_of("bob")) == (42, True)
    assert LessonRecord.__annotations__.keys() == {"format", "exercise", "student", "seed"}
