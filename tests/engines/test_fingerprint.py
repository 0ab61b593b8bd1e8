"""Right at a glance, or not: heaps of answers that differ by little."""

from __future__ import annotations

import pytest

from driver.validate.fingerprint import glance_at
from driver.validate.received import MALFORMED, NOTES
from driver.validate.reference import ACCIDENT, EXPENDITURE, TOLL, Reference
from driver.validate.tally import COUNTS, SECOND_US
from polling_baseline import spec
from tests.conftest import shared_spark

A, B, C = (TOLL, 7, 30, 25, 8), (TOLL, 8, 30, 25, 8), (ACCIDENT, 7, 30, 25, 0)
# Two requests of one identity, of the same answer.
TWICE = (EXPENDITURE, 9, 40, 50, 0)
EXPECTED = [A, B, C, TWICE, TWICE]
KINDS = [TOLL, ACCIDENT, EXPENDITURE]
ODD = (TOLL, 7, None, None, None, None, MALFORMED)
TYPES = "kind byte, id long, second int, value_1 long, value_2 long"
LIMIT_US = spec.DEADLINE_S["toll"] * SECOND_US


def glance(answers, responses_us=()):
    spark = shared_spark()
    times = [*responses_us, *[1000] * (len(answers) - len(responses_us))]
    rows = [(*answer, time, None) for answer, time in zip(answers, times, strict=True)]
    came = spark.createDataFrame([*rows, ODD], f"{TYPES}, response_us long, note string")
    seen = glance_at(Reference(spark, None, range(60)), came)
    assert seen.line_counts() == {"total": len(rows) + 1} | dict.fromkeys(NOTES, 0) | {MALFORMED: 1}
    found = seen.right_by_response(spark.createDataFrame(EXPECTED, TYPES), KINDS, spec.DEADLINE_S)
    return found and {(row.kind, row.response_us): row.asDict() for row in found.collect()}


def test_the_right_answers_in_any_order():
    found = glance(EXPECTED[::-1])
    assert {key: row["answered"] for key, row in found.items()} == {
        (TOLL, 1000): 2,
        (ACCIDENT, 1000): 1,
        (EXPENDITURE, 1000): 2,
    }
    for row in found.values():
        assert {name: row[name] for name in COUNTS if row[name]} == {
            "expected": row["answered"],
            "received": row["answered"],
        }


def test_late_answers_are_right_and_counted():
    found = glance(EXPECTED, [LIMIT_US, LIMIT_US + 1])
    assert {key: row["late"] for key, row in found.items() if key[0] == TOLL} == {
        (TOLL, LIMIT_US): 0,
        (TOLL, LIMIT_US + 1): 1,
    }


def test_an_early_answer_is_not_right():
    assert glance(EXPECTED, [-1]) is None


@pytest.mark.parametrize("at", range(1, len(A)))
@pytest.mark.parametrize("number", range(len(EXPECTED)))
def test_each_field_of_each_answer_matters(number, at):
    wrong = list(EXPECTED)
    wrong[number] = tuple(value + (place == at) for place, value in enumerate(wrong[number]))
    assert glance(wrong) is None


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([A, B, C, TWICE], id="missing"),
        pytest.param([A, B, C, TWICE, TWICE, TWICE], id="duplicate"),
        pytest.param([A, A, C, TWICE, TWICE], id="one-for-another"),
        pytest.param([A, A, A, B, C], id="two-for-a-pair"),
        pytest.param([A, B, TWICE, TWICE], id="no-answer-of-a-kind"),
        pytest.param([A, (TOLL, 8, 30, 8, 25), C, TWICE, TWICE], id="values-exchanged"),
    ],
)
def test_heaps_that_differ(answers):
    assert glance(answers) is None
