"""The page of `lrb watch` in a real browser: what it shows at each moment, and how it is moved."""

from __future__ import annotations

import time

import pytest

from driver.cli import main
from tests.support.browser import OVERFLOW, needs_browser
from tests.support.trace_run import trace_dataset
from tests.support.watch_page import ACCIDENT, TEXT, opened, press, seek, text_of, two_runs, until

# The colour of the picture where segment 10 meets a second.
PIXEL = """(() => {{
  const picture = player.pictures[0], canvas = picture.canvas, [top, bottom] = picture.span(player.view);
  const x = picture.box.left + ({segment}) / 100 * picture.box.width;
  const y = picture.box.top + ({second} - top) / (bottom - top) * picture.box.height;
  return [...canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data];
}})()"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("watch")


@pytest.fixture(scope="module")
def road(folder):
    return trace_dataset(folder / "road", "accident_timing")


@pytest.fixture(scope="module")
def runs(folder, road):
    return two_runs(folder, road)


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
    # A long name gives way, and the numbers stay.
    browser.value("player.race.frames.runs[1].label = 'a name that is as long as names of runs can be', 0")
    seek(browser, 301)
    for lane in browser.value("player.race.lanes.map(({text}) => [text.textContent, text.getComputedTextLength()])"):
        assert " s, at most " in lane[0] and lane[1] <= browser.value("player.race.svg.clientWidth"), lane
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
