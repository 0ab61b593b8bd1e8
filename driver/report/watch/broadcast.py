"""All that a page shows: the road, the runs, and what is new of those under way.

An event has a number within this broadcast.  A page takes all frames with the number that they reach to, and then the
events after it; one that was away goes on from the last event it had, or takes all frames again if that is long ago.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driver.report.html.run_charts import style_runs
from driver.report.watch.blob import pack
from driver.report.watch.road import NO_SPEED, ROW_S, Road
from driver.report.watch.run_frames import UNTOLD, RunFrames
from driver.report.watch.vehicles import nearest_vehicle, vehicles_blob
from driver.run.judge_status import NAME as JUDGE
from driver.run.judge_status import read_status
from driver.run.record import RunRecord, open_run
from driver.run.verdict import expected_in
from polling_baseline import spec
from polling_baseline.refusal import Refusal

EVENTS_KEPT = 600
RUNNING = "running"


@dataclass(frozen=True, slots=True)
class Event:
    number: int
    kind: str
    data: str


class Broadcast:
    """The frames of some runs of one road; several threads may ask, one advances."""

    def __init__(self, runs: Sequence[RunRecord], road: Road) -> None:
        self._runs, self._road = list(runs), road
        self._lock = threading.Lock()
        self._news = threading.Condition()
        self._events: deque[Event] = deque(maxlen=EVENTS_KEPT)
        self._begin()

    def _begin(self) -> None:
        self.name = secrets.token_hex(4)
        self._number = 0
        self._frames = [RunFrames(run.folder, self._road) for run in self._runs]
        self._seen = [_stamp(run.folder) for run in self._runs]
        self._told = [_state(run) for run in self._runs]

    @property
    def left(self) -> int:
        """Bytes of answers that are not read yet."""
        return sum(frames.left for frames in self._frames)

    @property
    def is_live(self) -> bool:
        return any(run.json["state"] == RUNNING for run in self._runs)

    def read_all(self, advance: Callable[[float], None] = lambda amount: None) -> None:
        """Catch up with the files; `advance` hears of the bytes read."""
        for frames in self._frames:
            left = frames.left
            while frames.advance() is not None:
                advance(left - frames.left)
                left = frames.left

    def advance(self) -> None:
        """Take what is new in the files, and tell everybody who listens."""
        with self._lock:
            if any(frames.was_cut for frames in self._frames):
                self._begin()
                self._publish("restart", {})
            for number, frames in enumerate(self._frames):
                if self._runs[number].json["state"] == RUNNING and (piece := frames.advance()):
                    self._publish("frames", {"run": number, "now": self._now(), **piece})
                before, self._seen[number] = self._seen[number], _stamp(self._runs[number].folder)
                if before[0] != self._seen[number][0]:
                    self._reopen(number)
                if before != self._seen[number]:
                    self._tell_state(number)

    def _reopen(self, number: int) -> None:
        """The run has ended, or was judged as a whole."""
        with suppress(Refusal):
            self._runs[number] = open_run(self._runs[number].folder)
        while piece := self._frames[number].advance():
            self._publish("frames", {"run": number, "now": self._now(), **piece})

    def _tell_state(self, number: int) -> None:
        """A judge beside the run writes each second, and seldom something new."""
        state = _state(self._runs[number])
        if state != self._told[number]:
            self._told[number] = state
            self._publish("state", {"run": number, "live": self.is_live, **state})

    def _publish(self, kind: str, data: dict[str, Any]) -> None:
        with self._news:
            self._number += 1
            self._events.append(Event(self._number, kind, json.dumps(data, separators=(",", ":"))))
            self._news.notify_all()

    def close(self) -> None:
        """Tell everybody that nothing more will come."""
        self._publish("end", {})

    def events_after(self, name: str, number: int, timeout_s: float) -> list[Event]:
        """What came after an event of the broadcast `name`, as soon as there is something."""
        with self._news:
            if not self._continues(name, number):
                return [Event(self._number, "restart", "{}")]
            if self._number <= number:
                self._news.wait(timeout_s)
            if not self._continues(name, number):
                return [Event(self._number, "restart", "{}")]
            return [event for event in self._events if event.number > number]

    def _continues(self, name: str, number: int) -> bool:
        oldest = self._events[0].number if self._events else self._number + 1
        return name == self.name and oldest - 1 <= number <= self._number

    def frames_blob(self) -> bytes:
        """Everything but the vehicles, up to the latest event."""
        with self._lock:
            shown = style_runs(self._runs)
            road = self._road
            head = {
                "broadcast": self.name,
                "event": self._number,
                "live": self.is_live,
                "now": self._now(),
                "dataset": self._runs[0].json["dataset"],
                "from": road.seconds.start,
                "until": road.seconds.stop,
                "row_s": ROW_S,
                "no_speed": NO_SPEED,
                "untold": UNTOLD,
                "free_flow_mph": spec.FREE_FLOW_MPH,
                "roads": _roads(road),
                "xways": road.xways,
                "kinds": spec.ANSWERS,
                "accidents": [asdict(accident) for accident in road.accidents],
                "runs": [
                    {"label": one.label, "colour": one.colour, "dashed": bool(one.look), "steps": frames.steps}
                    | _circumstances(one.run)
                    | _state(one.run)
                    for one, frames in zip(shown, self._frames, strict=True)
                ],
            }
            arrays = {"speed": road.speed_mph.ravel()}
            for number, frames in enumerate(self._frames):
                arrays |= {f"{number}.{name}": array for name, array in frames.columns().items()}
        return pack(head, arrays)

    def vehicles(self, vehicle_id: int | None = None) -> bytes:
        with self._lock:
            return vehicles_blob(self._road, self._frames, vehicle_id)

    def nearest(self, place: int, second: int) -> int | None:
        return nearest_vehicle(self._road, place, second)

    def _now(self) -> float | None:
        """The latest moment on the clocks of the runs under way; None if all are over."""
        moments = [
            self._clock(run, frames)
            for run, frames in zip(self._runs, self._frames, strict=True)
            if run.json["state"] == RUNNING
        ]
        return round(max(moments), 3) if moments else None

    def _clock(self, run: RunRecord, frames: RunFrames) -> float:
        seconds = self._road.seconds
        reached = frames.last_committed or float(seconds.start)
        if run.config.clock == "real" and "zero_at" in run.json:
            clock = time.time() - run.json["zero_at"]
            # After the last second, what was killed stands where its last answers came.
            return clock if clock < seconds.stop else reached
        return reached


def _stamp(folder: Path) -> tuple[tuple[float, ...], float]:
    """The first part changes when the run has ended or was judged, the second when the judge beside it has written."""
    ended, judged, judging = (_modified_at(folder / name) for name in ("run.json", "verdict.json", JUDGE))
    return (ended, judged), judging


def _modified_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _roads(road: Road) -> list[dict[str, int]]:
    """Each direction of an expressway that has traffic, with its place in the arrays."""
    used = (road.speed_mph != NO_SPEED).any(axis=(2, 3))
    return [
        {"xway": road.xways[number], "dir": int(direction), "place": int(number * 2 + direction)}
        for number, direction in np.argwhere(used).tolist()
    ]


def _circumstances(run: RunRecord) -> dict[str, Any]:
    return {
        "folder": run.folder.name,
        "engine": run.config.engine,
        "clock": run.config.clock,
        "period_s": run.config.period_s,
        "slower": run.config.slower,
    }


def _state(run: RunRecord) -> dict[str, Any]:
    """How the run stands, and what the judge found: of the whole run, or so far."""
    verdict, judge = None, None
    if run.verdict:
        verdict = {
            "word": run.verdict["verdict"],
            "faults": _counted(run.faults() or {}),
            "expected": expected_in(run.verdict),
        }
    elif status := read_status(run.folder):
        judge = {"minutes": status["minutes"], "faults": _counted(status["faults"])}
    return {
        "state": run.json["state"],
        "reason": run.json.get("reason", ""),
        "verdict": verdict,
        "judge": judge,
        "limits": run.limits,
    }


def _counted(faults: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in faults.items() if count}
