"""The PostgreSQL settings of a measured run, one profile per durability.

The embedded server is started with them, `compose.yaml` repeats those of `off`, and `read_settings` tells what a
server really has.
"""

from __future__ import annotations

from types import MappingProxyType

from psycopg2.extensions import connection as Connection

from polling_baseline.refusal import Refusal

DURABILITIES = ("off", "on")

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
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT lower(name), current_setting(name) FROM pg_catalog.pg_settings WHERE lower(name) = ANY(%s)",
            (list(profile("off")),),
        )
        return dict(cursor.fetchall())


def durability_of(settings: dict[str, str]) -> str:
    """`on` if what was committed survives a crash, whoever chose the settings."""
    kept = all(settings[name] != "off" for name in BY_DURABILITY["on"])
    return "on" if kept else "off"


def check_durable(connection: Connection, server: str) -> None:
    """Refuse a server that does not keep what was committed, for a run that says it is kept."""
    settings = read_settings(connection)
    if durability_of(settings) == "off":
        off = ", ".join(name for name in BY_DURABILITY["on"] if settings[name] == "off")
        raise Refusal(
            f"PostgreSQL at {server} runs with {off} off, so --durability on would measure nothing; "
            "switch on what is off there, or run with --durability off"
        )
