"""Other kits' readings, on small roads for each point in which they differ; and the layouts of their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver.dataset.folder import Dataset, open_dataset
from driver.dataset.import_ import ImportOptions, import_dataset
from driver.validate.kits import beginning, layouts, perl2004, walmart2015
from driver.validate.kits.differences import reasons
from driver.validate.kits.layouts import Answer, Output, own_lines, read_output
from driver.validate.kits.road import Report, Request, RoadView, read_requests, read_road
from driver.validate.kits.verdict import READINGS, judge_by
from polling_baseline import spec
from polling_baseline.refusal import Refusal
from tests.support.one_dataset import Road, one_dataset
from tests.support.random_road import random_history, random_lines
from tests.support.samples import SAMPLE, SAMPLES, needs_sample

EXIT, ENTRY = spec.EXIT_LANE, spec.ENTRY_LANE


def at(second: int, car: int = 1, seg: int = 10, lane: int = 1, speed: int = 50, position: int | None = None) -> Report:
    return Report(second, car, speed, 0, lane, spec.EAST, seg, seg * 5280 + 7 if position is None else position)


def road(*reports: Report, requests: tuple[Request, ...] = (), history: dict[Any, int] | None = None) -> RoadView:
    ordered = sorted(reports)
    vehicles = {car: [one for one in ordered if one.vehicle == car] for car in {one.vehicle for one in ordered}}
    standing = [one for one in ordered if one.speed == 0]
    return RoadView(ordered, list(requests), history or {}, vehicles, standing)


def ask(second: int, car: int = 1, query: int = 1) -> Request:
    return Request(spec.BALANCE, second, car, query, -1, -1)


def crowd(minute: int, cars: int, seg: int = 10, speed: int = 20) -> list[Report]:
    """So many cars in a segment in a minute, each reporting once; their numbers are from 1000 on."""
    return [at((minute - 1) * 60 + number % 60, 1000 + number, seg, speed=speed) for number in range(cars)]


def test_lav() -> None:
    """10 and then 21 and 21: the minutes' means are 10 and 21; all readings give 17.33; rounded and cut."""
    reports = [at(0, 5, speed=10), at(61, 6, speed=21), at(62, 7, speed=22), at(130)]
    assert perl2004.accepted_answers(road(*reports)).tolls[130, 1] == (15, 0)
    assert walmart2015.accepted_answers(road(*reports)).tolls[130, 1] == (18, 0)


def test_lav_without_data_and_half_a_mile() -> None:
    reports = [at(0, 5, speed=10), at(1, 6, speed=11), at(70)]
    perl, walmart = (kit.accepted_answers(road(*reports)) for kit in (perl2004, walmart2015))
    assert (perl.tolls[0, 5], walmart.tolls[0, 5]) == ((-1, 0), (0, 0))
    assert (perl.tolls[70, 1], walmart.tolls[70, 1]) == ((10, 0), (11, 0))


def test_the_limit_is_on_the_rounded_value() -> None:
    """39.5 is below 40, and 40 is not."""
    reports = [*crowd(1, 30, speed=39), *[at(1, 2000 + n, speed=40) for n in range(30)], at(70)]
    assert perl2004.accepted_answers(road(*reports)).tolls[70, 1] == (39, 200)
    assert walmart2015.accepted_answers(road(*reports)).tolls[70, 1] == (40, 0)


def test_cars_first_seen_on_the_exit_lane() -> None:
    reports = [*crowd(1, 51), at(5, 7, lane=EXIT, speed=20), at(70)]
    assert perl2004.accepted_answers(road(*reports)).tolls[70, 1] == (20, 8)
    assert walmart2015.accepted_answers(road(*reports)).tolls[70, 1] == (20, 2)


def test_reports_after_leaving() -> None:
    reports = [at(0), at(30, lane=EXIT), at(60, seg=11), at(90, seg=12, lane=ENTRY), at(120, seg=13)]
    assert [one.second for one in walmart2015.counting(reports)] == [0, 30, 90, 120]
    assert set(perl2004.accepted_answers(road(*reports)).tolls) == {(0, 1), (60, 1), (90, 1), (120, 1)}
    assert set(walmart2015.accepted_answers(road(*reports)).tolls) == {(0, 1), (90, 1), (120, 1)}


@pytest.mark.parametrize(("gap", "lane", "told"), [(61, ENTRY, True), (60, ENTRY, False), (600, 1, False)])
def test_a_second_trip(gap: int, lane: int, told: bool) -> None:
    """In the segment in which the first one ended."""
    reports = [at(0), at(gap, lane=lane)]
    assert set(perl2004.accepted_answers(road(*reports)).tolls) == {(0, 1)}
    assert ((gap, 1) in walmart2015.accepted_answers(road(*reports)).tolls) is told


