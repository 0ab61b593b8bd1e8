"""`lrb validate --reading` and `--layout`: outputs of other kits, by their rules and by the paper's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from driver.run.verdict import Verdict
from polling_baseline import spec
from polling_baseline.files import complete_file
from polling_baseline.refusal import Refusal
from polling_baseline.scratch import scratch
from polling_baseline.wording import format_count, format_table

if TYPE_CHECKING:
    from driver.dataset.folder import Dataset
    from driver.validate.judge import Judgement, Question
    from driver.validate.kits.answers import AcceptedAnswers
    from driver.validate.kits.beginning import Beginning
    from driver.validate.kits.layouts import Output

PAPER, OWN_LAYOUT = "paper", "kit"
READINGS = (PAPER, "perl2004", "walmart2015")
LAYOUTS = (OWN_LAYOUT, "perl2004", "walmart2015")
# Other readings look at reports one by one; of a larger road only at the first minutes, unless one is asked for.
MOST_REPORTS = 300_000
# So many faults of each kind get a reason.
MOST_FAULTS = 200_000


@dataclass(frozen=True, slots=True)
class OtherReadings:
    """An output by the rules of all other readings, or why that could not be done; of a large one the beginning."""

    output: Output | None = None
    accepted: Mapping[str, AcceptedAnswers] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    hint: str = ""
    beginning: Beginning | None = None

    @property
    def is_known(self) -> bool:
        """Whether it is known of each reading that it accepts the output, or that it does not."""
        return self.output is not None or (self.beginning is not None and not self.beginning.open)

    def accepted_by(self, paper: Verdict) -> list[str]:
        others = [name for name, verdict in self.verdicts.items() if verdict["verdict"] == "PASS"]
        return [*([PAPER] if paper["verdict"] == "PASS" else []), *others]


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--reading", choices=READINGS, default=PAPER, help="whose rules decide: the paper's or another kit's [paper]"
    )
    parser.add_argument(
        "--layout", choices=LAYOUTS, help="in which form the output is [kit for paper, else that of the reading]"
    )


def layout_of(args: argparse.Namespace) -> str:
    if args.layout:
        return str(args.layout)
    return OWN_LAYOUT if args.reading == PAPER or args.run_folder else str(args.reading)


def check_arguments(args: argparse.Namespace) -> None:
    """What explains faults does so by the paper's rules."""
    if args.reading == PAPER:
        return
    for name in ("follow", "explain", "faults", "page", "lenient", "limits", "xways", "ignore"):
        if getattr(args, name):
            raise Refusal(f"--{name} goes with the paper's reading; leave it out, or --reading {args.reading}")


def read_foreign(args: argparse.Namespace, dataset: Dataset, seconds: range, files: Sequence[Path]) -> Output | None:
    """The output, if it is in another layout or in several files; None if the judge reads it as it is."""
    if layout_of(args) == OWN_LAYOUT and len(files) == 1 and args.reading == PAPER:
        return None
    from driver.validate.kits.layouts import read_output

    return read_output(files, layout_of(args), balance_requests(dataset, seconds))


def balance_requests(dataset: Dataset, seconds: range):  # type: ignore[no-untyped-def]
    """Knows which (Time, QID) ask for a balance."""
    from driver.validate.kits.road import read_requests

    asked = {(one.second, one.query) for one in read_requests(dataset, seconds) if one.kind == spec.BALANCE}
    return lambda second, query: (second, query) in asked


def in_own_layout(output: Output) -> Path:
    """A file with the same answers as the judge reads them."""
    from driver.validate.kits.layouts import own_lines

    path = scratch("layout") / "output.csv"
    with complete_file(path) as file:
        file.writelines(f"{line}\n".encode() for line in own_lines(output))
    return path


