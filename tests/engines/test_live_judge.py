"""The judge beside a run: however input and output come, it says of them what the judge of a whole file says."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from driver.cli import main
from driver.dataset.ignore import without_requests
from driver.dataset.relabel import relabelled
from driver.run.config import RunConfig
from driver.run.journal import JournalWriter
from driver.run.judge_status import JudgeStatus, describe_status, read_status
from driver.run.loop import broken_run
from driver.run.poller import Cycle
from driver.run.record import read_run, write_run
from driver.run.verdict import NAME as VERDICT
from driver.run.verdict import Verdict, write_verdict
from driver.validate.answers import write_answers
from driver.validate.judge import Question, judged, reference_for
from driver.validate.live.checkpoint import Checkpoint
from driver.validate.live.follow import follow, live_verdict
from driver.validate.live.live_judge import LiveJudge
from driver.validate.live.tree_file import read_tree, write_tree
from polling_baseline import spec
from polling_baseline.project import ROOT
from tests import traces
from tests.engines.lenient_readings import trace_road
from tests.engines.test_mutations import all_roads
from tests.engines.test_reference import random_road
from tests.engines.test_relabelling import SECONDS, random_dataset
from tests.support.one_dataset import TIME_AT, Road, one_dataset, output_line

SEEDS, PIECES = range(100, 104), 20
# A judge that follows takes each minute for itself; of most, three hours would be empty.
SHORT_S = 600
ODD_LINES = ("", "5,1,2,3", "0,7,30", "0,7,30,30.500,25,8,1", "no answer at all")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Question:
    """All traces and some random roads, with the right answers."""
    folder = tmp_path_factory.mktemp("right")
    roads = [*(road for road in map(trace_road, traces.NAMES) if _is_short(road)), *map(random_road, SEEDS)]
    dataset, answers = one_dataset(roads, folder / "road")
    lines = [output_line(answer, 1000 * answer[TIME_AT[answer[0]]] + 400) for road in answers for answer in road]
    return _question(dataset, folder / "output.csv", lines)


@pytest.fixture(scope="module")
def mutants(tmp_path_factory: pytest.TempPathFactory) -> Question:
    """Every kind of fault, and odd lines between."""
    folder = tmp_path_factory.mktemp("mutants")
    chosen = [chosen for chosen in all_roads() if _is_short(chosen[1])]
    dataset, by_road = one_dataset([road for _, road, _ in chosen], folder / "road")
    pairs = [pair for (_, _, mutate), answers in zip(chosen, by_road, strict=True) for pair in mutate(answers)[0]]
    return _question(dataset, folder / "output.csv", [*(output_line(*pair) for pair in pairs), *ODD_LINES])


def _is_short(road: Road) -> bool:
    return max(line[1] for line in road.lines) < SHORT_S


def _question(dataset, output: Path, lines: list[str]) -> Question:
    random.Random(7).shuffle(lines)
    output.write_text("\n".join(lines) + "\n")
    return Question(dataset, output, range(dataset.seconds))


def in_pieces(question: Question, folder: Path, input_first: float) -> Verdict:
    """Judged live, in pieces; the output is ahead of the input, or behind it, by a share of the run."""
    judge = LiveJudge(question.dataset, question.seconds, question.limits, folder)
    _take(judge, question, range(PIECES), input_first)
    return _ended(judge, question)


def with_restarts(question: Question, folder: Path, input_first: float) -> Verdict:
    """The same by a judge that is killed again and again, some pieces after its last checkpoint."""
    judge = LiveJudge(question.dataset, question.seconds, question.limits, folder)
    for first in range(0, PIECES, 5):
        _take(judge, question, range(first, first + 5), input_first)
        write_tree(folder / "state.npz", judge.state())
        judge.keep_files()
        _take(judge, question, range(first + 5, min(first + 8, PIECES)), input_first)
        judge.close()
        state = read_tree(folder / "state.npz")
        judge = LiveJudge(question.dataset, question.seconds, question.limits, folder, state)
    return _ended(judge, question)


def _take(judge: LiveJudge, question: Question, pieces: range, input_first: float) -> None:
    lines = question.output.read_bytes().splitlines(keepends=True)
    start, length = question.seconds.start, len(question.seconds)
    for piece in pieces:
        second = start + length * (piece / PIECES + input_first)
        judge.take_input(max(0, min(int(second), question.seconds.stop)))
        judge.take_output(b"".join(_share(lines, piece)))
        judge.settle(second)


def _ended(judge: LiveJudge, question: Question) -> Verdict:
    judge.end(question.seconds)
    judge.close()
    return live_verdict(question, judge, question.seconds)


def _share(lines: list[bytes], piece: int) -> Iterator[bytes]:
    yield from lines[len(lines) * piece // PIECES : len(lines) * (piece + 1) // PIECES]


@pytest.mark.parametrize("roads", ["right", "mutants"])
def test_the_same_verdict(spark, roads: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    question = request.getfixturevalue(roads)
    with judged(spark, question) as judgement:
        verdict = judgement.verdict
    assert (verdict["verdict"] == "PASS") == (roads == "right")
    assert sum(answers["expected"] for answers in verdict["answers"].values()) > 1000
    assert verdict["lines"]["malformed"] == (0 if roads == "right" else 1)
    for input_first in (-0.5, 1.0) if roads == "right" else (0.1,):
        assert in_pieces(question, tmp_path, input_first) == verdict, input_first


def test_the_same_verdict_on_a_part(spark, mutants: Question, tmp_path: Path) -> None:
    """Some minutes, other limits, a kind of request left out; by a judge that is killed again and again."""
    question = replace(
        mutants,
        seconds=range(60, 360),
        limits={**mutants.limits, "toll": 0.3},
        dataset=without_requests(mutants.dataset, ["expenditure"]),
    )
    with judged(spark, question) as judgement:
        verdict = judgement.verdict
    toll, expenditure = verdict["answers"]["toll"], verdict["answers"]["expenditure"]
    assert toll["expected"] > 100 and toll["extra"] > 0
    assert expenditure["expected"] == 0 < expenditure["extra"]
    assert with_restarts(question, tmp_path, 0.3) == verdict


def test_the_same_verdict_on_copies(spark, tmp_path: Path) -> None:
    """Two expressways, twice, and half a third time; some answers are missing."""
    copies = relabelled(random_dataset(5, 2, tmp_path / "road"), 4.5)
    question = Question(copies, tmp_path / "output.csv", range(SECONDS))
    with reference_for(spark, question) as right:
        write_answers(right, None, question.output)
        lines = question.output.read_text().splitlines(keepends=True)
        question.output.write_text("".join(line for number, line in enumerate(lines) if number % 7))
        with judged(spark, question, right=right) as judgement:
            verdict = judgement.verdict
    missing = sum(answers["missing"] for answers in verdict["answers"].values())
    assert missing == sum(number % 7 == 0 for number in range(len(lines))) > 10
    assert in_pieces(question, tmp_path, 0.1) == verdict


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


@pytest.fixture
def run_under_way(right: Question, tmp_path: Path) -> Path:
    """The folder of a run that has begun."""
    config = RunConfig(str(right.dataset.path), from_minute=1, to_minute=spec.minute_of(right.seconds[-1]))
    write_run(tmp_path, {**broken_run(config, right.dataset, ""), "state": "running"})
    return tmp_path


def _go_on(run: Path, lines: list[bytes], until: int, journal: JournalWriter) -> None:
    """Append the answers to the seconds before that one, and a cycle."""
    before = spec.MINUTE_S * (until // spec.MINUTE_S - 1)
    with (run / "output.csv").open("ab") as output:
        output.writelines(line for line in lines if before <= _second(line) < until)
        output.flush()
        journal.write(Cycle(range(before, until), 1, before, before, until, until, 0, {}), output.tell())


@pytest.mark.parametrize(("spoilt", "checkpoint"), [(False, "sound"), (True, "damaged"), (True, "none")])
def test_a_run_is_followed(
    right: Question, run_under_way: Path, spoilt: bool, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minute by minute, with one judge after the other, and a fault can stop the run.

    A judge that is started again goes on from the checkpoint; without one, it begins again.
    """
    monkeypatch.setattr("driver.validate.live.follow.POLL_S", 0.0)
    monkeypatch.setattr("driver.validate.live.follow.KEEP_S", 1000.0 if checkpoint == "none" else 0.0)
    run, lines = run_under_way, right.output.read_bytes().splitlines(keepends=True)
    question = replace(right, output=run / "output.csv")
    if spoilt:
        at = next(number for number, line in enumerate(lines) if line.startswith(b"0,") and _second(line) >= 60)
        lines[at] = lines[at].rstrip() + b"7\n"
    journal, said, statuses = JournalWriter(run), [], []
    minutes = iter(range(spec.MINUTE_S, right.seconds.stop + 1, spec.MINUTE_S))

    def goes_on(status: JudgeStatus | None) -> bool:
        statuses.append(read_status(run))
        until = next(minutes, None)
        if until:
            _go_on(run, lines, until, journal)
        else:
            write_run(run, {**read_run(run), "state": "complete"})
        # The first judge is killed in mid-run.
        return until != 3 * spec.MINUTE_S

    assert follow(run, question, said.append, goes_on, stops_run=True) is None
    assert (run / "judge" / "state.npz").exists() == (checkpoint != "none")
    if checkpoint == "damaged":
        (run / "judge" / "state.npz").write_bytes(b"PK")
    before = len(said)
    verdict = follow(run, question, said.append, goes_on, stops_run=True)
    journal.close()
    assert verdict and verdict["verdict"] == ("FAIL" if spoilt else "PASS")
    last = read_status(run)
    assert last and last["stops_run"] == spoilt and last["minutes"] == verdict["minutes"] and last["open_answers"] == 0
    assert describe_status(last).endswith("1 wrong" if spoilt else "all right")
    assert not (run / "judge").exists()
    all_minutes = list(range(1, verdict["minutes"][1] + 1))
    assert [minute.minute for minute in said[0 if checkpoint == "sound" else before :]] == all_minutes and before > 0
    faults = {minute.minute: minute.faults for minute in said if minute.faults}
    assert faults == ({2: {("toll", "wrong"): 1}} if spoilt else {})


