"""Conditions on tuples, as text: `speed_mph < 10 and (lane = 1 or not dir = 0)`.

The language has whole numbers, the names of columns, `+ - * %`, comparisons, `and`, `or`, `not` and brackets.  Python
parses the text and nothing of it is ever executed: a condition is a tree of these few operations.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from polling_baseline.batch import Columns
from polling_baseline.refusal import Refusal

LONGEST = 500
DEEPEST = 20
Value = npt.NDArray[Any] | int
COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
    }
)
ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: np.mod}
)
LARGEST = 2**31


@dataclass(frozen=True, slots=True)
class Condition:
    """True or false for each tuple; can be sent to other processes."""

    text: str

    def __call__(self, columns: Columns) -> npt.NDArray[np.bool_]:
        with np.errstate(all="ignore"):
            value = _value(_tree(self.text), columns)
        return np.broadcast_to(np.asarray(value, bool), len(next(iter(columns.values()))))


def parse_condition(text: str, columns: Sequence[str]) -> Condition:
    """A condition on these columns; a Refusal says what is wrong with the text."""
    if len(text) > LONGEST:
        raise Refusal(f"a condition has {LONGEST} characters at most")
    tree = _tree(text)
    _check(tree, columns, 0)
    if not _is_condition(tree):
        raise Refusal(f"{text!r} is a number and no condition; compare it with something, as in speed_mph < 10")
    return Condition(text)


def _tree(text: str) -> ast.expr:
    # As in SQL: one = compares, <> is unequal.
    python = re.sub(r"(?<![<>=!])=(?!=)", "==", text.replace("<>", "!="))
    try:
        return ast.parse(python.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Refusal(f"{text!r} is no condition; write one as in speed_mph < 10 and lane = 1") from None


def _check(node: ast.expr, columns: Sequence[str], depth: int) -> None:
    """Refuse whatever is not of the language."""
    if depth > DEEPEST:
        raise Refusal(f"a condition has {DEEPEST} levels of brackets at most")
    children: list[ast.expr] = []
    match node:
        case ast.BoolOp():
            children = node.values
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            children = [node.operand]
        case ast.Compare() if all(type(one) in COMPARISONS for one in node.ops):
            children = [node.left, *node.comparators]
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            children = [node.left, node.right]
        case ast.Constant() if type(node.value) is int and node.value < LARGEST:
            pass
        case ast.Name():
            if node.id not in columns:
                raise Refusal(f"there is no column {node.id}; there are {', '.join(columns)}")
        case _:
            raise Refusal(
                f"{ast.unparse(node)!r} cannot stand in a condition: it has whole numbers, columns, + - * %, "
                "comparisons, and, or, not, and brackets"
            )
    for child in children:
        _check(child, columns, depth + 1)


def _is_condition(node: ast.expr) -> bool:
    return isinstance(node, ast.BoolOp | ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    )


def _value(node: ast.expr, columns: Columns) -> Any:
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            return columns[node.id].astype(np.int64)
        case ast.UnaryOp():
            inner = _value(node.operand, columns)
            return -inner if isinstance(node.op, ast.USub) else ~np.asarray(inner, bool)
        case ast.BinOp():
            return ARITHMETIC[type(node.op)](_value(node.left, columns), _value(node.right, columns))
        case ast.BoolOp():
            join = np.logical_and if isinstance(node.op, ast.And) else np.logical_or
            return join.reduce(np.broadcast_arrays(*(np.asarray(_value(one, columns), bool) for one in node.values)))
        case ast.Compare():
            sides = [_value(one, columns) for one in (node.left, *node.comparators)]
            pairs = zip(node.ops, sides, sides[1:], strict=False)
            outcomes = [np.asarray(COMPARISONS[type(one)](left, right)) for one, left, right in pairs]
            return np.logical_and.reduce(np.broadcast_arrays(*outcomes))
    raise AssertionError(node)
