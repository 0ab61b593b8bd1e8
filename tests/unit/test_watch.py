"""What the page of `lrb watch` is made of: frames from a data set, frames from a run, vehicles."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from driver.dataset.dataset_stats import survey
from driver.dataset.relabel import relabelled
from driver.report.watch.blob import TYPES, pack, unpack
from driver.report.watch.broadcast import EVENTS_KEPT, Broadcast
from driver.report.watch.opening import open_broadcast
from driver.report.watch.page import one_file
from driver.report.watch.road import NO_SPEED, choose_xways, key_of, read_road
from driver.report.watch.run_frames import UNTOLD, RunFrames
from driver.report.watch.vehicles import nearest_vehicle, vehicles_blob
from driver.run.record import open_run
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from tests import traces
from tests.support.trace_run import TraceRun, trace_dataset


@pytest.fixture(scope="module")
def all_traces(tmp_path_factory):
    """All traces side by side: the data set, and a complete run with every right answer."""
    folder = tmp_path_factory.mktemp("watch")
    dataset, answers = trace_dataset(folder / "road", *traces.NAMES)
    return dataset, answers, TraceRun(folder / "run", dataset, answers).end()


def whole_road(dataset):
    return read_road(dataset, list(dataset.traffic), range(dataset.seconds))


def test_a_blob_gives_back_what_was_packed():
    arrays = {name: np.arange(5).astype(dtype) for name, dtype in TYPES.items()} | {"none": np.empty(0, "<i4")}
    head, back = unpack(pack({"text": "é", "list": [1, None]}, arrays))
    assert head == {"text": "é", "list": [1, None]}
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert back[name].dtype == array.dtype and back[name].tolist() == array.tolist()


def test_accidents_are_those_of_the_survey(all_traces):
    dataset, _, _ = all_traces
    assert sorted(map(str, whole_road(dataset).accidents)) == sorted(map(str, survey(dataset).accidents))


def test_an_accident_of_a_known_trace(tmp_path):
    """Cars 1 and 2 stand from second 95 to 209."""
    dataset, _ = trace_dataset(tmp_path / "road", "accident_timing")
    road = whole_road(dataset)
    [accident] = road.accidents
    assert (accident.seg, accident.dir, accident.from_second, accident.to_second) == (10, spec.EAST, 95, 209)
    # Rows of ten seconds; both stand in segment 10, and nobody is elsewhere at first.
    assert road.speed_mph[0, spec.EAST, 0].tolist() == [NO_SPEED] * 10 + [0] + [NO_SPEED] * 89
    assert road.speed_mph[0, spec.EAST, 11, 8] == 50
    assert (road.speed_mph[0, spec.WEST] == NO_SPEED).all()


def test_every_answer_finds_its_place(all_traces):
    """No right answer is extra, none is lost, and each segment and minute has what was told there."""
    dataset, answers, run = all_traces
    road = whole_road(dataset)
    frames = RunFrames(run, road)
    while frames.advance():
        pass
    assert frames.extra == []
    for number, kind in enumerate(spec.ANSWERS):
        found = np.flatnonzero(frames.answers[kind]["emit_ms"] != UNTOLD)
        assert len(found) == sum(answer[0] == number for answer in answers)
    keys = key_of(road.visits["vehicle_id"], road.visits["second"])
    for _, vehicle_id, second, lav, toll in (answer for answer in answers if answer[0] == 0):
        at = np.searchsorted(keys, vehicle_id << 14 | second)
        told = frames.answers["toll"]
        assert (told["lav"][at], told["toll"][at], told["emit_ms"][at]) == (lav, toll, second * 1000 + 250)
        cell = road.cell_of(road.visits["place"][[at]], road.visits["second"][[at]])
        assert (frames.lav[cell], frames.toll[cell]) == (lav, toll)
    assert frames.alerts.sum() == sum(answer[0] == 1 for answer in answers)


def test_balances_belong_to_who_asked(all_traces):
    dataset, answers, run = all_traces
    road = whole_road(dataset)
    frames = RunFrames(run, road)
    while frames.advance():
        pass
    told = {
        (query, second): balance
        for query, second, balance in zip(
            road.requests["query_id"], road.requests["second"], frames.answers["balance"]["balance"], strict=True
        )
        if balance != UNTOLD
    }
    assert told == {(query, second): balance for kind, second, _, query, balance in _of_length(answers, 5) if kind == 2}


def _of_length(answers, length):
    return [answer for answer in answers if len(answer) == length]


def responses_of(frames):
    columns = [column.tolist() for name, column in frames.columns().items() if name.startswith("responses.")]
    return list(zip(*columns, strict=True))


def test_read_as_it_comes_or_at_once(tmp_path, all_traces):
    """Second by second, with a torn line at the end of both files now and then."""
    dataset, answers, complete = all_traces
    road = whole_road(dataset)
    run = TraceRun(tmp_path / "run", dataset, answers)
    following, pieces = RunFrames(run.folder, road), []
    assert following.advance() is None
    for _ in range(5):
        run.step(60)
        for name in ("output.csv", "cycles.csv"):
            with (run.folder / name).open("ab") as file:
                whole = file.tell()
                file.write(b"1,2")
            pieces.append(following.advance())
            with (run.folder / name).open("ab") as file:
                file.truncate(whole)
    run.end()
    pieces.append(following.advance())
    assert following.advance() is None
    at_once = RunFrames(complete, road)
    while at_once.advance():
        pass
    # What is read at once is sorted by kind.
    assert sorted(responses_of(following)) == sorted(responses_of(at_once))
    for name, column in at_once.columns().items():
        assert name.startswith("responses.") or following.columns()[name].tolist() == column.tolist(), name
    told = {}
    for piece in filter(None, pieces):
        told |= dict(zip(piece["told"]["cell"], piece["told"]["toll"], strict=True))
    assert told == {
        int(cell): int(at_once.toll[cell]) for cell in np.flatnonzero((at_once.toll != UNTOLD) | (at_once.alerts > 0))
    }


def test_answers_that_fit_nothing(tmp_path):
    """Twice the same, and one that no report asks for; that of a vehicle which is not on this road is not listed."""
    dataset, answers = trace_dataset(tmp_path / "road", "accident_timing")
    run = TraceRun(tmp_path / "run", dataset, [*answers, answers[0], (0, 1, 7, 55, 3), (0, 999, 7, 55, 3)]).end()
    frames = RunFrames(run, whole_road(dataset))
    frames.advance()
    assert [(one["vehicle_id"], one["second"], one["toll"]) for one in frames.extra] == [(1, 0, 0), (1, 7, 3)]


def test_vehicles_of_a_file_and_one_by_itself_say_the_same(all_traces):
    dataset, _, run = all_traces
    road = whole_road(dataset)
    frames = RunFrames(run, road)
    while frames.advance():
        pass
    head, every = unpack(vehicles_blob(road, [frames]))
    assert head["relative"] and np.count_nonzero(every["0.toll.emit_ms"] % UNTOLD) == 0
    ids = np.cumsum(every["visits.vehicle_id"], dtype=np.int32)
    second = np.cumsum(every["visits.second"].astype(np.uint16), dtype=np.uint16)
    place = np.cumsum(every["visits.place"].astype(np.uint16), dtype=np.uint16)
    cell = road.cell_of(place.astype(np.int64), second.astype(np.int64))
    toll = every["0.toll.toll"] + np.where(every["0.toll.toll"] == UNTOLD, 0, frames.toll[cell])
    for vehicle_id in np.unique(ids)[::7].tolist():
        _, one = unpack(vehicles_blob(road, [frames], vehicle_id))
        assert one["0.toll.toll"].tolist() == toll[ids == vehicle_id].tolist()
        assert np.cumsum(one["visits.second"], dtype=np.uint16).tolist() == second[ids == vehicle_id].tolist()
    assert nearest_vehicle(road, int(place[3]), int(second[3]) + 20) is not None
    assert nearest_vehicle(road, 99, 0) is None


def test_copies_have_vehicles_of_their_own(tmp_path):
    """An expressway of `--xways` is read from the file that it is a copy of."""
    dataset, _ = trace_dataset(tmp_path / "road", "accident_timing")
    original = whole_road(dataset)
    generated = relabelled(replace(dataset, options={"command": "generate"}), 3.0)
    copy = read_road(generated, [2], range(dataset.seconds))
    assert (copy.visits["vehicle_id"] - original.visits["vehicle_id"] == 2_000_000).all()
    assert copy.accidents[0].xway == 2 and (copy.speed_mph == original.speed_mph).all()


def test_a_part_of_the_minutes(tmp_path):
    dataset, _ = trace_dataset(tmp_path / "road", "accident_timing")
    road = read_road(dataset, [0], range(120, 300))
    assert road.minutes == 3 and road.visits["second"].min() >= 120
    assert road.cell_of(np.array([108]), np.array([120])).tolist() == [1 * 3 * 100 + 8]
    # Car 1 moves on before its fourth report of these minutes: who begins there sees no accident.
    assert road.accidents == []


@pytest.mark.parametrize(
    ("text", "chosen"), [(None, [0, 1, 2, 3]), ("2", [2]), ("4,1,4", [4, 1])], ids=["first", "one", "some"]
)
def test_expressways_to_show(text, chosen):
    assert choose_xways(text, range(9)) == chosen


@pytest.mark.parametrize(("text", "sentence"), [("x", "give numbers"), ("9", "has no expressway 9; it has 0 to 8")])
def test_expressways_that_are_not_there(text, sentence):
    with pytest.raises(Refusal, match=sentence):
        choose_xways(text, range(9))


def test_events_go_on_where_a_page_left(tmp_path):
    dataset, answers = trace_dataset(tmp_path / "road", "accident_timing")
    run = TraceRun(tmp_path / "run", dataset, answers)
    broadcast = Broadcast([open_run(run.folder)], whole_road(dataset))
    head, _ = unpack(broadcast.frames_blob())
    assert (head["live"], head["event"]) == (True, 0)
    run.step(60)
    broadcast.advance()
    run.step(60)
    broadcast.advance()
    events = broadcast.events_after(broadcast.name, 0, 0)
    assert [(event.number, event.kind) for event in events] == [(1, "frames"), (2, "frames")]
    assert [event.number for event in broadcast.events_after(broadcast.name, 1, 0)] == [2]
    assert broadcast.events_after(broadcast.name, 2, 0) == []
    # Another broadcast, an event that was never sent, one that is no longer kept.
    for name, number in (("other", 1), (broadcast.name, 3), (broadcast.name, -1)):
        assert [event.kind for event in broadcast.events_after(name, number, 0)] == ["restart"]
    for _ in range(EVENTS_KEPT):
        broadcast._publish("frames", {})
    assert [event.kind for event in broadcast.events_after(broadcast.name, 1, 0)] == ["restart"]
    run.end()
    broadcast.advance()
    assert [event.kind for event in broadcast.events_after(broadcast.name, 2 + EVENTS_KEPT, 0)][-1] == "state"
    assert unpack(broadcast.frames_blob())[0]["live"] is False


def test_a_run_that_is_cut_back_is_read_anew(tmp_path):
    """As `lrb run --resume` does before it goes on."""
    dataset, answers = trace_dataset(tmp_path / "road", "accident_timing")
    run = TraceRun(tmp_path / "run", dataset, answers)
    broadcast = Broadcast([open_run(run.folder)], whole_road(dataset))
    run.step(200)
    run.close()
    broadcast.advance()
    before, size = broadcast.name, (run.folder / "output.csv").stat().st_size
    with (run.folder / "output.csv").open("r+b") as file:
        file.truncate(size // 2)
    broadcast.advance()
    assert broadcast.name != before
    assert [event.kind for event in broadcast.events_after(before, 1, 0)] == ["restart"]


def test_a_file_is_complete_and_allows_nothing_else(all_traces):
    """Its policy names its own scripts and styles, and no address."""
    _, _, run = all_traces
    text = one_file(open_broadcast([run]))
    [policy] = [part.split('"')[0] for part in text.split('content="')[2:3]]
    assert policy.startswith("default-src &#x27;none&#x27;") and policy.count("sha256-") == 9
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text
    assert " src=" not in text and '<link rel="stylesheet"' not in text
