"""`lrb watch` in a real browser: recorded runs, a run under way, a server that dies; and what it refuses."""

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
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from driver.cli import main
from driver.report.watch.blob import unpack
from driver.report.watch.broadcast import Broadcast
from driver.report.watch.opening import open_broadcast
from driver.report.watch.server import serving
from tests.conftest import lrb_command, lrb_options, refused
from tests.support.browser import OVERFLOW, Browser, needs_browser
from tests.support.made_run import make_run, verdict
from tests.support.trace_run import TraceRun, trace_dataset

READY = "typeof player !== 'undefined' && player !== null && player.drawnAt !== undefined"
TEXT = "document.getElementById('{}').textContent"
# The accident of the trace: cars 1 and 2 stand in segment 10 from second 95 to 209.
ACCIDENT = "accident in segment 10 eastbound since 0:01:35"
# The colour of the picture where segment 10 meets a second.
PIXEL = """(() => {{
  const picture = player.pictures[0], canvas = picture.canvas, [top, bottom] = picture.span(player.view);
  const x = picture.box.left + ({segment}) / 100 * picture.box.width;
  const y = picture.box.top + ({second} - top) / (bottom - top) * picture.box.height;
  return [...canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data];
}})()"""


def until(browser: Browser, expression: str, seconds: float = 20) -> object:
    """What an expression gives as soon as it is true."""
    deadline = time.monotonic() + seconds
    while not (value := browser.value(expression)):
        assert time.monotonic() < deadline, (expression, browser.complaints())
        time.sleep(0.05)
    return value


def opened(browser: Browser, page: Path | str, width: int = 1280, **options: bool) -> None:
    browser.show(page, width, **options)
    until(browser, READY)


def seek(browser: Browser, second: float) -> None:
    """Move the slider as a user does, and let the page draw."""
    browser.value(
        f"(() => {{ const time = document.getElementById('time'); time.value = {second}; "
        "time.dispatchEvent(new Event('input')); })()"
    )
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def press(browser: Browser, key: str, text: str = "", shift: bool = False) -> None:
    for kind in ("keyDown", "keyUp"):
        extra = {"text": text} if text and kind == "keyDown" else {}
        browser.ask("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0, **extra)


def text_of(browser: Browser, element: str) -> str:
    return str(browser.value(TEXT.format(element)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("watch")


@pytest.fixture(scope="module")
def road(folder):
    return trace_dataset(folder / "road", "accident_timing")


@pytest.fixture(scope="module")
def runs(folder, road):
    """One that keeps up, judged; and one that takes 2 s for each second from 120 on."""
    fast = TraceRun(folder / "fast", *road).end()
    facts = json.loads((fast / "run.json").read_text())
    (fast / "verdict.json").write_text(json.dumps(verdict(facts, toll={"wrong": 7})))
    late = lambda second: 2.0 if second >= 120 else 0.01  # noqa: E731
    return [fast, TraceRun(folder / "slow", *road, service_s=late, engine="aurora").end()]


@pytest.fixture(scope="module")
def page(folder, runs):
    """Both as one file."""
    assert main(["watch", *map(str, runs), "--html", str(folder / "race.html")]) == 0
    return folder / "race.html"


@pytest.fixture
def shown(browser, page):
    opened(browser, page)
    return browser


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1280, False), (1280, True)])
def test_the_page(browser, page, width, dark):
    opened(browser, page, width, dark=dark)
    seek(browser, 300)
    assert browser.value(OVERFLOW) <= 0
    assert browser.requests() == [page.absolute().as_uri()]
    assert browser.complaints() == []
    assert browser.value("document.title") == "Linear Road, watched: polling and aurora"
    assert text_of(browser, "subject") == "polling and aurora · road · L = 1 · minutes 1 to 6"
    assert text_of(browser, "clock").startswith("0:05:00 of 0:10:")
    body = browser.value("document.body.innerText")
    assert "the front of its answers" in body and "only the judge decides" in body
    assert "FAIL" in body and "faults in the whole run: 7 wrong" in body and "not judged" in body
    # The legend names the unit, the cross and both engines.
    assert "mph" in text_of(browser, "legend") and "accident" in text_of(browser, "legend")
    assert "polling: answered up to here" in text_of(browser, "legend")
    assert (browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)") is not dark
    wide = browser.value("player.pictures.map(picture => picture.canvas.clientWidth)")
    assert len(wide) == 1 and 0 < wide[0] <= width
    # What cannot be seen can be heard.
    for label in browser.value(
        "[...document.querySelectorAll('[role=img]')].map(one => one.getAttribute('aria-label'))"
    ):
        assert label


