"""The page of `lrb watch` in a browser, and two runs of a trace for it."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.support.browser import Browser
from tests.support.made_run import verdict
from tests.support.trace_run import TraceRun

READY = "typeof player !== 'undefined' && player !== null && player.drawnAt !== undefined"
TEXT = "document.getElementById('{}').textContent"
# The accident of the trace: cars 1 and 2 stand in segment 10 from second 95 to 209.
ACCIDENT = "accident in segment 10 eastbound since 0:01:35"


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


def two_runs(folder: Path, road: tuple) -> list[Path]:
    """One that keeps up, judged; and one that takes 2 s for each second from 120 on."""
    fast = TraceRun(folder / "fast", *road).end()
    facts = json.loads((fast / "run.json").read_text())
    (fast / "verdict.json").write_text(json.dumps(verdict(facts, toll={"wrong": 7})))
    late = TraceRun(folder / "slow", *road, service_s=lambda second: 2.0 if second >= 120 else 0.01, engine="aurora")
    return [fast, late.end()]
