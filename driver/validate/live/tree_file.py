"""Dicts and lists of arrays and plain values, as one file; to read it runs nothing, whoever wrote it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline.files import complete_file

# What `write_tree` takes: a dict whose keys are text or whole numbers, a list, an array, or what JSON has.
Tree = Any
DAMAGE = (OSError, EOFError, ValueError, KeyError, TypeError, zipfile.BadZipFile)
PLAN = "plan"


def write_tree(path: Path, tree: Tree) -> None:
    """All of it, or nothing: the file takes its name when it is complete."""
    arrays: list[npt.NDArray[Any]] = []

    def plan(node: Tree) -> Tree:
        if isinstance(node, np.ndarray):
            arrays.append(node)
            return {"array": len(arrays) - 1}
        if isinstance(node, Mapping):
            return {"items": [[key, plan(value)] for key, value in node.items()]}
        return [plan(item) for item in node] if isinstance(node, list | tuple) else node

    text = json.dumps(plan(tree)).encode()
    named: Any = {PLAN: np.frombuffer(text, np.uint8), **{str(number): array for number, array in enumerate(arrays)}}
    with complete_file(path) as file:
        np.savez(file, **named)


def read_tree(path: Path) -> Tree:
    """Fails with one of DAMAGE where the file is not what `write_tree` has written."""
    with np.load(path, allow_pickle=False) as file:

        def grown(node: Tree) -> Tree:
            if isinstance(node, list):
                return [grown(item) for item in node]
            if not isinstance(node, dict):
                return node
            if "array" in node:
                return file[str(node["array"])]
            return {key: grown(value) for key, value in node["items"]}

        return grown(json.loads(file[PLAN].tobytes()))
