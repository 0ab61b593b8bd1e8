"""One shard's share of a batch, by the rules: reports and requests in, answers out, and a summary of each minute.

A shard has its own vehicles, all their trips on all expressways, and the toll table of every expressway.  What a minute
costs depends on the vehicles of all shards, and only on the minute before.  So each shard sums up a minute in its last
batch, and all of them get what all have summed up with the first batch of the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from polling_baseline import spec
from polling_baseline.batch import Columns
from polling_baseline.engines.structured_streaming.accounts import Accounts
from polling_baseline.engines.structured_streaming.columns import ANSWERS, Layout, join_parts, split_parts, taken
from polling_baseline.engines.structured_streaming.history import History
from polling_baseline.engines.structured_streaming.state import State
from polling_baseline.engines.structured_streaming.stops import STOPS, accident_places, cut_at, follow
from polling_baseline.engines.structured_streaming.tally import Tally, count_second, recount, total
from polling_baseline.engines.structured_streaming.tolls import TollTable, pack_past, toll_table, unpack_past
from polling_baseline.engines.structured_streaming.trips import Second, drive, sightings, vehicles

LEFT = Layout(vehicle_id="i4", second="i4")
MINUTE, PAST, TOLLS = "minute", "past", "tolls"


@dataclass(frozen=True, slots=True)
class Work:
    """What a shard gets of a batch; `summary` is that of the minute before, if this batch begins a minute."""

    seconds: range
    reports: Columns
    requests: Columns
    summary: bytes | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """Answers by kind; and the minute's summary, if the batch ends one."""

    answers: dict[str, Columns]
    summary: bytes | None = None


@dataclass(slots=True)
class Minute:
    """What a shard knows of a minute that is not over."""

    tally: Tally = field(default_factory=Tally.empty)
    stops: Columns = field(default_factory=STOPS.empty)
    # Who reported in its first half and not 30 s later.
    left: Columns = field(default_factory=LEFT.empty)

    def pack(self) -> bytes:
        return join_parts([self.tally.pack(), STOPS.pack(self.stops), LEFT.pack(self.left)])

    @classmethod
    def unpack(cls, data: bytes | None) -> Minute:
        if data is None:
            return cls()
        tally, stops, left = split_parts(data)
        return cls(Tally.unpack(tally), STOPS.unpack(stops), LEFT.unpack(left))


def process(state: State, work: Work, history: History, pages: int) -> Result:
    """Do a shard's share of a batch."""
    if work.summary is not None:
        _begin_minute(state, work.summary)
    minute, table = Minute.unpack(state.get(MINUTE)), TollTable(state.get(TOLLS))
    accounts = Accounts(state, pages)
    edges = np.searchsorted(work.reports["second"], range(work.seconds.start, work.seconds.stop + 1))
    parts = []
    for second, start, stop in zip(work.seconds, edges, edges[1:], strict=False):
        now = drive(state, second, taken(work.reports, slice(start, stop)), table)
        _note(minute, now)
        accounts.charge(second, *now.charged)
        parts.append(now)
    summary = None
    if work.seconds.stop % spec.MINUTE_S == 0:
        minute, summary = _end_minute(state, minute, work.seconds.stop)
    state.put(MINUTE, minute.pack())
    answers = {
        "toll": ANSWERS["toll"].joined([now.tolls for now in parts]),
        "accident": ANSWERS["accident"].joined([now.alerts for now in parts]),
        **_to_requests(work.requests, accounts, history),
    }
    accounts.close(work.seconds)
    return Result(answers, summary)


def summed_up(summaries: Iterable[bytes]) -> bytes:
    """The summaries of all shards as one."""
    parts = [split_parts(summary) for summary in summaries]
    tally = total(Tally.unpack(tally) for tally, _ in parts)
    return join_parts([tally.pack(), STOPS.pack(STOPS.joined([STOPS.unpack(stops) for _, stops in parts]))])


def _begin_minute(state: State, summary: bytes) -> None:
    tally, stops = split_parts(summary)
    past = [*unpack_past(state.get(PAST)), Tally.unpack(tally)][-spec.LAV_MINUTES :]
    state.put(PAST, pack_past(past))
    state.put(TOLLS, toll_table(past, accident_places(STOPS.unpack(stops))))


def _note(minute: Minute, now: Second) -> None:
    """Count a second's cars, and follow its stops."""
    second_half = now.second % spec.MINUTE_S >= spec.REPORT_PERIOD_S
    known = now.continued & (now.previous_place == now.reports["place"]) & second_half
    minute.tally = count_second(minute.tally, now.reports, known, now.previous_speed)
    if len(now.stops) or len(minute.stops["end"]):
        minute.stops = follow(minute.stops, now)
    if second_half and len(now.left):
        seconds = np.full(len(now.left), now.second - spec.REPORT_PERIOD_S)
        minute.left = LEFT.joined([minute.left, {"vehicle_id": now.left, "second": seconds}])


def _end_minute(state: State, minute: Minute, end: int) -> tuple[Minute, bytes]:
    """The next minute, and the summary of this one."""
    tally = recount(minute.tally, _of_several_trips(state, minute.left, end))
    before, after = cut_at(minute.stops, end)
    return Minute(stops=after), join_parts([tally.pack(), STOPS.pack(before)])


def _of_several_trips(state: State, left: Columns, end: int) -> Columns:
    """All reports in the minute of those vehicles that had two trips in it, or more."""
    # One trip has one report in the second half, or its last one in the first half.
    second_half = (vehicles(state, second) for second in range(end - spec.REPORT_PERIOD_S, end))
    last_seen = np.sort(np.concatenate([left["vehicle_id"], *second_half]))
    several = np.unique(last_seen[1:][last_seen[1:] == last_seen[:-1]])
    if not len(several):
        return {name: np.zeros(0, np.int64) for name in ("vehicle_id", "place", "speed_mph", "second")}
    parts = []
    for second in range(end - spec.MINUTE_S, end):
        slot = sightings(state, second)
        rows = taken(slot, np.isin(slot["vehicle_id"], several))
        parts.append({**rows, "second": np.full(len(rows["place"]), second)})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _to_requests(requests: Columns, accounts: Accounts, history: History) -> dict[str, Columns]:
    balance, expenditure, journey = (
        taken(requests, requests["kind"] == kind) for kind in (spec.BALANCE, spec.EXPENDITURE, spec.TRAVEL_TIME)
    )
    return {
        "balance": {
            **balance,
            "result_second": balance["second"],
            "balance": accounts.balances(balance["second"], balance["vehicle_id"]),
        },
        "expenditure": {**expenditure, "tolls": history.tolls_of(expenditure)},
        "travel_time": {**journey, **history.travel_times(journey)},
    }
