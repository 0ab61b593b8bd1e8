"""Histories from elsewhere: which rows are whole, and which line they stand on."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driver.history.rows import SEGMENT, TOLL, files_in, read_rows
from polling_baseline.refusal import Refusal


def whole_rows(path, history=TOLL):
    return {
        chunk.line + row: values.tolist()
        for chunk in read_rows(path, history)
        for row, values in enumerate(chunk.values)
        if chunk.whole[row]
    }


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("header", ["", "VID,Day,XWay,Tolls\r\n", "vehicle_id, day, xway, tolls\n"])
def test_flat_file(tmp_path, pack, header):
    path = tmp_path / "tolls"
    path.write_bytes(pack((header + "1,2,3,4\r\n\n5,6,7\n8,9,10,11,12\n +13 ,14\t,15,-16\nx,1,1,1\n1,2,3,4").encode()))
    first = 2 if header else 1
    assert whole_rows(path) == {first: [1, 2, 3, 4], first + 4: [13, 14, 15, -16], first + 6: [1, 2, 3, 4]}


def test_number_beyond_64_bits_is_out_of_range(tmp_path):
    path = tmp_path / "tolls"
    path.write_text("1,2,3,99999999999999999999\n")
    assert whole_rows(path) == {1: [1, 2, 3, -1]}


@pytest.mark.parametrize("names", [TOLL.words, TOLL.schema.names], ids=["classical", "ours"])
def test_parquet(tmp_path, names):
    path = tmp_path / "tolls.parquet"
    pq.write_table(pa.table(dict(zip(names, [[1, None], [2, 2], [3, 3], [4, 4]], strict=True))), path)
    assert files_in(tmp_path, TOLL) == [path]
    assert whole_rows(path) == {1: [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        pytest.param("none", None, "does not exist", id="missing"),
        pytest.param("other.parquet", pa.table({"VID": [1]}), "lacks integer columns Day, Min", id="other-columns"),
        pytest.param("damaged.parquet", b"PAR1 and no more", "is damaged", id="damaged"),
        pytest.param("", None, "folder without Parquet", id="empty-folder"),
    ],
)
def test_refused(tmp_path, name, content, sentence):
    if isinstance(content, bytes):
        (tmp_path / name).write_bytes(content)
    elif content is not None:
        pq.write_table(content, tmp_path / name)
    with pytest.raises(Refusal, match=sentence):
        files_in(tmp_path / name, SEGMENT)


def test_truncated_gzip(tmp_path):
    path = tmp_path / "tolls.gz"
    path.write_bytes(gzip.compress(b"1,2,3,4\n" * 1000)[:-10])
    with pytest.raises(Refusal, match="cut short"):
        whole_rows(path)
