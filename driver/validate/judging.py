"""Judge finished runs, and keep what came of it in their folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from driver.dataset.folder import Dataset
from driver.dataset.integrity import check_files
from driver.run.limits import limits_in_force
from driver.run.record import config_of, read_run, seconds_of, write_run
from driver.run.verdict import NAME, Verdict, write_verdict


def judge_runs(
    dataset: Dataset, folders: Sequence[Path], master: str, announce: Callable[[str], None] = lambda phase: None
) -> None:
    """Judge runs of a data set; the right answers are computed once for all that have the same seconds to answer."""
    from driver.validate.judge import Question, judged, quiet_session, reference_for

    check_files(dataset)
    spark = quiet_session(master)
    records = {folder: read_run(folder) for folder in folders}
    by_seconds: dict[range, list[Path]] = {}
    for folder, record in records.items():
        by_seconds.setdefault(seconds_of(record), []).append(folder)
    for seconds, group in by_seconds.items():
        questions = [
            Question(dataset, folder / "output.csv", seconds, limits=limits_in_force(config_of(records[folder]).limits))
            for folder in group
        ]
        with reference_for(spark, questions[0]) as right:
            for folder, question in zip(group, questions, strict=True):
                announce(f"judging {folder}")
                with judged(spark, question, right=right) as judgement:
                    write_verdict(folder / NAME, judgement.verdict)
                enter_verdict(folder, judgement.verdict)


def enter_verdict(folder: Path, verdict: Verdict) -> None:
    """Say it in `run.json`."""
    write_run(folder, {**read_run(folder), "verdict": verdict["verdict"]})