@needs_browser
def test_it_plays_and_pauses(shown):
    assert shown.value("player.view.now") == 0
    shown.value("document.getElementById('play').click()")
    first = until(shown, "player.view.now > 2 && player.view.now")
    until(shown, f"player.view.now > {first} + 2")
    press(shown, " ", " ")
    stands = shown.value("player.view.now")
    time.sleep(0.2)
    assert shown.value("player.view.now") == stands
    assert text_of(shown, "play") == "Play"
    # At 60 times the speed it comes to the end, and stays there.
    shown.value("player.speed = 60, player.seek(player.frames.end - 5), player.play(true), 0")
    until(shown, "!player.playing")
    assert shown.value("player.view.now === player.frames.end")
    assert shown.complaints() == []


@needs_browser
def test_scrubbing_shows_each_moment(shown, road):
    """The cards count what had been answered by then: one engine 0.25 s after the input, the other ever later."""
    _, answers = road
    second_of = [answer[2] if answer[0] == 0 else answer[1] for answer in answers]
    for now in (0, 6, 121, 250, 360, 100):
        seek(shown, now)
        told = [sum(second + 0.25 <= now for second in second_of)]
        told.append(sum((120 + (second - 119) * 2 if second >= 120 else second + 0.01) <= now for second in second_of))
        cards = shown.value("player.cards.map(card => card.texts.get('answers').textContent)")
        assert [int(text) for text in cards] == told, now
    seek(shown, 200)
    lanes = shown.value("[...document.querySelectorAll('#race .lane')].map(lane => lane.textContent)")
    # By 200 the slow one has answered the seconds up to 159, which took 41 s; 160 has waited for 40 s.
    assert lanes == [
        "polling: 0.000 s, at most 0.250 s in the last minute",
        "aurora: 40.00 s, at most 41.00 s in the last minute",
    ]
    assert shown.value("document.querySelector('#race .lane.late').textContent").startswith("aurora")
    assert shown.value("player.cards[1].texts.get('backlog').textContent") == "40 s"


@needs_browser
def test_an_accident_appears_at_its_second_and_clears(shown):
    for now, standing in ((94, False), (95, True), (209, True), (210, False), (95, True)):
        seek(shown, now)
        assert (ACCIDENT in text_of(shown, "situation")) is standing, now
    # Its line: black and white, where there was the colour of a speed.
    place = PIXEL.format(segment=52900 / 5280, second=97)
    seek(shown, 94)
    assert shown.value(place) != [255, 255, 255, 255]
    seek(shown, 160)
    assert shown.value(place) == [255, 255, 255, 255]
    assert "1 accident now" in shown.value("player.pictures[0].canvas.getAttribute('aria-label')")


@needs_browser
def test_colours_are_what_the_engine_has_told_so_far(shown):
    """Segment 8 got a toll notification in minute 3: the slow engine's picture is empty there until it has told."""
    seek(shown, 180)
    shown.value("player.choose('mode', 'lav'), 0")
    colours = []
    for teller, now in ((0, 180), (1, 180), (1, 300)):
        shown.value(f"player.choose('teller', '{teller}'), 0")
        seek(shown, now)
        colours.append(shown.value(PIXEL.format(segment=8.15, second=170)))
    assert colours[0] == colours[2] != colours[1]
    assert "accident alerts told" in text_of(shown, "legend")
    shown.value("player.choose('mode', 'toll'), 0")
    assert "toll by minute and segment" in text_of(shown, "legend")