def judge_by_others(args: argparse.Namespace, question: Question, output: Output | None) -> OtherReadings:
    """By all other readings: whole if the road is small, or if one was asked for; never for a copy of expressways."""
    from driver.validate.kits.beginning import MOST_LINES, readings_left
    from driver.validate.kits.layouts import read_output
    from driver.validate.kits.road import read_road
    from driver.validate.kits.verdict import READINGS as KITS
    from driver.validate.kits.verdict import judge_by

    dataset, seconds = question.dataset, question.seconds
    if dataset.distinct is not None or question.xways is not None or dataset.ignored:
        is_asked_for = args.reading != PAPER or args.layout
        return OtherReadings(hint="other readings look at whole data sets only" if is_asked_for else "")
    is_large = args.reading == PAPER and not args.layout and dataset.counts.get("reports", 0) > MOST_REPORTS
    _say("judging by other readings")
    try:
        lines = MOST_LINES if is_large else None
        output = output or read_output([question.output], OWN_LAYOUT, balance_requests(dataset, seconds), lines)
    except Refusal as refusal:
        return OtherReadings(hint=str(refusal))
    if is_large:
        return OtherReadings(beginning=readings_left(dataset, seconds, output))
    road = read_road(dataset, seconds)
    accepted = {name: kit.accepted(road) for name, kit in KITS.items()}
    verdicts = {name: judge_by(kit, accepted[name], output, dataset, seconds) for name, kit in KITS.items()}
    return OtherReadings(output, accepted, verdicts)


def choose_verdict(args: argparse.Namespace, paper: Verdict, others: OtherReadings) -> Verdict:
    """That of the reading that was asked for, with all readings that accept the output if they were tried."""
    if others.hint and args.reading != PAPER:
        raise Refusal(f"--reading {args.reading}: {others.hint}")
    verdict = others.verdicts.get(args.reading, paper)
    return {**verdict, "accepted_by": others.accepted_by(paper)} if others.is_known else verdict


def text(args: argparse.Namespace, judgement: Judgement, others: OtherReadings) -> list[str]:
    """What readings differ in, for the output of another system, and which ones accept it."""
    lines = []
    if args.reading != PAPER:
        lines = unseen_lines(args, others)
    elif args.output:
        lines = difference_lines(judgement, others)
    return [*lines, *closing_lines(others, judgement.verdict)]


def difference_lines(judgement: Judgement, others: OtherReadings) -> list[str]:
    """What the paper's reading objects to, by kind and reason."""
    if judgement.verdict["verdict"] == "PASS" or others.output is None:
        return []
    from driver.validate.faults import find_first
    from driver.validate.kits.differences import reasons

    first_faults = find_first(judgement, MOST_FAULTS)
    # Who accepts all of it explains it best.
    names = sorted(others.accepted, key=lambda name: others.verdicts[name]["verdict"] != "PASS")
    accepted = {name: others.accepted[name] for name in names}
    counted = reasons(first_faults.rows, first_faults.expected, others.output.answers, accepted)
    order = {kind: number for number, kind in enumerate(spec.ANSWERS)}
    rows = [
        (kind, fault, f"{count:,}", reason)
        for (kind, fault, reason), count in sorted(counted.items(), key=lambda item: (order[item[0][0]], *item[0][1:]))
    ]
    if not rows:
        return []
    table = format_table(("answer", "fault", "count"), [row[:3] for row in rows])
    return ["", f"{table[0]}   why", *(f"{line}   {row[3]}" for line, row in zip(table[1:], rows, strict=True))]


def closing_lines(others: OtherReadings, paper: Verdict) -> list[str]:
    """Which readings would accept the output."""
    if others.hint:
        return ["", others.hint]
    if others.output is None and others.beginning is None:
        return []
    names, beginning = others.accepted_by(paper), others.beginning
    lines = [f"accepted by the {'reading' if len(names) == 1 else 'readings'} {' and '.join(names)}"] if names else []
    if beginning:
        minutes = format_count(beginning.minutes, "minute")
        lines += [f"{name} accepts its first {minutes}; --reading {name} judges all of it" for name in beginning.open]
    return ["", *(lines or ["no reading accepts it"])]


def unseen_lines(args: argparse.Namespace, others: OtherReadings) -> list[str]:
    """Answers of a kind that the reading does not know."""
    from driver.validate.kits.layouts import TRAVEL

    count = sum(answer.kind == TRAVEL for answer in others.output.answers) if others.output else 0
    return [f"{args.reading} does not know travel times: {format_count(count, 'answer')} not looked at"] * bool(count)


def _say(phase: str) -> None:
    print(f"validate: {phase}", file=sys.stderr)
