"""`lrb rate`, `lrb reproduce`, and runs of relabelled expressways under the judge's eyes."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from driver.cli import main
from driver.cli import reproduce as reproduce_command
from driver.dataset.folder import ID_BLOCK
from driver.rating import paper, reproduce
from driver.run import engines
from driver.run.verdict import FAULTS
from polling_baseline import spec
from polling_baseline.batch import Batch
from polling_baseline.database.embedded.server import Server
from tests.conftest import ROOT
from tests.support.files_page import check_json
from tests.support.one_dataset import Road, one_dataset
from tests.support.random_road import random_history, random_lines

MINUTES = 4
# A second in the middle of the last minute.
MOMENT = 210


@pytest.fixture(scope="module")
def road(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One expressway on which everything collides."""
    folder = tmp_path_factory.mktemp("rate") / "road"
    lines = random_lines(3, minutes=MINUTES, xways=1)
    one_dataset([Road(lines, *random_history(3, xways=1))], folder, "generate")
    return folder


@pytest.fixture
def lrb(spark, server: Server, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`lrb("rate", ...)` in this process, which has a Spark already: exit status, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        status = main([str(word) for word in words])
        return (status, *capsys.readouterr())

    return run


@pytest.fixture
def at_the_moment(monkeypatch: pytest.MonkeyPatch) -> dict[float, Callable[[], None]]:
    """What happens to System X in the midst of a run of so many expressways."""
    happens: dict[float, Callable[[], None]] = {}
    usual = engines.ENGINES["polling"]

    def polling(config, dataset, place):
        engine = usual(config, dataset, place)
        process = engine.process

        def slowed(batch: Batch) -> Mapping[str, float]:
            steps, begun = process(batch), time.perf_counter()
            if MOMENT in batch.seconds and dataset.xways in happens:
                happens[dataset.xways]()
            return {**steps, "doze_ms": (time.perf_counter() - begun) * 1000}

        engine.process = slowed
        return engine

    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "polling": polling})
    return happens


def test_a_rating_from_its_interruption_to_its_end(lrb, road: Path, tmp_path: Path, at_the_moment) -> None:
    words = ["rate", "--dataset", road, "--quick", "--step", 1, "--max", 3, "--workers", 1, "--out", tmp_path / "r"]
    at_the_moment[2] = lambda: os.kill(os.getpid(), signal.SIGINT)
    status, out, err = lrb(*words)
    assert (status, out) == (2, ""), err
    assert "L = 2 was interrupted; the same command goes on from here" in err
    # Now it goes on; three expressways keep it busy for too long.
    del at_the_moment[2]
    at_the_moment[3] = lambda: time.sleep(5.2)
    status, out, err = lrb(*words, "--json")
    assert status == 0, err
    assert len(re.findall("L = 1 .*taken over", err)) == 1
    found = json.loads(out)
    assert found == json.loads((tmp_path / "r" / "rating.json").read_text())
    check_json(tmp_path / "r" / "rating.json")
    assert (found["rating"], found["kind"], found["distinct"], found["minutes"]) == (2, "peak", 1, [1, MINUTES])
    assert found["settings"]["warm_up_s"] == 0
    tried = [(each["xways"], each["verdict"], each["right"]) for each in found["candidates"]]
    assert tried == [(1, "in time", None), (2, "in time", True), (3, "late", None), (3, "late", True)]
    assert found["gave_out"]["minute"] == MINUTES and found["gave_out"]["step"] == "doze"
    assert all((tmp_path / "r" / each["run"] / "output.csv").exists() for each in found["candidates"])
    # Nothing is left to do: the text of the same.
    status, out, err = lrb(*words)
    assert status == 0, err
    assert out.startswith("peak rating of polling: 2\n") and "L-rating of" not in out
    assert "made of 1 distinct expressway, relabelled" in out
    assert f"L = 3 was late first in minute {MINUTES}" in out and "was doze." in out


