"""A database that the tests of an engine share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from polling_baseline.database.connection import Target
from polling_baseline.database.embedded.server import Server
from tests.conftest import clone


@pytest.fixture(scope="session")
def history_database(server: Server, template: str) -> Iterator[Target]:
    with clone(server, template) as target:
        yield target
