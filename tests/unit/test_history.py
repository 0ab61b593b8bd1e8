"""The histories as they are drawn: same rows for the same seed, patterns, and tolls that follow rule 4."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from driver.dataset.folder import segment_path, toll_path
from driver.generate.history import WEEKEND, Unit, write_unit
from polling_baseline import spec


@pytest.fixture
def segments(tmp_path):
    """SegmentHistory of the first seven days."""
    unit = Unit(tmp_path, 42, 0, range(1, 8), dirs=2)
    write_unit(unit, tmp_path / "progress")
    assert (tmp_path / "progress").stat().st_size == 7
    return pq.read_table(segment_path(tmp_path, 0, 0)).to_pandas()


def test_a_row_per_day_minute_direction_and_segment(segments):
    assert len(segments) == 7 * spec.DAY_MINUTES * 2 * spec.SEGMENTS
    key = ["day", "minute", "xway", "dir", "seg"]
    assert not segments.duplicated(key).any()
    assert segments[key].equals(segments[key].sort_values(key, ignore_index=True))
    assert segments["minute"].min() == 1 and segments["minute"].max() == spec.DAY_MINUTES


def test_toll_is_rule_4(segments):
    some = segments.sample(2000, random_state=1)
    expected = [spec.toll_for(cars, lav, False) for cars, lav in zip(some["cars"], some["lav"], strict=True)]
    assert some["toll"].tolist() == expected
    assert (segments["toll"] > 0).any()


def test_rush_hours_are_on_weekdays(segments):
    segments["weekend"] = [spec.day_of_week(day) in WEEKEND for day in segments["day"]]
    rush = segments[(segments["minute"] == 8 * 60) & (segments["seg"] == 50)].groupby("weekend")
    assert rush["cars"].mean()[False] > 3 * rush["cars"].mean()[True]
    assert rush["lav"].mean()[False] < rush["lav"].mean()[True] - 10


def test_speed_falls_as_cars_get_more(segments):
    by_cars = segments.groupby(segments["cars"] // 20)["lav"].mean()
    assert by_cars.is_monotonic_decreasing


def test_half_an_expressway_is_its_eastbound_half(tmp_path, segments):
    write_unit(Unit(tmp_path, 42, 0, range(1, 3), dirs=1), tmp_path / "half")
    half = pq.read_table(segment_path(tmp_path, 0, 0)).to_pandas()
    whole = segments[(segments["dir"] == 0) & (segments["day"] < 3)].reset_index(drop=True)
    assert half.equals(whole[half.columns.tolist()])


def test_tolls(tmp_path):
    write_unit(Unit(tmp_path, 42, 3, range(8, 10), vehicles=[(3_000_000, 5000), (3_500_000, 4000)]), tmp_path / "p")
    tolls = pq.read_table(toll_path(tmp_path, 3, 1)).to_pandas()
    assert len(tolls) == 2 * 9000
    assert not tolls.duplicated(["vehicle_id", "day"]).any()
    assert set(tolls["xway"]) == {0, 1, 2, 3}
    assert 0.85 < (tolls["xway"] == 3).mean() < 0.95
    assert 0.3 < (tolls["tolls"] == 0).mean() < 0.5
    assert np.percentile(tolls["tolls"], 99) > 20 * np.percentile(tolls["tolls"], 50)
