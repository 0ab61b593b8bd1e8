"""A headless Chromium, asked over its debugging pipe: nothing but the browser itself is needed."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
# The browser reads from descriptor 3 and writes to 4; both ends are moved out of the way first.
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for number, end in enumerate(ends, 3):
    os.dup2(end, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""
ANSWER_S = 60
# Of each chart: its name, its text alternative, its legend, and whether all that it draws lies in its frame.
CHARTS = """
[...document.querySelectorAll("figure")].map(figure => {
  const svg = figure.querySelector(":scope > svg"), box = svg.viewBox.baseVal;
  const numbers = [...svg.querySelectorAll("path")].flatMap(path =>
    path.getAttribute("d").split(/[MLZ\\s]+/).filter(Boolean).map(Number)).concat(
    [...svg.querySelectorAll("circle")].flatMap(point => [point.cx.baseVal.value, point.cy.baseVal.value]));
  return {
    title: figure.querySelector("figcaption").textContent,
    told: svg.querySelector("desc").textContent,
    legend: [...figure.querySelectorAll("li")].map(item => item.textContent),
    points: svg.querySelectorAll("circle").length,
    labels: [...svg.querySelectorAll("text")].map(text => text.textContent),
    drawn: numbers.length + svg.querySelectorAll("image").length,
    outside: numbers.filter((value, n) => !(value >= 0 && value <= (n % 2 ? box.height : box.width))),
    width: svg.getBoundingClientRect().width,
  };
})
"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def find_browser() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


needs_browser = pytest.mark.skipif(
    find_browser() is None, reason="no Chromium was found; install chromium to test the pages"
)


class Browser:
    """One browser with one page; `events` are those of the page shown last."""

    def __init__(self, path: str) -> None:
        self._profile = tempfile.mkdtemp(prefix="lrb-browser-")
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                START,
                str(commands),
                str(answers),
                path,
                *FLAGS,
                f"--user-data-dir={self._profile}",
            ],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._buffer = b""
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def close(self) -> None:
        os.close(self._commands)
        os.close(self._answers)
        self._process.terminate()
        self._process.wait(ANSWER_S)
        shutil.rmtree(self._profile, ignore_errors=True)

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        number = next(self._numbers)
        session = {"sessionId": self._session} if self._session else {}
        message = {"id": number, "method": method, "params": parameters, **session}
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + ANSWER_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], deadline - time.monotonic())
            assert ready, "the browser does not answer"
            read = os.read(self._answers, 1 << 20)
            assert read, "the browser has ended"
            self._buffer += read
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def show(self, page: Path | str, width: int, height: int = 900, dark: bool = False, calm: bool = False) -> None:
        """Open a file or an address and wait until it is complete; with `calm`, as one who wants little motion."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme, motion])
        self.events = []
        self.ask("Page.navigate", url=page if isinstance(page, str) else page.absolute().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:
        """What JavaScript gives for an expression."""
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def requests(self) -> list[str]:
        """The addresses that the page asked for, itself included; what stands within the page is none."""
        asked = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [url for event in asked if not (url := event["request"]["url"]).startswith("data:")]

    def complaints(self) -> list[Any]:
        """What stands in the console."""
        noisy = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in noisy]

    def picture(self, **clip: float) -> bytes:
        """The whole page as PNG, or the part that x, y, width and height say."""
        part = {"clip": {**clip, "scale": 1}} if clip else {}
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, **part)
        return base64.b64decode(shot["data"])


def look(browser: Browser, page: Path, width: int, dark: bool = False) -> list[dict[str, Any]]:
    """The charts of a page that is as every page should be."""
    browser.show(page, width, dark=dark)
    charts = browser.value(CHARTS)
    assert browser.value(OVERFLOW) <= 0
    assert browser.requests() == [page.absolute().as_uri()]
    assert browser.complaints() == []
    for chart in charts:
        assert chart["outside"] == [], chart["title"]
        assert chart["drawn"] and chart["told"] and chart["legend"] and chart["labels"], chart["title"]
        assert 0 < chart["width"] <= width
    return charts
