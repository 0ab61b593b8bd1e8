"""Some of the planted faults of `make mutants`: the judge and the traces catch them, and blame nobody else."""

from __future__ import annotations

from collections import Counter

import pytest

from polling_baseline.engines.sqlite.statements import FOLDER
from tests.conftest import shared_spark
from tests.mutants.engine_faults import FAULTS
from tests.mutants.trial import passes, small_world, try_fault

# One of each rule.
CHOSEN = {fault.rule: fault for fault in reversed(FAULTS) if fault.reason is None}.values()


@pytest.fixture(scope="module")
def world(own_environment, tmp_path_factory):
    with small_world(shared_spark(), tmp_path_factory.mktemp("mutants"), seeds=[0]) as world:
        yield world


def test_right_answers_pass(world):
    assert passes(world, sum(world.answers.values(), Counter()))


@pytest.mark.parametrize("fault", CHOSEN, ids=lambda fault: f"rule {fault.rule}: {fault.name}")
def test_a_fault_is_caught(world, fault):
    result = try_fault(world, fault)
    assert result.judge and result.traces


def test_every_fault_can_be_planted():
    """At least sixty kinds; each text is still where it is replaced, and no two faults share a name."""
    names = [(fault.rule, fault.name) for fault in FAULTS]
    assert len(set(names)) == len(names) >= 60
    assert {fault.rule for fault in FAULTS} == set(range(1, 13))
    for fault in FAULTS:
        assert all(text in sql_file(name).read_text() for name, text, _ in fault.edits), fault.name


def sql_file(name):
    [file] = FOLDER.glob(f"[0-9][0-9][0-9]_{name}.sql")
    return file
