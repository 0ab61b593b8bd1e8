"""`bundle.json`: what a bundle is about, and a checksum for each other file in it."""

from __future__ import annotations

from typing import TypedDict

from driver.dataset.folder import FileInfo

FORMAT = 1
MANIFEST = "bundle.json"
# What a run leaves in a bundle.
RUN, VERDICT, CYCLES, DIGEST, OUTPUT = "run.json", "verdict.json", "cycles.csv", "digest.csv", "output.csv"
OF_A_RUN = (RUN, VERDICT, CYCLES, DIGEST, OUTPUT)
# What a bundle is about, by the record beside its runs; a run has none.
KINDS = {"run": None, "rating": "rating.json", "comparison": "comparison.json"}


class BundleRecord(TypedDict):
    format: int
    # `run`, `rating` or `comparison`
    kind: str
    # Of the folder that it was made of.
    name: str
    # The version of the program that made it.
    program: str
    files: dict[str, FileInfo]
