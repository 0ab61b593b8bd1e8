"""Records in JSON files, which have the shape that their type says.

A record is a TypedDict: `read_json` refuses a file that lacks a key or has a value of another type, so that whoever
uses the record need not look.  Keys that a type does not name are left alone: a later version may have written them.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints, is_typeddict

from polling_baseline.files import complete_file
from polling_baseline.refusal import Refusal

Record = TypeVar("Record")
SHOWN = 60
WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "null"}


def write_json(path: Path, record: Mapping[str, Any], durable: bool = False) -> None:
    """Replace the file; a reader sees the old record or the new one."""
    with complete_file(path, durable) as file:
        file.write((json.dumps(record, indent=1) + "\n").encode())


def read_json(path: Path, record: type[Record], remedy: str) -> Record:
    """The record in a file; `remedy` says what to do if it is damaged.  A file that cannot be opened is an OSError."""
    try:
        data = json.loads(path.read_bytes())
    except ValueError:
        raise Refusal(f"{path} is damaged: it is not JSON; {remedy}") from None
    if fault := fault_in(data, record):
        raise Refusal(f"{path} is damaged: {fault}; {remedy}")
    return typing.cast(Record, data)


def fault_in(value: object, hint: Any, where: str = "it") -> str | None:
    """The first thing about a value that is not as its type says, in words; None if all is well."""
    if hint in (Any, object):
        return None
    if is_typeddict(hint):
        return _fault_in_record(value, hint, where)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (typing.Union, types.UnionType):
        faults = [fault_in(value, choice, where) for choice in arguments]
        if None in faults:
            return None
        plain = [WORDS[choice] for choice in arguments if choice in WORDS]
        return must_be(where, " or ".join(plain), value) if len(plain) == len(arguments) else faults[0]
    if origin is list:
        if not isinstance(value, list):
            return must_be(where, "a list", value)
        return _first_fault(enumerate(value), arguments[0], where)
    if origin is dict:
        if not isinstance(value, dict):
            return must_be(where, "an object", value)
        return _first_fault(value.items(), arguments[1], where)
    # Every number will do where a fraction is expected; true and false are none.
    accepted = (int, float) if hint is float else hint
    is_right = isinstance(value, accepted) and (hint is bool or not isinstance(value, bool))
    return None if is_right else must_be(where, WORDS[hint], value)


def must_be(where: str, what: str, value: object) -> str:
    shown = repr(value) if len(repr(value)) <= SHOWN else f"{repr(value)[:SHOWN]}..."
    return f"{where} must be {what}, not {shown}"


def _fault_in_record(value: object, record: Any, where: str) -> str | None:
    if not isinstance(value, dict):
        return must_be(where, "an object", value)
    for key, hint in get_type_hints(record).items():
        if key not in value:
            if key in record.__required_keys__:
                return f"{where} has no {key}"
        elif fault := fault_in(value[key], hint, _inside(where, key)):
            return fault
    return None


def _first_fault(items: Iterable[tuple[object, object]], hint: Any, where: str) -> str | None:
    return next((fault for key, item in items if (fault := fault_in(item, hint, _inside(where, key)))), None)


def _inside(where: str, key: object) -> str:
    return str(key) if where == "it" else f"{where}.{key}"
