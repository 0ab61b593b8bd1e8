"""The lines of the protocol: what is written is what is read elsewhere, and nothing that comes back does harm."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
import pytest

from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, REPORT_COLUMNS, REQUEST_COLUMNS, Batch, Share
from polling_baseline.engines.external.lines import MAX_LINE, read_answers, write_batch
from polling_baseline.engines.external.traffic import MOST_WAITING, Inbox, Outbox

SENT = range(0, 100)


def batch_of(seconds: range, rows: list[tuple[int, ...]]) -> Batch:
    columns = dict(zip(spec.FIELDS.values(), np.array(rows, np.int64).reshape(-1, 15).T, strict=True))
    report = columns["kind"] == spec.REPORT
    share = Share(
        {name: columns[name][report] for name in REPORT_COLUMNS},
        {name: columns[name][~report] for name in REQUEST_COLUMNS},
    )
    return Batch(seconds, (share,))


def random_row(rng: random.Random, second: int) -> tuple[int, ...]:
    """Any numbers that the fields of a line can have."""
    kind = rng.choice(list(spec.USED))
    values = {"Type": kind, "Time": second}
    for field in spec.USED[kind]:
        low, high = spec.RANGES[field]
        values.setdefault(field, rng.choice((low, high, rng.randint(low, high))))
    return tuple(values.get(field, spec.UNUSED) for field in spec.FIELDS)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_is_what_was_given(seed: int) -> None:
    rng = random.Random(seed)
    seconds = range(31, 31 + rng.choice((1, 3, 28)))
    rows = [random_row(rng, second) for second in seconds for _ in range(rng.choice((0, 1, 30)))]
    lines = write_batch(batch_of(seconds, rows), marks=False).decode().splitlines()
    assert sorted(lines) == sorted(",".join(map(str, row)) for row in rows)
    times = [int(line.split(",")[1]) for line in lines]
    assert times == sorted(times)


def test_a_mark_follows_the_last_line_of_its_second() -> None:
    row = (0, 1, 7, 50, 0, 1, 0, 0, 0, *[-1] * 6)
    text = write_batch(batch_of(range(3), [row]), marks=True).decode()
    assert text.splitlines() == ["mark 0", ",".join(map(str, row)), "mark 1", "mark 2"]


def answers_to(text: bytes) -> list[tuple[str, tuple[int, ...]]]:
    received = read_answers(text, SENT, 1.5)
    assert received.bad_line is None
    assert {part.read_at for part in received.answers} <= {1.5}
    return [
        (part.kind, row)
        for part in received.answers
        for row in zip(*(part.columns[name].tolist() for name in ANSWER_KINDS[part.kind].columns), strict=True)
    ]


def test_each_kind_of_answer() -> None:
    text = b"0,1,2,-1,38,98\n1,2,1e9,1,5\r\n2,3,,1,7,8\n3, 4 ,0.001,7,\t+8\n4,5,soon,7,-1,-1\nmark 5\n"
    assert answers_to(text) == [
        ("toll", (1, 2, 38, 98)),
        ("accident", (2, 1, 5)),
        ("balance", (3, 1, 7, 8)),
        ("expenditure", (4, 7, 8)),
        ("travel_time", (5, 7, -1, -1)),
    ]
    assert read_answers(text, SENT, 0.0).marks.tolist() == [5]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b" ",
        b"0",
        b"0,1,2,-1,38",
        b"0,1,2,-1,38,98,1",
        b"0,1,2,-1,38,98,",
        b"0,1,2,-1,38,9 8",
        b"0,1,2,-1,38,0x9",
        b"0,1,2,-1,38,9.5",
        b"0,1,2,-1,38,9223372036854775808",
        b"0,1,2,-1,38,\x00",
        b"-1,1,2,-1,38,98",
        b"5,1,2,-1,38,98",
        b"0,1,100,-1,38,98",
        b"0,1,-1,-1,38,98",
        b"mark",
        b"mark ",
        b"mark x",
        b"mark 5 6",
        b"mark 100",
        b"mark -1",
        b"marks 5",
        b"Mark 5",
        b"ready",
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_no_answer(line: bytes) -> None:
    before, after = b"3,4,-1,7,8\n", b"3,4,-1,9,8\n"
    received = read_answers(before + line + b"\n" + after, SENT, 0.0)
    assert received.bad_line == line and received.why and received.lines == 1
    assert [part.columns["query_id"].tolist() for part in received.answers] == [[7]]


@pytest.mark.parametrize("seed", range(200))
def test_nothing_that_comes_back_does_harm(seed: int) -> None:
    """Bytes that are nearly answers: each line is taken as it is, or is the first bad one."""
    rng = random.Random(seed)
    good = [b"0,1,2,-1,38,98", b"1,2,-1,1,5", b"2,3,-1,1,7,8", b"3,4,-1,7,8", b"4,5,-1,7,-1,-1", b"mark 7"]
    lines = []
    for _ in range(rng.randrange(1, 40)):
        line = bytearray(rng.choice(good))
        for _ in range(rng.choice((0, 0, 0, 1, 3))):
            line[rng.randrange(len(line))] = rng.choice((*b"0123456789,-+ .\t\r", rng.randrange(256)))
        lines.append(bytes(line).replace(b"\n", b""))
    received = read_answers(b"\n".join(lines) + b"\n", SENT, 0.0)
    taken = sum(map(len, received.answers)) + len(received.marks)
    if received.bad_line is None:
        assert taken == len(lines)
    else:
        assert taken == received.lines and received.bad_line in (lines[taken], lines[taken].removesuffix(b"\r"))


@pytest.fixture
def inbox() -> Iterator[tuple[Inbox, int]]:
    """What is read from a pipe, and the end to write to."""
    read_from, write_to = os.pipe()
    inbox = Inbox(read_from, 0)
    inbox.sent = SENT
    yield inbox, write_to
    inbox.close()
    for descriptor in (read_from, write_to):
        with suppress(OSError):
            os.close(descriptor)


def test_lines_may_come_in_pieces(inbox: tuple[Inbox, int]) -> None:
    read, write_to = inbox
    for byte in b"ready\n3,4,-1,7,8\nmark 4\n":
        os.write(write_to, bytes([byte]))
    assert read.wait_for(lambda: read.last_mark == 4, 5.0)
    assert [len(part) for part in read.answers()] == [1] and [second for second, _ in read.marks()] == [4]
    os.write(write_to, b"3,4,-1,9")
    os.close(write_to)
    assert read.wait_for(lambda: read.ended, 5.0)
    assert read.fault == 'line 4 of its output has no end: "3,4,-1,9"'


def test_a_line_without_an_end_is_not_kept(inbox: tuple[Inbox, int]) -> None:
    read, write_to = inbox
    os.write(write_to, b"ready\n")
    writer = threading.Thread(target=lambda: [os.write(write_to, b"1" * 4096) for _ in range(MAX_LINE // 4096 + 1)])
    writer.start()
    assert read.wait_for(lambda: read.fault is not None, 5.0)
    writer.join()
    assert "longer than 65,536 bytes" in str(read.fault)


def test_who_writes_more_than_can_be_kept_waits(inbox: tuple[Inbox, int]) -> None:
    read, write_to = inbox
    lines = b"3,4,-1,7,8\n" * 10_000
    written, enough = 0, threading.Event()

    def flood() -> None:
        nonlocal written
        os.write(write_to, b"ready\n")
        while not enough.is_set():
            os.write(write_to, lines)
            written += 10_000

    def wait_until(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    writer = threading.Thread(target=flood)
    writer.start()
    try:
        wait_until(lambda: written > MOST_WAITING)
        time.sleep(0.3)
        stopped_at = written
        assert stopped_at < 2 * MOST_WAITING
        assert MOST_WAITING <= sum(map(len, read.answers())) <= stopped_at + 20_000
        wait_until(lambda: written > stopped_at)
    finally:
        enough.set()
        wait_until(lambda: bool(read.answers()) or not writer.is_alive())
        wait_until(lambda: not writer.is_alive() or not read.answers())
        writer.join(60)


def test_what_is_not_read_waits_and_nobody_with_it() -> None:
    read_from, write_to = os.pipe()
    outbox = Outbox(write_to, 1 << 20)
    started = time.monotonic()
    for second in range(3):
        outbox.put(second, b"x" * (1 << 20))
    assert time.monotonic() - started < 5 and outbox.full and outbox.written() == []
    closed = threading.Event()
    outbox.close(lambda: (os.close(write_to), closed.set()))
    size = 0
    while piece := os.read(read_from, 1 << 20):
        size += len(piece)
    assert size == 3 << 20 and closed.wait(5)
    assert [second for second, _ in outbox.written()] == [0, 1, 2] and outbox.waiting_bytes == 0
    os.close(read_from)
