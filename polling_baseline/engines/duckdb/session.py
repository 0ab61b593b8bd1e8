"""An open database in which cycles are done.  A cycle is one transaction, and one row in the ledger."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from duckdb import DuckDBPyConnection

from polling_baseline import spec
from polling_baseline.batch import Answers, Batch, Share
from polling_baseline.engines.duckdb.database import look_ups
from polling_baseline.engines.duckdb.input import Input
from polling_baseline.engines.duckdb.ring import EMPTY, Ring, table_of
from polling_baseline.engines.duckdb.statements import parser

STEPS = ("minute_ms", "advance_ms", "tally_ms", "track_ms", "balance_ms", "history_ms", "commit_ms")
MINUTE_STEPS = ("correct_minute", "measure_minute", "cut_stops", "detect_accidents", "set_tolls")
# The statements of a cycle that read or write its own table in the ring.
CYCLE_STEPS = ("tally_segments", "note_stops", "track_trips", "answer_balances", "notify_tolls", "alert_vehicles")
# Journeys are looked up as far as they come at so many minutes a segment; if one is slower, further, at last the week.
PACES = (3, 15, spec.WEEK_DAYS * spec.DAY_MINUTES)


class Session:
    """The steps of a cycle on one connection."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._statements = parser(connection)
        self._reports, self._requests = Input(connection, "report"), Input(connection, "request")
        self._ring = Ring([])
        # Whether there is an accident to warn of in this minute.
        self._accidents = False
        # The answers to the requests of the last cycle.
        self._answers: list[Answers] = []
        # The seconds of the cycle that was committed last.
        self.last = range(0)

    def warm_up(self) -> None:
        """Parse all that a run with a cycle a second will execute."""
        ring = Ring([range(second, second + 1) for second in range(spec.MINUTE_S)])
        for second in range(spec.MINUTE_S):
            now = ring.rows(range(second, second + 1))
            previous = table_of(range(second + spec.REPORT_PERIOD_S, second + spec.MINUTE_S))
            self._statements("advance_vehicles", {"now": now, "previous": previous}, {})
            for name in CYCLE_STEPS:
                self._statements(name, {"now": now}, {})
        half_minute = ring.rows(range(spec.REPORT_PERIOD_S, spec.MINUTE_S))
        for name in ("note_first_irregular_vehicles", "note_irregular_vehicles"):
            self._statements(name, {"half_minute": half_minute}, {})

    def create_tables(self) -> None:
        self._connection.begin()
        self._connection.execute("CREATE SCHEMA lr")
        self._run("rules")
        self._run("tables")
        self._connection.commit()

    def read_ledger(self) -> None:
        """Go on after the last cycle that an earlier session has committed."""
        ledger = "SELECT from_second, until_second + 1 FROM lr.cycle ORDER BY from_second"
        cycles = [range(*row) for row in self._connection.execute(ledger).fetchall()]
        if cycles:
            self.last = cycles[-1]
            self._ring = Ring(cycles)
            self._ring.drop(self.last)
            self._accidents = self._any("lr.accident")

    def read_history(self, tolls: Sequence[Path], segments: Sequence[Path]) -> None:
        self._run("history_tables")
        for name, files in (("read_toll_history", tolls), ("read_segment_history", segments)):
            if files:
                self._connection.execute("SET VARIABLE files = $files", {"files": [str(file) for file in files]})
                self._run(name)

    def process(self, batch: Batch) -> dict[str, float]:
        """Do a cycle, commit it, and give the milliseconds of each step."""
        seconds, [share] = batch.seconds, batch.shares
        started = [time.perf_counter()]
        self._connection.begin()
        for step in (
            lambda: self._close_minute(seconds),
            lambda: self._advance_vehicles(seconds, share),
            lambda: self._run("tally_segments", now=table_of(seconds)),
            lambda: self._track(seconds),
            lambda: self._answer_balances(seconds, share),
            lambda: self._answer_from_history(share),
            lambda: self._commit(seconds),
        ):
            step()
            started.append(time.perf_counter())
        return {step: (after - before) * 1000 for step, before, after in zip(STEPS, started, started[1:], strict=False)}

    def answer_again(self, batch: Batch) -> None:
        """The answers to the requests of the last cycle, which an earlier session has committed."""
        [share] = batch.shares
        self._answer_balances(batch.seconds, share)
        self._answer_from_history(share)

    def answers(self) -> Iterator[Answers]:
        """Those of the last cycle."""
        to_reports = {"toll": "notify_tolls", **({"accident": "alert_vehicles"} if self._accidents else {})}
        for kind, name in to_reports.items():
            answers, _ = self._fetch(kind, name, now=table_of(self.last))
            if len(answers):
                yield answers
        yield from self._answers

    def close(self) -> None:
        self._connection.close()

    def _run(self, name: str, numbers: dict[str, int] | None = None, **rings: str) -> None:
        for statement in self._statements(name, rings, numbers or {}):
            self._connection.execute(statement)

    def _any(self, rows: str) -> bool:
        return self._connection.execute(f"SELECT 1 FROM {rows} LIMIT 1").fetchone() is not None

    def _fetch(self, kind: str, name: str, numbers: dict[str, int] | None = None, **rings: str) -> tuple[Answers, bool]:
        """The answers that a statement gives, and whether they are the last word."""
        self._run(name, numbers, **rings)
        columns = dict(self._connection.fetchnumpy())
        preliminary = columns.pop("preliminary", np.zeros(0, bool))
        return Answers(kind, columns), not preliminary.any()

    def _close_minute(self, seconds: range) -> None:
        """Draw the conclusions from a minute that is over, for the one that begins."""
        end = seconds.start
        if end % spec.MINUTE_S == 0:
            self._connection.execute(f"SET VARIABLE minute = {spec.minute_of(end) - 1}")
            half = self._ring.rows(range(end - spec.REPORT_PERIOD_S, end))
            # Without statistics, nobody has reported in the minutes before.
            first = "" if self._any("lr.segment_minute") else "first_"
            self._run(f"note_{first}irregular_vehicles", half_minute=half)
            self._run("note_suspects")
            whole = self._ring.rows(range(end - spec.MINUTE_S, end)) if self._any("lr.suspect") else EMPTY
            self._run("look_up_sightings", whole_minute=whole)
            for name in MINUTE_STEPS:
                self._run(name)
            self._accidents = self._any("lr.accident")

    def _advance_vehicles(self, seconds: range, share: Share) -> None:
        self._reports.put(share.reports)
        before = range(seconds.start - spec.REPORT_PERIOD_S, seconds.stop - spec.REPORT_PERIOD_S)
        self._run("advance_vehicles", now=table_of(seconds), previous=self._ring.rows(before))
        self._ring.add(seconds)

    def _track(self, seconds: range) -> None:
        for name in ("note_stops", "track_trips"):
            self._run(name, now=table_of(seconds))

    def _answer_balances(self, seconds: range, share: Share) -> None:
        self._answers = []
        kinds = share.requests["kind"]
        if len(kinds):
            self._requests.put({"request_id": np.arange(len(kinds)), **share.requests})
        if asked := int(np.count_nonzero(kinds == spec.BALANCE)):
            with look_ups(self._connection, asked):
                answers, final = self._fetch("balance", "answer_balances", now=table_of(seconds))
                if not final:
                    recent = self._ring.rows(range(seconds.start - spec.REPORT_PERIOD_S + 1, seconds.stop))
                    answers, _ = self._fetch("balance", "search_trips", recent=recent)
            self._answers.append(answers)

    def _answer_from_history(self, share: Share) -> None:
        kinds = share.requests["kind"]
        if spec.EXPENDITURE in kinds:
            answers, _ = self._fetch("expenditure", "answer_expenditures")
            self._answers.append(answers)
        if spec.TRAVEL_TIME in kinds:
            for pace in PACES:
                answers, final = self._fetch("travel_time", "answer_travel_times", {"pace": pace})
                if final:
                    break
            self._answers.append(answers)

    def _commit(self, seconds: range) -> None:
        self._connection.execute(f"INSERT INTO lr.cycle VALUES ({seconds[0]}, {seconds[-1]})")
        for table in self._ring.drop(seconds):
            self._connection.execute(f"DROP TABLE {table}")
        self._connection.commit()
        self.last = seconds
