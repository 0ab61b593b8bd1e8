"""Records without what strangers need not know: folders, hosts, users, words of a command that may be secret."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any, cast

from driver.run.config import NAMES_A_SYSTEM
from driver.run.record_types import Environment, RunJson

MASK = "***"
# The folders before a file's name, of a path that begins at the root or at home.
FOLDERS = re.compile(r"(?<![\w.:/<])~?/(?:[^\s/'\",;:]+/)*")
URL = re.compile(r"\b([a-z][\w+.-]*)://\S*", re.IGNORECASE)
SECRET = re.compile(r"(pass|pwd|secret|token|key|auth|credential)", re.IGNORECASE)
PAIR = re.compile(r"([\w-]*(?:pass|pwd|secret|token|key|auth|credential)[\w-]*\s*[=:]\s*)\S+", re.IGNORECASE)
# What an engine says of itself, and what is of no use to others.
OF_NO_USE = ("token", "wal_start", "driver", "database")
NOWHERE = {"host": "", "port": 0, "database": "", "user": "", "dsn": None}


def public_run(record: RunJson) -> RunJson:
    """What `run.json` says in a bundle."""
    config = {**record["config"], "dataset": record["dataset"]["name"]}
    options = config.get("engine_options") or {}
    if isinstance(options, Mapping):
        config["engine_options"] = {name: _public_option(name, value) for name, value in options.items()}
    rest = {name: _public(value) for name, value in record.items() if name not in ("config", "environment")}
    return cast(RunJson, {**rest, "config": _public(config), "environment": public_environment(record["environment"])})


def public_environment(environment: Environment) -> Environment:
    engine = {name: value for name, value in environment["engine"].items() if name not in OF_NO_USE}
    if "server" in engine:
        engine["server"] = {**cast(dict[str, Any], engine["server"]), **NOWHERE}
    if "system" in engine:
        engine["system"] = public_command(str(engine["system"]))
    return cast(Environment, _public({**environment, "engine": engine}))


def public_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """A rating or a comparison."""
    public: dict[str, Any] = _public({name: value for name, value in record.items() if name != "environment"})
    settings = public.get("settings", {})
    if isinstance(options := settings.get("engine_options"), dict):
        settings["engine_options"] = {name: _public_option(name, value) for name, value in options.items()}
    if record.get("environment"):
        public["environment"] = public_environment(record["environment"])
    return public


def public_command(command: str) -> str:
    """The words of a command, files without their folders, and nothing that may be secret."""
    try:
        words = shlex.split(command)
    except ValueError:
        return MASK
    shown, hide = [], False
    for word in words:
        shown.append(MASK if hide else _public_text(PurePath(word).name if word.startswith(("/", "~", ".")) else word))
        # The value of an option may be the next word.
        hide = word.startswith("-") and "=" not in word and bool(SECRET.search(word))
    return shlex.join(shown)


def _public_option(name: str, value: str) -> str:
    if name == "command":
        return public_command(value)
    # An address is a place in somebody's network.
    return f":{value.rpartition(':')[2]}" if name in NAMES_A_SYSTEM else value


def _public(value: Any) -> Any:
    """The same with each text made public."""
    return _mapped(value, _public_text)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _mapped(inner, change) for name, inner in value.items()}
    return [_mapped(inner, change) for inner in value] if isinstance(value, list | tuple) else value


def _public_text(text: str) -> str:
    return FOLDERS.sub("", PAIR.sub(rf"\1{MASK}", URL.sub(rf"\1://{MASK}", text)))
