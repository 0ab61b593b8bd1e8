"""Binary COPY in and out, on a real table."""

from __future__ import annotations

import numpy as np
import psycopg2
import pytest

from polling_baseline.database.binary_copy import BLOCK_ROWS, copy_in, copy_out

TYPES = {"small": "int16", "medium": "int32", "large": "int64"}


@pytest.fixture(autouse=True)
def table(sql):
    sql('CREATE TABLE lr."two words" (small smallint NOT NULL, medium integer, large bigint NOT NULL)')


@pytest.mark.parametrize("rows", [0, 1, 2 * BLOCK_ROWS + 1])
def test_what_goes_in_comes_out(cursor, rows):
    rng = np.random.default_rng(rows)
    columns = {
        name: rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, rows, kind, endpoint=True)
        for name, kind in TYPES.items()
    }
    assert copy_in(cursor, "lr.two words", columns) == rows
    back = copy_out(cursor, 'SELECT small, medium, large FROM lr."two words"', TYPES)
    assert list(back) == list(TYPES)
    for name, kind in TYPES.items():
        assert back[name].dtype == kind
        assert back[name].flags.c_contiguous
        assert back[name].flags.writeable
        np.testing.assert_array_equal(back[name], columns[name])


def test_int8_becomes_smallint(cursor, sql):
    copy_in(cursor, "lr.two words", {"large": np.array([7]), "small": np.array([-5], np.int8)})
    assert sql('SELECT small, medium, large FROM lr."two words"') == [(-5, None, 7)]


def test_a_wrong_width_is_an_error(cursor):
    with pytest.raises(psycopg2.errors.InvalidBinaryRepresentation):
        copy_in(cursor, "lr.two words", {"small": np.array([1], np.int32), "large": np.array([1])})


def test_a_null_is_an_error(cursor, sql):
    sql('INSERT INTO lr."two words" (small, large) VALUES (1, 2)')
    with pytest.raises(ValueError, match="none of them null"):
        copy_out(cursor, 'SELECT medium FROM lr."two words"', {"medium": "int32"})


@pytest.mark.parametrize("query", ["SELECT 1::bigint", "SELECT 1, 2", "SELECT 1::smallint"])
def test_another_type_or_number_of_columns_is_an_error(cursor, query):
    with pytest.raises(ValueError, match="1 columns"):
        copy_out(cursor, query, {"value": "int32"})
