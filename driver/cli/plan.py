"""`lrb plan`: what a larger machine or a cluster should hold."""

from __future__ import annotations

import argparse

from polling_baseline import spec
from polling_baseline.refusal import Refusal

SUMMARY = "Forecast how many expressways an engine holds on so many cores, from costs measured on one machine."
EXAMPLES = """\
  lrb plan --cores 100 --engine structured_streaming          the arithmetic, line by line
  lrb plan --cores 2,16,100 --engine structured_streaming     a line for each

It is a forecast: lrb rate measures. docs/scale-out.md says what it leaves out.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from driver.rating.plan import MEASURED

    parser.add_argument("--cores", metavar="N,...", default="2,16,100", help="cores of all workers together [2,16,100]")
    parser.add_argument(
        "--engine", choices=MEASURED, default="structured_streaming", help="the engine [structured_streaming]"
    )


def run(args: argparse.Namespace) -> int:
    from driver.rating.plan import MEASURED, REPORTS_PER_XWAY, forecast, longest_batch_s

    costs = MEASURED[args.engine]
    plans = [forecast(costs, cores) for cores in _parse_cores(args.cores)]
    limit_s = min(spec.DEADLINE_S.values())
    print(f"FORECAST  engine {args.engine}, one shard per core; costs measured on {costs.source}")
    print(f"floor     {costs.floor_s * 1000:.0f} ms for a micro-batch, however small")
    print(
        f"in time   an answer may take {limit_s} s: a batch of {longest_batch_s():g} s waits for one as long; "
        f"its floor leaves {plans[0].share:.2f} s of each second"
    )
    print(
        f"report    {costs.driver_s * 1e6:.2f} us one after the other, and "
        f"{costs.shard_s * 1e6:.2f} us shared by all cores"
    )
    for plan in plans:
        print(
            f"{plan.cores:>5} cores  {costs.driver_s * 1e6:.2f} + {costs.shard_s * 1e6:.2f} / {plan.cores} = "
            f"{plan.report_s * 1e6:.2f} us; {plan.share:.2f} s / {plan.report_s * 1e6:.2f} us = "
            f"{plan.reports_per_s:,.0f} reports a second: L = {plan.xways} at {REPORTS_PER_XWAY:,} each"
        )
    print(f"limit     what is done one after the other: past L = {plans[0].most_xways} no worker helps")
    if not costs.shard_s:
        print("note      no gain from a second shard could be measured, so this forecast promises none from more cores")
    return 0


def _parse_cores(text: str) -> list[int]:
    try:
        cores = [int(word) for word in text.split(",")]
    except ValueError:
        cores = [0]
    if min(cores) < 1:
        raise Refusal(f"--cores must be numbers from 1 on, with commas between, not {text}")
    return cores
