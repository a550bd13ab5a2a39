#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the frames in a perf.data file that our driver recorded, without perf.

For each CPU: the frames are whole, the first is a header with our magic. With
"sequence", the scripted sequence numbers (in the fault address) only rise, and
what is missing between them is what the file tells as lost; with "rising", of a
recorder that was killed, they only rise; with "snapshot", they rise by one
within each piece of the stream, which may start in the middle of a frame; with
"skipped", from the second header on, of each 17 frames 10 are empty and the other
7 have their number, as of the script skip=10,burst=7.
Prints a line a CPU; the exit status says whether all is well. Knows
little-endian files only, also such as came through a pipe or were never ended.
"""
import struct
import sys

FRAME = 48
MAGIC = 0x56504144544C0001
AUXTRACE, LOST_SAMPLES, ID_INDEX = 71, 13, 69


def records(data):
    """(type, record bytes, trace bytes) of each record of the data section."""
    if data[:8] != b"PERFILE2":
        sys.exit("not a little-endian perf.data file")
    if struct.unpack_from("<Q", data, 8)[0] == 16:  # from a pipe
        at, end = 16, len(data)
    else:
        at, size = struct.unpack_from("<QQ", data, 40)
        end = at + size if size else len(data)
    while at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        body = data[at:at + length]
        trace = b""
        if kind == AUXTRACE and len(body) == length:
            n = struct.unpack_from("<Q", body, 8)[0]
            trace = data[at + length:at + length + n]
            length += n
        if at + length > end:
            break  # what the recorder was writing when it was killed
        yield kind, body, trace
        at += length


def index_of(body):
    """The CPU of each sample identifier that an ID_INDEX record tells."""
    nr = struct.unpack_from("<Q", body, 8)[0]
    return {ident: cpu for ident, _, cpu, _ in struct.iter_unpack("<QQQQ", body[16:16 + 32 * nr])}


def lost_cpu(body, index):
    """The CPU that a LOST_SAMPLES record is of.

    The sample id at its end is pid tid, time, CPU, identifier. What perf record
    itself writes when it ends has no time, and only the identifier is to be believed.
    """
    time, cpu, _, ident = struct.unpack_from("<QIIQ", body, len(body) - 24)
    return cpu if time else index[ident]


def streams_of(data, mode):
    """(the pieces of each CPU's stream, the entries told as lost of each CPU)"""
    streams, lost, index = {}, {}, {}
    for kind, body, trace in records(data):
        if kind == AUXTRACE:
            offset = struct.unpack_from("<Q", body, 16)[0]
            cpu = struct.unpack_from("<I", body, 40)[0]
            pieces = streams.setdefault(cpu, [])
            end = pieces[-1][0] + len(pieces[-1][1]) if pieces else 0
            if pieces and offset == end:
                pieces[-1][1].extend(trace)
            elif offset == 0 or mode == "snapshot":
                pieces.append((offset, bytearray(trace)))
            else:
                sys.exit(f"CPU {cpu}: the stream has {end} bytes, its next buffer starts at {offset}")
        elif kind == ID_INDEX:
            index.update(index_of(body))
        elif kind == LOST_SAMPLES:
            cpu = lost_cpu(body, index)
            lost[cpu] = lost.get(cpu, 0) + struct.unpack_from("<Q", body, 8)[0]
    return streams, lost


def skipped(path):
    with open(path, "rb") as file:
        streams, lost = streams_of(file.read(), "skipped")
    bad = not streams
    for cpu, pieces in sorted(streams.items()):
        stream = b"".join(piece for _, piece in pieces)
        frames = [stream[i:i + FRAME] for i in range(0, len(stream), FRAME)]
        headers = [i for i, f in enumerate(frames) if struct.unpack_from("<Q", f, 24)[0] == MAGIC]
        frames = frames[headers[1] + 1:] if len(headers) == 2 else []
        # The length that the log was registered with stands in the first slot
        zeros = sum(f[16:] == bytes(FRAME - 16) for f in frames)
        wrong = 0
        for n, f in enumerate(frames):
            if n % 17 < 10:
                wrong += f[16:] != bytes(FRAME - 16)
            else:
                wrong += struct.unpack_from(">Q", f, 24)[0] != n or f[16:24] == bytes(8)
        print(f"CPU {cpu}: {len(headers)} headers, {len(frames)} frames after the second, {zeros} of them empty,"
              f" {wrong} wrong, {lost.get(cpu, 0)} told lost")
        bad = bad or wrong > 0 or len(frames) < 85
    return bad


def main(path, mode):
    with open(path, "rb") as file:
        streams, lost = streams_of(file.read(), mode)
    bad = not streams and mode != "rising"
    for cpu, pieces in sorted(streams.items()):
        entries = headers = missing = 0
        last = None
        words = []
        for offset, piece in pieces:
            first = -offset % FRAME
            if (len(piece) - first) % FRAME:
                words.append(f"{(len(piece) - first) % FRAME} stray bytes")
            in_piece = 0
            for i in range(first, len(piece) - FRAME + 1, FRAME):
                if struct.unpack_from("<Q", piece, i + 16)[0] == 0:
                    headers += 1
                    if struct.unpack_from("<QQQ", piece, i + 24) != (MAGIC, 0, 0):
                        words.append(f"header at {i} without our magic")
                    continue
                if not headers and mode != "snapshot":
                    words.append("no header first")
                    headers = -1
                entries += 1
                in_piece += 1
                if not mode:
                    continue
                now = struct.unpack_from(">Q", piece, i + 24)[0]
                if last is not None:
                    if now <= last or (mode == "snapshot" and in_piece > 1 and now != last + 1):
                        words.append(f"sequence {now} after {last} at {i}")
                    missing += now - last - 1
                last = now
        if mode == "sequence" and missing > lost.get(cpu, 0):
            words.append(f"{missing} missing, only {lost.get(cpu, 0)} told as lost")
        bad = bad or bool(words)
        print(f"CPU {cpu}: {headers} headers, {entries} entries up to number {last}, {lost.get(cpu, 0)} told lost,"
              f" {missing} missing in between: {'; '.join(words[:3]) or 'good'}")
    return bad


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["sequence"], ["rising"], ["snapshot"], ["skipped"]):
        sys.exit("usage: frames.py FILE [sequence|rising|snapshot|skipped]")
    if sys.argv[2:] == ["skipped"]:
        sys.exit(skipped(sys.argv[1]))
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else ""))
