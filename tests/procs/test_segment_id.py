"""lr.segment_id(xway, dir, seg)"""

from __future__ import annotations

from itertools import product

import pytest

from polling_baseline.spec import EAST, MAX_XWAYS, SEGMENTS, WEST
from tests.procs.conftest import segment


@pytest.mark.parametrize("xway", [0, 1, MAX_XWAYS - 1])
@pytest.mark.parametrize("dir", [EAST, WEST])
@pytest.mark.parametrize("seg", [0, SEGMENTS - 1])
def test_segment_id(sql, xway, dir, seg):
    [(found,)] = sql("SELECT lr.segment_id(%s::smallint, %s::smallint, %s::smallint)", xway, dir, seg)
    assert found == segment(seg, dir, xway)


def test_every_segment_has_a_number_of_its_own(sql):
    places = list(product(range(3), (EAST, WEST), range(SEGMENTS)))
    query = "SELECT lr.segment_id(xway, dir, seg) FROM unnest(%s::smallint[], %s::smallint[], %s::smallint[])"
    found = sql(f"{query} AS place (xway, dir, seg)", *map(list, zip(*places, strict=True)))
    assert len(set(found)) == len(places)
