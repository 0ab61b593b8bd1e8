"""`lrb report`: finished runs, told again from their files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from driver.cli import add_limits_argument

if TYPE_CHECKING:
    from driver.run.record import RunRecord

SUMMARY = "Tell of finished runs again, in the terminal or as a page; from their files alone."
EXAMPLES = """\
  lrb report runs/0007-polling-L1                        what lrb run printed, and the verdict if there is one
  lrb report runs/0007-polling-L1 --html page.html       response times, backlog, cycles and settings on one page
  lrb report runs/0007-* runs/0008-* --html both.html    several runs on one page, laid over one another
  lrb report runs/0007-* runs/0008-* --svg figures       each chart of that page as a file of its own, for slides
  lrb report runs/0007-polling-L1 --limits 3             its late answers if 3 s were allowed, without a new run
  lrb report runs/0007-polling-L1 --json | jq '.runs[0].answers.toll.max'
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a folder made by lrb run")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a page instead")
    parser.add_argument("--svg", metavar="FOLDER", type=Path, help="write each chart of the page as an SVG file")
    add_limits_argument(parser, "those of the run")
    parser.add_argument("--json", action="store_true", help="print JSON instead")


def run(args: argparse.Namespace) -> int:
    import json

    from driver.report.text import run_text
    from driver.run.recount import open_run_under

    runs = [open_run_under(folder, args.limits) for folder in args.runs]
    written: list[Path] = []
    if args.html or args.svg:
        from driver.report.compare import check_comparable
        from driver.report.html.figures import write_figures
        from driver.report.html.file import write_page
        from driver.report.html.run import run_page

        check_comparable(runs)
        page = run_page(runs, args.html.parent if args.html and len(runs) > 1 else None)
        if args.html:
            write_page(args.html, page)
            written.append(args.html)
        if args.svg:
            written += write_figures(page, args.svg)
    if args.json:
        print(json.dumps({"runs": [as_json(run) for run in runs]}))
    elif written:
        print("\n".join(map(str, written)))
    else:
        print("\n\n".join(run_text(run) for run in runs))
    return 0


def as_json(run: RunRecord) -> dict[str, Any]:
    """All that `run.json` and `verdict.json` say, and what to look at first."""
    from driver.report.diagnosis import headline, look_first

    word, sentence = headline(run)
    words = {"headline": word, "sentence": sentence, "look_first": look_first(run)}
    return {"run": str(run.folder), **run.json, "verdict": run.verdict, **words}