def test_going_back() -> None:
    reports = [at(0, seg=10), at(30, seg=11), at(60, seg=10)]
    assert set(perl2004.accepted_answers(road(*reports)).tolls) == {(0, 1), (30, 1)}
    assert set(walmart2015.accepted_answers(road(*reports)).tolls) == {(0, 1), (30, 1), (60, 1)}


def stopped(car: int, first: int, count: int, seg: int = 12, lane: int = 1, speed: int = 0) -> list[Report]:
    return [at(first + 30 * number, car, seg, lane, speed, seg * 5280) for number in range(count)]


def passing(*seconds: int, seg: int = 10) -> list[Report]:
    return [at(second, 100 + second, seg) for second in seconds]


def test_an_accident_at_speed_0_and_at_walking_pace() -> None:
    """By perl2004 it begins 90 s after the second's first report; by walmart2015 with the fourth report of both."""
    watch = passing(59, 119, 120, 179, 180, 239, 240)
    still = [*stopped(1, 0, 6), *stopped(2, 10, 6), *watch]
    assert {key[0] for key in perl2004.accepted_answers(road(*still)).alerts} >= {120, 179, 180, 239}
    walking = [*stopped(1, 0, 6, speed=3), *stopped(2, 10, 6, speed=3), *watch]
    alerts = walmart2015.accepted_answers(road(*walking)).alerts
    assert perl2004.accepted_answers(road(*walking)).alerts == {}
    assert {key[0] for key in alerts if key[1] >= 100} == {120, 179, 180, 239, 240}


def test_what_lies_between_is_not_looked_at() -> None:
    """There at speed 0, and again 120 s later: enough for perl2004."""
    reports = [at(s, car, 12, 1, 0, 12 * 5280) for car, first in ((1, 0), (2, 30)) for s in (first, first + 120)]
    # Begins at 120 s, in minute 3, and ends at 150 s: it acts in minute 4.
    watch = passing(179, 180, 239, 240)
    perl = perl2004.accepted_answers(road(*reports, *watch)).alerts
    assert {second for second, car in perl if car >= 100} == {180, 239}
    assert walmart2015.accepted_answers(road(*reports, *watch)).alerts == {}


def test_three_reports_are_no_accident() -> None:
    reports = [*stopped(1, 0, 3), *stopped(2, 10, 3), *passing(120, 180)]
    assert perl2004.accepted_answers(road(*reports)).alerts == {}
    assert walmart2015.accepted_answers(road(*reports)).alerts == {}


def test_the_end_of_an_accident() -> None:
    """Car 1 drives on at 200 s: walmart2015 ends with that minute."""
    reports = [*stopped(1, 0, 6), *stopped(2, 10, 10), at(200, 1, 13), *passing(239, 240, 241)]
    walmart = walmart2015.accepted_answers(road(*reports)).alerts
    assert {second for second, car in walmart if car >= 100} == {239}
    perl = perl2004.accepted_answers(road(*reports)).alerts
    assert {second for second, car in perl if car >= 100} == {239}


def test_one_accident_per_segment() -> None:
    """A second one at another place of the segment: only perl2004 has it."""
    later = [at(600 + 30 * n, car, 12, 2, 0, 12 * 5280 + 50) for car in (3, 4) for n in range(6)]
    reports = [*stopped(1, 0, 5), *stopped(2, 0, 5), at(150, 1, 13), at(150, 2, 13), *later, *passing(780)]
    assert (780, 880) in perl2004.accepted_answers(road(*reports)).alerts
    assert (780, 880) not in walmart2015.accepted_answers(road(*reports)).alerts


def test_two_accidents_ahead() -> None:
    cars = [*stopped(1, 0, 8, 12), *stopped(2, 0, 8, 12), *stopped(3, 0, 8, 11), *stopped(4, 0, 8, 11)]
    reports = [*cars, *passing(130)]
    assert perl2004.accepted_answers(road(*reports)).alerts[130, 230] == {11, 12}
    assert walmart2015.accepted_answers(road(*reports)).alerts[130, 230] == {11}


def test_who_is_charged_when() -> None:
    """A toll of 8 for segment 10; the next segment is entered on the exit lane."""
    reports = [*crowd(1, 52), at(70), at(100, seg=11, lane=EXIT)]
    asked = (ask(100),)
    perl = perl2004.accepted_answers(road(*reports, requests=asked)).balances[100, 1]
    walmart = walmart2015.accepted_answers(road(*reports, requests=asked)).balances[100, 1]
    assert perl.pairs == {(70, 0)}
    assert walmart.accepts(100, 8) and walmart.accepts(70, 0) and not walmart.accepts(69, 8)
    assert not walmart.accepts(100, 16)


