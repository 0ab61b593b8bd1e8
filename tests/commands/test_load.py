"""`lrb load`: the right rows under the right keys, twice the same, and the old ones if it fails."""

from __future__ import annotations

from contextlib import closing, contextmanager
from itertools import product

import numpy as np
import pyarrow.parquet as pq
import pytest

from driver.cli import main
from driver.dataset.folder import (
    SEGMENT_SCHEMA,
    TOLL_SCHEMA,
    describe,
    open_dataset,
    segment_path,
    toll_path,
    write_columns,
)
from driver.history.load import load_history, loaded_identity
from polling_baseline import spec
from polling_baseline.database import claim
from polling_baseline.database.claim import claim_database
from polling_baseline.database.session import execute
from polling_baseline.refusal import Refusal

DAYS, XWAY, MINUTES, SEGMENTS = 9, 2, (1, 480, 1440), (0, 50, 99)
CELLS = 2 * len(MINUTES) * len(SEGMENTS)
# What tells that a load left nothing but the history.
SCHEMAS = "SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'lr_history%' ORDER BY 1"
SUMS = "SELECT sum(hashtextextended(average::text, 0))::text FROM lr_history.segment_average AS average"
TOLLS = "SELECT vehicle_id, day, xway, tolls FROM lr_history.toll_history ORDER BY 2, 1, 3"


def nothing(amount: float) -> None:
    pass


