"""The direction of imports: rooms of the driver in layers, the driver above the engines, no engine beside another."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = "polling_baseline.spec"


def imports_of(module: str) -> set[tuple[str, str]]:
    """(who, what) for each import below a package, or of a module; what is as precise as the source tells."""
    return {(name_of(file), name) for file in files_of(module) for name in imported(file)}


def files_of(module: str) -> list[Path]:
    base = ROOT.joinpath(*module.split("."))
    files = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
    assert files, module
    return files


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(file: Path) -> Iterator[str]:
    package = file.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            source = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{source}.{alias.name}" for alias in node.names)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def modules(folder: str, pattern: str) -> list[str]:
    found = sorted(name_of(path) for path in ROOT.glob(f"{folder}/{pattern}"))
    assert found, pattern
    return found


# The rooms of the driver from top to bottom; those of one line do not know each other.
LAYERS = (
    ("driver.launcher",),
    ("driver.cli",),
    ("driver.publish",),
    ("driver.rating", "driver.lesson"),
    ("driver.report", "driver.validate"),
    ("driver.run",),
    ("driver.generate", "driver.history"),
    ("driver.dataset",),
    ("driver.spark",),
    ("driver.json_record",),
    ("driver.progress",),
    ("polling_baseline",),
)
# What people read while a command is under way, and what the command line itself is made of.
SHOWS = ("driver.cli", "driver.report")
ENGINES = modules("polling_baseline/engines", "[!_]*")
REFERENCES = [*modules("driver/validate", "reference*"), *modules("tests/support", "tables")]


def layer_of(module: str) -> int | None:
    return next((number for number, rooms in enumerate(LAYERS) if within(module, *rooms)), None)


def test_every_module_of_the_driver_is_in_a_room():
    names = {name_of(file) for file in files_of("driver")} - {"driver"}
    assert {name for name in names if layer_of(name) is None} == set()


def test_rooms_import_only_from_rooms_below():
    wrong = [
        (who, what)
        for who, what in imports_of("driver")
        if who != "driver" and (layer := layer_of(what)) is not None
        if layer < layer_of(who) or (layer == layer_of(who) and not within(what, room_of(who)))
    ]
    assert wrong == []


def room_of(module: str) -> str:
    return next(room for rooms in LAYERS for room in rooms if within(module, room))


def test_aurora_itself_knows_no_road():
    model = "polling_baseline.engines.aurora.model"
    road = ("polling_baseline.spec", "polling_baseline.engines.aurora")
    assert [pair for pair in imports_of(model) if within(pair[1], *road) and not within(pair[1], model)] == []


def test_a_database_knows_no_engine():
    assert [pair for pair in imports_of("polling_baseline.database") if "engines" in pair[1]] == []


def test_only_cycles_and_copies_use_the_cursor_of_the_driver():
    """Every other statement goes through SQLAlchemy, and so does every connection."""
    files = [*files_of("driver"), *files_of("polling_baseline")]
    own = {name_of(file) for file in files if re.search(r"\.cursor\(|psycopg2\.connect\(", file.read_text())}
    cycles = {f"polling_baseline.engines.system_x.{name}" for name in ("base", "exchange", "polling", "trigger")}
    assert own == cycles | {"driver.history.load"}


@pytest.mark.parametrize("package", ["driver", "polling_baseline"])
def test_only_who_shows_something_prints(package):
    """Everybody else gives a value, or says it to the log."""
    calls = {
        name_of(file)
        for file in files_of(package)
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert {name for name in calls if not within(name, *SHOWS)} == set()
    parsers = {who for who, what in imports_of(package) if within(what, "argparse")}
    assert {name for name in parsers if not within(name, "driver.cli")} == set()


def test_the_systems_do_not_know_the_driver():
    assert [pair for pair in imports_of("polling_baseline") if within(pair[1], "driver", "tests")] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_do_not_import_one_another(engine):
    others = [other for other in ENGINES if other != engine]
    assert [pair for pair in imports_of(engine) if within(pair[1], *others)] == []


@pytest.mark.parametrize("module", REFERENCES)
def test_the_reference_does_not_import_what_it_judges(module):
    judged = ("polling_baseline.engine", "polling_baseline.engines", "polling_baseline.database")
    assert [pair for pair in imports_of(module) if within(pair[1], *judged)] == []


@pytest.mark.parametrize("module", REFERENCES)
def test_the_reference_takes_numbers_from_the_specification_and_no_rule(module):
    assert [pair for pair in imports_of(module) if within(pair[1], SPEC) and pair[1] != SPEC] == []
    trees = [ast.parse(file.read_text()) for file in files_of(module)]
    used = {
        node.attr
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "spec"
    }
    assert {name for name in used if not name.isupper()} == set()


SOAKS = ("tests.engines.soak", "tests.engines.stream_soak")


@pytest.mark.parametrize("module", [*modules("tests/bench", "*.py"), "tests.versions", *SOAKS])
def test_what_runs_beside_the_tests_can_be_imported(module):
    """pytest collects none of these."""
    assert importlib.util.find_spec(module)
    if not module.endswith("__main__"):
        importlib.import_module(module)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import a.b", {"a.b"}),
        ("from a import b, c", {"a.b", "a.c"}),
        ("from . import b", {"driver.spark.b"}),
        ("from ..x import b", {"driver.x.b"}),
    ],
)
def test_what_an_import_names(monkeypatch, tmp_path, line, found):
    file = tmp_path / "driver" / "spark" / "module.py"
    file.parent.mkdir(parents=True)
    file.write_text(f"def late():\n    {line}\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert set(imported(file)) == found
