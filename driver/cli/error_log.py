"""What is kept of an error that nobody foresaw: command, versions and traceback, but no password."""

from __future__ import annotations

import argparse
import os
import platform
import re
import shlex
import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path

from polling_baseline.database.roles import PASSWORD_VARIABLE
from polling_baseline.project import state_folder
from polling_baseline.refusal import Refusal

MASK = "***"
PASSWORDS = ("PGPASSWORD", PASSWORD_VARIABLE)
# Passwords as they stand in a URL and in key=value pairs, whoever wrote them.
PATTERNS = (re.compile(r"(://[^\s:/@]*:)[^\s@]+(?=@)"), re.compile(r"(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s'\"]+)"))
LONGEST = 300


def report_error(error: Exception, words: Sequence[str]) -> str:
    """Keep the details of an error of `lrb WORDS`, and give the sentence that says where they are."""
    secrets = sorted(_secrets(words), key=len, reverse=True)
    name = masked(f"{type(error).__name__}: {error}", secrets).splitlines()[0][:LONGEST]
    details = "\n".join(
        [
            datetime.now(timezone.utc).isoformat(timespec="seconds"),
            f"lrb {version('linear-road')}, Python {platform.python_version()}, {platform.platform()}",
            shlex.join(["lrb", *(masked(word, secrets) for word in words)]),
            masked("".join(traceback.format_exception(error)), secrets),
        ]
    )
    return f"an error that nobody foresaw: {name}; the details are in {_write(details)}"


def masked(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets, as they are or as Python quotes them; the longest come first."""
    for secret in secrets:
        text = text.replace(secret, MASK).replace(repr(secret)[1:-1], MASK)
    for pattern in PATTERNS:
        text = pattern.sub(rf"\1{MASK}", text)
    return text


def _secrets(words: Sequence[str]) -> set[str]:
    """Whatever was given as --dsn, the passwords in it, and those of the environment."""
    from psycopg2 import ProgrammingError
    from psycopg2.extensions import parse_dsn

    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    parser.add_argument("--dsn", action="append", default=[])
    secrets = {os.environ.get(name) for name in PASSWORDS}
    with suppress(argparse.ArgumentError):
        for dsn in parser.parse_known_args(words)[0].dsn:
            secrets.add(dsn)
            with suppress(ProgrammingError):
                secrets.add(parse_dsn(dsn).get("password"))
    return {secret for secret in secrets if secret}


def _write(details: str) -> Path | str:
    """A file in the state folder, or else in the temporary one; where neither can be written, the log itself."""
    for folder in (state_folder, lambda: Path(tempfile.gettempdir())):
        with suppress(OSError, Refusal):
            place = folder()
            place.mkdir(parents=True, exist_ok=True)
            # A name that nobody can have prepared a link for.
            descriptor, path = tempfile.mkstemp(".log", f"error-{datetime.now(timezone.utc):%Y%m%d-%H%M%S}-", place)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(details + "\n")
            return Path(path)
    print(details, file=sys.stderr)
    return "the lines above"
