"""A database with room for a history."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from polling_baseline.database.connection import Target
from polling_baseline.database.install import ROOT, source
from polling_baseline.database.server import Server
from tests.conftest import clone


@pytest.fixture(scope="session")
def history_database(server: Server, template: str) -> Iterator[Target]:
    with clone(server, template) as target:
        connection = target.connect()
        with connection, connection.cursor() as cursor:
            for file in sorted((ROOT / "sql" / "history").glob("*.sql")):
                cursor.execute(source(file))
        connection.close()
        yield target
