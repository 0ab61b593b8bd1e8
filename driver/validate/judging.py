"""Judge finished runs, and keep what came of it in their folders."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from driver.dataset.folder import Dataset
from driver.dataset.integrity import check_files
from driver.files import complete_file
from driver.report.html.run import refresh_report
from driver.run.result import read_run, seconds_of, write_run
from polling_baseline.refusal import Refusal


def judge_runs(
    dataset: Dataset, folders: Sequence[Path], master: str, said: Callable[[str], None] = lambda phase: None
) -> None:
    """Judge runs of the same minutes of a data set; the right answers are computed once for all of them."""
    from driver.validate.judge import Question, judged, quiet_session, reference_for

    seconds = seconds_of(read_run(folders[0]))
    questions = [Question(dataset, folder / "output.csv", seconds) for folder in folders]
    check_files(dataset)
    said("starting Spark")
    spark = quiet_session(master)
    with reference_for(spark, questions[0]) as right:
        for folder, question in zip(folders, questions, strict=True):
            said(f"judging {folder}")
            with judged(spark, question, right=right) as judgement:
                write_verdict(folder / "verdict.json", judgement.facts)
            enter_verdict(folder, judgement.facts["verdict"])


def write_verdict(path: Path, facts: dict[str, Any]) -> None:
    try:
        with complete_file(path) as file:
            file.write((json.dumps(facts, indent=1) + "\n").encode())
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}; name another file with --verdict") from None


def enter_verdict(folder: Path, verdict: str) -> None:
    """Say it in `run.json` and on the run's page."""
    facts = read_run(folder)
    del facts["format"]
    write_run(folder, {**facts, "verdict": verdict})
    refresh_report(folder)
