"""The virtual clock against the real one: the same overloaded minute on both, and how their response times compare."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driver.dataset.folder import Dataset
from driver.generate.generate import GenerateOptions, generated
from driver.run.config import RunConfig
from driver.run.engines import Backends, open_engine
from driver.run.loop import run
from polling_baseline import spec
from polling_baseline.batch import Batch

# What each second of input takes beyond its own: a little more than there is time for.
EXTRA_S = 1.15
MEASURES = ("p50", "p90", "p99", "max")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        dataset = generated(GenerateOptions(1.0, 1, 42, 1), folder / "road", "local[*]")
        real, virtual = (_overloaded(dataset, clock, folder / clock) for clock in ("real", "virtual"))
    for kind in spec.ANSWERS:
        pairs = [(virtual[kind].get(name), real[kind].get(name)) for name in MEASURES]
        shown = [
            f"{name} {mine:.2f} / {theirs:.2f} s = {mine / theirs:.3f}"
            for name, (mine, theirs) in zip(MEASURES, pairs, strict=True)
            if mine and theirs
        ]
        if shown:
            print(f"{kind:<12} virtual / real: {', '.join(shown)}")


def _overloaded(dataset: Dataset, clock: str, folder: Path) -> dict[str, Any]:
    """The answers' response times of System X with a pause in every cycle."""
    config = RunConfig(str(dataset.path), "polling", clock, 1.0, 1, "off", 1, 1)
    engine = open_engine(config, dataset, Backends())
    process = engine.process

    def slow(batch: Batch) -> Mapping[str, float]:
        steps = process(batch)
        time.sleep(EXTRA_S * len(batch.seconds))
        return steps

    engine.process = slow  # type: ignore[method-assign]
    try:
        engine.install()
        folder.mkdir()
        answers: dict[str, Any] = run(engine, dataset, config, folder)["answers"]
        return answers
    finally:
        engine.stop()


if __name__ == "__main__":
    main()
