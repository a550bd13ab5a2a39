#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the frames in a perf.data file that our driver recorded, without perf.

For each CPU: the frames are whole, the first is a header with our magic, the
scripted sequence numbers (in the fault address) only rise, and what is missing
between them is what the file tells as lost. Prints a line a CPU; the exit
status says whether all is well. Knows little-endian files only.
"""
import struct
import sys

FRAME = 48
MAGIC = 0x56504144544C0001
AUXTRACE, LOST_SAMPLES = 71, 13


def records(data):
    """(type, record bytes, trace bytes) of each record of the data section."""
    if data[:8] != b"PERFILE2":
        sys.exit("not a little-endian perf.data file")
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        body = data[at:at + length]
        trace = b""
        if kind == AUXTRACE:
            n = struct.unpack_from("<Q", body, 8)[0]
            trace = data[at + length:at + length + n]
            length += n
        yield kind, body, trace
        at += length


def main(path, sequence):
    streams, lost = {}, {}
    with open(path, "rb") as file:
        data = file.read()
    for kind, body, trace in records(data):
        if kind == AUXTRACE:
            offset = struct.unpack_from("<Q", body, 16)[0]
            cpu = struct.unpack_from("<I", body, 40)[0]
            stream = streams.setdefault(cpu, bytearray())
            if offset != len(stream):
                sys.exit(f"CPU {cpu}: the stream has {len(stream)} bytes, its next buffer starts at {offset}")
            stream += trace
        elif kind == LOST_SAMPLES:
            # u64 count, then the sample id: pid tid, time, id?, cpu … with the
            # identifier last; the CPU stands 16 bytes before the record's end.
            cpu = struct.unpack_from("<I", body, len(body) - 16)[0]
            lost[cpu] = lost.get(cpu, 0) + struct.unpack_from("<Q", body, 8)[0]
    bad = not streams
    for cpu, stream in sorted(streams.items()):
        entries = headers = missing = 0
        last = -1
        words = []
        if len(stream) % FRAME:
            words.append(f"{len(stream) % FRAME} stray bytes")
        for i in range(0, len(stream) - FRAME + 1, FRAME):
            if struct.unpack_from("<Q", stream, i + 16)[0] == 0:
                headers += 1
                if struct.unpack_from("<QQQ", stream, i + 24) != (MAGIC, 0, 0):
                    words.append(f"header at {i} without our magic")
                continue
            if not headers:
                words.append("no header first")
                headers = -1
            entries += 1
            if sequence:
                now = struct.unpack_from(">Q", stream, i + 24)[0]
                if now <= last:
                    words.append(f"sequence {now} after {last} at {i}")
                missing += now - last - 1
                last = now
        if sequence and missing > lost.get(cpu, 0):
            words.append(f"{missing} missing, only {lost.get(cpu, 0)} told as lost")
        bad = bad or bool(words)
        print(f"CPU {cpu}: {headers} headers, {entries} entries, {lost.get(cpu, 0)} told lost,"
              f" {missing} missing in between: {'; '.join(words[:3]) or 'good'}")
    return bad


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: frames.py FILE [sequence]")
    sys.exit(main(sys.argv[1], len(sys.argv) == 3))
