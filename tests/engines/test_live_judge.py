"""The judge beside a run: however input and output come, it says of them what the judge of a whole file says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver.run.verdict import Verdict
from driver.validate.judge import Question, judged
from driver.validate.live.follow import live_verdict
from driver.validate.live.live_judge import LiveJudge
from polling_baseline import spec
from tests import traces
from tests.engines.lenient_readings import trace_road
from tests.engines.test_mutations import all_roads
from tests.engines.test_reference import random_road
from tests.support.one_dataset import TIME_AT, one_dataset, output_line

SEEDS = range(100, 104)
ODD_LINES = ("", "5,1,2,3", "0,7,30", "0,7,30,30.500,25,8,1", "no answer at all")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Question:
    """All traces and some random roads, with the right answers."""
    folder = tmp_path_factory.mktemp("right")
    roads = [*map(trace_road, traces.NAMES), *map(random_road, SEEDS)]
    dataset, answers = one_dataset(roads, folder / "road")
    lines = [output_line(answer, 1000 * answer[TIME_AT[answer[0]]] + 400) for road in answers for answer in road]
    return _question(dataset, folder / "output.csv", lines)


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Question:
    """Every kind of fault, and odd lines between."""
    folder = tmp_path_factory.mktemp("mutants")
    chosen = list(all_roads())
    dataset, by_road = one_dataset([road for _, road, _ in chosen], folder / "road")
    pairs = [pair for (_, _, mutate), answers in zip(chosen, by_road, strict=True) for pair in mutate(answers)[0]]
    return _question(dataset, folder / "output.csv", [*(output_line(*pair) for pair in pairs), *ODD_LINES])


def _question(dataset, output: Path, lines: list[str]) -> Question:
    random.Random(7).shuffle(lines)
    output.write_text("\n".join(lines) + "\n")
    return Question(dataset, output, range(dataset.seconds))


def in_pieces(question: Question, folder: Path, input_first: float) -> Verdict:
    """Judged live, in a hundred pieces; the output is ahead of the input, or behind it, by a share of the run."""
    judge = LiveJudge(question.dataset, question.seconds, question.limits, folder)
    lines = question.output.read_bytes().splitlines(keepends=True)
    for piece in range(100):
        second = question.seconds.stop * (piece / 100 + input_first)
        judge.take_input(max(0, min(int(second), question.seconds.stop)))
        judge.take_output(b"".join(_share(lines, piece)))
        judge.settle(second)
    judge.end(question.seconds)
    judge.close()
    return live_verdict(question, judge, question.seconds)


def _share(lines: list[bytes], piece: int) -> Iterator[bytes]:
    yield from lines[len(lines) * piece // 100 : len(lines) * (piece + 1) // 100]


@pytest.mark.parametrize("roads", ["right", "mutants"])
def test_the_same_verdict(spark, roads: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    question = request.getfixturevalue(roads)
    with judged(spark, question) as judgement:
        verdict = judgement.verdict
    assert (verdict["verdict"] == "PASS") == (roads == "right")
    assert sum(answers["expected"] for answers in verdict["answers"].values()) > 3000
    assert verdict["lines"]["malformed"] == (0 if roads == "right" else 2)
    for input_first in (-0.5, 0.0, 0.5, 1.0):
        assert in_pieces(question, tmp_path, input_first) == verdict, input_first


def test_faults_so_far(right: Question, tmp_path: Path) -> None:
    """An answer is missing once its time is over, and no longer when it comes; then it is late."""
    judge = LiveJudge(right.dataset, right.seconds, right.limits, tmp_path)
    lines = right.output.read_bytes().splitlines(keepends=True)
    first_minute = [line for line in lines if _second(line) < spec.MINUTE_S]
    judge.take_input(2 * spec.MINUTE_S)
    judge.settle(spec.MINUTE_S)
    due = [line for line in first_minute if _second(line) + right.limits[spec.ANSWERS[int(line[:1])]] < spec.MINUTE_S]
    assert judge.faults["missing"] == len(due) and judge.open_answers >= len(first_minute)
    judge.take_output(b"".join(lines))
    judge.settle(2 * spec.MINUTE_S)
    assert set(judge.faults.values()) <= {0} and judge.open_answers == 0
    # It was put aside, and one more answer fetches it.
    judge.take_output(first_minute[0])
    judge.settle(2 * spec.MINUTE_S)
    assert judge.faults["duplicate"] == 1
    judge.close()


def _second(line: bytes) -> int:
    fields = line.split(b",")
    return int(fields[TIME_AT[int(fields[0])]])
