"""The shape of `run.json`: all that a run says about itself.  `docs/files.md` explains each key."""

from __future__ import annotations

from typing import TypedDict

from driver.dataset.relabel import DatasetLabel
from polling_baseline.database.connection import ServerLabel


class _Machine(TypedDict):
    cores: int
    memory_gb: float
    system: str


class Machine(_Machine, total=False):
    """The hardware and what it was doing; runs of earlier versions, and some systems, do not say all of it."""

    cpu: str
    # The fastest core's, at the start.
    mhz: int
    # File system and device that the state folder lies on: the embedded server writes there.
    disk: str
    kernel: str
    # The mean of the last minute, and the cores that other programs kept busy; both at the start.
    load: float
    others_cores: float


class EngineFacts(TypedDict, total=False):
    """What an engine says of itself; each has some of these, and may have more."""

    PostgreSQL: str
    DuckDB: str
    # The file that holds the state of a run on DuckDB with durability, and its size with its log.
    database: str
    database_bytes: int
    SQLite: str
    # A foreign system: its command or its address, and the lines of input that it got.
    system: str
    lines: int
    server: ServerLabel
    # Those in force, of the profile's.
    settings: dict[str, str]
    # Logged or unlogged.
    tables: str
    # What a crash of the server would have cost.
    after_a_crash: str
    durability: str
    wal_bytes: int
    dead_rows: int
    dead_rows_left: int
    autovacuums: int
    driver: str
    token: str
    wal_start: int
    peak_bytes: int
    shed_tuples: int
    # Of aurora, by kind of answer: what the graphs of quality of service say of the answers given.
    utility: dict[str, float]
    Spark: str
    master: str
    shards: int
    # Seconds of input before the clock started.
    warm_up_s: int
    # The folder with the state of a run on Spark, and its size; queries started again after a failure, micro-batches
    # that Spark repeated and the sink dropped, executors that died.
    checkpoint: str
    checkpoint_bytes: int
    restarts: int
    repeated_batches: int
    executors_lost: int
    # Options of aurora in force.
    train_size: int
    shed: str
    order: str
    headroom: float


class _Environment(TypedDict):
    started: str
    commit: str | None
    machine: Machine
    python: str
    packages: dict[str, str]
    engine: EngineFacts


class Environment(_Environment, total=False):
    # Whether the checkout had changes that no commit has.
    dirty: bool


# Response times in seconds; without answers there are none.
Times = TypedDict("Times", {"p50": float, "p90": float, "p99": float, "p99.9": float, "max": float}, total=False)


class _AnswerCounts(TypedDict):
    received: int
    late: int
    limit_s: float


class AnswerSummary(_AnswerCounts, Times, total=False):
    """One kind of answer; `histogram` has the upper end of each class in seconds, and its count."""

    histogram: list[list[float]]


class MinuteTimes(TypedDict):
    received: int
    p50: float
    p99: float
    max: float


class _MinuteCounts(TypedDict):
    minute: int
    rows: int
    cycles: int
    busy_s: float
    backlog_s: int


class MinuteSummary(_MinuteCounts, total=False):
    """One minute of the input: its cycles, and the response times of each kind of answer that it has."""

    toll: MinuteTimes
    accident: MinuteTimes
    balance: MinuteTimes
    expenditure: MinuteTimes
    travel_time: MinuteTimes


class _CycleCount(TypedDict):
    count: int


class CycleSummary(_CycleCount, total=False):
    mean_ms: float
    p99_ms: float
    max_ms: float
    of_several_seconds: int
    largest_backlog_s: int
    steps_mean_ms: dict[str, float]


class _FeedRows(TypedDict):
    rows: int


class FeedSummary(_FeedRows, total=False):
    peak_rows_per_s: int
    lag_p99_ms: float
    lag_max_ms: float
    busy_s: float
    driver_s: float


_OutageSpan = TypedDict("_OutageSpan", {"from": float, "until": float, "seconds": float, "reason": str, "resumed": str})


class Outage(_OutageSpan, total=False):
    """Between the last sign of life of a run that was killed and its resumption, on the run's clock."""

    late_answers: int


class _RunOptions(TypedDict):
    dataset: str
    engine: str
    clock: str
    period_s: float
    workers: int
    durability: str
    from_minute: int
    to_minute: int


class RunOptions(_RunOptions, total=False):
    """The options of a run, as RunConfig explains them."""

    engine_options: dict[str, str]
    xways: float | None
    catch_up: bool
    ignore: list[str]
    slower: float
    stop_when_late: bool
    warm_up_s: int
    limits: dict[str, float]


class Measurements(TypedDict, total=False):
    """What is known when the run has ended."""

    answers: dict[str, AnswerSummary]
    minutes: list[MinuteSummary]
    cycles: CycleSummary
    feed: FeedSummary


class _RunBegun(TypedDict):
    format: int
    # running, complete, late, interrupted or broken
    state: str
    config: RunOptions
    dataset: DatasetLabel
    environment: Environment


class RunJson(_RunBegun, Measurements, total=False):
    """`run.json`, which a run writes when it begins and when it ends."""

    reason: str
    # PASS or FAIL, once the run was judged.
    verdict: str
    # When the run's clock showed 0, in seconds of Unix.
    zero_at: float
    # The first and the last second that were answered.
    covered: list[int | None]
    outages: list[Outage]
    # How long the run took in a rating, in seconds.
    took_s: float