def test_a_toll_of_an_earlier_trip() -> None:
    """By perl2004 the next notification charges it, whenever that is; by walmart2015 a new trip does not."""
    reports = [*crowd(1, 52), at(70), at(700, seg=20, lane=ENTRY), at(730, seg=21)]
    asked = (ask(730),)
    perl = perl2004.accepted_answers(road(*reports, requests=asked)).balances[730, 1]
    assert perl.pairs == {(700, 8), (730, 8)}
    assert walmart2015.accepted_answers(road(*reports, requests=asked)).balances[730, 1].sums == {0}


@pytest.mark.parametrize(
    ("second", "told", "pairs"),
    [
        (5, [], {(5, 0)}),
        (100, [100], {(100, 0)}),
        (100, [70], {(70, 0)}),
        (100, [10], {(10, 0)}),
        (100, [10, 100], {(100, 3)}),
        (100, [10, 40, 100], {(40, 3), (100, 6)}),
        (100, [10, 70, 100], {(70, 3), (100, 6)}),
        (100, [10, 20, 30], {(30, 6)}),
        (100, [10, 50, 60, 130], {(50, 3)}),
    ],
)
def test_balances_by_perl2004(second: int, told: list[int], pairs: set[tuple[int, int]]) -> None:
    assert perl2004.balance(second, [(one, 3) for one in told]).pairs == pairs


