"""The settings stand in one place; compose.yaml repeats them for people who want a server of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from driver.run.config import RunConfig
from polling_baseline.database import settings
from polling_baseline.database.settings import COMMON, DURABILITIES, OFF, ON, Durability, durability_of
from polling_baseline.refusal import Refusal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def services() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def test_compose_has_the_settings_of_the_profile_off(services):
    program, *options = services["db"]["command"]
    assert program == "postgres"
    assert set(options[::2]) == {"-c"}
    assert dict(option.split("=", 1) for option in options[1::2]) == OFF.settings


def test_compose_listens_on_loopback_only(services):
    assert all(port.startswith("127.0.0.1:") for port in services["db"]["ports"])
    for name in ("spark-master", "spark-worker"):
        assert "ports" not in services[name]
        assert "--host 127.0.0.1" in services[name]["command"]


def test_compose_pins_its_versions(services):
    assert re.fullmatch(r"postgres:\d+\.\d+", services["db"]["image"])
    lock = (ROOT / "requirements.lock").read_text()
    for name in ("spark-master", "spark-worker"):
        _, version = services[name]["image"].split(":")
        assert re.search(rf"^pyspark=={re.escape(version)}\b", lock, re.MULTILINE)


def test_compose_takes_its_password_from_the_environment(services):
    assert services["db"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")


@pytest.mark.parametrize("durability", DURABILITIES.values(), ids=str)
def test_durability_of_a_profile(durability):
    assert durability_of(durability.settings) is durability
    assert DURABILITIES[str(durability)] is durability


def test_a_third_profile_is_one_entry(monkeypatch):
    values = {"fsync": "on", "synchronous_commit": "off", "full_page_writes": "on"}
    late = Durability("late", values, logged_tables=True)
    monkeypatch.setattr(settings, "DURABILITIES", {"off": OFF, "late": late, "on": ON})
    assert late.settings == {**COMMON, **values} and not late.keeps_commits
    assert [durability_of(each.settings) for each in (OFF, late, ON)] == [OFF, late, ON]
    assert late.switched_off(OFF.settings) == ["fsync", "full_page_writes"] and late.switched_off(ON.settings) == []


def test_durability_is_off_if_anything_committed_can_be_lost():
    assert durability_of(ON.settings | {"synchronous_commit": "off"}) is OFF
    assert durability_of(ON.settings | {"synchronous_commit": "remote_apply"}) is ON


def test_what_a_durability_promises():
    assert ON.keeps_commits and ON.logged_tables
    assert not OFF.keeps_commits and not OFF.logged_tables


def test_a_run_with_an_unknown_durability():
    with pytest.raises(Refusal, match="--durability must be off or on, not maybe"):
        _ = RunConfig("road", durability="maybe").profile
