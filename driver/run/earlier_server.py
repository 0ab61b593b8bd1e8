"""The server of an earlier run, for a run that repeats it or goes on with it."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg2

from driver.run.engines import Backends
from driver.run.record_types import RunJson
from polling_baseline.database.connection import (
    VARIABLES,
    WHERE_VARIABLES,
    ServerLabel,
    Target,
    describe_server,
    given_target,
)
from polling_baseline.database.embedded import server
from polling_baseline.database.embedded import server_home as state
from polling_baseline.database.install import check_installed
from polling_baseline.database.settings import Durability
from polling_baseline.engines.system_x.exchange import reason
from polling_baseline.refusal import Refusal

log = logging.getLogger("lrb")


def same_backends(backends: Backends, folder: Path, run: RunJson) -> Backends:
    """Where the run in `folder` was, unless --dsn names a server; if it does not say, where any run would be."""
    label = run["environment"]["engine"].get("server")
    if backends.dsn is not None or label is None:
        return backends
    database = backends.database or label["database"]
    target = given_target(label["dsn"], database) if label["dsn"] else None
    _refuse_other_variables(label, target, folder)
    if target:
        try:
            target.connect().close()
        except Refusal as refusal:
            raise Refusal(f"{folder} was on {describe_server(label)}; give --dsn ({refusal})") from None
        log.info("on %s, as %s was", describe_server(label), folder)
    return replace(backends, dsn=label["dsn"], database=database)


def _refuse_other_variables(label: ServerLabel, target: Target | None, folder: Path) -> None:
    for name in WHERE_VARIABLES:
        same = target and target.parameters.get(VARIABLES.get(name, "service"))
        if os.environ.get(name) not in (None, "", same):
            was_on = describe_server(label)
            raise Refusal(f"{folder} was on {was_on}, and {name} names another server; unset it, or give --dsn")


def check_state(backends: Backends, folder: Path, durability: Durability, engine_facts: Mapping[str, Any]) -> None:
    """Refuse to go on with a run whose state is not there; nothing is restarted, made or loaded to find out."""
    target = given_target(backends.dsn, backends.database)
    if target is None:
        # A server that does not run is started as the run wants it; one that was never made is not made now.
        running = server.status() or (server.ensure_running(durability) if state.home().data.exists() else None)
        if running is None:
            raise Refusal(
                f"the state of {folder} is not here: there is no embedded PostgreSQL in {state.home().folder}; "
                "set LRB_STATE to where it is, or give --dsn"
            )
        target = running.target.on(backends.database)
    try:
        with target.open() as connection:
            check_installed(connection, engine_facts, target.label)
    except psycopg2.Error as error:
        raise Refusal(reason(error, target.label)) from None
