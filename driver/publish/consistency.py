"""Do the records of a run agree with each other?  Each function gives a sentence for each contradiction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from driver.publish.output_digest import Digest
from driver.run.config import FOREIGN
from driver.run.limits import limits_in_force
from driver.run.poller import Cycle
from driver.run.record import config_of, seconds_of
from driver.run.record_types import AnswerSummary, RunJson
from driver.run.verdict import WRONG, Verdict, faults_in, limits_of
from polling_baseline import spec
from polling_baseline.wording import format_count

# Times have three decimals in output.csv and four in cycles.csv.
TOLERANCE_S = 0.0015
ORDERED = ("p50", "p90", "p99", "p99.9", "max")


def measured_faults(record: RunJson) -> Iterator[str]:
    """What `run.json` says of answers, minutes and the feed."""
    answers, minutes = record.get("answers", {}), record.get("minutes", [])
    config = config_of(record)
    limits = limits_in_force(config.limits)
    if config.xways is not None and config.xways != record["dataset"]["xways"]:
        yield "the run is of another L than its options say"
    if answers.keys() != set(spec.ANSWERS):
        yield "run.json does not count every kind of answer"
        return
    for kind, answer in answers.items():
        yield from _answer_faults(kind, answer, limits[kind])
        in_minutes = [row[kind] for row in minutes if kind in row]  # type: ignore[literal-required]
        if sum(row["received"] for row in in_minutes) != answer["received"]:
            yield f"the minutes do not add up to {answer['received']:,} answers of kind {kind}"
        elif in_minutes and max(row["max"] for row in in_minutes) != answer["max"]:
            yield f"the longest response time of kind {kind} is not that of its slowest minute"
    if sum(row["rows"] for row in minutes) != record.get("feed", {}).get("rows", 0):
        yield "the minutes do not add up to the tuples that were fed"


def _answer_faults(kind: str, answer: AnswerSummary, limit_s: float) -> Iterator[str]:
    times = [value for name in ORDERED if isinstance(value := answer.get(name), int | float)]
    if answer["limit_s"] != limit_s:
        yield f"the limit of kind {kind} is not the one in the run's options"
    if bool(times) != bool(answer["received"]) or len(times) not in (0, len(ORDERED)):
        yield f"kind {kind} has {answer['received']:,} answers and not all their response times"
    elif any(one > other for one, other in pairwise(times)):
        yield f"the percentiles of kind {kind} do not rise"
    elif times and (times[-1] > answer["limit_s"]) != (answer["late"] > 0):
        yield f"kind {kind} has {answer['late']:,} late answers, and its longest response time says otherwise"
    if sum(int(count) for _, count in answer.get("histogram", [])) != answer["received"]:
        yield f"the histogram of kind {kind} does not add up to its answers"


def cycle_faults(record: RunJson, cycles: Sequence[Cycle]) -> Iterator[str]:
    """`cycles.csv` and what `run.json` sums up of it."""
    counts, feed = record.get("cycles", {"count": 0}), record.get("feed", {"rows": 0})
    if counts["count"] != len(cycles):
        yield f"run.json says {counts['count']:,} cycles, cycles.csv has {len(cycles):,}"
        return
    if not cycles:
        return
    took = [cycle.ended - cycle.started for cycle in cycles]
    rounding = 0.0002
    if sum(cycle.rows for cycle in cycles) != feed["rows"]:
        yield "the cycles do not add up to the tuples that were fed"
    if abs(sum(took) - feed.get("busy_s", 0.0)) > rounding * len(cycles) + 0.001:
        yield "the cycles do not add up to the busy time"
    if abs(max(took) * 1000 - counts.get("max_ms", 0.0)) > 1000 * rounding + 0.01:
        yield "the longest cycle is not the one that run.json names"
    if any(before.seconds.stop != after.seconds.start for before, after in pairwise(cycles)):
        yield "the cycles leave out seconds, or take some twice"
    if any(not cycle.started - rounding <= cycle.committed <= cycle.ended + rounding for cycle in cycles):
        yield "a cycle was done before it began"
    expected = seconds_of(record)
    if record["state"] == "complete" and (cycles[0].seconds.start, cycles[-1].seconds.stop) != (
        expected.start,
        expected.stop,
    ):
        yield "the run is complete, and its cycles do not cover its minutes"
    longest = max(cycle.committed - cycle.seconds.start for cycle in cycles)
    for kind, answer in record.get("answers", {}).items():
        # What others wrote may answer after its cycle.
        if config_of(record).engine not in FOREIGN and answer.get("max", 0.0) > longest + TOLERANCE_S:
            yield f"an answer of kind {kind} took longer than any cycle"


def verdict_faults(record: RunJson, verdict: Verdict) -> Iterator[str]:
    """`verdict.json` and the run that it is about."""
    if verdict["dataset"]["identity"] != record["dataset"]["identity"]:
        yield "the verdict is about other data"
    if verdict["dataset"]["xways"] != record["dataset"]["xways"]:
        yield "the verdict is about another L"
    if record.get("verdict") != verdict["verdict"]:
        yield f"run.json says {record.get('verdict', 'nothing')}, verdict.json says {verdict['verdict']}"
    faults = sum(faults_in(verdict).values()) + verdict["lines"]["malformed"]
    if (verdict["verdict"] == "PASS") != (faults == 0):
        yield f"the verdict is {verdict['verdict']}, with {format_count(faults, 'fault')}"
    seconds = seconds_of(record)
    if verdict["minutes"] != [spec.minute_of(seconds.start), spec.minute_of(seconds[-1])]:
        yield "the verdict is about other minutes than the run's"
    if verdict["answers"].keys() != set(spec.ANSWERS):
        yield "the verdict does not know every kind of answer"
        return
    if verdict["xways"] != "all":
        return
    wrong = sum(faults_in(verdict, WRONG).values())
    for kind, judged in verdict["answers"].items():
        measured = record.get("answers", {}).get(kind)
        if measured is None or judged["received"] != measured["received"]:
            yield f"the judge saw {judged['received']:,} answers of kind {kind}, the run gave another number"
        elif not wrong and judged["expected"] != judged["received"]:
            yield f"the judge found no fault with kind {kind}, and expected another number of answers"
        elif not wrong and limits_of(verdict)[kind] == measured["limit_s"] and judged["late"] != measured["late"]:
            yield f"the judge counted {judged['late']:,} late answers of kind {kind}, the run {measured['late']:,}"


def digest_faults(record: RunJson, digest: Digest) -> Iterator[str]:
    """`digest.csv` and the answers that the run counted."""
    for kind, answer in record.get("answers", {}).items():
        counts = {minute: count for (own, minute), (count, _) in digest.items() if own == kind}
        whole = counts.pop("all", 0)
        if not whole == sum(counts.values()) == answer["received"]:
            yield f"the digest does not have the {answer['received']:,} answers of kind {kind}"
            continue
        rows = record.get("minutes", [])
        counted = {str(row["minute"]): row[kind]["received"] for row in rows if kind in row}  # type: ignore[literal-required]
        if counted != counts:
            yield f"the digest has the answers of kind {kind} in other minutes than the run"