def test_a_run_and_a_rating_under_other_limits(lrb, road: Path, tmp_path: Path) -> None:
    """Each keeps to its own: what no engine can do makes the first answer late."""
    run, again, rating = tmp_path / "run", tmp_path / "again", tmp_path / "rating"
    own = ["--engine", "aurora", "--workers", 1, "--clock", "virtual"]
    status, out, err = lrb("run", road, *own, "--limits", "toll=0.001", "--stop-when-late", "--out", run)
    assert status == 0, err
    assert "limits toll 0.001 s instead of the specification's" in out
    facts = json.loads((run / "run.json").read_text())
    assert (facts["state"], facts["config"]["limits"]) == ("late", {"toll": 0.001})
    assert facts["answers"]["toll"]["late"] > 0
    assert {kind: answer["limit_s"] for kind, answer in facts["answers"].items()} == {**spec.DEADLINE_S, "toll": 0.001}
    assert lrb("run", "--like", run, "--to-minute", 1, "--out", again)[0] == 0
    assert json.loads((again / "run.json").read_text())["config"]["limits"] == {"toll": 0.001}
    assert "takes all options of the run" in lrb("run", "--resume", run, "--limits", "3")[2]
    words = ["rate", "--dataset", road, *own, "--step", 1, "--max", 1, "--out", rating]
    status, out, err = lrb(*words, "--limits", "0.001")
    assert status == 0, err
    assert out.startswith(f"rating of {MINUTES} minutes of aurora under other limits: 0\n") and "no L-rating" in out
    check_json(rating / "rating.json")


