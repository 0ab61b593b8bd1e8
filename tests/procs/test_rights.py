"""Least privilege: what lr_driver may do is what a run needs; each other attempt is refused.

Every test of the engine runs as lr_driver, so what it must be able to do is shown there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import psycopg2
import pytest

from driver.cli import main
from polling_baseline.database.claim import claim_database
from polling_baseline.database.connection import Target
from polling_baseline.database.install import ROOT, source
from polling_baseline.database.roles import DRIVER, OWNER, driver_target, missing_statements
from polling_baseline.database.settings import OFF
from polling_baseline.engines.system_x.polling import Polling
from tests import traces
from tests.engines.feeding import Answer, Road, answers_of, fill_history

Attempt = Callable[[str], None]

READ = [
    "SELECT FROM lr_history.toll_history",
    "SELECT FROM lr_history.segment_average",
    "SELECT FROM lr_history.source",
    "SELECT FROM lr.vehicle",
    "SELECT FROM lr.ring_000",
    "SELECT FROM lr_1.ring_119",
    "SELECT FROM lr.segment_toll",
    "SELECT FROM lr.position_report",
    "SELECT FROM lr.request",
    "SELECT FROM lr.run",
    "SELECT pg_read_file('postgresql.conf')",
    "COPY lr.cycle TO '/dev/null'",
]
WRITE = [
    "INSERT INTO lr.vehicle VALUES (1, 1, 0, NULL, 1000)",
    "INSERT INTO lr.toll_notification VALUES (1, 1, 1, 1)",
    "INSERT INTO lr.cycle VALUES (0, 0)",
    "INSERT INTO lr.cycle_step VALUES (0, 'minute', now(), 0)",
    "UPDATE lr.vehicle SET balance = 0",
    "UPDATE lr.position_report SET speed_mph = 0",
    "UPDATE lr_1.cycle SET until_second = 10",
    "DELETE FROM lr.toll_notification",
    "DELETE FROM lr.request",
    "TRUNCATE lr.position_report",
    "BEGIN; LOCK TABLE lr.vehicle",
]
CREATE = [
    "CREATE TABLE lr.mine ()",
    "CREATE TABLE public.mine ()",
    "CREATE TEMP TABLE mine ()",
    "CREATE SCHEMA mine",
    "CREATE FUNCTION lr.mine() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
    "CREATE OR REPLACE PROCEDURE lr.clear_cycle() LANGUAGE sql AS ''",
    "CREATE TRIGGER mine AFTER INSERT ON lr.position_report EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE ROLE mine",
    "CREATE DATABASE mine",
    "ALTER PROCEDURE lr.poll(integer, integer) SECURITY INVOKER",
    "ALTER TABLE lr.position_report ADD mine integer",
    "DROP TABLE lr.position_report",
    "DROP SCHEMA lr CASCADE",
    "GRANT SELECT ON lr.vehicle TO PUBLIC",
]
CALL = [
    "CALL lr.close_minute(1)",
    "CALL lr.track_trips(1)",
    "CALL lr.advance_vehicles(1)",
    "SELECT lr.toll_for(60, 30, FALSE)",
    "SELECT lr.sightings('{1}', 0, 1, 'lr')",
    "SET ROLE lr_owner",
    "SET SESSION AUTHORIZATION postgres",
    "ALTER SYSTEM SET fsync = off",
    "COPY (SELECT 1) TO PROGRAM 'true'",
]


@pytest.fixture(scope="module")
def driver(server, template) -> Iterator[Target]:
    """The driver's login to a database with two workers."""
    from tests.conftest import clone

    with clone(server, template) as target:
        engine = Polling(claim_database(target, "test"), 2, OFF)
        engine.install()
        engine.stop()
        login = driver_target(target)
        assert login
        yield login


@pytest.mark.parametrize("statement", [*READ, *WRITE, *CREATE, *CALL])
def test_refused(driver: Target, statement: str) -> None:
    with closing(driver.connect()) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            cursor.execute(statement)


def test_what_it_may_do(driver: Target) -> None:
    with closing(driver.connect()) as connection, connection.cursor() as cursor:
        cursor.execute("CALL lr.clear_cycle(); INSERT INTO lr.position_report VALUES (0, 1, 30, 0, 1, 0, 0, 0)")
        cursor.execute("CALL lr.poll(0, 0); SELECT vehicle_id FROM lr.toll_notification")
        assert cursor.fetchall() == [(1,)]


