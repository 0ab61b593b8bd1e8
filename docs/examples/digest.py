#!/usr/bin/env python3
"""The digest of an output file, as `lrb digest` prints it of the right answers (docs/digests.md)."""

import sys
from collections import defaultdict
from pathlib import Path

KINDS = ("toll", "accident", "balance", "expenditure", "travel_time")
FIELDS = ((2, 4, 5, 1), (1, 4, 3), (1, 5, 4), (1, 4, 3), (1, 4, 5, 3))  # Time first, VID or QID last
BITS = (1 << 64) - 1

counts, totals = defaultdict(int), defaultdict(int)
for line in Path(sys.argv[1]).read_text().splitlines():
    answer = line.split(",")
    kind, number = int(answer[0]), 0
    for field in FIELDS[kind]:
        number = ((number ^ (int(answer[field]) & BITS)) + 0x9E3779B97F4A7C15) & BITS
        number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & BITS
        number = ((number ^ number >> 27) * 0x94D049BB133111EB) & BITS
        number ^= number >> 31
    for minute in (0, int(answer[FIELDS[kind][0]]) // 60 + 1):
        counts[kind, minute] += 1
        totals[kind, minute] = (totals[kind, minute] + number) & BITS
print("kind,minute,answers,fingerprint")
for kind, name in enumerate(KINDS):
    for minute in sorted({0} | {minute for other, minute in counts if other == kind}):
        print(f"{name},{minute or 'all'},{counts[kind, minute]},{totals[kind, minute]:016x}")