def test_a_relabelled_run_is_judged_copy_by_copy(lrb, road: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    status, out, err = lrb("run", road, "--xways", 3, "--clock", "virtual", "--out", run)
    assert status == 0, err
    assert "L = 3 (copies of 1 distinct)" in out
    spoil(run / "output.csv")
    status, out, err = lrb("validate", road, run, "--explain", 1, "--json")
    facts = json.loads(out)
    verdict = facts["answers"]
    assert (facts["dataset"]["xways"], facts["dataset"]["distinct"]) == (3, 1)
    assert all(each["expected"] % 3 == 0 and each["expected"] > 0 for each in verdict.values())
    assert (status, verdict["toll"]["wrong"], verdict["balance"]["wrong"]) == (3, 1, 1)
    assert (verdict["travel_time"]["missing"], verdict["expenditure"]["extra"]) == (1, 1)
    # And nothing else: one fault each.
    assert sum(each[fault] for each in verdict.values() for fault in FAULTS) == 4
    # The evidence for a fault of a copy: what it should have been.
    explained = err[err.index("toll wrong") :].split("\n\n")[0]
    assert (
        f"vehicle {ID_BLOCK // 1000}" in explained
        and "(of the original)" in explained
        and "cars in the minute before" in explained
    )
    assert "no answer" not in explained and "none of this" not in explained


def spoil(output: Path) -> None:
    """In copy 1, change a toll and a balance; in copy 2, lose a travel time; answer a copy that is not there."""
    rows = [line.split(",") for line in output.read_text().splitlines()]

    def first(kind: str, id_at: int, copy: int) -> list[str]:
        return next(row for row in rows if row[0] == kind and int(row[id_at]) // ID_BLOCK == copy)

    toll, balance, lost = first("0", 1, 1), first("2", 4, 1), first("4", 3, 2)
    toll[5], balance[5] = str(int(toll[5]) + 2), str(int(balance[5]) + 2)
    rows.remove(lost)
    kind, time, emit, query_id, tolls = first("3", 3, 0)
    rows.append([kind, time, emit, str(int(query_id) + 3 * ID_BLOCK), tolls])
    output.write_text("".join(",".join(row) + "\n" for row in rows))


def test_half_a_copy_is_judged_too(lrb, generated: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert lrb("run", generated, "--xways", 2.5, "--clock", "virtual", "--out", run)[0] == 0
    status, out, _ = lrb("validate", generated, run, "--json")
    counts = {kind: each["expected"] for kind, each in json.loads(out)["answers"].items()}
    assert status == 0, out
    assert counts["toll"] > 0 and counts["balance"] > 0


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory, own_environment: None) -> Path:
    from driver.generate.generate import GenerateOptions
    from driver.generate.generate import generated as dataset_in

    return dataset_in(
        GenerateOptions(1.0, 2, 42, 1), tmp_path_factory.mktemp("reproduce") / "p" / "road", "local[2]"
    ).path


@pytest.fixture
def two_scale_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the paper had stopped at its first failure."""
    system = replace(paper.SYSTEM_X, max_response_s={0.5: 3, 1.0: 2031})
    variants = [replace(each, system=system, run_at=()) for each in paper.VARIANTS if each.name == "ring"]
    monkeypatch.setattr(reproduce_command, "VARIANTS", (*variants, paper.VARIANTS[-1]))
    monkeypatch.setattr(reproduce, "SYSTEMS", (system, paper.AURORA))


def test_the_tables_of_the_paper(lrb, generated: Path, two_scale_factors: None) -> None:
    out_folder = generated.parent
    words = ["reproduce", "--minutes", 2, "--distinct", 1, "--history-days", 1, "--only", "ring", "--out", out_folder]
    status, out, err = lrb(*words, "--json")
    assert status == 0, err
    found = json.loads(out)
    assert found == json.loads((out_folder / "reproduction.json").read_text())
    check_json(out_folder / "reproduction.json")
    assert found["systems"]["System X"]["max_response_s"] == {"0.5": 3, "1": 2031}
    (ring,) = found["variants"]
    assert {xways: run["verdict"] for xways, run in ring["runs"].items()} == {"0.5": "PASS", "1": "PASS"}
    slower = ring["slower"]
    assert slower["factor"] > 1 and not slower["predicted"]
    # However slow, it keeps up where it did in 2004.
    assert slower["max_response_s"]["0.5"] <= 5 and slower["stricter_rating"] <= slower["rating"]
    assert (found["limits"], found["limit_s"], slower["rating_by_limits"]) == ({}, 5, slower["rating"])
    confirmed = slower["confirmed"]
    assert confirmed["max_response_s"] > 0 and confirmed["verdict"] in ("PASS", "FAIL")
    assert len(slower["longest_by_minute_s"]) == 2
    config = json.loads((out_folder / ring["runs"]["1"]["run"] / "run.json").read_text())["config"]
    assert (config["catch_up"], config["ignore"], config["slower"]) == (False, ["travel_time"], 1)
    config = json.loads((out_folder / confirmed["run"] / "run.json").read_text())["config"]
    assert config["slower"] == slower["factor"]

    # As if it had been killed in its second run.
    (out_folder / "reproduction.html").unlink()
    run = out_folder / "runs" / "ring-L1" / "run.json"
    run.write_text(run.read_text().replace('"complete"', '"running"'))
    status, out, err = lrb(*words)
    # The one with --slower as well, if the factor is the same.
    assert status == 0 and 1 <= err.count("taken over") <= 2
    assert "this is a try-out" in out and "2,031" in out and "ring explains System X best" in out
    page = (out_folder / "reproduction.html").read_text()
    again = json.loads((out_folder / "reproduction.json").read_text())["variants"][0]["slower"]
    assert f"{again['factor']:,.1f} x" in page and f"{again['factor']:,.1f} x" in out
    assert "with 3 s instead of 5" in out and "--limits" not in out
    for text in (" ".join(out.split()), page):
        assert "travel time ignored" in text and "catch-up off" in text and "this is a try-out" in text
        assert "System X at L = 0.5: in / out per s" in text and "560 / 100" in text
    status, _, err = lrb(*words[:-2], "--out", out_folder, "--seed", 7)
    assert status == 1 and "has other traffic than is wanted now" in err


PLAIN = shlex.join([sys.executable, str(ROOT / "docs" / "examples" / "plain_python.py")])


def test_a_foreign_system_and_a_column_store_beside_the_paper(lrb, generated: Path, tmp_path: Path) -> None:
    words = ["--brief", "--only", "exec,duckdb", "--command", PLAIN, "--out", tmp_path]
    status, out, err = lrb("reproduce", "--dataset", generated, *words)
    assert status == 0, err
    assert re.search("(exec|duckdb) explains System X best", out)
    foreign, column_store = json.loads((tmp_path / "reproduction.json").read_text())["variants"]
    assert foreign["options"]["command"] == PLAIN and foreign["runs"]["1"]["verdict"] == "PASS"
    assert column_store["engine"] == "duckdb" and column_store["runs"]["1"]["verdict"] == "PASS"


def test_a_rating_of_a_foreign_system(lrb, generated: Path, tmp_path: Path) -> None:
    words = [
        "rate",
        "--dataset",
        generated,
        "--engine",
        "exec",
        "--command",
        PLAIN,
        "--max",
        1,
        "--out",
        tmp_path / "r",
    ]
    status, out, err = lrb(*words, "--json")
    assert status == 0, err
    rating = json.loads(out)
    assert rating["engine"] == "exec" and rating["rating"] == 1


def test_a_rating_of_a_column_store_with_all_options(lrb, road: Path, tmp_path: Path) -> None:
    """Copies of an expressway, a longer period, a slower machine, other limits, fewer requests, and a file."""
    words = ["--engine", "duckdb", "--start", 2, "--step", 2, "--max", 2, "--durability", "on", "--period", 2]
    words += ["--slower", 2, "--limits", 60, "--ignore", "expenditure", "--out", tmp_path / "r", "--json"]
    status, out, err = lrb("rate", "--dataset", road, *words)
    assert status == 0, err
    rating = json.loads(out)
    assert (rating["engine"], rating["rating"], rating["candidates"][0]["right"]) == ("duckdb", 2, True)
    run = json.loads((tmp_path / "r" / "runs" / "0001-duckdb-L2" / "run.json").read_text())
    assert run["answers"]["travel_time"]["received"] > 0 and run["answers"]["expenditure"]["received"] == 0
    assert run["environment"]["engine"]["database_bytes"] > 0


def test_a_first_impression(lrb, generated: Path, tmp_path: Path, two_scale_factors: None) -> None:
    words = ["reproduce", "--dataset", generated, "--brief", "--only", "superbox", "--out", tmp_path]
    status, out, err = lrb(*words, "--catch-up", "on", "--ignore", "none", "--json")
    assert status == 0, err
    found = json.loads(out)
    (variant,) = found["variants"]
    assert dict(paper.SYSTEM_X.max_response_s) == {0.5: 3, 1: 2031, 1.5: 16346, 2: 52443}
    assert found["systems"]["Aurora"]["max_response_s"] == {"0.5": 1, "1": 1, "1.5": 1, "2": 2, "2.5": 2, "3": 196}
    assert found["systems"]["Aurora"]["rating"] == 2.5
    assert list(variant["runs"]) == ["3"]
    assert variant["slower"]["predicted"] == ["0.5", "1", "1.5", "2", "2.5"]
    assert variant["slower"]["confirmed"] is None
    responses = variant["slower"]["max_response_s"]
    # On a road of two minutes, the factor is the largest one that keeps what passed in 2004.
    assert set(responses) == {"0.5", "1", "1.5", "2", "2.5", "3"} and responses["2.5"] <= 5
    config = json.loads((tmp_path / "runs" / "superbox-L3" / "run.json").read_text())["config"]
    assert (config["catch_up"], config["ignore"]) == (True, [])
    # By other limits nothing is run again.
    status, out, err = lrb(*words, "--catch-up", "on", "--ignore", "none", "--limits", "90000")
    assert status == 0 and "superbox at L = 3: taken over" in err
    assert "~" in out and "was not run" in out
    found = json.loads((tmp_path / "reproduction.json").read_text())
    assert (found["limit_s"], found["variants"][0]["slower"]["rating_by_limits"]) == (90_000, 3)
    check_json(tmp_path / "reproduction.json")
    for text in (out, (tmp_path / "reproduction.html").read_text()):
        assert "with 3 s instead of 5" in text and "by --limits: 90000 s" in text and "3 or more" in text
        assert "the shortest is 90000 s" in " ".join(text.split())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rate", "--step", "0.3"], "argument --step: L must be a multiple of 0.5"),
        (["rate", "--max", "3", "--step", "2"], "must be multiples of --step 2"),
        (["rate", "--distinct", "0"], "at least one expressway"),
        (["rate", "--dataset", "absent"], "is not a data set"),
        (["reproduce", "--only", "2005"], "there is no variant '2005'; there are 2004, "),
        (["reproduce", "--slower", "2"], "chooses --slower itself"),
        (["reproduce", "--only", "exec"], "--only exec needs --command"),
        (["reproduce", "--only", "2004,tcp"], "--only tcp needs --listen or --connect"),
        (["reproduce", "--patience", "3"], "chooses --patience itself"),
        (["reproduce", "--train-size", "2"], "chooses --train-size itself"),
        (["run", "absent", "--xways", "x"], "L must be a multiple of 0.5 from 0.5 to 1000, not x"),
    ],
)
def test_refusals(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (main(words), sentence in capsys.readouterr().err) == (1, True)
