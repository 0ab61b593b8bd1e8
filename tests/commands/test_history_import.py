"""Histories from flat files and Parquet: the same files as generation writes, and every reason for a reject."""

from __future__ import annotations

import gzip
import hashlib

import pyarrow.parquet as pq
import pytest

from driver.dataset.export import export
from driver.dataset.folder import describe, open_dataset
from driver.generate.history import generate_history
from driver.history.import_ import import_history


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*-week-*.parquet")}


def never(*reject):
    raise AssertionError(reject)


@pytest.fixture
def road(spark, tmp_path):
    """A data set with history alone; nine days make two weeks."""
    folder = tmp_path / "road"
    folder.mkdir()
    vehicles = {0: [(0, 50)], 1: [(1_000_000, 30), (1_500_000, 30)]}
    counts = generate_history(spark, folder, 42, 0.5, vehicles, 9, lambda amount: None)
    describe(folder, xways=0.5, seconds=60, seed=42, counts=counts, options={})
    return open_dataset(folder)


def test_import_after_export_gives_the_same_bytes(spark, road, tmp_path):
    segments, tolls = sorted(export(road, tmp_path / "flat", packed=False, force=False))
    lines = tolls.read_text().splitlines()
    # No header, and the order of the lines does not matter.
    assert len(lines) == road.counts["toll_history"]
    shuffled = tmp_path / "shuffled.csv.gz"
    shuffled.write_bytes(gzip.compress("\n".join(["VID,Day,XWay,Tolls", *reversed(lines)]).encode()))
    counts = import_history(spark, tmp_path / "again", shuffled, segments, never)
    assert counts == {name: road.counts[name] for name in ("toll_history", "segment_history")}
    assert digests(tmp_path / "again") == digests(road.path)


def test_parquet_folder(spark, road, tmp_path):
    import_history(spark, tmp_path / "again", road.path / "history" / "toll", None, never)
    expected = {name: digest for name, digest in digests(road.path).items() if name.startswith("block")}
    assert digests(tmp_path / "again") == expected


def test_rejects(spark, tmp_path):
    source = tmp_path / "segments.csv"
    good = "1,1440,999,1,99,60,50,0"
    bad = {
        "1,2,3": "not 8 integers",
        "1,1440,999,1,99,60,50,0.5": "not 8 integers",
        "": "not 8 integers",
        "0,1440,999,1,99,60,50,0": "Day is out of range 1..69",
        "70,1440,999,1,99,60,50,0": "Day is out of range 1..69",
        "1,0,999,1,99,60,50,0": "Min is out of range 1..1440",
        "1,1440,1000,1,99,60,50,0": "XWay is out of range 0..999",
        "1,1440,999,2,99,60,50,0": "Dir is out of range 0..1",
        "1,1440,999,1,100,60,50,0": "Seg is out of range 0..99",
        "1,1440,999,1,99,-1,50,0": "Lav is out of range 0..2147483647",
        "1,1440,999,1,99,60,-1,0": "Cnt is out of range 0..2147483647",
        "1,1440,999,1,99,60,50,2147483648": "Toll is out of range 0..2147483647",
        "1,1440,999,1,99,61,51,0": "second row for the same day, minute, xway, dir, seg",
    }
    source.write_text("\n".join([good, *bad]))
    found = []
    counts = import_history(spark, tmp_path / "road", None, source, lambda *reject: found.append(reject))
    assert counts == {"toll_history": 0, "segment_history": 1}
    assert found == [(source, line, reason, text) for line, (text, reason) in enumerate(bad.items(), 2)]
    rows = pq.read_table(tmp_path / "road" / "history" / "segment" / "xway-999-week-00.parquet").to_pylist()
    assert [",".join(map(str, row.values())) for row in rows] == [good]
