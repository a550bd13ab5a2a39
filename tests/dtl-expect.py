#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check every number of perf dtl against a computation of its own.

usage: dtl-expect.py PERF DATA SCRIPT LEDGER SCHEMA [--holes]

SCRIPT and LEDGER are what dtlgen says of DATA, or for a recording perf script and
dtl-ledger.py; lost entries and the reading of
the log are taken from DATA's own records. --holes: parts of the trace are not in
the file, at places that SCRIPT does not tell, so gaps are not compared.
"""
import csv
import io
import json
import math
import re
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict

import jsonschema

DISPATCH = ["external_interrupt", "firmware_internal_event", "H_PROD", "decrementer_interrupt",
            "system_reset", "firmware_internal_event", "conferred_cycles", "time_slice",
            "virtual_memory_page_fault", "expropriated_adjunct", "priv_doorbell"]
ENTRY = re.compile(
    r"\s*(?P<comm>\S.*?)\s+(?P<tid>-?\d+) \[(?P<cpu>\d+)\]\s+(?P<s>\d+)\.(?P<ns>\d{9}):\s+vpa-dtl:"
    r"\s*timebase: (?P<tb>\d+) dispatch_reason:(?P<dispatch>[^,]+), preempt_reason:(?P<preempt>[^,]+), "
    r"enqueue_to_dispatch_time:(?P<queued>\d+), ready_to_enqueue_time:(?P<ready>\d+), "
    r"waiting_to_ready_time:(?P<waiting>\d+), processor_id: (?P<proc>\d+)\s+(?P<ip>[0-9a-f]+) (?P<place>.*)")
ERRORS = []


class Entry:
    """One log entry, as the oracle tells it, and what it closes."""

    def __init__(self, match):
        self.comm = match["comm"]
        self.tid = int(match["tid"])
        self.cpu = int(match["cpu"])
        self.time = int(match["s"]) * 10**9 + int(match["ns"])
        for name in ("tb", "queued", "ready", "waiting", "proc"):
            setattr(self, name, int(match[name]))
        self.dispatch, self.preempt = match["dispatch"], match["preempt"]
        self.ip = int(match["ip"], 16)
        self.place = match["place"]
        self.stolen = self.ready + self.queued
        self.prev = None
        self.gap = False
        self.span = None    # running, unknown, waiting, ready, queued, in ticks
        self.fits = True


def fail(what):
    ERRORS.append(what)


def same(what, got, want):
    if got != want:
        fail(f"{what}: {got}, expected {want}")


def near(what, got, want, by):
    if abs(got - want) > by:
        fail(f"{what}: {got}, expected {want} (or {by} off)")


def records(path):
    """LOST_SAMPLES, LOST and AUX records, in the order of the file: (kind, cpu, time, n).

    What is lost without a time is of the CPU that ID_INDEX has for its identifier.
    """
    data = open(path, "rb").read()
    end = "<" if data[:8] == b"PERFILE2" else ">"
    offset, size = struct.unpack_from(end + "QQ", data, 40)
    at = offset
    index = {}
    while at + 8 <= offset + size:
        kind, _, length = struct.unpack_from(end + "IHH", data, at)
        if kind in (11, 13):
            time, = struct.unpack_from(end + "Q", data, at + length - 24)
            cpu, = struct.unpack_from(end + "I", data, at + length - 16)
            if not time:
                cpu = index[struct.unpack_from(end + "Q", data, at + length - 8)[0]]
            if kind == 13:
                yield "lost", cpu, time, struct.unpack_from(end + "Q", data, at + 8)[0]
            else:
                yield "aux", cpu, time, struct.unpack_from(end + "Q", data, at + 24)[0] & 1
        if kind == 2:
            yield "other", 0, 0, struct.unpack_from(end + "Q", data, at + 16)[0]
        if kind == 69:
            nr, = struct.unpack_from(end + "Q", data, at + 8)
            for i in range(nr):
                ident, _, cpu = struct.unpack_from(end + "QQQ", data, at + 16 + 32 * i)
                index[ident] = cpu
        if kind == 71:
            length += struct.unpack_from(end + "Q", data, at + 8)[0]
        at += length


def account(entries, recs):
    """Give each entry its span; the totals of CPUs that records alone tell."""
    events = [(e.time, 0, e) for e in entries]
    events += [(time, 1, (kind, cpu, time, n)) for kind, cpu, time, n in recs if time]
    # Of equal times the entry comes first; Python's sort keeps the file's order
    events.sort(key=lambda ev: (ev[0], ev[1]))
    state = defaultdict(lambda: {
        "last": None, "order": None, "lost": 0, "after": [], "trunc": False, "told": False,
        "read": False, "at_read": None, "read_at": 0, "losses": [], "noroom": []})
    for _, kind, ev in events:
        cpu = ev.cpu if kind == 0 else ev[1]
        st = state[cpu]
        if kind == 0:
            e, last = ev, st["last"]
            if last:
                e.prev, e.prev_proc = last, st["order"].proc
                ticks = e.tb - last.tb
                e.fits = ticks >= 0
                ticks = max(ticks, 0)
                e.gap = st["trunc"] or any(last.time <= p < e.time for p in st["after"])
                st["after"] = [p for p in st["after"] if p >= last.time]
                queued = min(e.queued, ticks)
                ready = min(e.ready, ticks - queued)
                waiting = min(e.waiting, ticks - queued - ready)
                rest = ticks - queued - ready - waiting
                e.fits &= (queued, ready, waiting) == (e.queued, e.ready, e.waiting)
                e.span = [0 if e.gap else rest, rest if e.gap else 0, waiting, ready, queued]
            st["order"] = e
            if not last or e.tb >= last.tb:
                st["last"] = e
            if st["read"]:
                st["read"] = False
                st["at_read"] = e if e.prev and not e.gap else None
            continue
        what, _, time, n = ev
        since = min(st["read_at"] or time, time)
        st["read_at"] = time
        if what == "lost":
            st["lost"] += n
            st["losses"].append((since, time, n))
            if st["at_read"]:
                e = st["at_read"]
                e.gap = True
                e.span[0], e.span[1] = 0, e.span[0]
            st["after"].append(time)
            st["trunc"], st["told"] = False, True
        else:
            if n:
                st["noroom"].append((since, time, 1))
            if n and not st["told"]:
                st["trunc"] = True
            st["told"] = False
        st["read"], st["at_read"] = True, None
    for what, cpu, time, n in recs:
        if what == "lost" and not time:     # Told at the end, and of no time
            state[cpu]["lost"] += n
            state[cpu]["losses"].append((0, math.inf, n))
    return state


def run(perf, data, *args):
    return subprocess.run([perf, "dtl", *args, "-i", data], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, text=True)


class Checker:
    def __init__(self, perf, data, script, ledger, schema, holes):
        self.perf, self.data, self.holes = perf, data, holes
        self.schema = json.load(open(schema))
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.ledger = json.load(open(ledger))
        self.freq = self.ledger["tb_freq"]
        self.pids = {t["tid"]: t["pid"] for c in self.ledger["cpus"] for t in c["tasks"]}
        self.comms = {t["tid"]: t["comm"] for c in self.ledger["cpus"] for t in c["tasks"]}
        self.entries = [Entry(m) for m in map(ENTRY.match, open(script)) if m]
        recs = list(records(data))
        self.other_lost = sum(n for kind, _, _, n in recs if kind == "other")
        self.state = account(self.entries, [r for r in recs if r[0] != "other"])
        by_cpu = defaultdict(list)
        for e in self.entries:
            by_cpu[e.cpu].append(e)
        self.by_cpu = by_cpu

    def ns(self, ticks):
        return ticks * 10**9 // self.freq

    def json(self, *args):
        """The JSON output, valid by the schema, and equal to the CSV output."""
        got = run(self.perf, self.data, *args, "--json")
        # A recording's own kernel is not here; no number depends on it
        words = [w for w in got.stderr.splitlines() if w and "No kallsyms or vmlinux" not in w]
        if got.returncode or words:
            fail(f"{args}: exit status {got.returncode}, {words}")
        out = json.loads(got.stdout)
        try:
            jsonschema.validate(out, self.schema)
        except jsonschema.ValidationError as err:
            fail(f"{args}: {err.message} at {list(err.path)}")
        same(f"{args}: command", out["command"], args[0])
        self.csv(args, out)
        return out

    def csv(self, args, out):
        name = {"latency": "groups", "hist": "buckets", "timehist": "entries",
                "interval": "intervals"}.get(args[0])
        if name not in out:
            name = "cpus"
        got = run(self.perf, self.data, *args, "-x", ";")
        rows = list(csv.DictReader(io.StringIO(got.stdout), delimiter=";"))
        same(f"{args}: CSV rows", len(rows), len(out[name]))
        for row, want in zip(rows, out[name]):
            text = {k: "" if v is None else f"{v:.2f}" if isinstance(v, float) else str(v)
                    for k, v in want.items()}
            # A percentage that is whole in JSON has its digits in CSV
            text = {k: f"{want[k]:.2f}" if k.endswith("_percent") and want[k] is not None else v
                    for k, v in text.items()}
            if row != text:
                fail(f"{args}: CSV {row}, JSON {text}")
                return

    # What the recording is, in every output
    def recording(self, rec, cpus=None):
        cpus = sorted(self.by_cpu) if cpus is None else cpus
        entries = [e for e in self.entries if e.cpu in cpus]
        same("recording entries", rec["entries"], len(entries))
        same("recording cpus", rec["cpus"], len({e.cpu for e in entries}))
        same("tb_freq_hz", rec["tb_freq_hz"], self.freq if entries else None)
        same("first_ns", rec["first_ns"], min((e.time for e in entries), default=None))
        same("last_ns", rec["last_ns"], max((e.time for e in entries), default=None))
        same("stolen_ticks", rec["stolen_ticks"], sum(e.stolen for e in entries))
        same("waiting_ticks", rec["waiting_ticks"], sum(e.waiting for e in entries))
        same("lost_entries", rec["lost_entries"], sum(s["lost"] for s in self.state.values()))
        same("entries_without_task", rec["entries_without_task"],
             sum(e.tid == -1 for e in entries))
        same("truncated", rec["truncated"], sum(len(s["noroom"]) for s in self.state.values()))
        same("other_records_lost", rec["other_records_lost"], self.other_lost)
        same("records_out_of_order", rec["records_out_of_order"], 0)
        same("bad_entries", rec["bad_entries"], 0)
        same("missing_bytes", rec["missing_bytes"], 0)
        if not self.holes:
            same("gaps", rec["gaps"], sum(e.gap for e in entries))
            same("trace_errors", rec["trace_errors"], 0)
            same("inconsistent_entries", rec["inconsistent_entries"],
                 sum(not e.fits for e in entries))
        # The ledger knows the same sums, and was not computed here
        same("ledger stolen", rec["stolen_ticks"],
             sum(c["stolen_ticks"] for c in self.ledger["cpus"]))
        same("ledger lost", rec["lost_entries"], sum(c["lost"] for c in self.ledger["cpus"]))
        same("ledger entries", rec["entries"], sum(c["entries"] for c in self.ledger["cpus"]))

    def identity(self, what, row):
        """The parts are the whole, to the nanosecond."""
        same(f"{what}: running + stolen + waiting + unknown",
             row["running_ns"] + row["stolen_ns"] + row["waiting_ns"] + row["unknown_ns"],
             row["span_ns"])

    def cpu_row(self, what, row, entries, lost):
        self.identity(what, row)
        same(f"{what} stolen", row["ready_to_enqueue_ns"] + row["enqueue_to_dispatch_ns"],
             row["stolen_ns"])
        same(f"{what} entries", row["entries"], len(entries))
        same(f"{what} lost", row["lost_entries"], lost)
        if not entries:
            return
        same(f"{what} first", row["first_ns"], entries[0].time)
        same(f"{what} last", row["last_ns"], max(e.time for e in entries))
        spans = [e.span for e in entries if e.span]
        running, unknown, waiting, ready, queued = (sum(s[i] for s in spans) for i in range(5))
        total = running + unknown + waiting + ready + queued
        same(f"{what} span", row["span_ns"], self.ns(total))
        if not self.holes:
            # Rounding of five parts goes to running
            near(f"{what} running", row["running_ns"], self.ns(running), 4)
            near(f"{what} unknown", row["unknown_ns"], self.ns(unknown), 4)
            for name, part in (("running", running), ("unknown", unknown)):
                near(f"{what} {name} %", row[f"{name}_percent"] or 0,
                     100 * part / total if total else 0, 0.00501)
            same(f"{what} gaps", row["gaps"], sum(e.gap for e in entries))
            same(f"{what} errors", row["trace_errors"], 0)
            same(f"{what} inconsistent", row["inconsistent_entries"],
                 sum(not e.fits for e in entries))
        same(f"{what} waiting", row["waiting_ns"], self.ns(waiting))
        same(f"{what} ready", row["ready_to_enqueue_ns"], self.ns(ready))
        same(f"{what} queued", row["enqueue_to_dispatch_ns"], self.ns(queued))
        for name, part in (("waiting", waiting), ("stolen", ready + queued)):
            near(f"{what} {name} %", row[f"{name}_percent"] or 0,
                 100 * part / total if total else 0, 0.00501)
        same(f"{what} stolen logged", row["stolen_logged_ns"],
             self.ns(sum(e.stolen for e in entries)))
        same(f"{what} waiting logged", row["waiting_logged_ns"],
             self.ns(sum(e.waiting for e in entries)))
        worst = max(e.stolen for e in entries)
        same(f"{what} max", row["max_stolen_ns"], self.ns(worst))
        same(f"{what} max time", row["max_stolen_time_ns"],
             next(e.time for e in entries if e.stolen == worst) if worst else None)

    def lost_on(self, cpu):
        return self.state[cpu]["lost"] if cpu in self.state else 0

    def cpus(self, out):
        seen = {row["cpu"]: row for row in out["cpus"]}
        same("CPUs", sorted(c for c, r in seen.items() if r["entries"]),
             sorted(c for c, e in self.by_cpu.items() if e))
        for cpu, row in seen.items():
            self.cpu_row(f"cpu {cpu}", row, self.by_cpu[cpu], self.lost_on(cpu))
        total = out["total"]
        self.identity("total", total)
        same("total entries", total["entries"], len(self.entries))
        same("total lost", total["lost_entries"], sum(s["lost"] for s in self.state.values()))
        for name in ("stolen_ns", "waiting_ns", "running_ns", "unknown_ns", "span_ns",
                     "stolen_logged_ns"):
            near(f"total {name}", total[name], sum(r[name] for r in seen.values()),
                 4 * len(seen) + 4)

    def tasks(self, out):
        tids = defaultdict(list)
        for e in self.entries:
            tids[e.tid].append(e)
        rows = {-1 if r["tid"] is None else r["tid"]: r for r in out["tasks"]}
        same("tasks", sorted(rows), sorted(tids))
        stolen_all = sum(e.stolen for e in self.entries)
        for tid, row in rows.items():
            mine = tids[tid]
            stolen = sum(e.stolen for e in mine)
            if tid != -1:
                same(f"task {tid} comm", row["comm"], self.comms[tid])
                same(f"task {tid} pid", row["pid"], self.pids[tid])
            else:
                same("unknown task", (row["comm"], row["pid"]), (None, None))
            same(f"task {tid} entries", row["entries"], len(mine))
            same(f"task {tid} stolen", row["stolen_ns"], self.ns(stolen))
            same(f"task {tid} ready", row["ready_to_enqueue_ns"],
                 self.ns(sum(e.ready for e in mine)))
            same(f"task {tid} queued", row["enqueue_to_dispatch_ns"],
                 self.ns(sum(e.queued for e in mine)))
            same(f"task {tid} waiting", row["waiting_ns"], self.ns(sum(e.waiting for e in mine)))
            if stolen_all:
                near(f"task {tid} share", row["stolen_share_percent"], 100 * stolen / stolen_all,
                     0.00501)
        same("order of tasks", [r["stolen_ns"] for r in out["tasks"]],
             sorted((r["stolen_ns"] for r in out["tasks"]), reverse=True))
        near("stolen of tasks and CPUs", sum(r["stolen_ns"] for r in out["tasks"]),
             sum(r["stolen_logged_ns"] for r in out["cpus"]), len(rows) + len(out["cpus"]))

    def report(self):
        out = self.json("report")
        self.recording(out["recording"])
        self.cpus(out)
        self.tasks(out)
        worst = sorted((e for e in self.entries if e.stolen), key=lambda e: -e.stolen)[:10]
        same("worst", [r["time_ns"] for r in out["worst"]], [e.time for e in worst])
        for row, e in zip(out["worst"], worst):
            want = {"stolen_ns": self.ns(e.stolen), "ready_to_enqueue_ns": self.ns(e.ready),
                    "enqueue_to_dispatch_ns": self.ns(e.queued), "waiting_ns": self.ns(e.waiting),
                    "time_ns": e.time, "cpu": e.cpu, "processor": e.proc,
                    "comm": None if e.tid == -1 else self.comms[e.tid],
                    "pid": None if e.tid == -1 else self.pids[e.tid],
                    "tid": None if e.tid == -1 else e.tid, "preempt_reason": e.preempt,
                    "dispatch_reason": e.dispatch, "place": hex(e.ip)}
            same("worst wait", row, want)
        self.conclusion(out)

    def conclusion(self, out):
        text = out["conclusion"]
        stolen = [(sum(e.span[3] + e.span[4] for e in es if e.span), -cpu)
                  for cpu, es in self.by_cpu.items() if es]
        if not stolen:
            same("conclusion", text, "Nothing can be said without entries.")
        elif not sum(e.stolen for e in self.entries):
            if not text.startswith("No time was stolen"):
                fail(f"conclusion: {text}")
        elif max(stolen)[0]:
            ticks, cpu = max(stolen)
            if f"CPU {-cpu} waited most for a core: {self.ns(ticks) // 10**6}." not in text:
                fail(f"conclusion: {text}, expected CPU {-cpu}, {self.ns(ticks)} ns")
            first = out["tasks"][0]
            name = f"{first['comm']}:{first['tid']}" if first["tid"] else first["comm"]
            if first["tid"] is not None and name not in text:
                fail(f"conclusion: {text}, expected {name}")
        if sum(s["lost"] for s in self.state.values()) and "as is known" not in text and stolen:
            fail(f"conclusion: {text}, without a word of the loss")

    def groups(self, by, key, columns):
        out = self.json("latency", "--by", by)
        self.recording(out["recording"])
        want = defaultdict(list)
        for e in self.entries:
            want[key(e)].append(e)
        got = {tuple(r[c] for c in columns): r for r in out["groups"]}
        if by == "reason":  # Two dispatch codes have one name, so they are told apart by the codes
            twice = "firmware_internal_event"
            got = {k: r for k, r in got.items() if k[1] != twice}
            want = {k: e for k, e in want.items() if k[1] != twice}
        else:
            same(f"--by {by}: number of groups", len(out["groups"]), len(got))
        same(f"--by {by}", sorted(map(str, got)), sorted(map(str, want)))
        for name, row in got.items():
            if name in want:    # at each code, where names are unique
                self.group(f"--by {by} {name}", row, want[name])
        order = [r["stolen_total_ns"] for r in out["groups"]]
        same(f"--by {by}: order", order, sorted(order, reverse=True))
        near(f"--by {by}: sum", sum(order), self.ns(sum(e.stolen for e in self.entries)),
             len(order) + 1)
        return out

    def group(self, what, row, entries):
        same(f"{what} count", row["count"], len(entries))
        for name, value in (("stolen", lambda e: e.stolen), ("ready_to_enqueue", lambda e: e.ready),
                            ("enqueue_to_dispatch", lambda e: e.queued)):
            values = sorted(value(e) for e in entries)
            total = self.ns(sum(values))
            same(f"{what} {name} total", row[f"{name}_total_ns"], total)
            same(f"{what} {name} avg", row[f"{name}_avg_ns"], total // len(values))
            same(f"{what} {name} max", row[f"{name}_max_ns"], self.ns(values[-1]))
            same(f"{what} {name} max time", row[f"{name}_max_time_ns"],
                 next(e.time for e in entries if value(e) == values[-1]))
            for pct in (50, 95, 99):
                exact = self.ns(values[math.ceil(len(values) * pct / 100) - 1])
                # As the man page says: 1/64, and the rounding of a tick
                near(f"{what} {name} p{pct}", row[f"{name}_p{pct}_ns"], exact,
                     exact / 64 + 10**9 / self.freq + 1)

    def latency(self):
        unknown = lambda e, v: None if e.tid == -1 else v
        self.groups("cpu", lambda e: (e.cpu,), ("cpu",))
        self.groups("task", lambda e: (unknown(e, e.tid), unknown(e, self.pids.get(e.tid)),
                                       unknown(e, self.comms.get(e.tid))), ("tid", "pid", "comm"))
        self.groups("reason", lambda e: (e.preempt, e.dispatch), ("preempt_reason", "dispatch_reason"))
        self.groups("processor", lambda e: (e.proc,), ("processor",))
        out = self.json("latency", "--by", "function")
        same("--by function: entries", sum(r["count"] for r in out["groups"]), len(self.entries))
        burner = [e for e in self.entries if "/opt/dtl/burner" in e.place]
        same("--by function: burner", sum(r["count"] for r in out["groups"]
                                          if r["dso"] == "/opt/dtl/burner"), len(burner))
        for sort, field in (("count", "count"), ("avg", "stolen_avg_ns"), ("max", "stolen_max_ns"),
                            ("p50", "stolen_p50_ns"), ("p95", "stolen_p95_ns"),
                            ("p99", "stolen_p99_ns"), ("total", "stolen_total_ns")):
            out = self.json("latency", "--by", "reason", "--sort", sort, "--limit", "3")
            values = [r[field] for r in out["groups"]]
            same(f"--sort {sort}", values, sorted(values, reverse=True))
            groups = out["groups_omitted"] + len(values)
            same(f"--limit: rows of --sort {sort}", len(values), min(3, groups))
            if groups < len({(e.preempt, e.dispatch) for e in self.entries}):
                fail(f"--limit: {groups} groups in all")

    def hist(self):
        out = self.json("hist")
        self.recording(out["recording"])
        want = defaultdict(lambda: [0, 0, 0, 0])
        bucket = lambda ticks: self.ns(ticks).bit_length()
        for e in self.entries:
            for i, ticks in enumerate((e.waiting, e.ready, e.queued, e.stolen)):
                want[(e.preempt, bucket(ticks))][i] += 1
        got = defaultdict(lambda: [0, 0, 0, 0])
        for row in out["buckets"]:
            key = row["preempt_reason"], row["from_ns"].bit_length()
            same("bucket", row["below_ns"], max(2 * row["from_ns"], 1))
            for i, name in enumerate(("waiting_to_ready", "ready_to_enqueue", "enqueue_to_dispatch",
                                      "stolen")):
                got[key][i] += row[name]
        # Two codes have one name
        same("hist", {k: v for k, v in got.items() if any(v)}, dict(want))

    def timehist(self):
        out = self.json("timehist")
        self.recording(out["recording"])
        rows = [r for r in out["entries"] if r["event"] == "dispatch"]
        same("timehist entries", len(rows), len(self.entries))
        voided = {(r["cpu"], r["unknown_until_ns"]) for r in out["entries"] if r["event"] == "lost"}
        for row, e in zip(rows, self.entries):
            known = row["running_ns"] is not None and (e.cpu, e.time) not in voided
            if not self.holes:
                same(f"timehist {e.time}: running known", known, bool(e.span and not e.gap))
                if e.span and not e.gap:
                    same(f"timehist {e.time} running", row["running_ns"], self.ns(e.span[0]))
                    same(f"timehist {e.time} before", row["processor_before"], e.prev_proc)
            want = {"time_ns": e.time, "cpu": e.cpu, "comm": None if e.tid == -1 else e.comm,
                    "pid": None if e.tid == -1 else self.pids[e.tid],
                    "tid": None if e.tid == -1 else e.tid, "waiting_ns": self.ns(e.waiting),
                    "ready_to_enqueue_ns": self.ns(e.ready),
                    "enqueue_to_dispatch_ns": self.ns(e.queued),
                    "stolen_ns": self.ns(e.ready) + self.ns(e.queued), "processor": e.proc,
                    "preempt_reason": e.preempt, "dispatch_reason": e.dispatch,
                    "lost_entries": None}
            same("timehist", {k: row[k] for k in want}, want)
            if len(ERRORS) > 20:
                return
        same("timehist lost", sum(r["lost_entries"] or 0 for r in out["entries"]),
             sum(s["lost"] for s in self.state.values()))
        summary = self.json("timehist", "--summary")
        self.cpus(summary)
        self.tasks(summary)

    def dispersion(self):
        out = self.json("dispersion")
        self.recording(out["recording"])
        for row in out["cpus"]:
            entries = self.by_cpu[row["cpu"]]
            follow = [e for e in entries if e.span and not e.gap]
            stay = sum(e.proc == e.prev_proc for e in follow)
            same("dispersion entries", row["entries"], len(entries))
            same("dispersion lost", row["lost_entries"], self.lost_on(row["cpu"]))
            same("dispersion processors", row["processors"], len({e.proc for e in entries}))
            same("dispersion sum", row["same_processor"] + row["changed_processor"] + row["unknown"],
                 row["entries"])
            if self.holes:
                continue
            same("dispersion same", row["same_processor"], stay)
            same("dispersion changed", row["changed_processor"], len(follow) - stay)
            if follow:
                near("dispersion %", row["same_percent"], 100 * stay / len(follow), 0.00501)
                near("dispersion %", row["changed_percent"], 100 - 100 * stay / len(follow), 0.00501)

    def interval(self):
        every = 7 * 10**6
        out = self.json("interval", "--every", "7ms")
        self.recording(out["recording"])
        rows = out["intervals"]
        same("every_ns", out["every_ns"], every)
        if not self.entries:
            return
        base = rows[0]["start_ns"]
        same("interval base", base, min([e.time for e in self.entries] +
                                        [t for s in self.state.values() for _, t, _ in
                                         s["losses"] + s["noroom"]]))
        same("order of intervals", [r["start_ns"] for r in rows],
             sorted({r["start_ns"] for r in rows}))
        for i, row in enumerate(rows):
            self.identity(f"interval {i}", row)
            same("interval start", (row["start_ns"] - base) % every, 0)
            if not row["entries"] and not row["span_ns"] and not row["lost_entries"]:
                fail(f"interval {i} has nothing to tell")
            same("interval entries", row["entries"],
                 sum(row["start_ns"] <= e.time < row["start_ns"] + every for e in self.entries))
            if row["span_ns"] > every * len(self.by_cpu):
                fail(f"interval {i}: {row['span_ns']} ns on {len(self.by_cpu)} CPUs")
        same("interval lost", sum(r["lost_entries"] for r in rows),
             sum(s["lost"] for s in self.state.values()))
        if self.holes:
            return
        # Each entry may round by some ns
        for name, idx in (("running_ns", [0]), ("unknown_ns", [1]), ("waiting_ns", [2]),
                          ("stolen_ns", [3, 4])):
            near(f"sum of intervals {name}", sum(r[name] for r in rows),
                 self.ns(sum(e.span[i] for e in self.entries if e.span for i in idx)),
                 3 * len(self.entries))
            # And by time: what lies before the middle of the recording
            half = len(rows) // 2
            edge = rows[half]["start_ns"]
            near(f"first half of intervals {name}", sum(r[name] for r in rows[:half]),
                 self.before(edge, idx), 3 * len(self.entries))

    def before(self, edge, idx):
        """ns of the states in @idx before @edge; states lie as waiting, ready, queued, dispatch."""
        total = 0
        for e in self.entries:
            if not e.span:
                continue
            at = e.time
            for i in (4, 3, 2):
                start = at - self.ns(e.span[i])
                if i in idx:
                    total += max(0, min(at, edge) - start) if start < edge else 0
                at = start
            if (0 in idx or 1 in idx) and e.span[idx[0]] and e.prev.time < edge:
                total += min(at, edge) - e.prev.time
        return total

    def filters(self):
        """Each filter selects what it says, and sums are those of the selected."""
        if not self.entries:
            return
        cpu = max(self.by_cpu)
        out = self.json("report", "--cpu", str(cpu))
        same("--cpu", [r["cpu"] for r in out["cpus"]], [cpu])
        self.cpu_row("--cpu", out["cpus"][0], self.by_cpu[cpu], self.lost_on(cpu))
        times = sorted(e.time for e in self.entries)
        start, stop = times[len(times) // 4], times[3 * len(times) // 4]
        text = f"{start // 10**9}.{start % 10**9:09d},{stop // 10**9}.{stop % 10**9:09d}"
        for option, value, pick in (
                ("--cpu", str(cpu), lambda e: e.cpu == cpu),
                ("--reason", "H_CEDE", lambda e: e.preempt == "H_CEDE" or e.dispatch == "H_CEDE"),
                ("--reason", "time_slice,H_PROD", lambda e: "time_slice" in (e.preempt, e.dispatch)
                 or "H_PROD" in (e.preempt, e.dispatch)),
                ("--comm", "swapper", lambda e: e.tid == 0),
                ("--pid", str(max(self.pids.values())),
                 lambda e: self.pids.get(e.tid) == max(self.pids.values()) and e.tid != -1),
                ("--time", text, lambda e: start <= e.time <= stop)):
            chosen = [e for e in self.entries if pick(e)]
            for command in ("report", "latency", "hist", "timehist", "dispersion", "interval"):
                out = self.json(command, option, value)
                what = f"{command} {option} {value}"
                same(what, out["recording"]["entries"], len(chosen))
                same(f"{what} stolen", out["recording"]["stolen_ticks"],
                     sum(e.stolen for e in chosen))
                for name, key in (("lost_entries", "losses"), ("truncated", "noroom")):
                    if option == "--time":
                        same(f"{what} {name}", out["recording"][name],
                             sum(n for s in self.state.values() for since, told, n in s[key]
                                 if told >= start and since <= stop))
                if command == "timehist" and option == "--time":
                    same(f"{what} lost", sum(r["lost_entries"] or 0 for r in out["entries"]),
                         out["recording"]["lost_entries"])
                if command == "latency":
                    same(f"{what} count", sum(r["count"] for r in out["groups"]), len(chosen))
                if command == "hist":
                    same(f"{what} buckets", sum(r["stolen"] for r in out["buckets"]), len(chosen))
                if command == "timehist":
                    same(f"{what} lines", sum(r["event"] == "dispatch" for r in out["entries"]),
                         len(chosen))
                if command in ("dispersion", "interval"):
                    same(f"{what} sum", sum(r["entries"] for r in out["cpus" if command == "dispersion"
                                                                      else "intervals"]), len(chosen))
                if command != "report":
                    continue
                for row in out["cpus"]:
                    self.identity(what, row)
                    mine = [e.tb for e in chosen if e.cpu == row["cpu"]]
                    if option == "--time" and mine and mine == sorted(mine):
                        same(f"{what} span", row["span_ns"], self.ns(mine[-1] - mine[0]))
            self.picture(option, value, len(chosen))

    def picture(self, option, value, nr):
        with tempfile.NamedTemporaryFile(suffix=".svg") as svg:
            got = run(self.perf, self.data, "timechart", "-o", svg.name, option, value)
            if nr:
                found = re.search(r">(\d+) entries, ", svg.read().decode())
                same(f"timechart {option} {value}", found and int(found[1]), nr)
            elif "Nothing to draw" not in got.stderr:
                fail(f"timechart {option} {value}: {got.stderr}")

    def text(self):
        """What a person sees has the same numbers, and losses first."""
        got = run(self.perf, self.data, "report")
        first = got.stdout.splitlines()
        lost = sum(s["lost"] for s in self.state.values())
        if lost and not first[0].startswith(f"Lost: {lost} entries"):
            fail(f"report: the first line is {first[0]}, of {lost} entries lost")
        if self.holes and not any(line.startswith("Damaged: ") for line in first[:2]):
            fail("report: no word of the damage in the first lines")
        rows = [line.split() for line in first]
        for cpu, entries in self.by_cpu.items():
            row = next((r for r in rows if len(r) > 9 and r[0] == str(cpu)), None)
            if not row:
                fail(f"report: no line of CPU {cpu}")
                continue
            same("report text: entries", int(row[1]), len(entries))
            same("report text: lost", int(row[-1]), self.lost_on(cpu))
            stolen = self.ns(sum(e.span[3] for e in entries if e.span)) + \
                self.ns(sum(e.span[4] for e in entries if e.span))
            same("report text: stolen ms", row[7], f"{stolen // 10**6}.{stolen // 1000 % 1000:03d}")


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    check = Checker(*args, "--holes" in sys.argv)
    for name in ("report", "latency", "hist", "timehist", "dispersion", "interval", "filters", "text"):
        getattr(check, name)()
    for line in ERRORS[:40]:
        print(line)
    print(f"{len(check.entries)} entries, {len(ERRORS)} differences")
    return bool(ERRORS)


sys.exit(main())