def test_two_judges_of_a_run(tmp_path: Path) -> None:
    """The second one leaves alone what the first one keeps; to another question, it is of no use."""
    first, second = Checkpoint(tmp_path), Checkpoint(tmp_path)
    first.write("question", {"array": np.arange(3), 7: [1.5, None]}, [])
    second.write("question", "nothing", [])
    assert second.folder != first.folder and second.read("question") is None
    second.close(done=True)
    state = first.read("question")
    assert state[7] == [1.5, None] and state["array"].tolist() == [0, 1, 2]
    assert first.read("another question") is None and not list(first.folder.iterdir())
    first.close(done=False)
    assert first.folder.exists() and not second.folder.exists()


EXAMPLE = ROOT / "docs" / "examples" / "plain_python.py"
ENGINES = {"aurora": ("--workers", 1), "exec": ("--command", f"{sys.executable} {EXAMPLE}")}


@pytest.mark.parametrize("engine", ENGINES)
def test_beside_a_run(lrb, spark, right: Question, tmp_path: Path, engine: str) -> None:
    """`lrb run --judge` leaves the verdict that the judge of the file gives, byte for byte."""
    run = tmp_path / "run"
    words = ["--engine", engine, *ENGINES[engine], "--clock", "virtual", "--judge", "--out", run, right.dataset.path]
    done = lrb("run", *words)
    assert done.returncode == 0 and "PASS" in done.stdout, done.stderr
    assert read_run(run)["verdict"] == "PASS" and not (run / "judge").exists()
    with judged(spark, replace(right, output=run / "output.csv")) as judgement:
        write_verdict(tmp_path / VERDICT, judgement.verdict)
    assert (run / VERDICT).read_bytes() == (tmp_path / VERDICT).read_bytes()


