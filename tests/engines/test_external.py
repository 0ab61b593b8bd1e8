"""Both examples give the right answers, like engines: on every hand-made trace, on random roads, however driven."""

from __future__ import annotations

import csv
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from polling_baseline import spec
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.external import engine as engine_module
from polling_baseline.engines.external.channel import Program
from polling_baseline.engines.external.engine import External, ExternalOptions, PacedExternal
from tests.conftest import ROOT
from tests.engines.feeding import MakeEngine, Road, answers_of, batches, faults

EXAMPLES = ("plain_python", "sqlite_polling")
SYSTEM = ROOT / "tests" / "support" / "foreign_system.py"


def introduction(road: Road) -> Callable[[Path], Mapping[str, object]]:
    """The first line, and the history as CSV."""

    def write(path: Path, rows: Iterable[Sequence[int]]) -> str:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
        return str(path)

    def introduce(folder: Path) -> Mapping[str, object]:
        tolls = [(*key, amount) for key, amount in road.toll_history.items()]
        return {
            "first_second": 0,
            "toll_history": [write(folder / "tolls.csv", tolls)],
            "segment_history": [write(folder / "segments.csv", road.segment_history)],
        }

    return introduce


def command(*words: object) -> str:
    return shlex.join([sys.executable, *map(str, words)])


def example(name: str) -> MakeEngine:
    def make(road: Road, _: int) -> External:
        program = Program(command(ROOT / "docs" / "examples" / f"{name}.py"))
        return External("exec", program, introduction(road), range(spec.RUN_SECONDS))

    return make


@pytest.mark.parametrize("longest", [1, 29], ids=["one-by-one", "catching-up"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_short_roads(name: str, longest: int) -> None:
    assert faults(example(name), 1, longest, long=False) == {}


@pytest.mark.parametrize("name", EXAMPLES)
def test_long_roads(name: str) -> None:
    assert faults(example(name), 1, 29, long=True) == {}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short_and_needs_nothing(name: str) -> None:
    text = (ROOT / "docs" / "examples" / f"{name}.py").read_text()
    assert len(text.splitlines()) <= 300
    imported = [line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))]
    assert set(imported) <= sys.stdlib_module_names


ROAD = Road([(2, second, 1, *[-1] * 6, second, *[-1] * 5) for second in range(120)], {}, [])


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("marks", [True, False])
def test_without_waiting(name: str, marks: bool) -> None:
    """All seconds at once; answers come when they come, and the last ones after the end of the input."""
    program = Program(command(ROOT / "docs" / "examples" / f"{name}.py"))
    engine = PacedExternal("exec", program, introduction(ROAD), range(120), ExternalOptions(marks=marks))
    try:
        engine.install()
        for batch in batches(ROAD.lines, 1, 29):
            engine.process(batch)
        engine.finish()
        answers = list(engine.answers())
        seconds = [second for answer in answers for second in answer.columns["query_id"].tolist()]
        assert sorted(seconds) == list(range(120))
        moments = [answer.read_at for answer in answers]
        assert moments == sorted(moments)
        through = engine.through()
        assert through[-1][0] == 119 and [second for second, _ in through] == sorted({s for s, _ in through})
    finally:
        engine.stop()


def failure(manner: str, paced: bool = False, **manners: float) -> str:
    """How a bad system ends."""
    kind = PacedExternal if paced else External
    engine = kind("exec", Program(command(SYSTEM, manner)), introduction(ROAD), range(120), ExternalOptions(**manners))
    try:
        with pytest.raises(EngineFailure) as caught:
            engine.install()
            for batch in batches(ROAD.lines, 1, 1):
                engine.process(batch)
            engine.finish()
        return str(caught.value).removeprefix(f"{command(SYSTEM, manner)}: ")
    finally:
        engine.stop()


