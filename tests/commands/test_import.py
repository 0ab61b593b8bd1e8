"""`lrb import`: what it takes, what it keeps aside and why, and what it refuses."""

from __future__ import annotations

import csv
import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest

from driver.cli import main
from driver.dataset.folder import ORDER, open_dataset, read_minutes
from polling_baseline import spec
from tests.support.samples import SAMPLE, needs_sample


def report(second=0, vehicle=1, xway=0, direction=0, speed=50):
    return f"0,{second},{vehicle},{speed},{xway},1,{direction},0,100,-1,-1,-1,-1,-1,-1"


def balance(second=0, vehicle=1, query=1):
    return f"2,{second},{vehicle},-1,-1,-1,-1,-1,-1,{query},-1,-1,-1,-1,-1"


def expenditure(second=0, vehicle=1, xway=0, query=1, day=1):
    return f"3,{second},{vehicle},-1,{xway},-1,-1,-1,-1,{query},-1,-1,-1,-1,{day}"


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def rejects(dataset: Path) -> list[tuple[str, int, str]]:
    with (dataset / "rejects.csv").open(newline="") as file:
        return [(Path(row["file"]).name, int(row["line"]), row["reason"]) for row in csv.DictReader(file)]


def rows(dataset: Path, xway: int) -> list[tuple[int, ...]]:
    tables = [table for _, table in read_minutes(open_dataset(dataset).traffic[xway])]
    return list(zip(*(column.to_pylist() for column in pa.concat_tables(tables).columns), strict=True))


def refused(capsys, *words: object) -> str:
    capsys.readouterr()
    assert main([str(word) for word in words]) == 1
    return capsys.readouterr().err


@pytest.fixture
def imported(tmp_path):
    """Import files, given as lists of lines; they are named a.csv, b.csv and so on."""

    def run(*files, options=()):
        paths = [write(tmp_path / f"{chr(97 + number)}.csv", *lines) for number, lines in enumerate(files)]
        out = tmp_path / "road"
        assert main(["import", *map(str, paths), "--out", str(out), "--force", *options]) == 0
        return out

    return run