def test_everything_belongs_to_the_owner(driver: Target) -> None:
    with closing(driver.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT relowner::regrole FROM pg_class WHERE relnamespace IN ('lr'::regnamespace, 'lr_1'::regnamespace)"
            " UNION SELECT proowner::regrole FROM pg_proc"
            " WHERE pronamespace IN ('lr'::regnamespace, 'lr_1'::regnamespace)"
        )
        assert cursor.fetchall() == [(OWNER,)]


def test_routines_for_the_driver_have_a_path_of_their_own(driver: Target) -> None:
    """Those that lend their owner's rights, and only those, can be called."""
    with closing(driver.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname, prosecdef, 'search_path=pg_catalog, pg_temp' = ANY(proconfig)"
            " FROM pg_proc WHERE pronamespace = 'lr'::regnamespace AND has_function_privilege(%s, oid, 'EXECUTE')",
            (DRIVER,),
        )
        assert sorted(cursor.fetchall()) == [
            ("answer_balances", True, True),
            ("clear_cycle", True, True),
            ("poll", True, True),
        ]


def test_search_path_is_not_trusted(database: Target) -> None:
    """Someone's functions come first on the path, and change no answer."""
    run_as(
        database,
        "CREATE SCHEMA evil",
        "GRANT USAGE ON SCHEMA evil TO PUBLIC",
        "CREATE FUNCTION evil.floor(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 0::numeric'",
        "CREATE FUNCTION evil.format(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT 'DROP SCHEMA lr' $$",
        "CREATE FUNCTION evil.to_char(integer, text) RETURNS text LANGUAGE sql AS $$ SELECT '00' $$",
        "CREATE FUNCTION evil.less(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT TRUE'",
        "CREATE OPERATOR evil.< (LEFTARG = integer, RIGHTARG = integer, FUNCTION = evil.less)",
        "CREATE VIEW evil.pg_namespace AS SELECT 'lr_history'::name AS nspname",
    )
    trace = traces.load("fifty_one_cars")
    road = Road(trace.lines, trace.toll_history, trace.segment_history)
    hostile = {**database.parameters, "options": "-c search_path=evil,pg_catalog"}
    assert answers_on(replace(database, parameters=hostile), road, 1, 1) == Counter(trace.expected)


def answers_on(target: Target, road: Road, workers: int, longest: int) -> Counter[Answer]:
    def make_engine(road: Road, workers: int) -> Polling:
        fill_history(target, road)
        return Polling(claim_database(target, "test"), workers, OFF)

    return answers_of(make_engine, road, workers, longest)


def run_as(target: Target, *statements: str) -> None:
    with closing(target.connect()) as connection, connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def plain_user(database: Target) -> Iterator[Target]:
    """A given server's user, who may build schemas in this database and nothing else; the history is theirs."""
    name = database.parameters["dbname"]
    run_as(
        database,
        "DROP ROLE IF EXISTS plain",
        "CREATE ROLE plain LOGIN",
        f"GRANT CREATE ON DATABASE {name} TO plain",
        "DROP SCHEMA lr CASCADE",
        "DROP SCHEMA lr_history CASCADE",
    )
    given = Target({**database.parameters, "user": "plain"})
    run_as(given, *(source(file) for file in sorted((ROOT / "sql" / "history").glob("*.sql"))))
    yield given
    run_as(database, "REASSIGN OWNED BY plain TO postgres", "DROP OWNED BY plain", "DROP ROLE plain")


def test_a_given_server_without_superuser_rights(database: Target, capsys, caplog) -> None:
    trace = traces.load("three_cars")
    road, right = Road(trace.lines, {}, []), Counter(trace.expected)
    with plain_user(database) as given:
        # No roles for this user: the run has the user's rights, and says so.
        assert answers_on(given, road, 2, 10) == right
        assert "lrb db roles" in caplog.text
        assert driver_target(given) is None
        # The statements are printed, to be run by whoever may.
        with given.open() as connection:
            statements = missing_statements(connection)
        dsn = " ".join(f"{key}='{value}'" for key, value in given.parameters.items())
        capsys.readouterr()
        assert main(["db", "roles", "--dsn", dsn]) == 0
        printed = capsys.readouterr().out
        assert statements and all(f"{statement};\n" in printed for statement in statements)
        run_as(database, *statements)
        # What the user built before makes place for what lr_owner builds.
        assert answers_on(given, road, 2, 10) == right
        assert capsys.readouterr().err == ""
        login = driver_target(given)
        assert login and login.parameters["user"] == DRIVER
        run_as(database, "DROP SCHEMA lr CASCADE", "DROP SCHEMA lr_1 CASCADE")
