#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check a picture of perf dtl timechart: SVG REPORT.json CPUS [BROWSER].

It is XML with a lane for each CPU, shares and losses as in the report, no text
that overlaps another or leaves the picture, and areas that are in their lanes
and in proportion to the time that the report gives each state. With a BROWSER
(chromium), the boxes of the texts are those that it draws.
"""
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

NS = "{http://www.w3.org/2000/svg}"
CHAR, HEIGHT = 6.7, 11      # of the font, as drawn

svg, report, nr = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3])
root = ET.parse(svg).getroot()
width, height = float(root.get("width")), float(root.get("height"))

PAGE = """<!DOCTYPE html><body style="margin: 0">%s<script>
const boxes = [...document.querySelectorAll("svg text")].map(t => {
	const b = t.getBBox();
	return [b.x, b.y, b.x + b.width, b.y + b.height, t.textContent];
});
document.body.textContent = "BOXES" + JSON.stringify(boxes) + "END";
</script>"""


def drawn_boxes(browser):
    """What a browser makes of the texts, [left, top, right, bottom, text] each."""
    with tempfile.TemporaryDirectory() as tmp:
        page = os.path.join(tmp, "page.html")
        with open(page, "w") as f:
            f.write(PAGE % open(svg).read().split("?>", 1)[1])
        dom = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu",
                              f"--user-data-dir={tmp}/profile", "--dump-dom", "file://" + page],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                             timeout=300).stdout.decode()
    return json.loads(html.unescape(re.search("BOXES(.*)END", dom, re.S)[1]))


boxes, rows = [], {}
for t in root.iter(NS + "text"):
    x, y, text = float(t.get("x")), float(t.get("y")), t.text or ""
    size = 8.5 if t.get("class") == "title" else CHAR
    w = len(text.strip()) * size
    left = {"end": x - w, "middle": x - w / 2}.get(t.get("text-anchor"), x)
    boxes.append((left, y - HEIGHT * 0.8, left + w, y + HEIGHT * 0.2, text))
    rows.setdefault(y, []).append(text)
if len(sys.argv) > 4:
    drawn = drawn_boxes(sys.argv[4])
    assert [b[4] for b in drawn] == [b[4] for b in boxes], "the browser shows other texts"
    boxes = drawn
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

# Areas of each colour, by lane. Steps from the ground up are drawn over what they
# have below them: the area of a state is what it has more than the next.
colors = {"#f0604d": "stolen_ns", "#a6d8a8": "running_ns", "#dfe3ea": "waiting_ns",
          "#b79ae0": "unknown_ns"}
step = re.compile(r"([MHVhvz])([\d.-]*)(?: ([\d.-]+))?")
place = re.compile(r"translate\((\d+) ([\d.]+)\) scale\(([\d.e+-]+) -([\d.]+)\)")
tops = sorted(y for y, _ in lanes.values())
pitch = tops[1] - tops[0] if nr > 1 else 43


def areas_of(path, scale, most):
    """(area, its right edge) of a path's shapes; @most: the highest that it may go."""
    x = y = area = right = 0
    for cmd, n, m in step.findall(path):
        old = x
        if cmd == "M":
            x = old = float(n)
            y = float(m)
        elif cmd in "Hh":
            x = float(n) if cmd == "H" else x + float(n)
        elif cmd in "Vv":
            y = float(n) if cmd == "V" else y + float(n)
        assert 0 <= y <= most and 0 <= x * scale <= width, f"outside its lane: {x} {y} in {path[:60]}"
        area += (x - old) * y
        right = max(right, x)
    return area, right


areas = {}
for g in root.iter(NS + "g"):
    _, base, scale, half = (float(v) for v in place.fullmatch(g.get("transform")).groups())
    cpu = min(lanes, key=lambda c: abs(lanes[c][0] - base + pitch / 2))
    # Between the ground of the lane and the top, where the next begins
    assert 0 < base - lanes[cpu][0] < pitch, f"CPU {cpu}: its lane is elsewhere"
    for p in g.iter(NS + "path"):
        area, right = areas_of(p.get("d"), scale, (pitch - 3) / half)
        assert 76 + right * scale <= 1276.5, f"CPU {cpu}: past the end of time"
        areas[cpu, colors[p.get("fill")]] = abs(area)
for cpu in lanes:
    got = {s: areas.get((cpu, s), 0) for s in colors.values()}
    whole = got["waiting_ns"]
    got["waiting_ns"] -= got["running_ns"]
    got["running_ns"] -= got["stolen_ns"]
    for state in ("stolen_ns", "running_ns", "waiting_ns"):
        drawn = got[state] / whole
        known = cpus[cpu]["span_ns"] - cpus[cpu]["unknown_ns"]
        want = cpus[cpu][state] / known
        # Heights are in half pixels
        assert abs(drawn - want) < 0.02, f"CPU {cpu} {state}: {drawn:.3f} of the area, {want:.3f} of the time"
    if cpus[cpu]["unknown_ns"] > 0:
        assert got["unknown_ns"] > 0, f"CPU {cpu}: no gap is drawn"
print(f"{nr} lanes, {len(boxes)} texts")
