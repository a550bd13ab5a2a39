#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The ledger of a recording, as dtlgen gives one: dtl-ledger.py DATA SCRIPT.

Entries and their times are read from the frames of DATA, without perf; tasks from
its COMM and FORK records. SCRIPT is what perf script says of DATA: which task each
entry belongs to. Knows little-endian files of our driver only.
"""
import json
import re
import struct
import sys
from collections import defaultdict

from frames import AUXTRACE, FRAME, ID_INDEX, LOST_SAMPLES, index_of, lost_cpu, records

COMM, FORK = 3, 7
ENTRY = re.compile(r"\s*\S.*?\s+(-?\d+) \[(\d+)\].*\svpa-dtl:\s*timebase: (\d+) ")


def text(raw):
    return raw.split(b"\0")[0].decode(errors="replace")


def main(path, script):
    streams, lost, named, index = defaultdict(bytes), defaultdict(int), [], {}
    with open(path, "rb") as f:
        data = f.read()
    for kind, body, trace in records(data):
        # The sample id at a record's end: … time, CPU, identifier
        time = struct.unpack_from("<Q", body, len(body) - 24)[0] if len(body) >= 32 else 0
        if kind == AUXTRACE:
            streams[struct.unpack_from("<I", body, 40)[0]] += trace
        elif kind == LOST_SAMPLES:
            lost[lost_cpu(body, index)] += struct.unpack_from("<Q", body, 8)[0]
        elif kind == ID_INDEX:
            index.update(index_of(body))
        elif kind == COMM:
            pid, tid = struct.unpack_from("<II", body, 8)
            named.append((time, tid, pid, text(body[16:])))
        elif kind == FORK:
            pid, _, tid, parent = struct.unpack_from("<IIII", body, 8)
            named.append((time, tid, pid, parent))
    tasks = {0: (0, "swapper")}
    for _, tid, pid, name in sorted(named, key=lambda n: n[0]):
        tasks[tid] = (pid, tasks.get(name, (0, f":{name}"))[1] if isinstance(name, int) else name)

    with open(script, encoding="utf-8", errors="replace") as f:
        owners = {(int(m[2]), int(m[3])): int(m[1]) for m in map(ENTRY.match, f) if m}
    cpus, tb_freq = [], 0
    for cpu, stream in sorted(streams.items()):
        entries = []
        for at in range(0, len(stream), FRAME):
            if not struct.unpack_from("<Q", stream, at + 16)[0]:
                tb_freq = struct.unpack_from("<Q", stream, at + 8)[0]
                continue
            queued, ready, waiting, tb = struct.unpack_from(">IIIQ", stream, at + 4)
            entries.append((tb, ready + queued, waiting))
        mine = defaultdict(lambda: [0, 0, 0])
        for tb, stolen, waiting in entries:
            # An entry that perf does not tell of is missed here
            mine[owners[cpu, tb]] = [a + b for a, b in
                                     zip(mine[owners[cpu, tb]], (1, stolen, waiting))]
        cpus.append({"cpu": cpu, "entries": len(entries), "lost": lost[cpu],
                     "stolen_ticks": sum(e[1] for e in entries),
                     "first_stolen_ticks": entries[0][1] if entries else 0,
                     "tasks": [{"tid": tid, "pid": tasks.get(tid, (-1,))[0],
                                "comm": tasks.get(tid, (-1, f":{tid}"))[1], "entries": n,
                                "stolen_ticks": stolen, "waiting_ticks": waiting}
                               for tid, (n, stolen, waiting) in sorted(mine.items())]})
    json.dump({"tb_freq": tb_freq, "cpus": cpus}, sys.stdout)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
