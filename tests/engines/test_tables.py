"""The judge and the tables of Spark say the same: a second opinion on all traces, random roads, mutants and readings.

One data set has them all, so that the tables, which are slow, are computed once.
"""

from __future__ import annotations

from functools import partial

import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F

from driver.run.verdict import FAULTS
from driver.validate.answers import write_tables
from driver.validate.judge import Question, judged, reference_for
from driver.validate.reading import Reading
from polling_baseline import spec
from tests.conftest import shared_spark
from tests.engines.lenient_readings import cleared_early, cleared_road, minutes, readings
from tests.engines.test_mutations import all_roads, in_time, read
from tests.engines.test_reference import random_road
from tests.support.one_dataset import one_dataset, output_line
from tests.support.tables import reference
from tests.support.tables.accidents import stops_of
from tests.support.tables.packed import SPOT, dir_at, part, seg_at, xway_at
from tests.support.tables.verdict import opinion_of

SEEDS = range(100, 108)
ALL = range(spec.RUN_SECONDS)
# So many roads on which accidents end a minute earlier that this reading fits all better.
CLEARED = 27
ODD = ["", "  ", "7,1,2,3", "0,1,2,3.000,x,0", "3,7,7.000,1", "0,1,30,30.5,,0", "1, 30 ,30.5,+7,25", "4,1,1e2,2,3,4,5"]


def written(said, folder):
    """A data set of some roads, and the output that has what is said of each."""
    dataset, by_road = one_dataset([road for road, _ in said], folder / "road")
    pairs = [pair for (_, say), answers in zip(said, by_road, strict=True) for pair in say(answers)]
    output = folder / "output.csv"
    output.write_text("\n".join([*(output_line(*pair) for pair in reversed(pairs)), *ODD]) + "\n")
    return dataset, output


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """All traces, random roads and mutants, and an output with every fault there is."""
    said = [(road, lambda answers, mutate=mutate: mutate(answers)[0]) for _, road, mutate in all_roads()]
    said += [(random_road(seed), delayed) for seed in SEEDS]
    return written(said, tmp_path_factory.mktemp("tables"))


def delayed(answers):
    return [(answer, ms + 1000 * (number % 9)) for number, (answer, ms) in enumerate(in_time(answers))]


@pytest.fixture(scope="module")
def tables(own_environment, world):
    with reference(shared_spark(), world[0], ALL) as tables:
        yield tables


def check(spark, tables, question):
    """Both say the same of it; the tables' opinion."""
    opinion = opinion_of(tables, question)
    with judged(spark, question) as judgement:
        verdict = judgement.verdict
    assert verdict["answers"] == opinion.answers
    assert verdict["accidents_end"] == opinion.accidents_end
    assert {name: verdict["lines"][name] for name in opinion.lines} == opinion.lines
    return opinion


def test_one_verdict(spark, world, tables):
    opinion = check(spark, tables, Question(*world, ALL))
    faults = {name for counts in opinion.answers.values() for name in FAULTS if counts[name]}
    assert faults == set(FAULTS) and opinion.accidents_end == "specification"


def test_one_lenient_verdict(spark, tmp_path):
    """All lenient readings, what comes near them, and accidents that end a minute earlier, on some expressways."""
    early = partial(cleared_early, tolls=True, alerts=True)
    said = [(cleared_road(), lambda answers: in_time(early(answers)))] * CLEARED
    said += [(case.road, partial(read, case)) for case in (*minutes(), *readings())]
    dataset, output = written(said, tmp_path)
    reading = Reading(lenient=True, in_minutes=True)
    with reference(spark, dataset, ALL) as tables:
        question = Question(dataset, output, ALL, xways=tuple(sorted(dataset.traffic)[1:]), reading=reading)
        opinion = check(spark, tables, question)
    assert opinion.accidents_end == "a minute earlier"
    assert all(opinion.answers[kind]["lenient"] for kind in ("toll", "accident", "balance", "travel_time"))


def test_one_set_of_tables(spark, world, tables, tmp_path):
    """What the answers rest on."""
    dataset, output = world
    with reference_for(spark, Question(dataset, output, ALL)) as right:
        write_tables(right, tmp_path)
    place = {name: at(F.col("place")) for name, at in (("xway", xway_at), ("dir", dir_at), ("seg", seg_at))}
    spot = {name: part(F.col("spot"), name) for name in SPOT}
    expected = {
        "segment_minute": tables.statistics.withColumns(place).select(*place, "minute", "cars", "lav", "toll"),
        "stop": stops_of(tables.steps).withColumns(spot).select("vehicle_id", *spot, "second", "until_second"),
        "accident": tables.accidents,
        "assessment": tables.assessments,
    }
    for name, table in expected.items():
        found = pq.read_table(tmp_path / name)
        assert found.column_names == table.columns
        rows = sorted(zip(*found.to_pydict().values(), strict=True))
        assert rows == sorted(map(tuple, table.collect())), name