@pytest.mark.parametrize(
    ("manner", "sentence"),
    [
        ("crash", "(exit status 1; its last words were: "),
        ("crash", "RuntimeError: this system cannot go on)"),
        ("die", "closed its output before second 40 was answered (killed by SIGKILL)"),
        ("close", "closed its output before second 40 was answered"),
        ("garbage", r'of its output is not an answer: "0,1,2\x00,\x1b[31m\xff"'),
        ("long", 'is longer than 65,536 bytes: "777'),
        ("future", 'is about a second that was not sent (0 to 40 were): "3,9999,-1,1,0"'),
        ("unknown", 'is not an answer: "5,1,-1,1,0"'),
        ("flood", "wrote 2,097,152 answers to 1 tuple, and no end of second 40"),
        ("stall", 'did not echo "mark 40" within 2 s; --patience waits longer'),
        ("no-echo", "a system that does not echo marks needs --clock real"),
        ("hello", 'its first line must be "ready", and it is "hello"'),
        ("fail-at-once", 'ended before it said "ready" (exit status 7; its last words were: no licence)'),
        ("hang", "did not close its output within 2 s after the end of its input"),
        ("bad-end", "it failed at its end (exit status 3; its last words were: could not tidy up)"),
    ],
)
def test_how_a_bad_system_ends(manner: str, sentence: str) -> None:
    assert sentence in failure(manner, patience_s=2.0)


def test_a_system_has_longer_to_load_what_it_needs() -> None:
    assert 'did not say "ready" within 3 s; --patience waits longer' in failure("no-ready", patience_s=0.3)


@pytest.mark.parametrize(
    ("manner", "sentence"),
    [
        ("crash", "RuntimeError: this system cannot go on"),
        ("garbage", "is not an answer"),
        ("bad-end", "it failed at its end (exit status 3"),
        ("hang", "did not close its output within 2 s after the end of its input"),
    ],
)
def test_how_a_bad_system_ends_in_its_own_time(manner: str, sentence: str) -> None:
    assert sentence in failure(manner, paced=True, patience_s=2.0)


def test_a_system_that_does_not_read() -> None:
    """A pipe holds 64 KiB; then it is the driver that holds what is not read, up to a limit."""
    engine = PacedExternal(
        "exec", Program(command(SYSTEM, "deaf")), introduction(ROAD), range(120), ExternalOptions(most_bytes=1 << 20)
    )
    lines = [(0, 0, vehicle, 50, 0, 1, 0, 0, 0, *[-1] * 6) for vehicle in range(50_000)]
    batch = next(batches(lines, 1, 1))
    try:
        engine.install()
        engine.process(batch)
        with pytest.raises(EngineFailure, match="has left 1 MB of its input unread"):
            engine.process(batch)
    finally:
        engine.stop()


@pytest.mark.parametrize("kind", [External, PacedExternal])
def test_however_much_is_said_after_the_end_of_the_input(kind: type[External]) -> None:
    """More than the driver holds at once: it is taken in parts."""
    engine = kind("exec", Program(command(SYSTEM, "talk")), introduction(ROAD), range(120))
    try:
        engine.install()
        for batch in batches(ROAD.lines, 1, 1):
            engine.process(batch)
        taken, calls = 0, 1
        while not engine.finish():
            taken, calls = taken + sum(map(len, engine.answers())), calls + 1
        assert calls > 2 and taken + sum(map(len, engine.answers())) == 120 + 5_000_000
    finally:
        engine.stop()


def test_a_batch_with_more_answers_than_usually_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "MOST_WAITING", 10)
    assert sum(answers_of(example("plain_python"), ROAD, 1, 29).values()) == 120


def test_answers_are_there_that_came_before_a_bad_line() -> None:
    engine = External("exec", Program(command(SYSTEM, "garbage")), introduction(ROAD), range(120))
    try:
        engine.install()
        with pytest.raises(EngineFailure):
            for batch in batches(ROAD.lines, 1, 1):
                engine.process(batch)
        seconds = [second for answer in engine.answers() for second in answer.columns["second"].tolist()]
        assert sorted(seconds) == list(range(40))
    finally:
        engine.stop()
