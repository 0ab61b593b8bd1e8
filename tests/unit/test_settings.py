"""The settings stand in one place; compose.yaml repeats them for people who want a server of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from polling_baseline.database.settings import DURABILITIES, durability_of, profile

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def services() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def test_compose_has_the_settings_of_the_profile_off(services):
    program, *options = services["db"]["command"]
    assert program == "postgres"
    assert set(options[::2]) == {"-c"}
    assert dict(option.split("=", 1) for option in options[1::2]) == profile("off")


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


@pytest.mark.parametrize("durability", DURABILITIES)
def test_durability_of_a_profile(durability):
    assert durability_of(profile(durability)) == durability


def test_durability_is_off_if_anything_committed_can_be_lost():
    assert durability_of(profile("on") | {"synchronous_commit": "off"}) == "off"
    assert durability_of(profile("on") | {"synchronous_commit": "remote_apply"}) == "on"