@needs_browser
def test_keys(shown):
    seek(shown, 100)
    for key, shift, now in (
        ("ArrowRight", False, 110),
        ("ArrowRight", True, 170),
        ("ArrowLeft", False, 160),
        ("ArrowLeft", True, 100),
        ("Home", False, 0),
    ):
        press(shown, key, shift=shift)
        assert shown.value("player.view.now") == now, key
    press(shown, "End")
    assert shown.value("player.view.now === player.frames.end")
    press(shown, "+", "+")
    assert shown.value("player.speed") == 30
    press(shown, "-", "-")
    press(shown, "-", "-")
    assert shown.value("player.speed") == 5
    modes = []
    for _ in range(3):
        press(shown, "c", "c")
        modes.append(shown.value("document.querySelector('[name=mode]:checked').value"))
    assert modes == ["lav", "toll", "speed"]
    # Each control can be reached, and what is typed into a field stays there.
    shown.value("document.getElementById('number').focus()")
    press(shown, "c", "c")
    assert shown.value("document.querySelector('[name=mode]:checked').value") == "speed"
    reached = set()
    shown.value("document.getElementById('play').focus()")
    for _ in range(9):
        reached.add(shown.value("document.activeElement.id || document.activeElement.name"))
        shown.ask("Input.dispatchKeyEvent", type="rawKeyDown", key="Tab", windowsVirtualKeyCode=9)
    assert {"play", "time", "speed", "mode", "teller", "window", "number"} <= reached


@needs_browser
def test_little_motion_for_who_wants_it(browser, page):
    """The time goes on, and a picture a second shows it."""
    opened(browser, page, calm=True)
    browser.value(
        "(() => { window.drawn = 0; const draw = Race.prototype.draw; "
        "Race.prototype.draw = function (view) { window.drawn++; draw.call(this, view); }; })()"
    )
    browser.value("player.play(true), 0")
    time.sleep(2.2)
    assert browser.value("player.view.now") > 5
    assert browser.value("window.drawn") <= 4


@needs_browser
def test_a_vehicle(shown):
    """Car 4 enters segment 8 at second 120 and is told of the accident; nothing is shown before its time."""
    seek(shown, 119)
    shown.value("document.getElementById('number').value = '4', document.querySelector('#pick button').click(), 0")
    until(shown, TEXT.format("found") + ".startsWith('Vehicle 4')")
    assert "segment 8" not in text_of(shown, "story")
    seek(shown, 130)
    cells = "[...document.querySelectorAll('#story tbody td')].map(cell => cell.textContent)"
    assert shown.value(cells) == [
        "0:02:00",
        "in segment 8 eastbound, expressway 0, on lane 2",
        "toll 0, LAV 50 (0.250 s); accident ahead in segment 10 (0.250 s)",
        "toll 0, LAV 50 (2.00 s); accident ahead in segment 10 (2.00 s)",
    ]
    seek(shown, 121)
    assert shown.value(cells)[3] == "–"
    # By a click where it was, on the picture.
    shown.value("player.story = null, player.choose('window', '0'), 0")
    seek(shown, 300)
    x, y = shown.value(
        "(() => { const picture = player.pictures[0], area = picture.canvas.getBoundingClientRect(); "
        "const y = picture.box.top + (121 - picture.top) / (picture.bottom - picture.top) * picture.box.height; "
        "return [area.left + picture.box.left + 0.085 * picture.box.width, area.top + y]; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        shown.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    assert until(shown, "player.story && player.story.id") in (3, 4)
    shown.value("player.pick({id: 4711}), 0")
    until(shown, TEXT.format("found") + ".startsWith('No vehicle 4711 is on expressway 0')")
    assert shown.complaints() == []


@needs_browser
def test_memory_does_not_grow(shown):
    """Six minutes of the road, again and again."""
    used = []
    shown.value("player.speed = 60, 0")
    for _ in range(3):
        shown.value("player.seek(0), player.play(true), 0")
        time.sleep(2)
        shown.value("player.play(false), 0")
        shown.ask("HeapProfiler.collectGarbage")
        used.append(shown.ask("Runtime.getHeapUsage")["usedSize"])
    assert used[-1] - used[0] < 200_000, used
    assert shown.value("document.querySelectorAll('*').length") < 400


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
        run.end()
        broadcast.advance()
        until(browser, "player.frames.live === false")
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
    """`lrb run --watch` serves the page of the run that it makes, and takes it away with it."""
    dataset, _ = road
    words = ("--engine", "aurora", "--workers", 1, "--watch", "--out", folder / "beside")
    # No screen, so no browser is opened.
    environment = {**lrb_options({})["env"], "DISPLAY": "", "WAYLAND_DISPLAY": ""}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen(lrb_command("run", dataset.path, *words), **options) as run:
        address = next(match[1] for line in run.stderr if (match := re.search(r"watch the run at (\S+)", line)))
        head, _ = unpack(ask(address, "/frames")[1])
        assert head["live"] and head["runs"][0]["engine"] == "aurora"
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 2 and "interrupted" in out
    with pytest.raises(ConnectionRefusedError):
        ask(address, "/")
