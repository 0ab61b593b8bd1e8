"""`python -m tests.mutants`: plant faults in right outputs and in a right engine, and say who catches them."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from driver.run.verdict import FAULTS as COUNTED
from driver.spark.session import session
from driver.validate.judge import Question, judged
from polling_baseline import spec
from polling_baseline.wording import format_count, format_table
from tests.engines.test_mutations import STRANGER, all_roads
from tests.mutants.engine_faults import FAULTS, EngineFault
from tests.mutants.trial import passes, small_world, try_fault
from tests.support.one_dataset import ID_AT, one_dataset, output_line
from tests.support.tallied import tallied

SEEDS = range(4)


def main() -> int:
    spark = session("local[*]")
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "outputs").mkdir()
        survivors = _outputs(spark, Path(name) / "outputs")
        (Path(name) / "engine").mkdir()
        survivors += _engine(spark, Path(name) / "engine")
    for survivor in survivors:
        print(f"survives: {survivor}")
    return 1 if survivors else 0


def _outputs(spark: object, folder: Path) -> list[str]:
    """Those that are not counted as they should be."""
    mutants = list(all_roads())
    dataset, by_road = one_dataset([road for _, road, _ in mutants], folder / "road")
    expected, owner, lines = {}, {}, []
    for (name, _, mutate), answers in zip(mutants, by_road, strict=True):
        said, expected[name] = mutate(answers)
        owner |= {(answer[0] > 1, answer[ID_AT[answer[0]]]): name for answer in answers}
        lines += [output_line(*pair) for pair in said]
    (folder / "output.csv").write_text("\n".join(lines) + "\n")
    found: dict[str, Counter[str]] = defaultdict(Counter)
    with judged(spark, Question(dataset, folder / "output.csv", range(spec.RUN_SECONDS))) as judgement:
        for row in tallied(judgement):
            faults = {fault: row[fault] for fault in COUNTED if row[fault]}
            found[owner[row["kind"] > 1, row["id"] % STRANGER]].update(faults)
    planted = [name for name, faults in expected.items() if faults]
    wrong = [name for name in expected if dict(found[name]) != expected[name]]
    caught = len([name for name in planted if found[name]])
    print(f"outputs: {len(planted)} faults planted, {caught} caught; {len(wrong)} not counted as they should be")
    print(f"         {format_count(len(expected) - len(planted), 'output')} without a fault, none of them blamed\n")
    return wrong


def _engine(spark: object, folder: Path) -> list[str]:
    """Those that nobody catches and that nothing excuses."""
    with small_world(spark, folder, SEEDS) as world:
        results = []
        for number, fault in enumerate(FAULTS, 1):
            print(f"\r{number} of {len(FAULTS)}", end="", file=sys.stderr, flush=True)
            results.append(try_fault(world, fault))
        print("\r", end="", file=sys.stderr)
        assert passes(world, sum(world.answers.values(), Counter()))
    by_rule: dict[int, list] = defaultdict(list)
    for result in results:
        by_rule[result.fault.rule].append(result)
    rows = [
        (
            f"rule {rule}",
            str(len(group)),
            str(sum(result.judge for result in group)),
            str(sum(bool(result.traces) for result in group)),
            "; ".join(_survivor(result.fault) for result in group if not (result.judge and result.traces)),
        )
        for rule, group in sorted(by_rule.items())
    ]
    total = [sum(int(row[at]) for row in rows) for at in (1, 2, 3)]
    rows.append(("all", *map(str, total), ""))
    print("\n".join(format_table(("engine", "planted", "judge", "traces", "not caught by both"), rows)))
    return [f"rule {r.fault.rule}, {r.fault.name}" for r in results if not r.judge and r.fault.reason is None]


def _survivor(fault: EngineFault) -> str:
    return fault.name + (f" ({fault.reason})" if fault.reason else "")


if __name__ == "__main__":
    sys.exit(main())
