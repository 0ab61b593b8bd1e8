"""`lrb watch` as a user types it: a server that dies, a run under way, and what is refused."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import quote, urlsplit

import pytest

from driver.cli import main
from driver.report.watch.blob import unpack
from driver.report.watch.broadcast import Broadcast
from driver.report.watch.opening import open_broadcast
from driver.report.watch.server import serving
from driver.run.judge_status import FORMAT, JudgeStatus, write_status
from driver.run.record import read_run
from tests.conftest import lrb_command, lrb_options, refused
from tests.support.browser import needs_browser
from tests.support.made_run import make_run
from tests.support.made_run import verdict as verdict_of
from tests.support.trace_run import TraceRun, trace_dataset
from tests.support.watch_page import ACCIDENT, TEXT, opened, seek, text_of, two_runs, until

STATUS: JudgeStatus = {
    "format": FORMAT,
    "minutes": [1, 0],
    "faults": {},
    "open_answers": 0,
    "second": 0.0,
    "cpu_s": 0.0,
    "stops_run": False,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("watch")


@pytest.fixture(scope="module")
def road(folder):
    return trace_dataset(folder / "road", "accident_timing")


@pytest.fixture(scope="module")
def runs(folder, road):
    return two_runs(folder, road)


@pytest.fixture
def watch() -> Iterator[Callable[..., subprocess.Popen]]:
    """`watch(run, "--port", 5000)`: a server of its own; none outlives the test."""
    started = []

    def start(*words: object) -> subprocess.Popen:
        options = {name: value for name, value in lrb_options({}).items() if name in ("env", "text")}
        command = lrb_command("watch", *words, "--no-browser")
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def address_of(process: subprocess.Popen) -> str:
    line = process.stdout.readline()
    assert line.startswith("http://127.0.0.1:"), process.stderr.read()
    return line.split()[0]


@needs_browser
def test_a_killed_server_comes_back(browser, runs, free_port, watch):
    """The page says that it waits, and goes on with the next server; its time stays."""
    first = watch(*runs, "--port", free_port)
    address = address_of(first)
    assert address == f"http://127.0.0.1:{free_port}/"
    opened(browser, address)
    assert {urlsplit(url).netloc for url in browser.requests()} == {f"127.0.0.1:{free_port}"}
    assert browser.complaints() == []
    seek(browser, 130)
    browser.value("player.pick({id: 4}), 0")
    until(browser, TEXT.format("found") + ".startsWith('Vehicle 4')")
    first.kill()
    until(browser, TEXT.format("connection") + ".startsWith('The server does not answer')")
    before = browser.value("player.frames.broadcast")
    second = watch(*runs, "--port", free_port)
    address_of(second)
    until(browser, f"player.frames.broadcast !== '{before}' && {TEXT.format('connection')} === ''")
    assert browser.value("player.view.now") == 130
    # An interrupt ends it well, and the page is told.
    second.send_signal(signal.SIGINT)
    _, err = second.communicate(timeout=20)
    assert (second.returncode, err) == (0, "")
    until(browser, TEXT.format("connection") + ".startsWith('The server has ended')")


@needs_browser
def test_a_run_under_way_is_followed(browser, folder, road):
    run = TraceRun(folder / "under-way", *road)
    run.step(90)
    broadcast = open_broadcast([run.folder])
    with serving(broadcast, 0) as address:
        opened(browser, address)
        until(browser, "player.view.now === 89.25")
        assert text_of(browser, "situation").endswith("no accident.")
        run.step(40)
        broadcast.advance()
        until(browser, "player.view.now === 129.25")
        until(browser, f"{TEXT.format('situation')}.includes('{ACCIDENT}')")
        # What has just been told is in the picture, and can be asked for.
        told = "player.frames.runs[0].told.lav[player.frames.cellOf(8, 120)]"
        assert browser.value(told) == 50
        assert browser.value("player.frames.runs[0].told.alerts[player.frames.cellOf(8, 120)]") == 1
        browser.value("player.pick({id: 4}), 0")
        until(browser, TEXT.format("story") + ".includes('accident ahead in segment 10')")
        # A user who scrubs is left alone, and may come back.
        seek(browser, 50)
        run.step(10)
        broadcast.advance()
        until(browser, "player.frames.now === 139.25")
        assert browser.value("player.view.now") == 50
        browser.value("document.getElementById('live').click()")
        until(browser, "player.view.now === 139.25")
        # A judge beside the run has its say at once; what it repeats is no news.
        card = "player.cards[0].texts.get('{}').textContent"
        assert browser.value(card.format("verdict")) == "under way"
        for minutes, faults, verdict, state in (
            ([1, 0], {}, "under way", "the judge waits for the first minute"),
            ([1, 1], {"wrong": 0}, "right so far", "judged beside the run, minute 1: all right"),
            (
                [1, 2],
                {"wrong": 3, "late": 1},
                "4 faults so far",
                "judged beside the run, minutes 1 to 2: 3 wrong, 1 late",
            ),
        ):
            write_status(run.folder, {**STATUS, "minutes": minutes, "faults": faults})
            broadcast.advance()
            until(browser, f"{card.format('state')}.endsWith('{state}')")
            assert browser.value(card.format("verdict")) == verdict
        number = unpack(broadcast.frames_blob())[0]["event"]
        write_status(run.folder, {**STATUS, "minutes": [1, 2], "faults": {"wrong": 3, "late": 1}, "cpu_s": 9.0})
        broadcast.advance()
        assert unpack(broadcast.frames_blob())[0]["event"] == number
        run.end()
        (run.folder / "verdict.json").write_text(json.dumps(verdict_of(read_run(run.folder), toll={"wrong": 3})))
        broadcast.advance()
        until(browser, "player.frames.live === false")
        assert browser.value(card.format("verdict")) == "FAIL"
        assert browser.value(card.format("state")).endswith("faults in the whole run: 3 wrong")
        assert browser.value("document.getElementById('live').hidden")
        assert browser.value("player.frames.end") == 360
        assert browser.complaints() == []


def ask(address: str, path: str, **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


@pytest.fixture(scope="module")
def served(runs):
    with serving(open_broadcast(runs), 0) as address:
        yield address


def test_the_server_is_careful(served):
    """It listens on this machine only, answers under its own names only, and gives nothing but the page."""
    answer, body = ask(served, "/")
    assert answer.status == 200 and b"<!doctype html>" in body
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    port = urlsplit(served).port
    assert ask(served, "/frames", Host=f"localhost:{port}")[0].status == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.evil.example"):
        answer, body = ask(served, "/frames", Host=host)
        assert (answer.status, body) == (403, b"this server answers its own page only\n")
    for path in ("/../watch.css", "/page/watch.css", "/etc/passwd", "/%2e%2e/server.py", "/index.html"):
        assert ask(served, path)[0].status == 404
    for query in ("", "?id=x", "?place=1", "?id=1e3", "?id=-1", f"?id={10**30}", "?id=%C2%B2"):
        assert ask(served, f"/vehicle{query}")[0].status == 400
    for place, second in ((99, 5), (10, 9_999_999_999), (9_999_999_999, 5)):
        assert ask(served, f"/vehicle?place={place}&second={second}")[0].status == 404
    head, arrays = unpack(ask(served, "/vehicle?id=4")[1])
    assert head["relative"] is False and arrays["visits.second"].tolist() == [120]
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), timeout=2):
        pass


def test_a_stream_of_events_that_goes_on(folder, road):
    run = TraceRun(folder / "streamed", *road)
    broadcast = open_broadcast([run.folder])
    with serving(broadcast, 0) as address, closing(run):
        for _ in range(3):
            run.step(10)
            broadcast.advance()
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=20)
        connection.request("GET", "/events", headers={"Last-Event-ID": f"{broadcast.name}-1"})
        answer = connection.getresponse()
        assert answer.headers["Content-Type"] == "text/event-stream"
        lines = [answer.readline().decode().strip() for _ in range(2 + 2 * 4)]
        assert lines[0].startswith("retry: ")
        assert [line for line in lines if line.startswith("id:")] == [f"id: {broadcast.name}-{n}" for n in (2, 3)]
        answer.close()
        connection.close()
        for after in ("other-7", f"{broadcast.name}-\u00b2", "-", ""):
            assert b"event: restart" in ask(address, f"/events?after={quote(after)}")[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(["{folder}/nothing"], "nothing is not a run; make one with lrb run", id="no-run"),
        pytest.param(["{folder}/silent"], "silent has no output.csv, so there is nothing to watch", id="no-output"),
        pytest.param(["{fast}", "{folder}/other"], "are runs of different data sets", id="other-data"),
        pytest.param(["{fast}", "{folder}/part"], "are runs of different minutes", id="other-minutes"),
        pytest.param(["{folder}/moved"], "is no longer there; give its place: lrb watch ", id="data-moved"),
        pytest.param(["{folder}/moved", "--dataset", "{folder}/road2"], "is not the data set of", id="not-its-data"),
        pytest.param(["{folder}/moved", "--dataset", "{fast}"], "is not a data set", id="no-data"),
        pytest.param(["{fast}", "--xways", "7"], "has no expressway 7; it has 0 to 0", id="no-expressway"),
        pytest.param(["{folder}/damaged"], "output.csv is damaged: its lines are not all answers", id="damaged"),
        pytest.param(["{fast}", "--port", "70000"], "--port must be 0 to 65535", id="no-port"),
        pytest.param(["{fast}", "--html", "{folder}/no/page.html"], "cannot write", id="no-place"),
    ],
)
def test_what_is_refused(capsys, folder, road, runs, words, sentence):
    dataset, answers = road
    if not (folder / "road2").exists():
        other = trace_dataset(folder / "road2", "alert_range")
        TraceRun(folder / "other", *other).end()
        TraceRun(folder / "part", dataset, answers, to_minute=2).end()
        (TraceRun(folder / "silent", *road).end() / "output.csv").unlink()
        (TraceRun(folder / "damaged", *road).end() / "output.csv").write_text("0,1,x\n")
        facts = json.loads((TraceRun(folder / "moved", *road).end() / "run.json").read_text())
        facts["config"]["dataset"] = str(folder / "gone")
        (folder / "moved" / "run.json").write_text(json.dumps(facts))
    assert main(["watch", *(word.format(folder=folder, fast=runs[0]) for word in words)]) == 1
    said = capsys.readouterr().err
    assert sentence in said and said.startswith("lrb: ") and "Traceback" not in said


def test_a_data_set_that_has_moved(capsys, folder, road, runs):
    """Named with --dataset, it serves; an imaginary road of no data set does not."""
    facts = json.loads((runs[0] / "run.json").read_text())
    moved = TraceRun(folder / "moved-2", *road).end()
    (moved / "run.json").write_text(json.dumps({**facts, "config": {**facts["config"], "dataset": "gone"}}))
    page = folder / "moved.html"
    assert main(["watch", str(moved), "--dataset", str(folder / "road"), "--html", str(page)]) == 0
    assert page.exists() and capsys.readouterr().out == f"{page}\n"
    assert main(["watch", str(make_run(folder / "made", 1))]) == 1
    assert "road, the data set of" in capsys.readouterr().err


def test_a_port_in_use(lrb, runs):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refused(lrb("watch", runs[0], "--no-browser", "--port", taken.getsockname()[1]))
    assert "Address already in use; choose another --port, or leave it out" in said


def test_a_rating_is_not_watched(capsys):
    assert main(["rate", "--watch"]) == 1
    assert "unrecognized arguments: --watch" in capsys.readouterr().err


def test_an_unfinished_run(folder, road):
    """One that was killed is shown as far as it came, with what is on record of it."""
    run = TraceRun(folder / "killed", *road)
    run.step(100)
    head, arrays = unpack(open_broadcast([run.folder]).frames_blob())
    assert (head["live"], head["now"]) == (True, 99.25)
    assert (head["runs"][0]["state"], head["runs"][0]["reason"]) == ("running", "it was killed, or is still under way")
    assert arrays["0.cycles.last"].tolist() == list(range(100))
    begun = TraceRun(folder / "begun", *road)
    for name in ("output.csv", "cycles.csv"):
        (begun.folder / name).unlink()
    assert isinstance(broadcast := open_broadcast([begun.folder]), Broadcast)
    assert unpack(broadcast.frames_blob())[0]["now"] == 0
    run.close()
    begun.close()


def test_beside_a_run(road, folder):
    """`lrb run --watch` serves the page of the run that it makes, with its judge's word, and takes it away with it."""
    dataset, _ = road
    words = ("--engine", "aurora", "--workers", 1, "--watch", "--judge", "--out", folder / "beside")
    # No screen, so no browser is opened.
    environment = {**lrb_options({})["env"], "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(lrb_command("run", dataset.path, *words), **options) as run:
        address = next(match[1] for line in run.stderr if (match := re.search(r"watch the run at (\S+)", line)))
        head, _ = unpack(ask(address, "/frames")[1])
        assert head["live"] and head["runs"][0]["engine"] == "aurora"
        while unpack(ask(address, "/frames")[1])[0]["runs"][0]["judge"] is None:
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 2 and "interrupted" in out
    with pytest.raises(ConnectionRefusedError):
        ask(address, "/")
