"""Schema `lr` is built anew by every install, in one transaction; nothing else is touched."""

from __future__ import annotations

import pytest

from polling_baseline.database import install as module
from polling_baseline.database.designs import DESIGNS
from polling_baseline.database.install import install, source
from polling_baseline.database.session import execute, execute_script, transaction
from polling_baseline.database.settings import OFF, ON
from polling_baseline.refusal import Refusal


@pytest.fixture
def connection(database):
    with database.open() as connection:
        yield connection


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A small project in place of ours."""
    monkeypatch.setattr(module, "ROOT", tmp_path)
    for folder in (
        "sql",
        "stored_procs/functions/deep",
        "stored_procs/procedures",
        "stored_procs/triggers/row",
        "sql/designs/ring",
        "sql/designs/2004/keep",
        "stored_procs/designs/ring",
        "stored_procs/designs/merge",
    ):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sql/010_schema.sql").write_text("CREATE SCHEMA lr;")
    (tmp_path / "sql/020_road.sql").write_text("CREATE UNLOGGED TABLE lr.road (share text DEFAULT '50%');")
    (tmp_path / "stored_procs/functions/a.sql").write_text(
        "CREATE FUNCTION lr.a() RETURNS integer LANGUAGE sql AS $$ SELECT lr.b() $$;"
    )
    (tmp_path / "stored_procs/functions/deep/b.sql").write_text(
        "CREATE FUNCTION lr.b() RETURNS integer LANGUAGE sql AS $$ SELECT 7 $$;"
    )
    (tmp_path / "sql/designs/ring/010_ring.sql").write_text("CREATE UNLOGGED TABLE lr.ring ();")
    (tmp_path / "sql/designs/2004/010_vehicle.sql").write_text("CREATE UNLOGGED TABLE lr.vehicle ();")
    (tmp_path / "sql/designs/2004/keep/run.sql").write_text("CREATE UNLOGGED TABLE lr.kept ();")
    (tmp_path / "stored_procs/designs/merge/a.sql").write_text(
        "CREATE OR REPLACE FUNCTION lr.a() RETURNS integer LANGUAGE sql AS $$ SELECT 8 $$;"
    )
    (tmp_path / "stored_procs/triggers/row/c.sql").write_text("CREATE TABLE lr.only_with_triggers ();")
    return tmp_path


def rows(connection, query):
    with transaction(connection):
        return execute(connection, query).fetchall()


def kinds(connection):
    query = "SELECT relname, relpersistence FROM pg_class WHERE relnamespace = 'lr'::regnamespace"
    return dict(map(tuple, rows(connection, query)))


def test_schema_has_a_comment(sql):
    [(comment,)] = sql("SELECT obj_description('lr'::regnamespace)")
    assert "rebuilt" in comment


def test_again_gives_the_same_and_leaves_history(connection):
    with transaction(connection):
        execute_script(connection, "CREATE TABLE lr.left_over (); CREATE TABLE lr_history.kept ()")
    install(connection)
    assert "left_over" not in kinds(connection)
    assert rows(connection, "SELECT to_regclass('lr_history.kept') IS NOT NULL") == [(True,)]


@pytest.mark.parametrize(("durability", "persistence"), [(OFF, "u"), (ON, "p")])
def test_tables_are_logged_only_with_durability(connection, sources, durability, persistence):
    install(connection, durability=durability)
    assert kinds(connection) == {"road": persistence, "ring": persistence}


def test_routines_may_call_later_ones(connection, sources):
    install(connection)
    assert rows(connection, "SELECT lr.a()") == [(7,)]


def test_triggers_come_on_demand(connection, sources):
    install(connection, triggers="row")
    assert "only_with_triggers" in kinds(connection)


@pytest.mark.parametrize(
    ("design", "options", "tables", "a"),
    [
        pytest.param("ring", {}, {"ring"}, 7, id="the-default"),
        pytest.param("2004", {}, {"vehicle", "kept"}, 7, id="the-default-of-an-option"),
        pytest.param("2004", {"keep": "minutes"}, {"vehicle"}, 7, id="a-value-without-a-file"),
        pytest.param("merge", {}, {"vehicle"}, 8, id="what-comes-later-replaces"),
    ],
)
def test_a_design_has_files_of_its_own(connection, sources, design, options, tables, a):
    install(connection, design=design, options=options)
    assert kinds(connection).keys() == {"road", *tables}
    assert rows(connection, "SELECT lr.a()") == [(a,)]


@pytest.mark.parametrize("design", DESIGNS)
def test_a_design_with_durability_has_logged_tables_only(connection, design):
    install(connection, design=design, durability=ON)
    assert set(kinds(connection).values()) == {"p"}


def test_an_unknown_design_is_refused(connection):
    with pytest.raises(Refusal, match="no design 1999 of System X; there are 2004, cursor, subquery, merge, ring"):
        install(connection, design="1999")


def test_a_failed_install_changes_nothing_and_names_the_file(connection, sources):
    install(connection)
    (sources / "sql/030_bad.sql").write_text("CREATE TABEL lr.bad ();")
    with pytest.raises(RuntimeError, match=r"^sql/030_bad\.sql: syntax error"):
        install(connection)
    assert kinds(connection) == {"road": "u", "ring": "u"}


def test_source_changes_only_the_creation_of_tables(sources):
    (sources / "x.sql").write_text("CREATE UNLOGGED TABLE a (); -- UNLOGGED is faster")
    assert source(sources / "x.sql", logged_tables=True) == "CREATE TABLE a (); -- UNLOGGED is faster"


def test_a_schema_in_use_is_refused(connection, database, sources, monkeypatch):
    install(connection)
    monkeypatch.setattr(module, "LOCK_TIMEOUT_S", 1)
    with database.open() as other:
        execute(other, "SELECT share FROM lr.road")
        with pytest.raises(Refusal, match="another program uses schema lr"):
            install(connection)


def test_a_user_without_rights_is_refused(connection, sources):
    with transaction(connection):
        execute_script(connection, "DROP SCHEMA lr CASCADE; CREATE ROLE guest; SET SESSION AUTHORIZATION guest")
    with pytest.raises(Refusal, match="may not build schema lr"):
        install(connection)
    with transaction(connection):
        execute_script(connection, "RESET SESSION AUTHORIZATION; DROP ROLE guest")
