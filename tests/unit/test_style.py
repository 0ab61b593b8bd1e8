"""The code has the sizes and words of CONTRIBUTING.md; that page names every target, others every command."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from driver.cli import parser
from tests.conftest import LONGEST

ROOT = Path(__file__).resolve().parents[2]
MODULES = [file for package in ("driver", "polling_baseline") for file in sorted((ROOT / package).rglob("*.py"))]
TREES = {str(file.relative_to(ROOT)): ast.parse(file.read_text()) for file in MODULES}
MOST_LINES, MOST_LINES_OF_FUNCTION = 300, 40
# Variables that could hold anything.
VAGUE = {"each", "facts", "found", "here", "said", "told"}
NOUNS = {"Feed"}


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def local_names(function: ast.FunctionDef) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}


def test_modules_and_functions_are_short() -> None:
    assert TREES
    assert {str(file): lines for file in MODULES if (lines := len(file.read_text().splitlines())) > MOST_LINES} == {}
    sizes = {
        (name, one.name): one.end_lineno - one.lineno + 1
        for name, tree in TREES.items()
        for one in functions(tree)
        if one.end_lineno
    }
    assert {place: lines for place, lines in sizes.items() if lines > MOST_LINES_OF_FUNCTION} == {}


def test_a_variable_says_what_it_holds() -> None:
    names = {(name, one.name): local_names(one) & VAGUE for name, tree in TREES.items() for one in functions(tree)}
    assert {place: vague for place, vague in names.items() if vague} == {}


def test_a_class_is_a_noun() -> None:
    classes = {node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert {name for name in classes - NOUNS if name.endswith("ed")} == set()


def test_the_files_that_come_first_exist() -> None:
    assert [name for name in LONGEST if not (ROOT / "tests" / name).is_file()] == []


def test_contributing_names_every_target() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)) - {"help"}
    named = set(re.findall(r"\bmake ([a-z]+)", (ROOT / "CONTRIBUTING.md").read_text()))
    assert targets == named


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_the_page_names_every_command(page: str) -> None:
    [actions] = [action for action in parser()._actions if isinstance(action.choices, dict)]
    text = (ROOT / page).read_text()
    named = {*re.findall(r"\blrb ([a-z]+)", text), *(["demo"] if "make demo" in text else [])}
    assert set(actions.choices or ()) - named == set()
