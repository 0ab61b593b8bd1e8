"""Lines made to do harm: `lrb import` rejects them or refuses the file, in little memory; no engine sees them."""

from __future__ import annotations

import csv
import random
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from driver.cli import main
from driver.dataset.folder import open_dataset, read_minutes
from driver.run.feed import Feed
from polling_baseline import spec
from tests.conftest import lrb_options

REPORT = "0,{second},{vehicle},50,0,1,0,0,100,-1,-1,-1,-1,-1,-1"
NUMBERS = (
    "-1",
    "99999999999999999999",
    str(2**63),
    str(-(2**63)),
    "1e9",
    "0x10",
    "٣",
    "½",
    "+",
    "",
    " 7 ",
    "007",
    "nan",
)
ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\n\n", b"\0\n", b"\x0b\n", b"\xe2\x80\xa8\n")
SIZES = (1, 20, 200, 3_000, 70_000, 200_000)


def fuzzed_line(rng: random.Random, second: int) -> bytes:
    words = REPORT.format(second=second, vehicle=rng.randint(0, 5)).split(",")
    match rng.randrange(9):
        case 0:
            return rng.randbytes(rng.choice(SIZES)).replace(b"\n", b"")
        case 1:
            words[rng.randrange(15)] = rng.choice(NUMBERS)
        case 2:
            del words[rng.randrange(15) :]
        case 3:
            words += rng.choices(("1", "", "x"), k=rng.choice(SIZES[:4]))
        case 4:
            words[rng.randrange(15)] = "9" * rng.choice(SIZES)
        case 5:
            words[rng.randrange(15)] += "\0" * rng.randint(1, 3)
        case 6:
            words[0] = rng.choice(("2", "3", "4", "1", "-0"))
    return ",".join(words).encode()


def rows_of(folder: Path) -> list[tuple[int, ...]]:
    tables = [table for path in open_dataset(folder).traffic.values() for _, table in read_minutes(path)]
    return list(zip(*(column.to_pylist() for column in pa.concat_tables(tables).columns), strict=True))


def see_that_all_is_acceptable(folder: Path) -> None:
    """What the driver would hand to an engine keeps to the specification."""
    rows = rows_of(folder)
    assert rows
    for row in rows:
        values = dict(zip(spec.FIELDS, row, strict=True))
        for field in spec.USED[values["Type"]]:
            low, high = spec.RANGES[field]
            assert low <= values[field] <= high, row
    reports = [(row[2], row[1]) for row in rows if row[0] == spec.REPORT]
    assert len(reports) == len(set(reports))
    dataset = open_dataset(folder)
    feed = Feed(dataset, range(dataset.seconds), 1)
    fed = sum(len(feed.take(range(start, start + 60))) for start in range(0, dataset.seconds, 60))
    feed.close()
    assert fed == len(rows)


@pytest.mark.parametrize("seed", range(12))
def test_fuzzed_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    rng = random.Random(seed)
    data = b"".join(
        fuzzed_line(rng, number if rng.random() < 0.9 else rng.randint(-5, 11_000)) + rng.choice(ENDS)
        for number in range(150)
    )
    (tmp_path / "fuzzed.csv").write_bytes(data)
    status = main(["import", str(tmp_path / "fuzzed.csv"), "--out", str(tmp_path / "road")])
    assert status == 0, capsys.readouterr().err
    see_that_all_is_acceptable(tmp_path / "road")
    counts = open_dataset(tmp_path / "road").counts
    accepted = sum(counts[kind] for kind in ("reports", "balance", "expenditure", "travel_time"))
    assert accepted + counts["rejects"] == data.count(b"\n") + (not data.endswith(b"\n"))
    with (tmp_path / "road" / "rejects.csv").open(newline="", encoding="utf-8") as file:
        assert sum(1 for _ in csv.DictReader(file)) == counts["rejects"] > 0


@pytest.mark.parametrize("seed", range(6))
def test_nothing_but_noise_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    rng = random.Random(seed)
    (tmp_path / "noise").write_bytes(rng.choice((b"", b"\xef\xbb\xbf", b"\x1f\x8b")) + rng.randbytes(rng.choice(SIZES)))
    assert main(["import", str(tmp_path / "noise"), "--out", str(tmp_path / "road")]) == 1
    assert capsys.readouterr().err.startswith("lrb: ")
    assert [path.name for path in tmp_path.iterdir()] == ["noise"]


def test_a_line_of_100_mb_takes_little_memory(tmp_path: Path) -> None:
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    lines = [REPORT.format(second=second, vehicle=1) for second in (0, 30)]
    small.write_text("\n".join(lines))
    with large.open("w") as out:
        out.write(lines[0] + "\n0,1,2,")
        for _ in range(100):
            out.write("7" * (1 << 20))
        out.write("\n" + lines[1])
    peaks = [peak_memory_kb("import", file, "--out", tmp_path / file.stem) for file in (small, large)]
    assert peaks[1] - peaks[0] < 60_000
    assert len(rows_of(tmp_path / "large")) == 2
    assert open_dataset(tmp_path / "large").counts["rejects"] == 1


def peak_memory_kb(*words: object) -> int:
    """The most memory that an `lrb` command had."""
    program = (
        "import resource, sys; from driver.cli import main; status = main(sys.argv[1:]); "
        "print('\\n', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program, *map(str, words)], **lrb_options({}))
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout.split()[-1])
    return peak // 1024 if sys.platform == "darwin" else peak
