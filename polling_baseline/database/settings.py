"""Durability: what a run promises to keep after a crash, and the PostgreSQL settings of a measured run that go with it.

A further profile is one more entry in `DURABILITIES`.  The embedded server is started with the settings of a profile,
`compose.yaml` repeats those of `off`.  On a given server a run sets for its own sessions what a session may set;
`read_settings` tells what is in force.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from polling_baseline.database.session import execute, transaction
from polling_baseline.refusal import Refusal

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
# The memory of a server whose shared buffers are the profile's, above the system's own cache.
PROFILE_MEMORY = "profile"
# From PostgreSQL 16 on; it is no setting of a profile, as the versions before do not know it.
DIRECT = "debug_io_direct"
DIRECT_SINCE = 16


def memory_settings(memory: str) -> dict[str, str]:
    """As on a machine with so little memory: pages that PostgreSQL itself does not hold come from the disk."""
    return {} if memory == PROFILE_MEMORY else {"shared_buffers": memory, DIRECT: "data"}


def memory_of(settings: Mapping[str, str]) -> str:
    """What a server was given by `memory_settings`."""
    return settings["shared_buffers"] if DIRECT in settings else PROFILE_MEMORY


@dataclass(frozen=True, slots=True)
class Durability:
    """A profile: its name on the command line and in `run.json`, and what a crash may cost with it."""

    name: str
    # Those that differ between profiles; a server may have a stronger value than `on`.
    crash_settings: Mapping[str, str] = field(repr=False, hash=False)
    # Unlogged tables are empty after a crash.
    logged_tables: bool

    def __str__(self) -> str:
        return self.name

    @property
    def settings(self) -> dict[str, str]:
        """Every setting, by name."""
        return {**COMMON, **self.crash_settings}

    @property
    def keeps_commits(self) -> bool:
        """Whether everything that was committed is there after a crash."""
        return self.logged_tables and "off" not in self.crash_settings.values()

    def switched_off(self, settings: Mapping[str, str]) -> list[str]:
        """The settings that this durability rests on and that a server does not have."""
        return [name for name, value in self.crash_settings.items() if value != "off" and settings[name] == "off"]


OFF = Durability("off", {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}, logged_tables=False)
ON = Durability("on", {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}, logged_tables=True)
# By name, from the weakest promise to the strongest.
DURABILITIES = MappingProxyType({durability.name: durability for durability in (OFF, ON)})


def read_settings(connection: Connection) -> dict[str, str]:
    """What the server has for each setting of a profile, in the profile's spelling; and how it reads, if directly."""
    rows = execute(
        connection,
        "SELECT lower(name), current_setting(name) FROM pg_catalog.pg_settings"
        " WHERE lower(name) = ANY(:names) OR (name = :direct AND setting <> '')",
        names=list(OFF.settings),
        direct=DIRECT,
    )
    return dict(rows.all())


def durability_of(settings: Mapping[str, str]) -> Durability:
    """The strongest promise that a server can keep, whoever chose the settings."""
    return [durability for durability in DURABILITIES.values() if not durability.switched_off(settings)][-1]


def files_stay_whole(settings: Mapping[str, str]) -> bool:
    """Whether the files of a server are whole after its machine has failed."""
    return all(settings[name] == "on" for name in ("fsync", "full_page_writes"))


def differences(settings: Mapping[str, str], durability: Durability) -> dict[str, str]:
    """The settings that are not as in the profile, with the profile's values."""
    profile = {**durability.settings, **({DIRECT: ""} if DIRECT in settings else {})}
    return {name: value for name, value in profile.items() if settings[name] != value}


def adopt_profile(connection: Connection, durability: Durability) -> None:
    """Set for this session what a session of this user may set."""
    wanted = durability.settings
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


def alter_system(connection: Connection, durability: Durability) -> list[str]:
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


def check_durability(connection: Connection, server: str, durability: Durability) -> None:
    """Refuse a server that cannot keep what a run promises."""
    settings = read_settings(connection)
    if off := durability.switched_off(settings):
        raise Refusal(
            f"PostgreSQL at {server} runs with {', '.join(off)} off, so --durability {durability} would measure "
            f"nothing; switch on what is off there, or run with --durability {durability_of(settings)}"
        )


def after_a_crash(settings: Mapping[str, str], logged: bool) -> str:
    """What is left of a run when its server has crashed, in words."""
    if not logged:
        tables = "the run's tables are empty"
    elif durability_of(settings).keeps_commits:
        tables = "everything committed is there"
    else:
        tables = "what was committed last may be missing"
    if files_stay_whole(settings):
        return tables
    return f"{tables}; if the machine fails, all data of the server may be damaged"
