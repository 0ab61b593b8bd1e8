"""Expressways that are copies: the same rows with other numbers, and half a copy is half an expressway."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from driver.dataset.expressways import parse_numbers
from driver.dataset.folder import ID_BLOCK, Dataset, describe, open_dataset
from driver.dataset.relabel import relabelled
from driver.generate.generate import Direction, GenerateOptions, simulate_direction
from driver.run.feed import Feed
from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.refusal import Refusal

SECONDS = 180


def road(folder: Path, xways: float) -> Dataset:
    """The traffic that `lrb generate` would make, without history and without Spark."""
    (folder / ".parts").mkdir(parents=True)
    wanted = GenerateOptions(xways, SECONDS // 60, 7, 0)
    counts: Counter[str] = Counter()
    for xway, direction in wanted.directions:
        of = len([each for each in wanted.directions if each[0] == xway])
        unit = Direction(folder, xway, direction, of, wanted.seed, SECONDS)
        counts.update(simulate_direction(unit, folder / ".progress")[1])
    options: dict[str, object] = {"command": "generate"}
    describe(folder, xways=xways, seconds=SECONDS, seed=7, counts=dict(counts), options=options)
    return open_dataset(folder)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return road(tmp_path_factory.mktemp("relabel") / "two", 2)


def fed(dataset: Dataset, workers: int = 1) -> tuple[Columns, Columns]:
    """All reports and all requests, by second and number."""
    feed = Feed(dataset, range(SECONDS), workers)
    shares = [share for first in range(0, SECONDS, 20) for share in feed.take(range(first, first + 20)).shares]
    feed.close()
    parts = ([share.reports for share in shares], [share.requests for share in shares])
    reports, requests = ({name: np.concatenate([each[name] for each in part]) for name in part[0]} for part in parts)
    return by(reports, "vehicle_id"), by(requests, "query_id")


def by(columns: Columns, name: str) -> Columns:
    return taken(columns, np.lexsort((columns[name], columns["second"])))


def taken(columns: Columns, rows: np.ndarray) -> Columns:
    return {name: column[rows] for name, column in columns.items()}


def equal(some: Columns, others: Columns) -> bool:
    return all((some[name] == others[name]).all() and some[name].dtype == others[name].dtype for name in others)


def test_a_copy_has_numbers_of_its_own(two: Dataset) -> None:
    reports, requests = fed(two)
    assert set(requests["kind"]) == {spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME}
    more_reports, more_requests = fed(relabelled(two, 6), workers=2)
    assert (len(more_reports["second"]), len(more_requests["second"])) == (
        3 * len(reports["second"]),
        3 * len(requests["second"]),
    )
    assert set(more_reports["xway"]) == set(range(6))
    for copy in range(3):
        shift = 2 * copy
        own = taken(more_reports, more_reports["xway"] // 2 == copy)
        vehicle_id = own["vehicle_id"] - np.int32(shift * ID_BLOCK)
        assert equal({**own, "vehicle_id": vehicle_id, "xway": own["xway"] - np.int16(shift)}, reports)
        own = taken(more_requests, more_requests["query_id"] // (2 * ID_BLOCK) == copy)
        of_copy = own["kind"] == spec.BALANCE
        # What asks the history names the vehicle and the expressway that the history knows.
        vehicle_id = np.where(of_copy, own["vehicle_id"] - shift * ID_BLOCK, own["vehicle_id"]).astype(np.int32)
        assert equal({**own, "vehicle_id": vehicle_id, "query_id": own["query_id"] - shift * ID_BLOCK}, requests)


def test_the_same_number_of_expressways_changes_nothing(two: Dataset) -> None:
    assert relabelled(two, 2.0) is two
    assert relabelled(two, None) is two
    assert relabelled(two, 5).original == two


@pytest.mark.parametrize("xways", [0.5, 1.0, 1.5])
def test_fewer_and_half_ones_are_what_generate_gives(two: Dataset, tmp_path: Path, xways: float) -> None:
    for found, right in zip(fed(relabelled(two, xways)), fed(road(tmp_path / "road", xways)), strict=True):
        assert len(found["second"]) == len(right["second"]) > 0
        assert equal(found, right)


def test_half_a_copy(two: Dataset) -> None:
    reports, requests = fed(relabelled(two, 3.5))
    half = taken(reports, reports["xway"] == 3)
    assert set(half["dir"]) == {spec.EAST}
    of_half = requests["query_id"] >= 3 * ID_BLOCK
    assert (requests["query_id"][of_half] < 3 * ID_BLOCK + ID_BLOCK // 2).all()
    original, asked = fed(two)
    assert len(half["second"]) == ((original["xway"] == 1) & (original["dir"] == spec.EAST)).sum()
    assert of_half.sum() == ((asked["query_id"] // (ID_BLOCK // 2)) == 2).sum()


@pytest.mark.parametrize("xways", [0.0, 0.7, 1000.5])
def test_no_such_number_of_expressways(two: Dataset, xways: float) -> None:
    with pytest.raises(Refusal, match=r"L must be a multiple of 0.5 from 0.5 to 1000, not "):
        relabelled(two, xways)


def test_only_whole_generated_ones_have_room_between_their_numbers(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="only whole ones"):
        relabelled(road(tmp_path / "half", 0.5), 3)


@pytest.mark.parametrize(
    ("text", "known", "sentence"),
    [
        ("0,x", [0], "--xways 0,x: give numbers with commas between, such as 0,3"),
        ("2,5", [2, 3, 4], "--xways 2,5: the road has no expressway 5; it has 2 to 4"),
        ("0", [], "--xways 0: the road has no expressway 0; it has none"),
    ],
)
def test_expressways_by_number(text: str, known: list[int], sentence: str) -> None:
    assert parse_numbers("3,2,3", [2, 3, 4], "the road") == [3, 2]
    with pytest.raises(Refusal, match=re.escape(sentence)):
        parse_numbers(text, known, "the road")