def test_expenditures_that_the_history_has() -> None:
    asked = tuple(Request(spec.EXPENDITURE, 5, car, car, 0, 3) for car in (1, 2))
    for kit in (perl2004, walmart2015):
        view = road(at(0), requests=asked, history={(1, 3, 0): 40})
        assert kit.accepted_answers(view).expenditures == {(5, 1): 40}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Any: a verdict names one."""
    folder = tmp_path_factory.mktemp("kits")
    (folder / "cars.csv").write_text("0,0,1,50,0,1,0,10,52807,-1,-1,-1,-1,-1,-1\n")
    import_dataset(ImportOptions([folder / "cars.csv"]), folder / "road")
    return open_dataset(folder / "road")


def test_what_kits_do_not_see(dataset: Dataset) -> None:
    view = road(at(0), at(30, seg=11))

    def judged(name: str, *answers: Answer) -> Any:
        kit = READINGS[name]
        return judge_by(kit, kit.accepted(view), Output(list(answers), len(answers)), dataset, range(60))

    first, late = Answer(0, 0, 1, (0, 0), 0.5), Answer(0, 30, 1, (0, 0), 99.0)
    walmart = judged("walmart2015", first, first)
    assert (walmart["verdict"], walmart["reading"], walmart["answers"]["toll"]["expected"]) == (
        "PASS",
        "walmart2015",
        2,
    )
    walmart = judged("walmart2015", first, late)
    assert (walmart["verdict"], walmart["answers"]["toll"]["late"]) == ("FAIL", 1)
    first, late = (answer._replace(values=(-1, 0)) for answer in (first, late))
    assert judged("perl2004", first, late, first)["verdict"] == "PASS"
    counts = judged("perl2004", first, Answer(0, 7, 9, (0, 0), 7.0))["answers"]["toll"]
    assert (counts["missing"], counts["extra"], counts["wrong"]) == (1, 1, 0)


def test_reasons_by_kind() -> None:
    reports = [at(0, 5, speed=10), at(1, 6, speed=11), at(70)]
    accepted = {name: kit.accepted(road(*reports)) for name, kit in READINGS.items()}
    answers = [Answer(0, 70, 1, (11, 0), 70.5), Answer(0, 70, 2, (11, 0), 70.5)]
    faults = [(0, 1, 70, "wrong"), (0, 2, 70, "extra"), (4, 9, 70, "missing"), (3, 8, 70, "missing")]
    found = reasons(faults, {(0, 1, 70): [(10, 0)]}, answers, accepted)
    assert found == {
        ("toll", "wrong", f"walmart2015: {READINGS['walmart2015'].points['lav']}"): 1,
        ("toll", "extra", "no reading accepts that"): 1,
        ("travel_time", "missing", "perl2004: travel times are not looked at"): 1,
        ("expenditure", "missing", "perl2004: what the history does not have is not answered"): 1,
    }


FILES = {
    "kit": "0,1,2,2.5,-1,0\n1,3,3.5,4,5\n2,9,9.5,8,77,0\n3,9,9.5,78,0\n4,9,9.5,79,60,2\n",
    "perl2004": "0,1,2,2.5,-1,0\n1,3,3.5,4,5\n2,9,9.5,77,8,0\n",
    "walmart2015": "0,1,2,2.00001e+00,-1,0\n1,3,3.5,0,5,0,4\n2,9,9.5,8,77,0\n5,9,9.5,0,77,0\n",
}


def requests(second: int, query: int) -> bool:
    return (second, query) == (9, 77)


def reading_of(tmp_path: Path, layout: str, *texts: str) -> Output:
    files = []
    for number, text in enumerate(texts):
        files.append(tmp_path / f"{number}.csv")
        files[-1].write_text(text)
    return read_output(files, layout, requests)


@pytest.mark.parametrize("layout", FILES)
def test_layouts(tmp_path: Path, layout: str) -> None:
    output = reading_of(tmp_path, layout, FILES[layout])
    assert (output.odd, output.lines) == (0, len(FILES[layout].splitlines()))
    assert list(own_lines(output))[1:3] == ["1,3,3.500000,4,5", "2,9,9.500000,8,77,0"]
    assert next(own_lines(output)) in ("0,1,2,2.500000,-1,0", "0,1,2,2.000010,-1,0")
    assert output.answers[2] == Answer(2, 9, 77, (8, 0), 9.5)


def test_a_file_per_kind_without_emit(tmp_path: Path) -> None:
    output = reading_of(tmp_path, "perl2004", "0,1,2,-1,0\n", "1,3,4,5\n", "2,9,77,8,0\n2,9,77,9,0\n")
    assert [answer.emit for answer in output.answers] == [None] * 4
    assert list(own_lines(output))[1:3] == ["1,3,3.000000,4,5", "2,9,9.000000,8,77,0"]


@pytest.mark.parametrize(
    ("layout", "text", "sentence"),
    [
        ("kit", FILES["walmart2015"], "it looks like walmart2015; give --layout walmart2015"),
        ("kit", FILES["perl2004"], "it looks like perl2004"),
        ("walmart2015", FILES["kit"], "it looks like kit; give --layout kit"),
        ("perl2004", FILES["kit"].split("3,9")[0], "QID where ResultTime should be"),
        ("kit", "0,1,2,-1,0\n1,3,4,5\n", "it looks like perl2004"),
        ("walmart2015", FILES["walmart2015"] + "1,3,3.5,4,5\n", "several layouts: '1,3,3.5,4,5' is of kit"),
        ("perl2004", "0,1,2,2.5,-1,0\n0,1,2,-1,0\n", "is of perl2004 without Emit"),
    ],
)
def test_other_layouts_are_refused(tmp_path: Path, layout: str, text: str, sentence: str) -> None:
    with pytest.raises(Refusal) as refusal:
        reading_of(tmp_path, layout, text)
    assert sentence in str(refusal.value)


def test_files_of_two_forms_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="some files have Emit and some have not"):
        reading_of(tmp_path, "perl2004", "0,1,2,2.5,-1,0\n", "1,3,4,5\n")


def test_lines_that_are_no_answers_are_counted(tmp_path: Path) -> None:
    output = reading_of(tmp_path, "walmart2015", FILES["walmart2015"] + "\nnonsense\n0,1,x,2.5,-1,0\n9,1\n")
    assert (output.odd, output.blank, output.examples[0]) == (3, 1, [6, "nonsense"])


@needs_sample
@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("perl2004", ("perl2004.type0.csv.gz", "perl2004.type1.csv", "perl2004.type2.csv")),
        ("walmart2015", ("walmart2015.out.gz",)),
    ],
)
def test_each_reading_accepts_its_own_kits_answers(tmp_path: Path, name: str, files: tuple[str, ...]) -> None:
    """To the last answer, and no other reading does."""
    import_dataset(ImportOptions([SAMPLE]), tmp_path / "road")
    dataset, seconds = open_dataset(tmp_path / "road"), range(420)
    asked = {(one.second, one.query) for one in read_requests(dataset, seconds)}
    output = read_output([SAMPLES / file for file in files], name, lambda second, query: (second, query) in asked)
    view = read_road(dataset, seconds)
    verdicts = {kit.name: judge_by(kit, kit.accepted(view), output, dataset, seconds) for kit in READINGS.values()}
    own = verdicts[name]["answers"]
    assert verdicts[name]["verdict"] == "PASS"
    assert [own[kind]["expected"] for kind in spec.ANSWERS] == [14_388, 513, 167, 0, 0]
    assert own["toll"]["received"] == 14_388 and own["accident"]["received"] == 513
    (other,) = [verdict for kit, verdict in verdicts.items() if kit != name]
    assert (other["verdict"], other["answers"]["toll"]["wrong"]) == ("FAIL", 12_154)
    assert layouts.names_of(layouts.SECOND_BALANCE) == "balance"


@pytest.fixture(scope="module")
def long_road(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Six minutes on which everything collides; two cars stand at one place in the first minutes and in the last."""
    lines = [line for line in random_lines(5, minutes=6, xways=1) if line[2] < 900]
    standing = [(0, 30 * n, car, 0, 0, 1, 0, 12, 12 * 5280, *[-1] * 6) for n in range(5) for car in (900, 901)]
    again = [(0, 210 + 30 * n, car, 0, 0, 1, 0, 12, 12 * 5280, *[-1] * 6) for n in range(5) for car in (902, 903)]
    passing = [(0, second, 910 + second, 50, 0, 1, 0, 10, 52807, *[-1] * 6) for second in range(0, 360, 7)]
    folder = tmp_path_factory.mktemp("long") / "road"
    one_dataset([Road([*lines, *standing, *again, *passing], *random_history(5, xways=1))], folder)
    return open_dataset(folder)


