"""The PostgreSQL settings of a measured run, one profile per durability.

The embedded server is started with them, `compose.yaml` repeats those of `off`.  On a given server a run sets for its
own sessions what a session may set; `read_settings` tells what is in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from polling_baseline.database.session import execute, transaction
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

DURABILITIES = ("off", "on")
RESTART = ", needs a restart"

COMMON = MappingProxyType(
    {
        # A few busy connections; each may hash a whole second of 100 expressways in memory.
        "max_connections": "50",
        "shared_buffers": "2GB",
        "work_mem": "64MB",
        "maintenance_work_mem": "256MB",
        # A cycle takes milliseconds: compiling it, or starting workers for it, costs more than it saves.
        "jit": "off",
        "max_parallel_workers_per_gather": "0",
        # No replica, so a table filled in the transaction that made it needs no log; still safe after a crash.
        "wal_level": "minimal",
        "max_wal_senders": "0",
        # A checkpoint is a pause that no deadline wants: rarely, and spread out.
        "max_wal_size": "8GB",
        "min_wal_size": "1GB",
        "checkpoint_timeout": "30min",
        "checkpoint_completion_target": "0.9",
        # Accounts are updated in place and need it, but it may never take more than one core.
        "autovacuum": "on",
        "autovacuum_max_workers": "1",
        # Data fits in memory.
        "random_page_cost": "1.1",
        "timezone": "UTC",
        "log_timezone": "UTC",
    }
)
# What a crash may cost: everything, or nothing that was committed.
BY_DURABILITY = MappingProxyType(
    {
        "off": MappingProxyType({"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}),
        "on": MappingProxyType({"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}),
    }
)


def profile(durability: str) -> dict[str, str]:
    """Every setting of that durability, by name."""
    return {**COMMON, **BY_DURABILITY[durability]}


def read_settings(connection: Connection) -> dict[str, str]:
    """What the server has for each setting of a profile, in the profile's spelling."""
    found = execute(
        connection,
        "SELECT lower(name), current_setting(name) FROM pg_catalog.pg_settings WHERE lower(name) = ANY(:names)",
        names=list(profile("off")),
    )
    return dict(found.all())


def durability_of(settings: Mapping[str, str]) -> str:
    """`on` if what was committed survives a crash, whoever chose the settings."""
    kept = all(settings[name] != "off" for name in BY_DURABILITY["on"])
    return "on" if kept else "off"


def differences(settings: Mapping[str, str], durability: str) -> dict[str, str]:
    """The settings that are not as in the profile, with the profile's values."""
    return {name: value for name, value in profile(durability).items() if settings[name] != value}


def adopt_profile(connection: Connection, durability: str) -> None:
    """Set for this session what a session of this user may set."""
    wanted = profile(durability)
    with transaction(connection):
        execute(
            connection,
            "SELECT set_config(setting.name, wanted.value, FALSE)"
            " FROM unnest(:names, :values) AS wanted (name, value)"
            " JOIN pg_catalog.pg_settings AS setting ON lower(setting.name) = wanted.name"
            " WHERE setting.context = 'user'"
            " OR (setting.context = 'superuser' AND current_setting('is_superuser') = 'on')",
            names=list(wanted),
            values=list(wanted.values()),
        )


def alter_system(connection: Connection, durability: str) -> list[str]:
    """The statements for psql that give a server the profile; what they need beyond a reload stands behind them."""
    settings = read_settings(connection)
    wanted = differences(settings, durability)
    contexts = execute(
        connection,
        "SELECT lower(name), context = 'postmaster' FROM pg_catalog.pg_settings WHERE lower(name) = ANY(:names)",
        names=list(wanted),
    )
    restart = dict(contexts.all())
    width = max((len(name + value) for name, value in wanted.items()), default=0)
    return [
        f"ALTER SYSTEM SET {name} = '{value}';{'':{width - len(name + value)}}"
        f"  -- {settings[name]} now{RESTART if restart[name] else ''}"
        for name, value in wanted.items()
    ]


def check_durable(connection: Connection, server: str) -> None:
    """Refuse a server that does not keep what was committed, for a run that says it is kept."""
    settings = read_settings(connection)
    if durability_of(settings) == "off":
        off = ", ".join(name for name in BY_DURABILITY["on"] if settings[name] == "off")
        raise Refusal(
            f"PostgreSQL at {server} runs with {off} off, so --durability on would measure nothing; "
            "switch on what is off there, or run with --durability off"
        )


def after_a_crash(settings: Mapping[str, str], logged: bool) -> str:
    """What is left of a run when its server has crashed, in words."""
    if not logged:
        tables = "the run's tables are empty"
    elif durability_of(settings) == "on":
        tables = "everything committed is there"
    else:
        tables = "what was committed last may be missing"
    whole = all(settings[name] == "on" for name in ("fsync", "full_page_writes"))
    return tables if whole else f"{tables}; if the machine fails, all data of the server may be damaged"
