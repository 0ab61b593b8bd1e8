"""The verdict once more, from the data set: by the answers if a bundle has them, else by their digest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from driver.dataset.folder import Dataset
from driver.dataset.ignore import without_requests
from driver.dataset.integrity import check_files
from driver.dataset.relabel import relabelled
from driver.publish import record as names
from driver.publish.checked import CheckedRun
from driver.publish.output_digest import Digest, parsed_digest
from driver.run.record import config_of, seconds_of
from driver.run.record_types import RunJson
from driver.run.verdict import Verdict, faults_in, is_right, limits_of
from driver.validate.digest import UNKNOWN, digest_lines
from polling_baseline import spec
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Announce = Callable[[str], None]


def judge_again(
    spark: SparkSession, dataset: Dataset, runs: dict[str, CheckedRun], announce: Announce
) -> Iterator[tuple[str, str, bool]]:
    """Of each run that was judged: its place, what came of it in a sentence, and whether that is what it claims."""
    check_files(dataset)

    @cache
    def right(xways: float | None, ignore: tuple[str, ...], seconds: range) -> Digest:
        announce("computing the right answers" + (f" for L = {xways:g}" if xways else ""))
        part = without_requests(relabelled(dataset, xways), ignore)
        return parsed_digest(list(digest_lines(spark, part, seconds)))

    for place, run in runs.items():
        if run.json["dataset"]["identity"] != dataset.identity:
            raise Refusal(f"{place} is a run of {run.json['dataset']['name']}, not of the data in {dataset.path}")
        if run.verdict is None:
            continue
        if (run.folder / names.OUTPUT).is_file():
            announce(f"judging {place}")
            yield place, *_by_answers(spark, dataset, run.json, run.verdict, run.folder / names.OUTPUT)
        elif run.digest is None:
            yield place, "it has neither answers nor their digest, so nothing can be said", False
        else:
            config = config_of(run.json)
            wanted = right(config.xways, tuple(config.ignore), seconds_of(run.json))
            yield place, *_by_digest(run.verdict, run.digest, wanted)


def _by_answers(
    spark: SparkSession, dataset: Dataset, record: RunJson, claim: Verdict, output: Path
) -> tuple[str, bool]:
    from driver.validate.judge import Question, judged
    from driver.validate.reading import Reading

    part, reading = config_of(record).part_of(dataset), Reading(lenient=claim["lenient"])
    question = Question(part, output, seconds_of(record), reading=reading, limits=limits_of(claim))
    with judged(spark, question) as judgement:
        verdict = judgement.verdict
    if verdict["verdict"] != claim["verdict"]:
        return f"the judge says {verdict['verdict']}, the bundle {claim['verdict']}", False
    if (other := faults_in(verdict)) != faults_in(claim):
        named = ", ".join(f"{count:,} {fault}" for fault, count in other.items() if count)
        return f"{verdict['verdict']}, but by other faults: {named}", False
    return f"{verdict['verdict']} again, by all its answers", True


def _by_digest(claim: Verdict, digest: Digest, right: Digest) -> tuple[str, bool]:
    differing = [kind for kind in spec.ANSWERS if _of_kind(digest, kind) != _of_kind(right, kind)]
    open_kinds = [kind for kind in differing if kind == "balance" and _same_counts(digest, right)]
    if not differing:
        fits = is_right(claim)
        return ("all answers are right, by their digest" if fits else "the digest is right, the verdict is not"), fits
    if differing == open_kinds and is_right(claim):
        return "all answers are right by their digest; balances may be as of an earlier moment, so only counted", True
    named = ", ".join(kind.replace("_", " ") for kind in differing)
    if is_right(claim):
        return f"answers of these kinds are not the right ones: {named}", False
    return f"not all answers are right, as the verdict says: {named}", True


def _of_kind(digest: Digest, kind: str) -> dict[str, tuple[int, str]]:
    return {minute: value for (own, minute), value in digest.items() if own == kind and value != (0, "0" * 16)}


def _same_counts(digest: Digest, right: Digest) -> bool:
    def counts(of: Digest) -> dict[str, int]:
        return {minute: count for minute, (count, mark) in _of_kind(of, "balance").items() if count or mark == UNKNOWN}

    return counts(digest) == counts(right)