WAIT = """
def wait():
    import pathlib, time
    status = pathlib.Path(sys.argv[1])
    while not status.exists() or '"stops_run": true' not in status.read_text():
        time.sleep(0.05)

"""
TOLL = 'self.answers.append(f"0,{vehicle},{second},{NOW},{lav},{toll}")'


def test_a_fault_stops_the_run(lrb, right: Question, tmp_path: Path) -> None:
    """A system whose tolls are wrong, and which waits in its third minute until the judge has seen one."""
    system, run = tmp_path / "wrong.py", tmp_path / "run"
    text = EXAMPLE.read_text()
    assert text.count(TOLL) == text.count("\ndef main()") == 1
    wrong = TOLL.replace("{toll}", "{toll + 1}") + "\n        if second >= 120:\n            wait()"
    system.write_text(text.replace(TOLL, wrong).replace("\ndef main()", WAIT + "\ndef main()"))
    command = f"{sys.executable} {system} {run / 'judge.json'}"
    words = ["--engine", "exec", "--command", command, "--clock", "virtual", "--judge", "--stop-at-fault", "--out", run]
    done = lrb("run", *words, right.dataset.path)
    assert done.returncode == 2 and "stopped at a fault that the judge saw" in done.stdout, done.stderr
    assert read_run(run)["covered"][1] < right.seconds.stop - 1 and read_run(run)["verdict"] == "FAIL"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["run", "{road}", "--stop-at-fault"], "give --judge as well"),
        (["run", "{road}", "--judge", "--repeat", "2"], "leave out --repeat"),
        (["validate", "{road}", "--output", "{output}", "--follow"], "--follow needs a run"),
        (["validate", "{road}", "{run}", "--follow", "--lenient"], "judge it when it is over"),
    ],
)
def test_refused(right: Question, run_under_way: Path, words: list[str], sentence: str, capsys) -> None:
    names = {"road": right.dataset.path, "output": right.output, "run": run_under_way}
    assert main([word.format(**names) for word in words]) == 1
    assert sentence in " ".join(capsys.readouterr().err.split())
