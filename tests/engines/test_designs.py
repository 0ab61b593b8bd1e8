"""Every design of System X gives the right answers: on all traces and random roads, with and without its indexes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import pytest

from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.designs import DESIGNS
from polling_baseline.database.settings import OFF
from polling_baseline.engines.system_x.polling import Polling
from tests import traces
from tests.bench.polling import traffic
from tests.engines.feeding import MakeEngine, Road, faults, fill_history, steps_of

Options = dict[str, str]
# Design, its options, the seconds that a batch may have, and whether long roads are taken or left out.
WAYS = [
    pytest.param("2004", {}, 1, False, id="2004"),
    pytest.param("2004", {"indexes": "off"}, 13, False, id="2004-no-indexes-period-13"),
    pytest.param("2004", {"keep": "minutes"}, 29, None, id="2004-keep-minutes-catching-up"),
    pytest.param("cursor", {}, 1, False, id="cursor"),
    pytest.param("cursor", {}, 29, None, id="cursor-catching-up"),
    pytest.param("merge", {}, 1, False, id="merge"),
    pytest.param("merge", {}, 29, None, id="merge-catching-up"),
]
STEPS = {
    "2004": ("minute", "log", "notify", "advance", "balance", "history"),
    "cursor": ("minute", "advance", "balance", "history"),
    "subquery": ("minute", "log", "notify", "advance", "balance", "history"),
    "merge": ("minute", "log", "advance", "balance", "history"),
    "ring": ("minute", "advance", "tally", "notify", "balance", "history"),
}


@pytest.fixture
def design_on(history_database: Target) -> Callable[[str, Options], MakeEngine]:
    def of(design: str, options: Options) -> MakeEngine:
        def polling(road: Road, workers: int) -> Polling:
            fill_history(history_database, road)
            return Polling(claim_database(history_database, "test"), workers, OFF, design, options)

        return polling

    return of


@pytest.mark.parametrize(("design", "options", "longest", "long"), WAYS)
def test_roads(design_on, design: str, options: Options, longest: int, long: bool | None) -> None:
    assert faults(design_on(design, options), 1, longest, long) == {}


@pytest.mark.parametrize(("design", "longest", "every"), [("cursor", 29, 5), ("subquery", 1, 11)])
def test_roads_without_indexes(design_on, design: str, longest: int, every: int) -> None:
    """Each report reads all vehicles, or all statistics, so these are a few roads only."""
    assert faults(design_on(design, {"indexes": "off"}), 1, longest, False, every) == {}


@pytest.mark.parametrize("first", range(5))
def test_roads_by_subqueries(design_on, first: int) -> None:
    """Each report reads the statistics of all roads that are beside it, so these are a few at a time."""
    assert faults(design_on("subquery", {}), 1, 29, None, every=5, first=first) == {}


@pytest.mark.parametrize("design", DESIGNS)
def test_every_cycle_has_the_same_steps(design_on, design: str) -> None:
    trace = traces.load("no_history")
    road = Road(trace.lines, trace.toll_history, trace.segment_history)
    ledger = tuple(f"{step}_ms" for step in STEPS[design])
    assert steps_of(design_on(design, {}), road, 1) == {("copy_ms", *ledger, "commit_ms")}


@pytest.mark.parametrize(
    ("design", "options", "most"),
    [("2004", {}, 8), ("2004", {"indexes": "off"}, 8), ("subquery", {}, 8), ("cursor", {}, 0), ("merge", {}, 1)],
)
def test_no_plan_reads_all_vehicles_for_each_report(
    design_on, history_database: Target, design: str, options: Options, most: int
) -> None:
    """Tables are empty when statements are planned first, and grow: still, a cycle scans them a few times at most."""
    reports, cycles = 50, 65
    engine = design_on(design, options)(Road([], {}, []), 1)
    engine.install()
    for batch in traffic(reports, 1, cycles):
        engine.process(batch)
    # A session tells its statistics before it tells of itself.
    engine.facts()
    engine.stop()
    with closing(history_database.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT seq_scan FROM pg_stat_user_tables WHERE relid = 'lr.vehicle'::regclass")
        [(scans,)] = cursor.fetchall()
        cursor.execute("SELECT count(*) FROM lr.vehicle")
        [(vehicles,)] = cursor.fetchall()
    assert vehicles > 20 * reports
    assert scans <= most * cycles + 10
    assert most < reports / 5


def test_only_the_ring_shares_its_work(history_database: Target) -> None:
    with (
        closing(claim_database(history_database, "test")) as claim,
        pytest.raises(ValueError, match="design merge has one"),
    ):
        Polling(claim, 2, OFF, "merge")
