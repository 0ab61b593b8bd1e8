"""Each environment variable that the code reads is in docs/environment.md and in `lrb --help`."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from driver.cli import parser
from driver.cli.variables import VARIABLES

ROOT = Path(__file__).resolve().parents[2]
READ = re.compile(r"os\.(environ\.(get|pop|setdefault)|getenv)")


def keys_in(file: Path) -> Iterator[str]:
    """The names that a module looks up; a name that is no constant is one of a table of the module's."""
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and READ.fullmatch(ast.unparse(node.func)):
            yield from names(node.args[0], tree, file)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            yield from names(node.slice, tree, file)


def names(key: ast.expr, tree: ast.Module, file: Path) -> list[str]:
    if isinstance(key, ast.Constant):
        return [str(key.value)]
    module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    word = ast.unparse(key)
    if isinstance(known := getattr(module, word, None), str):
        return [known]
    tables = [
        getattr(module, ast.unparse(loop.iter).split(".")[0])
        for around in ast.walk(tree)
        if isinstance(around, ast.For | ast.ListComp | ast.SetComp | ast.DictComp) and key in ast.walk(around)
        for loop in ([around] if isinstance(around, ast.For) else around.generators)
        if word in ast.unparse(loop.target).strip("()").split(", ") and ast.unparse(loop.iter).split(".")[0].isupper()
    ]
    assert tables, f"{file}: which variables does os.environ[{word}] read?"
    return [str(name) for table in tables for name in table]


def read_by_the_code() -> set[str]:
    files = [file for package in ("driver", "polling_baseline") for file in (ROOT / package).rglob("*.py")]
    return {name for file in files for name in keys_in(file)}


def in_table() -> set[str]:
    rows = re.findall(r"^\| (`.*?) \|", (ROOT / "docs" / "environment.md").read_text(), re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_the_code_reads_what_it_should() -> None:
    assert read_by_the_code() >= {"LRB_STATE", "LRB_PG_BIN", "LRB_DRIVER_PASSWORD", "PGHOST", "JAVA_HOME"}


def test_each_is_in_the_help() -> None:
    listed = {name for names in VARIABLES for name in names.split(", ")}
    assert listed == read_by_the_code()
    assert all(name in parser().format_help() for name in listed)


def test_each_is_in_the_table() -> None:
    compose = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    assert in_table() == read_by_the_code() | compose
