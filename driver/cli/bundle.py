"""`lrb bundle`: a result as one file to hand on."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

SUMMARY = "Pack a judged run, a rating or a comparison into one file that strangers can check with lrb verify."
EXAMPLES = """\
  lrb bundle runs/0007-polling-L1 --out mine.zip
                                         configuration, machine, versions, verdict, cycles, digest of the answers
  lrb bundle ratings/polling-peak --out peak.zip
                                         a rating, with all its runs
  lrb bundle runs/0007-polling-L1 --out mine.zip --with-output
                                         the answers as well: who has the data set can judge each of them again

No data set, no password and no path of this machine is in it.  The same folder gives the same bytes.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="RUN | RATING | COMPARISON", type=Path, help="made by lrb run, rate or compare"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the bundle goes [NAME.zip]")
    parser.add_argument("--with-output", action="store_true", help="put the answers themselves in as well")


def run(args: argparse.Namespace) -> int:
    from driver.publish.bundle import make_bundle

    out = args.out or Path(f"{args.folder.resolve().name}.zip")
    manifest = make_bundle(args.folder, out, args.with_output, _say)
    size = f"{len(manifest['files'])} files, {out.stat().st_size:,} bytes"
    print(f"saved  {out}   {manifest['kind']} {manifest['name']}, {size}")
    print(f"whoever gets it checks it with: lrb verify {out.name}")
    return 0


def _say(what: str) -> None:
    print(f"bundle: {what}", file=sys.stderr, flush=True)
