"""Servers that are given, or are not there; and no password in any text."""

from __future__ import annotations

import gc
import traceback
from contextlib import closing

import psycopg2
import pytest

from polling_baseline.database.connection import Target, given_target
from polling_baseline.database.embedded.server import status
from polling_baseline.database.session import driver, execute
from tests.conftest import refused


def test_loopback_port_wants_the_password(lrb, installed, free_port):
    done = lrb("db", "start", "--port", free_port)
    running = status()
    password = running.home.password.read_text().strip()
    assert f"127.0.0.1:{free_port}" in done.stdout
    assert password not in done.stdout + done.stderr
    dsn = f"postgresql://postgres@127.0.0.1:{free_port}/postgres"

    done = lrb("db", "status", "--dsn", dsn, PGPASSWORD=password)
    assert done.returncode == 0, done.stderr
    assert f"127.0.0.1:{free_port}" in done.stdout

    sentence = refused(lrb("db", "status", "--dsn", dsn.replace("@", ":mistaken@")))
    assert f"PostgreSQL at 127.0.0.1:{free_port} refused the password of postgres" in sentence
    assert "mistaken" not in sentence
    assert "refused the password" in refused(lrb("db", "status", "--dsn", dsn))

    with_password = dsn.replace("@", f":{password}@")
    sentence = refused(lrb("db", "status", "--dsn", with_password + "_missing"))
    assert "has no database postgres_missing" in sentence
    assert password not in sentence

    done = lrb("db", "status", PGHOST="127.0.0.1", PGPORT=free_port, PGUSER="postgres", PGPASSWORD=password)
    assert (done.returncode, password in done.stdout) == (0, False)
    done = lrb("db", "shell", "--dsn", with_password, "--", "-Atc", "SELECT 1")
    assert done.stdout == "1\n"
    assert password not in running.home.log.read_text()


def test_an_unreachable_server(lrb, free_port):
    sentence = refused(lrb("db", "status", "--dsn", f"host=localhost port={free_port} password=secret"))
    assert f"cannot reach PostgreSQL at localhost:{free_port}; start it, correct --dsn, or leave out --dsn" in sentence
    assert "secret" not in sentence
    assert "cannot reach PostgreSQL at no.such.host.invalid:5432" in refused(
        lrb("db", "status", PGHOST="no.such.host.invalid")
    )


@pytest.mark.parametrize(
    ("dsn", "named"),
    [
        ("host=localhost", True),
        ("postgresql://127.0.0.1:5432/lr", True),
        ("host=localhost port=5433", False),
        ("host=db.example", False),
        ("dbname=lr", False),
    ],
)
def test_compose_is_named_where_it_would_be(dsn, named):
    assert ("docker compose up" in str(given_target(dsn)._refusal("Connection refused"))) is named


@pytest.mark.parametrize("dsn", ["secret", "postgresql://a:secret@[::1", "password=secret colour=red"])
def test_a_dsn_that_is_none(lrb, dsn):
    sentence = refused(lrb("db", "status", "--dsn", dsn))
    assert "neither a URL" in sentence
    assert "secret" not in sentence


def test_no_text_of_a_target_shows_its_password():
    target = given_target("postgresql://me:secret@example.org/road")
    assert target.sqlalchemy_url.password == "secret"
    assert "secret" not in f"{target} {target!r} {target.label} {target.sqlalchemy_url} {target.psql[0]}"


@pytest.mark.parametrize(
    ("dsn", "host", "port", "query"),
    [
        ("host=db.example port=5433", "db.example", 5433, {}),
        ("host=/run/socket port=5433", None, None, {"host": "/run/socket", "port": "5433"}),
        ("host=a,b port=1,2", None, None, {"host": "a,b", "port": "1,2"}),
        (
            "host=a port='no number' sslmode=require",
            None,
            None,
            {"host": "a", "port": "no number", "sslmode": "require"},
        ),
    ],
)
def test_what_a_url_cannot_say_stands_in_its_query(dsn, host, port, query):
    url = given_target(dsn).sqlalchemy_url
    assert (url.host, url.port, dict(url.query)) == (host, port, query)


def test_sqlalchemy_reaches_the_same_server(server):
    with server.target.open() as session:
        assert execute(session, "SELECT current_setting('data_directory')").scalar_one() == str(server.home.data)
        assert execute(session, "SELECT current_setting('application_name')").scalar_one() == "lrb"
    named = Target({**server.target.parameters, "application_name": "mine"})
    with named.open() as session:
        assert execute(session, "SELECT current_setting('application_name')").scalar_one() == "mine"


def test_closing_a_session_ends_it(server):
    with server.target.open() as session:
        connection = driver(session)
    assert connection.closed
    # The driver's own connection lives on without the session that it came from.
    with closing(server.target.connect()) as connection, connection.cursor() as cursor:
        gc.collect()
        cursor.execute("SELECT 7")
        assert cursor.fetchone() == (7,)


def test_an_error_is_that_of_the_driver(server):
    """SQLAlchemy's own would repeat the statement and its values."""
    statement = "SELECT no_such_column WHERE 'many' > :value"
    with server.target.open() as session, pytest.raises(psycopg2.errors.UndefinedColumn) as caught:
        execute(session, statement, value="few")
    said = "".join(traceback.format_exception(caught.value))
    assert 'column "no_such_column" does not exist' in said
    assert "[SQL:" not in said and "[parameters:" not in said


def test_a_session_that_the_server_has_ended(server):
    with closing(server.target.connect()) as other, other.cursor() as cursor, server.target.open() as session:
        cursor.execute("SELECT pg_terminate_backend(%s)", (driver(session).info.backend_pid,))
        with pytest.raises(psycopg2.OperationalError):
            execute(session, "SELECT 7")


def test_a_pool_has_as_many_sessions_as_it_was_asked_for(server):
    from sqlalchemy.exc import TimeoutError as NoneLeft

    engine = server.target.engine(2)
    engine.pool._timeout = 0
    sessions = [server.target.open(engine) for _ in range(2)]
    with pytest.raises(NoneLeft):
        server.target.open(engine)
    for session in sessions:
        session.close()
    engine.dispose()


def test_an_embedded_server_that_is_gone(server):
    target = Target({**server.target.parameters, "port": "1"}, embedded=True)
    with pytest.raises(Exception, match='start it with "lrb db start"') as caught:
        target.connect()
    assert not isinstance(caught.value, psycopg2.Error)
