"""The lenient readings: accepted with --lenient, and counted apart; what comes near them is not.

That each of them is a fault without --lenient is shown among the mutants.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from driver.run.verdict import FAULTS
from driver.validate.judge import Question, judged
from driver.validate.reading import Reading
from polling_baseline import spec
from tests.engines.lenient_readings import cleared_early, cleared_road, minutes, readings
from tests.support.one_dataset import ID_AT, TIME_AT, one_dataset, output_line
from tests.support.tallied import tallied

COUNTS = (*FAULTS, "lenient")


def judge(spark, folder, roads, said, in_minutes=False):
    """The judgement's facts, and what is counted of each road; `said` gives a road's output from its answers."""
    dataset, by_road = one_dataset(roads, folder / "road")
    outputs = [change(answers) for change, answers in zip(said, by_road, strict=True)]
    lines = [output_line(answer, 1000 * answer[TIME_AT[answer[0]]]) for output in outputs for answer in output]
    (folder / "output.csv").write_text("\n".join(lines) + "\n")
    owner = {(a[0] > 1, a[ID_AT[a[0]]]): number for number, answers in enumerate(by_road) for a in answers}
    found = defaultdict(Counter)
    question = Question(
        dataset, folder / "output.csv", range(spec.RUN_SECONDS), reading=Reading(lenient=True, in_minutes=in_minutes)
    )
    with judged(spark, question) as judgement:
        for row in tallied(judgement):
            found[owner[row["kind"] > 1, row["id"]]].update({name: row[name] for name in COUNTS if row[name]})
    return judgement.verdict, [dict(found[number]) for number in range(len(roads))]


def test_near_enough(spark, tmp_path):
    cases = list(readings())
    facts, found = judge(spark, tmp_path, [case.road for case in cases], [case.answers for case in cases])
    counted = dict(zip([case.name for case in cases], found, strict=True))
    assert counted == {case.name: {"lenient": 1} if case.accepted else {"wrong": 1} for case in cases}
    apart = Counter(spec.ANSWERS[case.right[0]] for case in cases if case.accepted)
    assert {kind: answers["lenient"] for kind, answers in facts["answers"].items() if answers["lenient"]} == apart
    assert (facts["verdict"], facts["accidents_end"]) == ("FAIL", "specification")


def test_accidents_that_end_a_minute_earlier_and_minutes(spark, tmp_path):
    """Both are declared or found for the whole output."""
    cases = [case for case in minutes() if case.accepted]
    facts, found = judge(
        spark,
        tmp_path,
        [cleared_road(), *[case.road for case in cases]],
        [lambda answers: cleared_early(answers, tolls=True, alerts=True), *[case.answers for case in cases]],
        in_minutes=True,
    )
    assert (facts["verdict"], facts["accidents_end"]) == ("PASS", "a minute earlier")
    lenient = {kind: answers["lenient"] for kind, answers in facts["answers"].items()}
    assert found[1:] == [{"lenient": 1}] * len(cases)
    assert lenient == {"toll": 1, "accident": 1, "balance": 0, "expenditure": 0, "travel_time": len(cases)}


def test_accidents_that_end_earlier_for_tolls_or_alerts_alone(spark, tmp_path):
    facts, found = judge(
        spark,
        tmp_path,
        [cleared_road()] * 2 + [case.road for case in minutes() if not case.accepted],
        [
            lambda answers: cleared_early(answers, tolls=True, alerts=False),
            lambda answers: cleared_early(answers, tolls=False, alerts=True),
            *[case.answers for case in minutes() if not case.accepted],
        ],
        in_minutes=True,
    )
    assert (facts["verdict"], facts["accidents_end"]) == ("FAIL", "specification")
    assert found[:2] == [{"wrong": 2}, {"missing": 1}]
    assert all(faults["wrong"] == 1 for faults in found[2:])
