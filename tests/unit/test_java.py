"""Which Java Spark gets: the user's wish, the machine's own, or the one that comes with the package."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from driver.spark.java import MODULE, java_home, major_version
from polling_baseline.refusal import Refusal


def fake_java(home: Path, version: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize(
    ("said", "version"), [("17.0.15", 17), ("21", 21), ("1.8.0_392", 8), ("25-ea", 25), ("strange", None)]
)
def test_major_version(tmp_path, said, version):
    assert major_version(fake_java(tmp_path, said)) == version


def test_java_that_does_not_start(tmp_path):
    assert major_version(tmp_path / "java") is None


def test_java_home_is_used(tmp_path, monkeypatch):
    fake_java(tmp_path / "home", "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert java_home(tmp_path) == tmp_path / "home"


@pytest.mark.parametrize(
    ("version", "found"), [pytest.param("11.0.2", "Java 11", id="too-old"), pytest.param("?", "no Java", id="none")]
)
def test_java_home_is_refused(tmp_path, monkeypatch, version, found):
    fake_java(tmp_path / "home", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    with pytest.raises(Refusal, match=rf"{found}.*needs 17 or 21; unset JAVA_HOME"):
        java_home(tmp_path)


def test_java_on_the_path(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "new", "21.0.1").parent), prepend=":")
    assert java_home(tmp_path) == tmp_path / "new"


def test_old_java_on_the_path_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "old", "11.0.1").parent), prepend=":")
    scratch = tmp_path / "a b"
    java = java_home(scratch) / "bin" / "java"
    assert java.is_relative_to(scratch)
    assert major_version(java) == 21
    # The argument that this Java does not know is dropped, the others arrive whole.
    words = [java, MODULE, "-Dword=a b", "-XshowSettings:properties", "-version"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stderr
    assert "word = a b" in said
