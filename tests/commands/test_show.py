"""`lrb show`: the numbers, the accidents, the page."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from html.parser import HTMLParser

import pytest

from driver.cli import main

HOSTILE = "<script>alert('&')</script>"


def report(second, vehicle, position=5280 * 40, lane=2, direction=0, xway=0, speed=0):
    return f"0,{second},{vehicle},{speed},{xway},{lane},{direction},{position // 5280},{position},-1,-1,-1,-1,-1,-1"


@pytest.fixture
def shown(tmp_path, capsys):
    """What `lrb show --json` says of some lines."""

    def run(*lines, name="road"):
        lines = sorted(lines, key=lambda line: int(line.split(",")[1]))
        (tmp_path / "input.csv").write_text("\n".join(lines))
        assert main(["import", str(tmp_path / "input.csv"), "--out", str(tmp_path / name)]) == 0
        capsys.readouterr()
        assert main(["show", str(tmp_path / name), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def stopped(vehicle, first, reports, **place):
    return [report(first + 30 * number, vehicle, **place) for number in range(reports)]


def test_two_that_stop_are_an_accident(shown):
    found = shown(*stopped(1, 0, 6), report(180, 1, position=5280 * 41), *stopped(2, 10, 5), report(599, 3, position=0))
    # Stopped: vehicle 1 in 90..179, vehicle 2 in 100..159.
    assert found["accidents"] == [
        {"xway": 0, "dir": 0, "lane": 2, "position_ft": 211200, "seg": 40, "from_second": 100, "to_second": 159}
    ]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(stopped(2, 10, 3), id="three-reports"),
        pytest.param(stopped(2, 10, 6, lane=3), id="another-lane"),
        pytest.param(stopped(2, 10, 6, direction=1), id="another-direction"),
        pytest.param(stopped(2, 10, 6, position=5280 * 40 + 1), id="another-place"),
        pytest.param(stopped(2, 10, 6, xway=1), id="another-expressway"),
        pytest.param([report(10 + 31 * number, 2) for number in range(6)], id="not-30-s-apart"),
        pytest.param(stopped(2, 300, 6), id="later"),
        pytest.param([], id="alone"),
    ],
)
def test_no_accident(shown, other):
    assert shown(*stopped(1, 0, 6), *other)["accidents"] == []


@pytest.mark.parametrize("lane", [0, 4])
def test_no_accident_off_the_travel_lanes(shown, lane):
    assert shown(*stopped(1, 0, 6, lane=lane), *stopped(2, 0, 6, lane=lane))["accidents"] == []


def test_an_early_report_ends_a_stop(shown):
    found = shown(*stopped(1, 0, 4), report(95, 1, position=0), *stopped(2, 0, 8), report(599, 3))
    assert [(each["from_second"], each["to_second"]) for each in found["accidents"]] == [(90, 94)]


def test_counts_and_peak(shown):
    found = shown(*(report(61, vehicle) for vehicle in range(5)), report(0, 9), "x,1", name="counted")
    assert found["counts"]["reports"] == 6
    assert found["peak"] == {"second": 61, "tuples": 5}
    assert found["rejects_by_reason"] == {"not 15 integers": 1}
    assert sum(found["tuples_per_second"]) == 6
    assert len(found["tuples_per_second"]) == found["seconds"] == 120


def test_text(shown, tmp_path, capsys):
    shown(*stopped(1, 0, 6), *stopped(2, 0, 6))
    assert main(["show", str(tmp_path / "road")]) == 0
    text = capsys.readouterr().out
    assert "L = 0.5" in text
    assert "12 position reports" in text
    assert "accidents: 1" in text
    assert "█" in text
    assert max(map(len, text.splitlines())) < 100


class Page(HTMLParser):
    """Collects tags; a page must not fetch or run anything."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_page(shown, tmp_path, capsys):
    name = HOSTILE.replace("/", "")
    shown(*stopped(1, 0, 6), *stopped(2, 0, 6), report(400, 3, speed=60), name=name)
    html = tmp_path / "road.html"
    assert main(["show", str(tmp_path / name), "--html", str(html)]) == 0
    text = html.read_text()
    page = Page(text)
    tags = [tag for tag, _ in page.tags]
    assert "script" not in tags
    assert tags.count("svg") == tags.count("desc") == 2
    assert not [
        value for _, found in page.tags for key, value in found.items() if key == "src" or "http" in (value or "")
    ]
    (picture,) = re.findall(r"data:image/png;base64,([^\"]+)", text)
    assert _pixels(base64.b64decode(picture)) == (7, 100)


def _pixels(png: bytes) -> tuple[int, int]:
    """Width and height of a picture whose checksums are right and whose data are complete."""
    at, chunks = 8, {}
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        body = png[at + 4 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(body),)
        chunks[body[:4]] = body[4:]
        at += 12 + length
    width, height = struct.unpack_from(">II", chunks[b"IHDR"])
    assert len(zlib.decompress(chunks[b"IDAT"])) == height * (width + 1)
    return width, height


@pytest.mark.parametrize(("xways", "sentence"), [("7", "no expressway 7"), ("a", "numbers with commas")])
def test_expressways_that_are_not_there(shown, tmp_path, capsys, xways, sentence):
    shown(report(0, 1))
    assert main(["show", str(tmp_path / "road"), "--html", str(tmp_path / "page.html"), "--xways", xways]) == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_a_page_that_cannot_be_written(shown, tmp_path, capsys):
    shown(report(0, 1))
    assert main(["show", str(tmp_path / "road"), "--html", str(tmp_path / "none" / "page.html")]) == 1
    assert "cannot write" in capsys.readouterr().err