def accepted_output(name: str, dataset: Dataset) -> Output:
    """All tolls, alerts, balances and expenditures that a reading wants."""
    accepted = READINGS[name].accepted(read_road(dataset, range(dataset.seconds)))
    answers = [Answer(0, second, car, values, second) for (second, car), values in accepted.tolls.items()]
    answers += [Answer(1, second, car, (min(seg),), second) for (second, car), seg in accepted.alerts.items()]
    for (second, query), one in accepted.balances.items():
        pair = min(one.pairs) if one.between is None else (one.between[1], max(one.sums))
        answers.append(Answer(2, second, query, pair, second))
    answers += [Answer(3, second, query, (sum_,), second) for (second, query), sum_ in accepted.expenditures.items()]
    return Output(answers, len(answers))


@pytest.mark.parametrize("name", READINGS)
def test_the_first_minutes_tell_who_cannot_accept_it(long_road: Dataset, monkeypatch: Any, name: str) -> None:
    monkeypatch.setattr(beginning, "LONGEST_MIN", 5)
    output, seconds = accepted_output(name, long_road), range(long_road.seconds)
    assert beginning.readings_left(long_road, seconds, output) == beginning.Beginning(5, (name,))
    for kind in range(4):
        number = next(n for n, one in enumerate(output.answers) if one.kind == kind and one.second < 180)
        answer = output.answers[number]
        wrong = [*output.answers[:number], answer._replace(values=(*answer.values[:-1], 77)), *output.answers[number:]]
        assert beginning.readings_left(long_road, seconds, Output(wrong, len(wrong))).open == ()
    late = [answer._replace(emit=answer.second + 99.0) for answer in output.answers]
    left = beginning.readings_left(long_road, seconds, Output(late, len(late))).open
    assert left == (() if READINGS[name].limits else (name,))
    # What comes later is not looked at, nor is what is missing.
    early = [answer for answer in output.answers if answer.second < 100]
    assert beginning.readings_left(long_road, seconds, Output(early, len(early))).open == (name,)
    assert beginning.readings_left(long_road, seconds, Output(early, len(early), odd=1)).open == ()


def test_as_many_minutes_as_can_be_looked_at(long_road: Dataset, monkeypatch: Any) -> None:
    def minutes(first: int = 0) -> int:
        return beginning.readings_left(long_road, range(first, long_road.seconds), Output()).minutes

    assert (minutes(), minutes(60)) == (6, 5)
    of_four = len(read_road(long_road, range(240)).reports)
    monkeypatch.setattr(beginning, "MOST_REPORTS", of_four)
    assert minutes() == 4
    monkeypatch.setattr(beginning, "MOST_REPORTS", of_four - 1)
    assert minutes() == 3
    monkeypatch.setattr(beginning, "MOST_REPORTS", 0)
    assert minutes() == beginning.SHORTEST_MIN


def test_travel_times_in_the_layout_of_2004(tmp_path: Path) -> None:
    """They are not looked at, and do not make it another layout."""
    output = reading_of(tmp_path, "perl2004", FILES["perl2004"] + "4,9,9.5,79,60,2\n")
    assert [answer.kind for answer in output.answers] == [0, 1, 2, 4]
    assert len(reading_of(tmp_path, "perl2004", "0,1,2,-1,0\n4,9,79,60,2\n").answers) == 2
    assert reading_of(tmp_path, "kit", FILES["kit"]).lines == 5
