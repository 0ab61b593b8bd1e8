"""The right answers: against answers worked out by hand, a naive reading of the rules, and the polling engine.

One data set has all traces and many random roads side by side; one judgement looks at all of it.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import chain

import numpy as np
import pyarrow.parquet as pq
import pytest

from driver.run.limits import limits_in_force
from driver.validate.answers import write_answers, write_balances
from driver.validate.judge import Question, judged
from driver.validate.overview import Measure, differing_cells, overview_of
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS
from tests import traces
from tests.conftest import shared_spark
from tests.engines import feeding
from tests.engines.lenient_readings import trace_road
from tests.support import oracle
from tests.support.one_dataset import TIME_AT, Road, one_dataset, output_line
from tests.support.random_road import random_history, random_lines

SEEDS = range(100, 120)
WORKERS, LONGEST_S = 1, 29
RESPONSE_MS = 500


def random_road(seed):
    lines = random_lines(seed)
    history = random_history(seed)
    return Road(lines, *history, oracle.answers(lines, *history))


@pytest.fixture(scope="module")
def all_roads(tmp_path_factory):
    """The data set, its input lines, and the right answers of each road by name."""
    roads = {name: trace_road(name) for name in traces.NAMES} | {f"seed {seed}": random_road(seed) for seed in SEEDS}
    dataset, answers = one_dataset(list(roads.values()), tmp_path_factory.mktemp("roads") / "road")
    lines = sorted(chain.from_iterable(map(rows, dataset.traffic.values())), key=lambda line: line[1])
    return dataset, lines, dict(zip(roads, answers, strict=True))


def rows(path):
    return list(zip(*pq.read_table(path).to_pydict().values(), strict=True))


@pytest.fixture(scope="module")
def judgement(own_environment, history_database, all_roads):
    """What the judge says of the polling engine's answers, and the reference that it says it by."""
    dataset, lines, _ = all_roads
    history = [list(chain.from_iterable(map(rows, files))) for files in (dataset.toll_history, dataset.segment_history)]
    road = feeding.Road(lines, {row[:3]: row[3] for row in history[0]}, history[1])
    said = feeding.answers_of(feeding.polling_on(history_database), road, WORKERS, LONGEST_S).elements()
    output = dataset.path.parent / "output.csv"
    timed = [output_line(answer, 1000 * answer[TIME_AT[answer[0]]] + RESPONSE_MS) for answer in said]
    output.write_text("\n".join(timed) + "\n")
    with judged(shared_spark(), Question(dataset, output, range(spec.RUN_SECONDS))) as judgement:
        yield judgement


def test_reference_is_right(judgement, all_roads, tmp_path):
    """By hand for the traces, by the naive reading for random roads."""
    _, _, by_road = all_roads
    write_answers(judgement.right, None, tmp_path / "right.csv")
    lines = (tmp_path / "right.csv").read_text().splitlines()
    came = Counter(traces.without_emit(line.split(",")) for line in lines)
    missing = {name: set(answers) - set(came) for name, answers in by_road.items()}
    assert {name: sorted(answers)[:5] for name, answers in missing.items() if answers} == {}
    assert came == Counter(chain.from_iterable(by_road.values()))
    times = [int(line.split(",")[TIME_AT[int(line[0])]]) for line in lines]
    assert times == sorted(times)


def test_all_admissible_balances(judgement, all_roads, tmp_path):
    _, lines, _ = all_roads
    write_balances(judgement.right, None, tmp_path / "balances.csv")
    given = defaultdict(dict)
    for line in (tmp_path / "balances.csv").read_text().splitlines()[1:]:
        second, query_id, _, first, last, balance = map(int, line.split(","))
        given[second, query_id].update(dict.fromkeys(range(first, last + 1), balance))
    assert dict(given) == {
        (second, query_id): balances for second, query_id, balances in oracle.admissible_balances(lines)
    }


def test_polling_engine_passes(judgement, all_roads):
    """It agrees with the reference completely, on every trace and every random road."""
    _, _, by_road = all_roads
    facts = judgement.verdict
    expected = Counter(spec.ANSWERS[answer[0]] for answer in chain.from_iterable(by_road.values()))
    assert facts["verdict"] == "PASS", facts
    assert {kind: answers["received"] for kind, answers in facts["answers"].items()} == expected
    assert {answers["max"] for answers in facts["answers"].values()} == {RESPONSE_MS / 1000}


@pytest.mark.parametrize("kind", range(len(spec.ANSWERS)))
def test_each_change_of_an_answer_is_seen(judgement, tmp_path, kind):
    """Each field of some answers in turn, but for Emit; an answer too few, and one too many."""
    right = judgement.right
    lines = judgement.question.output.read_text().splitlines()
    emit = ANSWER_KINDS[spec.ANSWERS[kind]].fields.index("emit")
    at = [number for number, line in enumerate(lines) if line.startswith(f"{kind},")]

    def differing(changed):
        output = tmp_path / "output.csv"
        output.write_text("\n".join(changed) + "\n")
        overview = overview_of(
            Measure(right.dataset, right.seed, right.accounts, limits_in_force()), output, 0, sys.maxsize
        )
        return {(kind, place) for kind, place in np.argwhere(differing_cells(right, overview)).tolist()}

    # Two requests with the same QID and Time are always looked at.
    usual = differing(lines)
    assert {kind for kind, _ in usual} <= {2, 3, 4}
    for number in (at[0], at[len(at) // 2], at[-1]):
        fields = lines[number].split(",")
        cell = kind, int(fields[TIME_AT[kind]]) // spec.MINUTE_S
        for place in range(1, len(fields)):
            if place != emit:
                other = [*fields[:place], str(int(fields[place]) + 1), *fields[place + 1 :]]
                assert cell in differing([*lines[:number], ",".join(other), *lines[number + 1 :]]), (fields, place)
        assert cell in differing(lines[:number] + lines[number + 1 :])
        assert cell in differing([*lines, lines[number]])
