"""`python -m tests.support.cluster_comparison MASTER [DSN]`: commands on a cluster give what they give on one machine.

A small road is generated, loaded, sent through engine structured_streaming and judged, once on this machine and once
on the cluster; files, tables, answers and verdict are compared byte for byte.  Everything lies in a folder below the
working folder, which the cluster's workers must see; without DSN, the embedded PostgreSQL gets the history.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from polling_baseline.database.connection import find_target
from tests import traces
from tests.conftest import lrb_options

# Several commands, one after the other, with one Spark for all of them.
SCRIPT = """
import json, sys
from driver.cli import main
for words in json.loads(sys.argv[1]):
    assert main(words) == 0, words
"""
GENERATE = ["generate", "--xways", "1.5", "--minutes", "3", "--history-days", "1"]
STREAM = ["--engine", "structured_streaming", "--clock", "virtual", "--period", "20", "--limits", "60"]
TABLES = ("toll_history", "segment_average")
Commands = list[list[str]]
Do = Callable[[Commands], None]


def do_apart(commands: Commands) -> None:
    """In a process of its own: one process has one Spark."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, json.dumps(commands)], **lrb_options({}))
    assert done.returncode == 0, done.stderr


def compare(master: str, folder: Path, do_here: Do = do_apart, dsn: str | None = None) -> None:
    """Refuse by an assertion that tells what differs."""
    here, there = folder / "here", folder / "there"
    do_here(_commands(here, here, "one_machine", dsn))
    verdict = here / "run" / "verdict.json"
    judged_here = verdict.read_bytes()
    verdict.unlink()
    do_apart([[*words, "--master", master] for words in _commands(there, here, "a_cluster", dsn)])
    assert files_of(there / "road") == files_of(here / "road")
    for table in TABLES:
        assert rows_of(table, "a_cluster", dsn) == rows_of(table, "one_machine", dsn), table
    assert answers_of(there / "run") == answers_of(here / "run")
    assert verdict.read_bytes() == judged_here and json.loads(judged_here)["verdict"] == "PASS"
    said = json.loads((there / "run" / "run.json").read_text())
    assert said["environment"]["engine"]["master"] == master


def _commands(folder: Path, judged: Path, database: str, dsn: str | None) -> Commands:
    """The judge gets the same run on both."""
    road, run, state = (str(folder / name) for name in ("road", "run", "state"))
    server = ["--dsn", dsn] if dsn else []
    return [
        [*GENERATE, "--out", road],
        ["load", road, "--database", f"lrb_{database}", *server],
        ["run", road, *STREAM, "--warm-up", "0", "--checkpoint", state, "--out", run],
        ["validate", str(judged / "road"), str(judged / "run")],
    ]


def files_of(folder: Path) -> dict[str, bytes]:
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    files["dataset.json"] = re.sub(rb'"(created|name)": "[^"]*"', b"", files["dataset.json"])
    return files


def rows_of(table: str, database: str, dsn: str | None) -> bytes:
    rows = io.BytesIO()
    target = find_target(dsn, database=f"lrb_{database}")
    with closing(target.connect()) as connection, connection.cursor() as cursor:
        cursor.copy_expert(f"COPY (SELECT t.* FROM lr_history.{table} AS t ORDER BY t) TO STDOUT", rows)
    return rows.getvalue()


def answers_of(run: Path) -> list[tuple[int, ...]]:
    """But for the moment of each, in an order of their own."""
    with (run / "output.csv").open() as lines:
        return sorted(traces.without_emit(row) for row in csv.reader(lines))


def main(master: str, dsn: str | None = None) -> None:
    with tempfile.TemporaryDirectory(prefix="cluster-comparison-", dir=Path.cwd()) as folder:
        compare(master, Path(folder), dsn=dsn)
    print(f"{master} gives what this machine gives: road, history, answers and verdict")


if __name__ == "__main__":
    main(*sys.argv[1:])
