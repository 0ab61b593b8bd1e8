"""Run a student's file on the road of its folder, judge every answer, and say what is wrong first."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

from driver.dataset.folder import Dataset, open_dataset, sha256_of
from driver.dataset.ignore import REQUESTS
from driver.json_record import write_json
from driver.lesson.exercise import BrokenFile, Exercise
from driver.lesson.fault import Fault, Reports
from driver.lesson.folder import CHECK, FORMAT, ROAD, RUN, AnswerCounts, CheckRecord, open_lesson
from driver.lesson.hints import CYCLE_S
from driver.lesson.student_box import adopt_box, time_limit
from driver.lesson.student_sql import DATABASE, adopt_routine, guarded_database
from driver.run.config import RunConfig, configure
from driver.run.engines import Backends
from driver.run.journal import OUTPUT
from driver.run.limits import limits_in_force
from driver.run.loop import measure
from driver.run.record_types import RunJson
from driver.run.verdict import Verdict
from polling_baseline import spec
from polling_baseline.engines.aurora.engine import Aurora
from polling_baseline.refusal import Refusal

# So many of each fault of each kind of answer are looked at.
FAULTS = 20
# An exercise is about what is right: a slow machine is no fault.
LIMITS = dict.fromkeys(spec.ANSWERS, 3600.0)
PATIENCE_S = 30


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the judge found."""

    verdict: Verdict
    faults: Sequence[Fault]


def check_lesson(folder: Path, announce: Callable[[str], None], master: str = "local[*]") -> CheckRecord:
    """The result, which `check.json` keeps as well; `announce` hears what is being done."""
    exercise, lesson = open_lesson(folder)
    dataset = open_dataset(folder / ROAD)
    announce(f"running {exercise.file}")
    try:
        config = run_file(exercise, folder / exercise.file, dataset, folder / RUN)
    except BrokenFile as broken:
        result = _broken(exercise, str(broken))
    else:
        announce("judging its answers")
        result = _judged(exercise, judge(config, dataset, folder / RUN, master))
    record: CheckRecord = {
        **result,  # type: ignore[typeddict-item]
        "student": lesson["student"],
        "sha256": sha256_of(folder / exercise.file),
        "checked_at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    write_json(folder / CHECK, record)
    return record


def run_file(exercise: Exercise, file: Path, dataset: Dataset, run: Path) -> RunConfig:
    """Make a run in which the file does its part, in place of the one before; BrokenFile if it does not get through."""
    options = dict(exercise.options)
    if exercise.engine == "exec":
        options |= {"command": shlex.join([sys.executable, str(file.absolute())]), "patience": str(PATIENCE_S)}
    config = configure(
        dataset=str(dataset.path),
        engine=exercise.engine,
        clock="virtual",
        period_s=float(CYCLE_S),
        workers=1,
        engine_options=options,
        ignore=REQUESTS if exercise.engine == "exec" else (),
        limits=LIMITS,
    )
    shutil.rmtree(run, ignore_errors=True)
    record = _measured(exercise, file, config, run)
    if record["state"] == "interrupted":
        raise KeyboardInterrupt
    if record["state"] != "complete":
        raise BrokenFile(record.get("reason", record["state"]))
    return config


def _measured(exercise: Exercise, file: Path, config: RunConfig, run: Path) -> RunJson:
    part, backends = config.open_dataset(), Backends(database=DATABASE)
    with ExitStack() as stack:
        if exercise.routine:
            routine, target = exercise.routine, stack.enter_context(guarded_database())
            return measure(config, part, backends, run, lambda engine: adopt_routine(target, routine, file))
        stack.enter_context(time_limit())
        if exercise.engine == "aurora":
            return measure(config, part, backends, run, lambda engine: adopt_box(cast(Aurora, engine), file))
        try:
            return measure(config, part, backends, run)
        except Refusal as refusal:
            # It could not be started, or did not get ready.
            raise BrokenFile(str(refusal)) from None


def judge(config: RunConfig, dataset: Dataset, run: Path, master: str) -> Outcome:
    """What the judge says of the run, with the first faults."""
    from driver.validate.faults import find_first, sources_of, with_evidence
    from driver.validate.judge import Question, judged, quiet_session

    question = Question(config.part_of(dataset), run / OUTPUT, config.seconds, limits=limits_in_force(config.limits))
    with judged(quiet_session(master), question) as judgement:
        rows = with_evidence(sources_of(judgement), find_first(judgement, FAULTS))
    reports = Reports(dataset)
    return Outcome(judgement.verdict, [Fault(row._asdict(), reports) for row in rows])


def _judged(exercise: Exercise, outcome: Outcome) -> dict[str, object]:
    verdict = outcome.verdict
    answers: Mapping[str, Mapping[str, Any]] = verdict["answers"]
    names = AnswerCounts.__annotations__
    counts = {kind: cast(AnswerCounts, {name: answers[kind][name] for name in names}) for kind in exercise.kinds}
    result = {
        "format": FORMAT,
        "exercise": exercise.name,
        "verdict": verdict["verdict"],
        "score": 100 if verdict["verdict"] == "PASS" else min(99, score_of(counts.values())),
        "answers": counts,
        "evidence": [],
        "hint": "",
    }
    if outcome.faults:
        first = first_fault(exercise, outcome.faults)
        result["evidence"] = first.evidence(exercise.rule(first))
        result["hint"] = hint_for(exercise, outcome.faults)
    return result


def _broken(exercise: Exercise, reason: str) -> dict[str, object]:
    return {
        "format": FORMAT,
        "exercise": exercise.name,
        "verdict": "BROKEN",
        "score": 0,
        "answers": {},
        "evidence": [reason],
        "hint": "It could not be run to its end: the message above says where it stopped, and why.",
    }


def score_of(counts: Collection[AnswerCounts]) -> int:
    """The share of right answers in all that were demanded or given, in percent."""
    right = sum(kind["expected"] - kind["missing"] - kind["wrong"] for kind in counts)
    every = sum(kind["expected"] + kind["extra"] + kind["duplicate"] for kind in counts)
    return 100 * max(0, right) // max(1, every)


def first_fault(exercise: Exercise, faults: Sequence[Fault]) -> Fault:
    """The earliest one of the kind that the exercise is most about."""
    order = {kind: place for place, kind in enumerate(exercise.kinds)}
    return min(faults, key=lambda fault: (order.get(fault.answer, len(order)), fault.second))


def hint_for(exercise: Exercise, faults: Sequence[Fault]) -> str:
    return next(hint.text for hint in exercise.hints if hint.fits(faults))
