"""The engines `exec` and `tcp`: hand the input over as lines, and take the answers as they come."""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from polling_baseline.batch import Answers, Batch
from polling_baseline.engine import EngineFailure
from polling_baseline.engines.external.channel import Channel
from polling_baseline.engines.external.lines import warm_up, write_batch
from polling_baseline.engines.external.traffic import MOST_WAITING, Inbox, Outbox
from polling_baseline.scratch import scratch
from polling_baseline.wording import format_count

log = logging.getLogger("lrb")
# What a slow reader may leave unread; at L = 100 that is half a minute.
MOST_BYTES = 256 << 20
# A history of ten weeks takes a while to load: for that, patience is so many times as long.
READY_TIMES, SOON_S = 10, 2.0
END_S = 5.0
# So long a system may echo nothing before it is taken for one that echoes no marks.
SECONDS_WITHOUT_ECHO = 30

# Gives the first line's content; what it has to write for that goes into the folder.
Introduction = Callable[[Path], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class ExternalOptions:
    """How a system is treated: whether it gets marks, how long it may be silent, how much it may leave unread."""

    marks: bool = True
    patience_s: float = 60.0
    most_bytes: int = MOST_BYTES


USUAL = ExternalOptions()


class External:
    """A system at the other end of a channel; each batch waits until its last mark has come back."""

    workers = 1

    def __init__(
        self, name: str, channel: Channel, introduction: Introduction, seconds: range, manners: ExternalOptions = USUAL
    ) -> None:
        self.name = name
        self._channel, self._introduction, self._seconds, self._manners = channel, introduction, seconds, manners
        self._inbox: Inbox | None = None
        self._outbox: Outbox | None = None
        self._folder: Path | None = None
        self._lines_out = 0

    def install(self) -> None:
        warm_up()
        self._folder = scratch("history")
        first_line = json.dumps(self._introduction(self._folder)).encode() + b"\n"
        read_from, write_to = self._channel.open(self._manners.patience_s)
        self._inbox = Inbox(read_from, self._seconds.start)
        self._outbox = Outbox(write_to, self._manners.most_bytes)
        self._outbox.put(-1, first_line)
        if not self._inbox.wait_for(lambda: self._in.ready, SOON_S) and not self._inbox.ended:
            log.info("waiting until %s is ready", self._channel.label)
        patience_s = READY_TIMES * self._manners.patience_s
        if not self._inbox.wait_for(lambda: self._in.ready, patience_s):
            raise self._failure(
                f'did not say "ready" within {patience_s:g} s; --patience waits longer',
                'ended before it said "ready"',
            )
        self._outbox.written()

    @property
    def _in(self) -> Inbox:
        assert self._inbox
        return self._inbox

    @property
    def _out(self) -> Outbox:
        assert self._outbox
        return self._outbox

    def process(self, batch: Batch) -> Mapping[str, float]:
        started = time.perf_counter()
        self._hand_over(batch)
        handed_over = time.perf_counter()
        last = batch.seconds[-1]
        # A tuple has two answers at most: who writes more than twice as many never stops.
        self._in.most_waiting = max(MOST_WAITING, 4 * len(batch))
        if not self._in.wait_for(lambda: self._in.last_mark >= last, self._manners.patience_s):
            raise self._failure(
                f'did not echo "mark {last}" within {self._manners.patience_s:g} s; --patience waits longer, '
                "and a system that does not echo marks needs --clock real",
                f"closed its output before second {last} was answered",
                f"wrote {self._in.most_waiting:,} answers to {format_count(len(batch), 'tuple')}, "
                f"and no end of second {last}",
            )
        return {
            "write_ms": (handed_over - started) * 1000,
            "system_ms": (time.perf_counter() - handed_over) * 1000,
        }

    def _hand_over(self, batch: Batch) -> None:
        data = write_batch(batch, self._manners.marks)
        self._in.sent = range(self._seconds.start, batch.seconds.stop)
        self._out.put(batch.seconds[-1], data)
        self._lines_out += len(batch)

    def answers(self) -> Iterator[Answers]:
        return iter(self._inbox.answers() if self._inbox else ())

    def finish(self) -> bool:
        self._out.close(self._channel.close_input)
        ended = self._in.wait_for(lambda: self._in.ended, self._manners.patience_s)
        if self._in.full and not ended:
            return False
        if not ended or self._in.fault:
            raise self._failure(
                f"did not close its output within {self._manners.patience_s:g} s after the end of its input; "
                "--patience waits longer"
            )
        if fault := self._channel.end(self._manners.patience_s):
            raise EngineFailure(self._sentence(fault))
        return True

    def _failure(self, silent: str, ended: str = "", full: str = "") -> EngineFailure:
        """Why a system did not do what it should: it wrote a bad line, went away, writes too much, or is silent."""
        return EngineFailure(
            self._sentence(self._in.fault or (ended if self._in.ended else full if self._in.full else silent))
        )

    def _sentence(self, fault: str) -> str:
        words = self._channel.last_words()
        return f"{self._channel.label}: {fault}" + (f" ({words})" if words else "")

    def stop(self) -> None:
        boxes = [box for box in (self._inbox, self._outbox) if box]
        for box in boxes:
            box.close()
        self._channel.hang_up()
        for box in boxes:
            box.thread.join(END_S)
        # A descriptor that is given back may soon be another file's.
        if not any(box.thread.is_alive() for box in boxes):
            self._channel.close()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def facts(self) -> dict[str, object]:
        return {"system": self._channel.label, "lines": self._lines_out}

    def files(self) -> dict[str, str]:
        complaints = self._channel.complaints().decode("utf-8", "backslashreplace")
        return {"stderr.txt": complaints} if complaints else {}


class PacedExternal(External):
    """The same on the real clock: each second is handed over when it comes, whatever the system has answered."""

    def __init__(
        self, name: str, channel: Channel, introduction: Introduction, seconds: range, manners: ExternalOptions = USUAL
    ) -> None:
        super().__init__(name, channel, introduction, seconds, manners)
        self._by_mark = manners.marks
        self._given: list[tuple[int, float]] = []

    def process(self, batch: Batch) -> Mapping[str, float]:
        if self._in.fault or self._in.ended or self._out.failed:
            self._in.wait_for(lambda: False, 1.0)
            raise self._failure("does not read its input any more", "closed its output before the end of its input")
        if self._out.full:
            raise EngineFailure(
                self._sentence(
                    f"has left {self._out.waiting_bytes >> 20:,} MB of its input unread, which is more than the driver "
                    "holds: it is too slow for this load"
                )
            )
        self._hand_over(batch)
        return {}

    def through(self) -> list[tuple[int, float]]:
        """The seconds that the system is done with since the last call: those whose mark came back.

        Of a system that gets or echoes no marks, those that it has been sent whole.
        """
        self._given += self._out.written()
        if self._by_mark:
            if self._in.last_mark >= self._seconds.start or len(self._in.sent) <= SECONDS_WITHOUT_ECHO:
                return self._in.marks()
            self._by_mark = False
            log.warning("no mark has come back: what waits can only be told by what %s has read", self._channel.label)
        given, self._given = self._given, []
        return given