def test_the_command_as_typed(lrb, tmp_path):
    path = write(tmp_path / "in put.csv", report(0), "nonsense", report(30), balance(31))
    done = lrb("import", path, "--out", tmp_path / "road 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 lines: 2 reports, 1 request\n" in done.stdout
    assert "1 not 15 integers" in done.stdout
    assert open_dataset(tmp_path / "road 1").counts == {
        **{"reports": 2, "balance": 1, "expenditure": 0, "travel_time": 0, "vehicles": 1},
        **{"toll_history": 0, "segment_history": 0, "rejects": 1},
    }


def test_rejects_have_file_line_and_reason(imported):
    road = imported(
        [report(5), "x", report(5), report(4), report(6, speed=101), report(6)],
        [report(5, vehicle=2), report(5), "", "9" + report(6)[1:], report(6)],
    )
    assert rejects(road) == [
        ("a.csv", 2, "not 15 integers"),
        ("a.csv", 3, "second report of this vehicle in this second"),
        ("a.csv", 4, "Time is lower than on an earlier line"),
        ("a.csv", 5, "Spd 101 is out of range 0..100"),
        ("b.csv", 2, "second report of this vehicle in this second"),
        ("b.csv", 3, "not 15 integers"),
        ("b.csv", 4, "unknown Type 9"),
        ("b.csv", 5, "second report of this vehicle in this second"),
    ]
    dataset = open_dataset(road)
    assert dataset.counts["rejects"] == 8
    assert dataset.options["rejects_by_reason"] == {
        "second report of this vehicle in this second": 3,
        "not 15 integers": 2,
        "Time is lower than on an earlier line": 1,
        "Spd out of range": 1,
        "unknown Type": 1,
    }


def test_first_of_two_reports_wins(imported):
    road = imported([report(0, speed=10)], [report(0, speed=20), report(0, vehicle=2, speed=30)])
    assert [row[3] for row in rows(road, 0)] == [10, 30]


def test_text_of_a_reject_can_be_read_back(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(report().encode() + b'\n"quoted",\0\xff\x1b[31m\n' + b"x" * 100_000 + b"\n")
    assert main(["import", str(path), "--out", str(tmp_path / "road")]) == 0
    with (tmp_path / "road" / "rejects.csv").open(newline="") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    assert texts == ['"quoted",\\x00\\xff\\x1b[31m', "x" * 200]


def test_a_balance_request_goes_where_its_vehicle_is(imported):
    road = imported(
        [balance(0, vehicle=7, query=1), balance(0, vehicle=9, query=2), balance(29, vehicle=7, query=3)],
        [report(0, vehicle=7, xway=3), report(30, vehicle=7, xway=2), report(60, vehicle=8, xway=1)],
        [balance(30, vehicle=7, query=4), balance(10799, vehicle=7, query=5), balance(61, vehicle=9, query=6)],
    )
    found = {xway: {row[9] for row in rows(road, xway) if row[0] == spec.BALANCE} for xway in (1, 2, 3)}
    # Vehicle 9 never reports: it belongs to expressway 1, the lowest.  Line 3 of the third file comes too late.
    assert found == {1: {2}, 2: {4, 5}, 3: {1, 3}}
    assert open_dataset(road).seconds == 10800


def test_only_requests_of_unknown_vehicles(imported):
    assert [row[1] for row in rows(imported([balance(3), balance(70)]), 0)] == [3, 70]


@pytest.mark.parametrize(
    ("lines", "xways"),
    [
        pytest.param([report(direction=0), report(vehicle=2, direction=1)], 1, id="both"),
        pytest.param([report(direction=1)], 0.5, id="west"),
        pytest.param([report(xway=2), report(vehicle=2)], 2.5, id="gap"),
        pytest.param([report(), report(vehicle=2, direction=1), expenditure(xway=4)], 5, id="request"),
    ],
)
def test_length_of_road_follows_from_the_lines(imported, lines, xways):
    assert open_dataset(imported(lines)).xways == xways


def test_length_of_road_given(imported, tmp_path, capsys):
    road = imported([report(), report(vehicle=2, xway=2)], options=["--xways", "1.5"])
    assert open_dataset(road).xways == 1.5
    assert rejects(road) == [("a.csv", 2, "XWay 2 is out of range 0..1")]
    both = write(tmp_path / "both.csv", report(), report(vehicle=2, direction=1))
    assert "both directions" in refused(capsys, "import", both, "--out", tmp_path / "new", "--xways", "0.5")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("xways", ["0", "0.3", "5000", "-1", "nan", "inf", "many"])
def test_length_of_road_that_cannot_be(tmp_path, capsys, xways):
    path = write(tmp_path / "a.csv", report())
    assert "multiple of 0.5" in refused(capsys, "import", path, "--out", tmp_path / "road", f"--xways={xways}")


def test_strict_names_the_lines_and_writes_nothing(tmp_path, capsys):
    path = write(tmp_path / "a.csv", report(0), "x", report(0))
    said = refused(capsys, "import", path, "--out", tmp_path / "road", "--strict")
    assert "line 2: not 15 integers" in said
    assert "line 3: second report" in said
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]
    write(path, report(0), report(30))
    assert main(["import", str(path), "--out", str(tmp_path / "road"), "--strict"]) == 0


def test_what_is_no_input_is_refused(tmp_path, capsys):
    good = write(tmp_path / "good.csv", report())
    packed = gzip.compress(b"".join(b"%s\n" % report(second).encode() for second in range(5000)))
    (tmp_path / "cut.gz").write_bytes(packed[:-20])
    (tmp_path / "damaged.gz").write_bytes(packed[:50] + b"\0" * 50 + packed[100:])
    write(tmp_path / "empty.csv")
    write(tmp_path / "prose.csv", "Linear Road is a benchmark.")
    for name, sentence in {
        "none.csv": "does not exist",
        ".": "is a folder",
        "cut.gz": "cut short (gzip ends early); fetch it again",
        "damaged.gz": "fetch it again",
        "empty.csv": "no lines at all",
        "prose.csv": "no acceptable line",
    }.items():
        before = sorted(tmp_path.iterdir())
        assert sentence in refused(capsys, "import", tmp_path / name, "--out", tmp_path / "road")
        assert sorted(tmp_path.iterdir()) == before
    assert "named twice" in refused(capsys, "import", good, good, "--out", tmp_path / "road")
    assert main(["import", str(good), "--out", str(tmp_path / "road")]) == 0
    assert "--force" in refused(capsys, "import", good, "--out", tmp_path / "road")


def test_an_unsorted_file_gets_a_hint(imported, capsys):
    imported([report(100 - second) for second in range(10)])
    assert "sort -s -t, -k2,2n" in capsys.readouterr().err


def test_many_expressways_in_many_files(imported):
    files = [[report(second, 10_000 * xway + second, xway) for second in (0, 59, 60, 700)] for xway in range(20)]
    together = imported(files[0], *files[:0:-1])
    identity = open_dataset(together).identity
    mixed = sorted((line for lines in files for line in lines), key=lambda line: int(line.split(",")[1]))
    assert open_dataset(imported(mixed)).identity == identity


def test_random_files_against_a_slow_import(imported):
    """The same rows at the same places, whatever the mixture."""
    rng = random.Random(5)
    for _ in range(12):
        files = []
        for _ in range(rng.randint(1, 4)):
            seconds = sorted(rng.randint(0, 200) for _ in range(150))
            files.append([_random_line(rng, second) for second in seconds])
        road = imported(*files)
        expected, duplicates = _slow_import(files)
        dataset = open_dataset(road)
        assert {xway: rows(road, xway) for xway in dataset.traffic} == expected
        assert [each[:2] for each in rejects(road)] == duplicates


def _random_line(rng: random.Random, second: int) -> str:
    vehicle, xway = rng.randint(1, 12), rng.randint(1, 3)
    return rng.choice(
        [
            report(second, vehicle, xway, rng.randint(0, 1)),
            balance(second, vehicle, rng.randint(0, 3)),
            expenditure(second, vehicle, xway, rng.randint(0, 3), rng.randint(1, 69)),
        ]
    )


def _slow_import(files: list[list[str]]):
    reports, others, duplicates = {}, [], []
    for name, lines in zip("abcd", files, strict=False):
        for number, line in enumerate(lines, start=1):
            row = tuple(map(int, line.split(",")))
            if row[0] != spec.REPORT:
                others.append(row)
            elif (row[2], row[1]) in reports:
                duplicates.append((f"{name}.csv", number))
            else:
                reports[row[2], row[1]] = row
    lowest = min(row[4] for row in [*reports.values(), *others] if row[0] != spec.BALANCE)
    homes: dict[int, list[tuple[int, ...]]] = {}
    for row in [*reports.values(), *others]:
        home = row[4]
        if row[0] == spec.BALANCE:
            earlier = [second for vehicle, second in reports if vehicle == row[2] and second <= row[1]]
            home = reports[row[2], max(earlier)][4] if earlier else lowest
        homes.setdefault(home, []).append(row)
    at = [list(spec.FIELDS.values()).index(column) for column in ORDER]
    return {
        xway: sorted(found, key=lambda row: ([row[k] for k in at], row)) for xway, found in homes.items()
    }, duplicates


@needs_sample
def test_a_real_expressway(tmp_path, capsys):
    assert main(["import", str(SAMPLE), "--out", str(tmp_path / "road")]) == 0
    counts = open_dataset(tmp_path / "road").counts
    assert counts["reports"] + counts["balance"] + counts["expenditure"] == 31_723
    # Its type-4 requests carry zeros, as the specification says of real data.
    assert {reason for *_, reason in rejects(tmp_path / "road")} == {"DOW 0 is out of range 1..7"}
    assert counts["rejects"] == 147
