"""Which Java Spark gets: the user's wish, the machine's own, or the one that comes with the package."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from driver.spark import class_archive
from driver.spark.java import MODULE, java_home, major_version
from driver.spark.session import ends_by_itself
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


@pytest.fixture
def homes(tmp_path):
    """A Java and a Spark that look as if they could have an archive, and the folder that Java works in."""
    java, spark, folder = tmp_path / "java", tmp_path / "spark", tmp_path / "work"
    own = java / "lib" / "server" / "classes.jsa"
    for place in (own.parent, spark / "jars", folder):
        place.mkdir(parents=True)
    own.touch()
    return java, spark, folder


@pytest.fixture
def kept_in(tmp_path, monkeypatch):
    """Where archives are kept, if there is no place beside the program."""
    monkeypatch.setattr(class_archive, "__file__", str(tmp_path / "nowhere" / "module.py"))
    monkeypatch.setenv("LRB_STATE", str(tmp_path / "state"))
    return tmp_path / "state" / "compiled"


def test_an_archive_is_made_once_and_then_used(homes, kept_in):
    assert class_archive.archive_option(*homes) == "-XX:ArchiveClassesAtExit=new-classes.jsa"
    (homes[2] / "new-classes.jsa").write_text("classes")
    class_archive.keep_archive(*homes)
    [kept] = kept_in.iterdir()
    assert class_archive.archive_option(*homes) == "-XX:SharedArchiveFile=classes.jsa"
    assert (homes[2] / "classes.jsa").resolve() == kept and kept.read_text() == "classes"


def test_an_archive_belongs_to_its_spark(homes, kept_in):
    _, spark, folder = homes
    for round in range(4):
        (spark / "jars" / f"{round}.jar").touch()
        os.utime(spark / "jars", ns=(round, round))
        assert class_archive.archive_option(*homes).startswith("-XX:ArchiveClassesAtExit")
        (folder / "new-classes.jsa").write_text(str(round))
        class_archive.keep_archive(*homes)
    assert sorted(kept.read_text() for kept in kept_in.iterdir()) == ["2", "3"]


def test_a_java_that_made_none(homes, kept_in):
    class_archive.keep_archive(*homes)
    assert not kept_in.exists()


def test_a_java_without_an_archive_of_its_own_makes_none(homes, kept_in):
    (homes[0] / "lib" / "server" / "classes.jsa").unlink()
    assert class_archive.archive_option(*homes) == ""


@pytest.mark.parametrize(
    ("command", "is_whole"), [(["true"], True), (["sleep", "600"], False), (["sh", "-c", "kill -9 $$"], False)]
)
def test_a_java_that_does_not_end_is_killed(command, is_whole):
    """On a busy machine an archive of classes can take minutes: nobody waits so long, and nobody keeps a part of it."""
    with subprocess.Popen(command) as process:
        assert ends_by_itself(process, within_s=60 if is_whole else 0.2) == is_whole
    assert process.returncode == (0 if is_whole else -9)
