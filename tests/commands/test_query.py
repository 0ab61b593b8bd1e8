"""`lrb query`: a question to the database beside a run; read-only, in time, in three forms."""

from __future__ import annotations

import csv
import io
import json
import re
import time

import pytest

from driver.cli import main
from tests.conftest import refused


@pytest.fixture
def query(server, database, capsys):
    """`query("SELECT 1", "--csv")` on a database with an installed run: exit status, stdout, stderr."""

    def run(sql, *options):
        status = main(["query", sql, "--database", database.parameters["dbname"], *options])
        return status, *capsys.readouterr()

    return run


def test_three_forms(query):
    sql = "SELECT 1 AS one, NULL AS none, 'a, ''b''' AS text, 2.50::numeric AS two, 10 %% 3 AS rest".replace("%%", "%")
    status, out, _ = query(sql)
    assert (status, out.splitlines()) == (
        0,
        [
            "one   none   text      two   rest",
            "---   ----   ------   ----   ----",
            "  1          a, 'b'   2.50      1",
        ],
    )
    _, out, _ = query(sql, "--csv")
    assert list(csv.reader(io.StringIO(out))) == [
        ["one", "none", "text", "two", "rest"],
        ["1", "", "a, 'b'", "2.50", "1"],
    ]
    _, out, _ = query(sql, "--json")
    assert json.loads(out) == [{"one": 1, "none": None, "text": "a, 'b'", "two": 2.5, "rest": 1}]
    assert query("SELECT FROM lr.cycle WHERE FALSE", "--json")[1] == "[]\n"


def test_a_table_is_cut_and_csv_is_not(query):
    many = "SELECT number FROM generate_series(1, 1500) AS number"
    _, out, err = query(many)
    assert (len(out.splitlines()), "there are more rows" in err) == (1002, True)
    _, out, err = query(many, "--csv")
    assert (len(out.splitlines()), err) == (1501, "")


def test_the_state_of_a_run_and_its_history_can_be_read(query):
    for table in ("lr.vehicle", "lr.ring_000", "lr.cycle_step", "lr_history.toll_history"):
        assert query(f"SELECT count(*) FROM {table}", "--json")[:2] == (0, '[{"count": 0}]\n')
    assert query("EXPLAIN SELECT 1")[0] == 0


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM lr.vehicle",
        "TRUNCATE lr.cycle",
        "CALL lr.clear_cycle()",
        "CREATE TABLE lr.mine (id integer)",
        "CREATE TEMPORARY TABLE mine (id integer)",
        "COMMIT; BEGIN READ WRITE; DELETE FROM lr.vehicle",
        "RESET ROLE; SET TRANSACTION READ WRITE; DROP SCHEMA lr CASCADE",
        "SET ROLE postgres",
        "COPY lr.cycle TO PROGRAM 'true'",
        "COMMIT; ALTER ROLE lr_reader SET statement_timeout = 0",
        "ALTER ROLE lr_reader PASSWORD 'mine'",
        "SELECT 1; COMMIT; SET statement_timeout = 0; SELECT pg_sleep(600)",
        "WITH gone AS (DELETE FROM lr.vehicle RETURNING *) SELECT * FROM gone",
        "SELECT query_to_xml('ALTER ROLE lr_reader RESET ALL', TRUE, TRUE, '')",
        "SELECT set_config('transaction_read_only', 'off', FALSE)",
        "",
    ],
)
def test_nothing_can_be_changed(query, sql):
    status, out, err = query(sql)
    assert (status, out) == (1, "")
    assert re.search(
        "permission denied|read-only transaction|read-write mode|is no single question|not allowed in", err
    )
    assert query("SELECT count(*) FROM pg_namespace WHERE nspname = 'lr'", "--json")[1] == '[{"count": 1}]\n'


def test_a_slow_query_is_stopped(query):
    begun_at = time.monotonic()
    status, _, err = query("SELECT pg_sleep(60)", "--timeout", "0.2")
    assert (status, "took more than 0.2 s and was stopped; --timeout" in err) == (1, True)
    assert time.monotonic() - begun_at < 30


def test_refusals(query, lrb):
    assert 'syntax error at or near "lr", at "lr.vehicle"' in query("SELECT 1 FRM lr.vehicle")[2]
    assert "--timeout must be" in refused(lrb("query", "SELECT 1", "--timeout", "0"))
