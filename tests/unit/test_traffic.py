"""What the simulator hands over: fields, trips, accidents and volumes of the first minutes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from driver.dataset.dataset_stats import survey
from driver.dataset.folder import ID_BLOCK, ORDER, TrafficWriter, describe, open_dataset, read_minutes, traffic_path
from driver.generate.generate import GenerateOptions
from driver.generate.traffic import drive
from driver.generate.traffic.model import Demand, Mishap, Model
from driver.generate.traffic.simulate import first_id, merge, simulate, simulate_to
from polling_baseline import compiled, spec
from polling_baseline.batch import INPUT_SCHEMA

SEED, XWAY = 5, 3
Columns = dict[str, np.ndarray]


def columns(tables: list[pa.Table]) -> Columns:
    table = pa.concat_tables(tables)
    return {name: table[name].to_numpy().astype(np.int64) for name in table.column_names}


def only(rows: Columns, mask: np.ndarray) -> Columns:
    return {name: values[mask] for name, values in rows.items()}


@pytest.fixture(scope="module")
def rows() -> Columns:
    """Half an hour of both directions."""
    return columns([table for direction in (spec.EAST, spec.WEST) for table in simulate(SEED, XWAY, direction, 1800)])


def trips_of(rows: Columns) -> Columns:
    """The reports by vehicle and time, with the way so far and whether a report goes on with a trip (rule 1)."""
    found = only(rows, rows["kind"] == spec.REPORT)
    found = only(found, np.lexsort((found["second"], found["vehicle_id"])))
    found["same_vehicle"] = np.diff(found["vehicle_id"], prepend=-1) == 0
    found["gap_s"] = np.diff(found["second"], prepend=0)
    found["goes_on"] = found["same_vehicle"] & (found["gap_s"] == spec.REPORT_PERIOD_S)
    last = spec.SEGMENTS * spec.SEGMENT_FT - 1
    found["way_ft"] = np.where(found["dir"] == spec.EAST, found["position_ft"], last - found["position_ft"])
    return found


@pytest.fixture(scope="module")
def reports(rows: Columns) -> Columns:
    return trips_of(rows)


def test_every_field_is_in_range_or_unused(rows: Columns) -> None:
    for kind, used in spec.USED.items():
        of_kind = only(rows, rows["kind"] == kind)
        for word, column in spec.FIELDS.items():
            if word in used:
                low, high = spec.RANGES[word]
                assert low <= of_kind[column].min() and of_kind[column].max() <= high, (kind, word)
            elif word != "Type":
                assert (of_kind[column] == spec.UNUSED).all(), (kind, word)
    assert set(rows["kind"]) == set(spec.USED)


def test_tables_have_the_schema_and_their_own_minute() -> None:
    for minute, table in enumerate(simulate(SEED, XWAY, spec.EAST, 150)):
        assert table.schema == INPUT_SCHEMA
        seconds = table["second"].to_numpy()
        assert (minute * 60 <= seconds).all() and (seconds < min(minute * 60 + 60, 150)).all()


def test_place(reports: Columns) -> None:
    assert (reports["seg"] == reports["position_ft"] // spec.SEGMENT_FT).all()
    assert (reports["xway"] == XWAY).all()
    going_back = reports["goes_on"] & (np.diff(reports["way_ft"], prepend=0) < 0)
    assert not going_back.any()


def test_numbers_have_no_gap(rows: Columns) -> None:
    for direction in (spec.EAST, spec.WEST):
        base = first_id(XWAY, direction)
        for name in ("vehicle_id", "query_id"):
            found = np.unique(rows[name][(rows[name] >= base) & (rows[name] < base + ID_BLOCK // 2)])
            assert (found == base + np.arange(len(found))).all()


def test_a_trip_begins_on_the_entry_lane_and_reports_every_30_s_until_it_ends(reports: Columns) -> None:
    first = ~reports["goes_on"]
    assert (reports["lane"][first] == spec.ENTRY_LANE).all()
    assert (reports["gap_s"][first & reports["same_vehicle"]] > spec.REPORT_PERIOD_S).all()
    after_exit = np.roll(reports["lane"] == spec.EXIT_LANE, 1)
    assert not (after_exit & reports["goes_on"]).any()


def test_some_vehicles_come_back() -> None:
    often = Model(demand=Demand(return_share=0.5, return_gap_s=(60, 120)))
    found = trips_of(columns(list(simulate(SEED, XWAY, spec.EAST, 900, model=often))))
    again = ~found["goes_on"] & found["same_vehicle"]
    assert again.sum() > 20
    assert (found["gap_s"][again] > spec.REPORT_PERIOD_S).all()
    assert (found["lane"][again] == spec.ENTRY_LANE).all()


def test_every_crossed_segment_has_a_report(reports: Columns) -> None:
    step = np.abs(np.diff(reports["seg"], prepend=0))
    assert step[reports["goes_on"]].max() == 1


def test_most_trips_end_on_the_exit_lane(reports: Columns) -> None:
    last = np.roll(~reports["goes_on"], -1) & (reports["second"] < 1800 - spec.REPORT_PERIOD_S)
    assert np.mean(reports["lane"][last] == spec.EXIT_LANE) == pytest.approx(0.85, abs=0.04)


def test_all_trips_can_end_on_the_exit_lane() -> None:
    model = GenerateOptions(1.0, exit_reports="all").model
    found = trips_of(columns(list(simulate(SEED, XWAY, spec.EAST, 900, model=model))))
    last = np.roll(~found["goes_on"], -1) & (found["second"] < 900 - spec.REPORT_PERIOD_S)
    assert last.sum() > 100 and (found["lane"][last] == spec.EXIT_LANE).all()


def test_two_vehicles_stop_at_the_same_place(reports: Columns) -> None:
    stopped = only(reports, (reports["speed_mph"] == 0) & np.isin(reports["lane"], spec.TRAVEL_LANES))
    _, place, at_place = np.unique(stopped["position_ft"], return_inverse=True, return_counts=True)
    longest = only(stopped, place == at_place.argmax())
    vehicles, times = np.unique(longest["vehicle_id"], return_counts=True)
    assert len(vehicles) == spec.ACCIDENT_VEHICLES
    assert (times >= spec.STOP_REPORTS).all()
    assert (times <= (1200 + 120) // spec.REPORT_PERIOD_S + 2).all()
    assert len(np.unique(longest["lane"])) == 1


def test_how_long_an_accident_can_be_seen(tmp_path: Path) -> None:
    """From its detection; what was drawn, and up to 60 s more."""
    assert (Mishap().stop_s[0], Mishap().stop_s[1] + 60) == (10 * 60, 20 * 60)
    often, count, seconds = Model(mishap=Mishap(period_s=200, stop_s=(120, 180))), 0, 1500
    with TrafficWriter(tmp_path, 0) as writer:
        for table in simulate(SEED, 0, spec.EAST, seconds, model=often):
            writer.write_minute(table)
            count += len(table)
    describe(tmp_path, xways=1, seconds=seconds, seed=SEED, counts={"reports": count}, options={})
    over = [each for each in survey(open_dataset(tmp_path)).accidents if each.to_second < seconds - 1]
    assert len(over) >= 2
    assert all(120 <= each.to_second + 1 - each.from_second <= 180 + 60 for each in over), over


def test_requests(rows: Columns) -> None:
    asked = only(rows, rows["kind"] != spec.REPORT)
    count = len(asked["kind"])
    assert count / (len(rows["kind"]) - count) == pytest.approx(0.01, rel=0.1)
    for kind, share in ((spec.BALANCE, 0.5), (spec.EXPENDITURE, 0.1), (spec.TRAVEL_TIME, 0.4)):
        assert np.mean(asked["kind"] == kind) == pytest.approx(share, abs=0.03)
    travel = only(asked, asked["kind"] == spec.TRAVEL_TIME)
    assert (travel["from_seg"] != travel["to_seg"]).all()
    reported = set(zip(rows["second"], rows["vehicle_id"], rows["kind"] == spec.REPORT, strict=True))
    assert all(
        (second, vehicle, True) in reported
        for second, vehicle in zip(asked["second"], asked["vehicle_id"], strict=True)
    )


def test_the_beginning_is_like_the_original(reports: Columns) -> None:
    """The figures are those of the first 418 s of an original expressway."""
    early = only(reports, reports["second"] < 418)
    assert len(early["second"]) == pytest.approx(31_532, rel=0.1)
    assert (~early["goes_on"]).sum() == pytest.approx(4_041, rel=0.1)
    assert np.bincount(early["second"] // 30)[:13] / 30 == pytest.approx(
        [12.8, 23.5, 35.8, 46, 56, 66, 74, 82, 91, 98, 106, 113, 121], rel=0.15
    )
    speed_mph, lane = early["speed_mph"], early["lane"]
    assert np.median(speed_mph[lane == spec.ENTRY_LANE]) == pytest.approx(27, abs=2)
    for travel_lane, share in zip(spec.TRAVEL_LANES, (0.22, 0.42, 0.22), strict=True):
        assert np.median(speed_mph[lane == travel_lane]) == pytest.approx(55, abs=4)
        assert np.mean(lane == travel_lane) == pytest.approx(share, abs=0.1)
    assert speed_mph.max() <= 80
    assert np.mean(early["dir"] == spec.EAST) == pytest.approx(0.5, abs=0.05)


def test_a_direction_is_a_function_of_seed_xway_and_direction() -> None:
    first, again = (list(simulate(SEED, XWAY, spec.WEST, 240)) for _ in range(2))
    assert first == again
    assert first[:2] == list(simulate(SEED, XWAY, spec.WEST, 120))
    for other in ((SEED + 1, XWAY, spec.WEST), (SEED, XWAY + 1, spec.WEST), (SEED, XWAY, spec.EAST)):
        assert columns(first)["second"].tolist() != columns(list(simulate(*other, 240)))["second"].tolist()


def test_directions_are_put_together(tmp_path) -> None:
    parts = [tmp_path / "east", tmp_path / "west"]
    vehicles = [
        simulate_to(part, SEED, XWAY, direction, 90, tmp_path / "progress") for direction, part in enumerate(parts)
    ]
    counts = merge(tmp_path, XWAY, parts)
    expected = pa.concat_tables([table for direction in range(2) for table in simulate(SEED, XWAY, direction, 90)])
    merged = pa.concat_tables([table for _, table in read_minutes(traffic_path(tmp_path, XWAY))])
    assert merged == expected.sort_by([(column, "ascending") for column in ORDER])
    assert sum(counts.values()) == merged.num_rows
    assert sum(vehicles) == len(np.unique(merged["vehicle_id"]))
    assert (tmp_path / "progress").stat().st_size == 4


def test_works_where_nothing_can_be_cached(monkeypatch) -> None:
    njit = compiled.numba.njit

    def without_cache(*, cache: bool = False, **options: object):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(**options)

    monkeypatch.setattr(compiled.numba, "njit", without_cache)
    assert drive._compiled("") is not None
