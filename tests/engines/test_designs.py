"""Every design of System X gives the right answers: on all traces and random roads, with and without its indexes."""

from __future__ import annotations

import pytest

from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.settings import OFF
from polling_baseline.engines.system_x.polling import Polling
from tests.engines.feeding import MakeEngine, Road, faults, fill_history

# Design, its options, the seconds that a batch may have, and whether long roads are taken or left out.
WAYS = [
    pytest.param("2004", {}, 1, False, id="2004"),
    pytest.param("2004", {"keep": "minutes"}, 29, None, id="2004-keep-minutes-catching-up"),
    pytest.param("2004", {"indexes": "off"}, 7, False, id="2004-no-indexes-period-7"),
    pytest.param("cursor", {}, 29, None, id="cursor-catching-up"),
    pytest.param("cursor", {"indexes": "off"}, 4, False, id="cursor-no-indexes-period-4"),
    pytest.param("merge", {}, 1, False, id="merge"),
    pytest.param("merge", {}, 29, None, id="merge-catching-up"),
]


@pytest.fixture
def design_on(history_database: Target):
    def of(design: str, options: dict[str, str]) -> MakeEngine:
        def polling(road: Road, workers: int) -> Polling:
            fill_history(history_database, road)
            return Polling(claim_database(history_database, "test"), workers, OFF, design, options)

        return polling

    return of


@pytest.mark.parametrize(("design", "options", "longest", "long"), WAYS)
def test_roads(design_on, design: str, options: dict[str, str], longest: int, long: bool | None) -> None:
    assert faults(design_on(design, options), 1, longest, long) == {}
