"""The right answers and the tables they rest on, as files for people who debug an engine."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

from driver.spark.units import run_job
from driver.validate.comparison import expected_pieces, plan_for
from driver.validate.fingerprint import PLACES
from driver.validate.overview import KINDS
from driver.validate.reference.accidents import STOP
from driver.validate.reference.right_answers import BALANCE, RightAnswers, SliceSummary, assessments_in
from driver.validate.reference.trips import joined
from driver.validate.tally import EXPECTED
from polling_baseline import spec
from polling_baseline.batch import ANSWER_KINDS, Columns
from polling_baseline.files import complete_file, complete_folder, partial_folder
from polling_baseline.refusal import Refusal

BALANCE_HEADING = "time,qid,vid,result_time_from,result_time_until,balance\n"
ORDER = ("second", "kind", "id", "value_1", "value_2")


def write_answers(right: RightAnswers, xways: tuple[int, ...] | None, path: Path) -> None:
    """The lines of an output file by Time, type and VID or QID; a balance is as of its request."""
    context = right.spark.sparkContext
    counts = np.array([right.heaps[kind].counts for kind in KINDS])
    plan = plan_for(np.ones((len(KINDS), PLACES), bool), counts, context.defaultParallelism)
    accounts = context.broadcast(right.accounts)
    with _refusing(path), partial_folder(path) as folder, complete_file(path) as whole:

        def write(number: int, pieces: Iterable[tuple[int, Columns]]) -> Iterator[Path]:
            rows = joined([columns for _, columns in pieces], EXPECTED)
            chosen = rows["chosen"].astype(bool)
            rows = {name: column[chosen] for name, column in rows.items()}
            of_balance = rows["kind"] == BALANCE
            vehicle, second = rows["value_1"][of_balance], rows["second"][of_balance]
            rows["value_2"][of_balance] = accounts.value.charged_by(vehicle, second)
            (folder / str(number)).write_bytes(_lines(rows))
            yield folder / str(number)

        pieces = expected_pieces(right, plan, xways).partitionBy(plan.parts, int)
        for part in run_job(right.spark, pieces.mapPartitionsWithIndex(write).collect):
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, whole)


def _lines(rows: Columns) -> bytes:
    """The answers as lines, in order."""
    order = np.lexsort([rows[name] for name in reversed(ORDER)])
    rows = {name: column[order] for name, column in rows.items()}
    places, texts = [], []
    for kind in ANSWER_KINDS.values():
        at = np.flatnonzero(rows["kind"] == kind.number)
        numbers = {name: rows[value][at] for name, value in zip(kind.values, ("value_1", "value_2"), strict=False)}
        if kind.number == BALANCE:
            numbers["result_second"] = rows["second"][at]
        numbers |= {"second": rows["second"][at], kind.id: rows["id"][at]}
        columns = {name: pc.cast(pa.array(column), pa.string()) for name, column in numbers.items()}
        columns["emit"] = pc.binary_join_element_wise(columns["second"], "000", ".")
        fields = [columns[name] for name in kind.fields[1:]]
        places.append(at)
        texts.append(pc.binary_join_element_wise(str(kind.number), *fields, ","))
    in_order = np.argsort(np.concatenate(places))
    lines = pa.concat_arrays(texts).take(pa.array(in_order))
    text: bytes = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer().to_pybytes()
    return text + b"\n" if len(lines) else b""


def write_balances(right: RightAnswers, xways: tuple[int, ...] | None, path: Path) -> None:
    """Time, QID, VID, first and last ResultTime, and the balance that is right for those."""
    asked = right.answers[BALANCE]
    chosen = np.ones(len(asked["id"]), bool) if xways is None else np.isin(asked["xway"], xways)
    requests = np.unique(np.stack([asked[name][chosen] for name in ("second", "id", "value_1")]), axis=1)
    second, query, vehicle = requests.astype(np.int64)
    request, start, until, balance = right.complete_accounts.ranges(vehicle, second)
    columns = [second[request], query[request], vehicle[request], start, until, balance]
    with _refusing(path), complete_file(path) as file:
        file.write(BALANCE_HEADING.encode())
        table = pa.table([pa.array(column) for column in columns], names=list("abcdef"))
        csv.write_csv(table, file, csv.WriteOptions(include_header=False))


def write_tables(right: RightAnswers, folder: Path) -> None:
    """What the answers rest on, a folder of Parquet for each table; one that exists is replaced."""
    statistics, accidents, stops = right.conditions.statistics, right.accidents, joined(right.stops, STOP)
    place, minute = np.nonzero(statistics.lav != spec.NO_LAV)
    road, seg = np.divmod(place + statistics.first_place, spec.SEGMENTS)
    known = {name: getattr(statistics, name)[place, minute] for name in ("cars", "lav", "toll")}
    tables: dict[str, Columns] = {
        "segment_minute": {**_road(road), "seg": seg, "minute": minute + 1, **known},
        "stop": {"vehicle_id": stops["vehicle_id"], **_road(stops["road"]), **_rest(stops, STOP[2:])},
        "accident": {
            **_road(accidents["road"]),
            **_rest(accidents, ("seg", "lane", "position_ft")),
            "minute": accidents["minute"] + 1,
            **_rest(accidents, ("first_second", "last_second")),
        },
    }
    with _refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, columns in tables.items():
            with complete_folder(folder / name) as whole:
                _write(columns, whole / "part-0.parquet")
        with complete_folder(folder / "assessment") as whole:
            _write_assessments(right, whole)


def _write_assessments(right: RightAnswers, folder: Path) -> None:
    conditions = right.spark.sparkContext.broadcast(right.conditions)

    def write(number: int, looks: Iterable[SliceSummary]) -> Iterator[None]:
        for look in looks:
            assessed = assessments_in(conditions.value, look)
            columns = {"vehicle_id": assessed["vehicle_id"], "assessed_second": assessed["second"]}
            _write({**columns, "toll": assessed["toll"]}, folder / f"part-{number}.parquet")
            yield

    run_job(right.spark, right.looks.mapPartitionsWithIndex(write).collect)
    conditions.unpersist()


def _road(road: npt.NDArray[np.int64]) -> Columns:
    return {"xway": road // 2, "dir": road % 2}


def _rest(columns: Columns, names: Iterable[str]) -> Columns:
    return {name: columns[name] for name in names}


def _write(columns: Columns, path: Path) -> None:
    pq.write_table(pa.table({name: pa.array(column.astype(np.int32)) for name, column in columns.items()}), path)


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise Refusal(f"cannot write {path}: {error.strerror}") from None
