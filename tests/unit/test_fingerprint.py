"""Equal heaps of answers, or not: heaps that differ by little."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from driver.dataset.folder import ID_BLOCK
from driver.validate.copies import original_ids
from driver.validate.fingerprint import Heap, draw_seed, heap_of, heap_of_copies

A, B, C = (7, 30, 25, 8), (8, 30, 25, 8), (7, 31, -1, 0)
# Two requests of one identity, of the same answer.
TWICE = (9, 40, 50, 0)
EXPECTED = [A, B, C, TWICE, TWICE]
SEED = draw_seed()


def heap(answers):
    return heap_of(SEED, *np.array(answers, np.int64).reshape(-1, len(A)).T)


def test_any_order_and_any_parts():
    assert heap(EXPECTED[::-1]) == heap(EXPECTED) == heap(EXPECTED[:2]) + heap(EXPECTED[2:]) + Heap()
    assert heap([]) == Heap()


def test_narrow_columns_have_the_same_hashes():
    narrow = [np.array(column, width) for column, width in zip(zip(*EXPECTED, strict=True), "ihqb", strict=True)]
    assert heap_of(SEED, *narrow) == heap(EXPECTED)


def test_another_seed_gives_other_hashes():
    assert heap_of(SEED ^ 1, *np.array(EXPECTED).T) != heap(EXPECTED)


@pytest.mark.parametrize("at", range(len(A)))
@pytest.mark.parametrize("number", range(len(EXPECTED)))
@pytest.mark.parametrize("change", [1, -1, 1 << 40])
def test_each_field_of_each_answer_matters(number, at, change):
    wrong = list(EXPECTED)
    wrong[number] = tuple(value + change * (place == at) for place, value in enumerate(wrong[number]))
    assert heap(wrong) != heap(EXPECTED)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param([A, B, C, TWICE], id="missing"),
        pytest.param([A, B, C, TWICE, TWICE, TWICE], id="duplicate"),
        pytest.param([A, A, C, TWICE, TWICE], id="one-for-another"),
        pytest.param([A, A, A, B, C], id="two-for-a-pair"),
        pytest.param([A, (8, 30, 8, 25), C, TWICE, TWICE], id="values-exchanged"),
        pytest.param(
            [(7, 30, 25, 8), (8, 30, 25, 8), (7, 31, -1, 0), (40, 9, 50, 0), TWICE], id="id-and-time-exchanged"
        ),
    ],
)
def test_heaps_that_differ(answers):
    assert heap(answers) != heap(EXPECTED)


@dataclass
class Relabelled:
    xways: float
    distinct: int | None


@pytest.mark.parametrize("xways", [2, 3, 3.5, 4, 4.5])
def test_copies(xways):
    """Of expressways 0 and 1; who drives east has the lower half of an expressway's numbers."""
    east, west = 5, ID_BLOCK // 2 + 5
    originals = [(xway, xway * ID_BLOCK + car, 30, 25) for xway in (0, 1) for car in (east, west)]
    copies = [
        (xway, xway * ID_BLOCK + car, 30, 25)
        for xway in range(5)
        for car in (east, west)
        if xway + 1 <= xways or (xway < xways and car == east)
    ]
    made = heap_of_copies(Relabelled(xways, 2), SEED, *np.array(originals).T)
    assert made == heap_of(SEED, *np.array(copies).T[1:])
    ids = np.array([id for _, id, *_ in copies])
    assert set(original_ids(Relabelled(xways, 2), ids).tolist()) == {id for _, id, *_ in originals}


def test_what_is_no_copy_stays_as_it_is():
    ids = np.array([3 * ID_BLOCK + 5])
    assert original_ids(Relabelled(4, None), ids) is ids
    assert heap_of_copies(Relabelled(4, None), SEED, np.array([3]), ids, np.array([30])) == heap_of(
        SEED, ids, np.array([30])
    )
