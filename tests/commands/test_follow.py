"""`lrb validate --follow`: what is said of a run while its output grows, and the verdict in the end."""

from __future__ import annotations

import json

import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset
from driver.run.config import RunConfig
from driver.run.loop import broken_run
from driver.run.record import read_run, write_run
from driver.validate.answers import write_answers
from driver.validate.follow import Follower
from driver.validate.judge import Question, judged, reference_for
from tests.support.one_dataset import TIME_AT, Road, one_dataset
from tests.support.random_road import random_history, random_lines

MINUTES = 6


@pytest.fixture(scope="module")
def road(tmp_path_factory):
    folder = tmp_path_factory.mktemp("follow") / "road"
    one_dataset([Road(random_lines(3, minutes=MINUTES), *random_history(3))], folder)
    return folder


@pytest.fixture
def question(road, tmp_path):
    return Question(open_dataset(road), tmp_path / "output.csv", range(MINUTES * 60))


@pytest.fixture
def right(spark, question):
    with reference_for(spark, question) as right:
        yield right


@pytest.fixture
def lines(right, question):
    """The right output by time."""
    write_answers(right, None, question.output)
    lines = question.output.read_text().splitlines(keepends=True)
    question.output.unlink()
    return lines


def second_of(line):
    return int(line.split(",")[TIME_AT[int(line[0])]])


def test_minutes_as_they_come(spark, question, right, lines):
    """A toll of minute 2 is wrong, and one of minute 3 missing; a file that is cut back is read anew."""
    wrong = next(at for at, line in enumerate(lines) if line[0] == "0" and 60 <= second_of(line) < 120)
    missing = next(at for at, line in enumerate(lines) if line[0] == "0" and 120 <= second_of(line) < 180)
    spoilt = [line.rstrip("\n") + "7\n" if at == wrong else line for at, line in enumerate(lines) if at != missing]
    whole = "".join(spoilt)
    follower = Follower(right, question)
    follower.read_on()
    assert list(follower.minutes_over()) == []
    said = []
    for part in range(1, 21):
        # Lines are cut anywhere.
        question.output.write_text(whole[: len(whole) * part // 20])
        follower.read_on()
        said += follower.minutes_over()
    assert [minute.minute for minute in said] == list(range(1, len(said) + 1)) and len(said) >= 4
    faults = {minute.minute: minute.faults for minute in said if minute.faults}
    assert faults == {2: {("toll", "wrong"): 1}, 3: {("toll", "missing"): 1}}
    assert all(minute.expected > 0 for minute in said)
    follower.read_on(to_the_end=True)
    with judged(spark, question, right=right) as batch:
        pass
    with judged(spark, question, right=right, overview=follower.overview) as followed:
        pass
    assert json.dumps(followed.verdict) == json.dumps(batch.verdict)
    question.output.write_text("".join(lines[:3]))
    follower.read_on()
    assert follower.overview.lines == 3
    question.output.write_text("".join(lines))
    follower.read_on()
    assert {minute.minute for minute in follower.minutes_over() if minute.faults} == set()


def test_a_run_under_way(spark, road, question, lines, monkeypatch, capsys):
    """Until its state says that it has ended."""
    run, dataset = question.output.parent, open_dataset(road)
    record = broken_run(RunConfig(str(road), from_minute=1, to_minute=MINUTES), dataset, "")
    write_run(run, {**record, "state": "running"})
    monkeypatch.setattr("driver.cli.validate.os.nice", lambda by: 0)
    parts = iter([lines[: len(lines) // 2], lines[len(lines) // 2 :], []])

    def go_on():
        """The run goes on while the judge waits, and ends."""
        with question.output.open("a") as file:
            file.writelines(part := next(parts))
        if not part:
            write_run(run, {**read_run(run), "state": "broken"})

    monkeypatch.setattr("driver.cli.validate._wait", go_on)
    assert main(["validate", str(road), str(run), "--follow"]) == 0
    said = capsys.readouterr().out
    assert "minute 1: " in said and "all right and in time" in said and "PASS" in said
    assert json.loads((run / "verdict.json").read_text())["verdict"] == "PASS"


def test_only_a_run_can_be_followed(road, tmp_path, capsys):
    (tmp_path / "a.csv").touch()
    assert main(["validate", str(road), "--output", str(tmp_path / "a.csv"), "--follow"]) == 1
    assert "--follow needs a run" in capsys.readouterr().err
