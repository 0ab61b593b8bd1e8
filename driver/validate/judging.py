"""Judge finished runs, and keep what came of it in their folders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from driver.dataset.folder import Dataset
from driver.dataset.ignore import without_requests
from driver.dataset.integrity import check_files
from driver.run.journal import OUTPUT
from driver.run.limits import limits_in_force
from driver.run.record import config_of, read_run, seconds_of, write_run
from driver.run.verdict import NAME, Verdict, write_verdict


def judge_runs(
    dataset: Dataset, folders: Sequence[Path], master: str, announce: Callable[[str], None] = lambda phase: None
) -> None:
    """Judge runs of a data set; the right answers are computed once for all that have the same to answer."""
    from driver.validate.judge import Question, judged, quiet_session, reference_for

    check_files(dataset)
    spark = quiet_session(master)
    configs = {folder: config_of(read_run(folder)) for folder in folders}
    by_part: dict[tuple[range, tuple[str, ...]], list[Path]] = {}
    for folder, config in configs.items():
        by_part.setdefault((seconds_of(read_run(folder)), tuple(config.ignore)), []).append(folder)
    for (seconds, ignored), group in by_part.items():
        part = without_requests(dataset, ignored)
        questions = [
            Question(part, folder / OUTPUT, seconds, limits=limits_in_force(configs[folder].limits)) for folder in group
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