def make(folder, seed=42):
    """A data set with a little history: some minutes and segments of one expressway, a handful of vehicles."""
    rng = np.random.default_rng(seed)
    for week in (range(1, 8), range(8, DAYS + 1)):
        keys = np.array(list(product(week, MINUTES, [XWAY], (0, 1), SEGMENTS))).T
        numbers = rng.integers(200, size=(3, keys.shape[1]))
        write_columns(segment_path(folder, XWAY, week[0] // 7), SEGMENT_SCHEMA, [*keys, *numbers])
        days, vehicles = np.array(list(product(week, range(60)))).T
        tolls = rng.integers(200, size=len(days))
        write_columns(toll_path(folder, 0, week[0] // 7), TOLL_SCHEMA, [vehicles, days, vehicles % 2, tolls])
    counts = {"toll_history": DAYS * 60, "segment_history": DAYS * CELLS}
    describe(folder, xways=3.0, seconds=60, seed=None, counts=counts, options={})
    return open_dataset(folder)


@pytest.fixture
def dataset(tmp_path):
    return make(tmp_path / "road 1")


def load(spark, dataset, target, advance, **options):
    with closing(claim_database(target, f"load {dataset.name}")) as claimed:
        return load_history(spark, dataset, claimed, advance, **options)


@contextmanager
def queries(target):
    with closing(target.connect()) as connection, connection.cursor() as cursor:

        def query(statement, *parameters):
            cursor.execute(statement, parameters or None)
            rows = cursor.fetchall()
            connection.rollback()
            return rows

        yield query


def test_what_is_loaded(spark, dataset, database):
    steps = []
    loaded = load(spark, dataset, database, steps.append)
    assert sum(steps) == len(dataset.toll_history) + len(dataset.segment_history)
    assert (loaded.tolls, loaded.averages) == (DAYS * 60, 7 * CELLS)
    tolls = pq.read_table([str(path) for path in dataset.toll_history]).to_pandas()
    segments = pq.read_table([str(path) for path in dataset.segment_history]).to_pandas()
    segments["day_of_week"] = spec.day_of_week(segments["day"])
    with queries(database) as query:
        assert sorted(query(TOLLS)) == sorted(tolls.itertuples(index=False, name=None))
        for key in [(XWAY, 0, 1, 480, 50), (XWAY, 1, 6, 1440, 99), (XWAY, 0, 7, 1, 0)]:
            xway, direction, day_of_week, minute, seg = key
            days = segments[
                (segments.xway == xway)
                & (segments.dir == direction)
                & (segments.day_of_week == day_of_week)
                & (segments.minute == minute)
                & (segments.seg == seg)
            ]
            found = query(
                "SELECT lav_sum, cars_sum, days FROM lr_history.segment_average "
                "WHERE (xway, dir, day_of_week, minute, seg) = (%s, %s, %s, %s, %s)",
                *key,
            )
            assert found == [(days["lav"].sum(), days["cars"].sum(), len(days))]


def test_a_look_up_uses_the_key(spark, dataset, database):
    load(spark, dataset, database, nothing)
    with queries(database) as query:
        for table, key in {
            "toll_history": "vehicle_id = 1 AND day = 2 AND xway = 0",
            "segment_average": "xway = 0 AND dir = 1 AND day_of_week = 2 AND minute = 3 AND seg = 4",
        }.items():
            # So few rows fit on a page; a scan of it is cheaper than any key.
            plan = query(f"SET LOCAL enable_seqscan = off; EXPLAIN SELECT * FROM lr_history.{table} WHERE {key}")
            assert f"{table}_pkey" in " ".join(line for (line,) in plan)


def test_loading_twice_gives_the_same_and_another_replaces_it(spark, dataset, database, tmp_path):
    load(spark, dataset, database, nothing)
    with queries(database) as query:
        first = query(SUMS), query(TOLLS)
        load(spark, dataset, database, nothing)
        assert (query(SUMS), query(TOLLS)) == first
        assert query(SCHEMAS) == [("lr_history",)]
        other = make(tmp_path / "other", seed=43)
        load(spark, other, database, nothing)
        assert query(SUMS) != first[0]
        assert query("SELECT identity, name FROM lr_history.source") == [(other.identity, "other")]


@pytest.mark.parametrize(("logged", "persistence"), [(None, "u"), (False, "u"), (True, "p")])
def test_tables_are_logged_as_asked(spark, dataset, database, logged, persistence):
    load(spark, dataset, database, nothing, logged=logged)
    with queries(database) as query:
        kinds = query(
            "SELECT DISTINCT relpersistence::text FROM pg_class WHERE relnamespace = 'lr_history'::regnamespace"
        )
    assert kinds == [(persistence,)]


def test_a_load_that_fails_leaves_the_old_tables(spark, dataset, database, tmp_path):
    load(spark, dataset, database, nothing)
    damaged = make(tmp_path / "damaged", seed=43)
    file = damaged.toll_history[0]
    # The same vehicle and day twice: COPY takes it, the key does not.
    table = pq.read_table(file)
    pq.write_table(table.take([0, *range(table.num_rows)]), file)
    with queries(database) as query:
        first = query(SUMS), query(TOLLS)
        with pytest.raises(Refusal, match=r"could not create unique index.*the history that it had is unchanged"):
            load(spark, damaged, database, nothing)
        assert (query(SUMS), query(TOLLS)) == first
        assert query(SCHEMAS) == [("lr_history",)]
    file.write_bytes(b"PAR1")
    with pytest.raises(Exception, match="Parquet"):
        load(spark, damaged, database, nothing)
    with database.open() as connection:
        assert loaded_identity(connection) == dataset.identity


def test_an_interrupted_load_leaves_the_old_tables(spark, dataset, database):
    load(spark, dataset, database, nothing)

    def interrupt(amount):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(spark, dataset, database, interrupt)
    with database.open() as connection:
        assert loaded_identity(connection) == dataset.identity
    load(spark, dataset, database, nothing)


def test_two_loads_at_a_time(dataset, database, monkeypatch, capfd):
    """The second one is refused at once: before Spark starts, and before anything is replaced."""
    monkeypatch.setattr(claim, "WAIT_S", 0)
    dsn = " ".join(f"{key}='{value}'" for key, value in database.parameters.items())
    with closing(claim_database(database, "load another")):
        assert main(["load", str(dataset.path), "--dsn", dsn]) == 1
        assert "is in use by lrb load another " in capfd.readouterr().err


def test_nothing_is_loaded_yet(database):
    with database.open() as connection:
        assert loaded_identity(connection) is None
        execute(connection, "DROP SCHEMA lr_history CASCADE")
        assert loaded_identity(connection) is None


def test_command(spark, dataset, server, capfd):
    assert main(["load", str(dataset.path)]) == 0
    said = capfd.readouterr().out
    assert f"loaded     {dataset.path} into the embedded PostgreSQL" in said
    assert "540 rows in toll_history" in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(["no-such-folder"], "is not a data set; make one with lrb generate", id="no-dataset"),
        pytest.param(
            ["{road}", "--dsn", "host=127.0.0.1 port=1"], "cannot reach PostgreSQL at 127.0.0.1:1", id="server"
        ),
    ],
)
def test_refused(dataset, capsys, words, sentence):
    assert main(["load", *(word.format(road=dataset.path) for word in words)]) == 1
    assert sentence in capsys.readouterr().err
