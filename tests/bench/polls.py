#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Guest instructions of a poll: polls.py CALLS FILE

CALLS is what calls.c wrote in a guest of one processor, FILE what was recorded
there. A poll that finds entries leaves one PERF_RECORD_AUX, so that the records
in their order tell how many each of these polls found; the start of the event
leaves one before them, with the header alone, and its stop may leave one after
them. If the numbers do not agree that way, nothing is paired.
"""
import os
import sys
from statistics import median

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from frames import FRAME, records  # noqa: E402

AUX = 11
# Between the dearest poll that finds nothing and the cheapest that finds an entry
EMPTY = 700


def line(what, counts):
    print(f"{what:>12} {len(counts):>7} {min(counts):>7} {median(counts):>9.1f} {max(counts):>7}")


def main(calls, recording):
    polls = []
    with open(calls, encoding="ascii") as file:
        lines = file.read().splitlines()
    if lines[-1:] != ["end"]:
        sys.exit(f"{calls} is not whole")
    for words in map(str.split, lines):
        if words[0] == "call":
            polls.append((int(words[2]), words[3] != "0"))
    with open(recording, "rb") as file:
        sizes = [int.from_bytes(body[16:24], "little") // FRAME
                 for kind, body, _ in records(file.read()) if kind == AUX]

    found = [p for p in polls if p[0] > EMPTY]
    empty = [p for p in polls if p[0] <= EMPTY]
    if not found or not empty or len(sizes) - len(found) not in (1, 2) or sizes[0] != 1:
        sys.exit(f"{len(found)} polls found entries, {len(empty)} did not, but there are {len(sizes)} AUX records,"
                 f" the first of {sizes[:1]} frames")
    pairs = [(size, count) for size, (count, interrupted) in zip(sizes[1:], found) if not interrupted]
    calm = [count for count, interrupted in empty if not interrupted]

    print(f"{len(polls)} polls; {len(polls) - len(pairs) - len(calm)} of them were interrupted and are left out")
    print(f"{'entries':>12} {'polls':>7} {'least':>7} {'median':>9} {'most':>7}   guest instructions")
    line("none", calm)
    for size in sorted({size for size, _ in pairs}):
        line(size, [count for s, count in pairs if s == size])

    n = len(pairs)
    mean_size = sum(s for s, _ in pairs) / n
    mean_count = sum(c for _, c in pairs) / n
    slope = (sum((s - mean_size) * (c - mean_count) for s, c in pairs) /
             sum((s - mean_size) ** 2 for s, _ in pairs))
    print("\nguest instructions of the timer's callback with all it calls, aims, and mainline's in brackets")
    print(f"a poll that finds nothing       {sum(calm) / len(calm):8.1f}   200 (179)")
    print(f"a poll with entries, fixed part {mean_count - slope * mean_size:8.1f}   1400 (1326)")
    print(f"each entry                      {slope:8.2f}   14 (13.3)")
    print(f"fitted over {n} polls of {min(s for s, _ in pairs)} to {max(s for s, _ in pairs)} entries (least squares)")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
