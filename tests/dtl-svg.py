#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check a picture of perf dtl timechart: SVG REPORT.json CPUS.

It is XML with a lane for each CPU, shares and losses as in the report, no text
that overlaps another or leaves the picture, and areas that are in their lanes
and in proportion to the time that the report gives each state.
"""
import json
import re
import sys
import xml.etree.ElementTree as ET

NS = "{http://www.w3.org/2000/svg}"
CHAR, HEIGHT = 6.7, 11      # of the font, as drawn

svg, report, nr = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3])
root = ET.parse(svg).getroot()
width, height = float(root.get("width")), float(root.get("height"))

boxes, rows = [], {}
for t in root.iter(NS + "text"):
    x, y, text = float(t.get("x")), float(t.get("y")), t.text or ""
    size = 8.5 if t.get("class") == "title" else CHAR
    w = len(text.strip()) * size
    left = {"end": x - w, "middle": x - w / 2}.get(t.get("text-anchor"), x)
    boxes.append((left, y - HEIGHT * 0.8, left + w, y + HEIGHT * 0.2, text))
    rows.setdefault(y, []).append(text)
for i, a in enumerate(boxes):
    assert a[0] >= 0 and a[2] <= width and a[1] >= 0 and a[3] <= height, f"outside: {a}"
    for b in boxes[i + 1:]:
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], f"overlap: {a} {b}"

lanes = {}
for y, texts in rows.items():
    cpu = next((re.fullmatch(r"CPU (\d+)", t) for t in texts if t.startswith("CPU ")), None)
    if cpu:
        lanes[int(cpu[1])] = (y, texts)
assert sorted(lanes) == list(range(nr)), f"lanes: {sorted(lanes)}"

cpus = {c["cpu"]: c for c in report["cpus"]}
for cpu, (y, texts) in lanes.items():
    share = next(t for t in texts if t.endswith(" %"))
    assert abs(float(share.split()[0]) - cpus[cpu]["stolen_percent"]) < 0.06, f"CPU {cpu}: {texts}"
    assert str(cpus[cpu]["lost_entries"]) in texts, f"CPU {cpu}: {texts}"

# Areas of each colour, by lane
colors = {"#f0604d": "stolen_ns", "#a6d8a8": "running_ns", "#dfe3ea": "waiting_ns",
          "#b79ae0": "unknown_ns"}
step = re.compile(r"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H[\d.]+z")
tops = sorted(y for y, _ in lanes.values())
pitch = tops[1] - tops[0] if nr > 1 else 43
areas = {}
for p in root.iter(NS + "path"):
    if p.get("fill") not in colors:
        continue
    for x0, y0, x1, y1 in ((float(v) for v in m.groups()) for m in step.finditer(p.get("d"))):
        assert 0 <= x0 <= x1 <= width and y1 <= y0, f"a step of no size: {x0} {y0} {x1} {y1}"
        mid = (y0 + y1) / 2
        cpu = min(lanes, key=lambda c: abs(lanes[c][0] - mid))
        assert abs(lanes[cpu][0] - mid) <= pitch / 2 + 5, f"outside its lane: {y0} {y1}"
        key = cpu, colors[p.get("fill")]
        areas[key] = areas.get(key, 0) + (x1 - x0) * (y0 - y1)
for cpu in lanes:
    whole = sum(areas.get((cpu, s), 0) for s in ("stolen_ns", "running_ns", "waiting_ns"))
    for state in ("stolen_ns", "running_ns", "waiting_ns"):
        drawn = areas.get((cpu, state), 0) / whole
        known = cpus[cpu]["span_ns"] - cpus[cpu]["unknown_ns"]
        want = cpus[cpu][state] / known
        # Heights are in half pixels
        assert abs(drawn - want) < 0.06, f"CPU {cpu} {state}: {drawn:.3f} of the area, {want:.3f} of the time"
    if cpus[cpu]["unknown_ns"] > 0:
        assert areas.get((cpu, "unknown_ns"), 0) > 0, f"CPU {cpu}: no gap is drawn"
print(f"{nr} lanes, {len(boxes)} texts")
