#!/usr/bin/env python3
"""Opens reports in headless Chromium: no error is logged, charts are drawn
(pixels, not only elements), a brush filters the table, both themes, odd names
are texts, and a page without the library has its tables.

  browser.py TRIREME REPORT_MAKE REPORT_BARE

Skipped (77) where there is no Chromium.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

trireme, make, bare = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
chromium = shutil.which("chromium") or shutil.which("chromium-browser")
if not chromium:
    print("skipped: there is no chromium (scripts/deps --tests installs it)")
    sys.exit(77)

WATCH = """<script>
window.seen = [];
addEventListener("error", e => seen.push("error: " + e.message));
addEventListener("unhandledrejection", e => seen.push("rejected: " + e.reason));
addEventListener("securitypolicyviolation",
                 e => seen.push("policy: " + e.blockedURI));
for (const level of ["error", "warn"]) {
  console[level] = (...what) => seen.push(level + ": " + what.join(" "));
}
window.alert = what => seen.push("alert: " + what);
</script>"""

failures = 0


def check(study, what, holds, detail=""):
    global failures
    if not holds:
        failures += 1
        print(f"{study}: {what} {detail}")


def look(folder, page):
    """What the probe saw in a page."""
    with open(page, encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(here, "probe.js"), encoding="utf-8") as f:
        probe = f.read()
    text = text.replace("<head>", "<head>" + WATCH, 1)
    before, _, after = text.rpartition("</body>")
    text = f"{before}<script>{probe}</script></body>{after}"
    probed = page + ".probed.html"
    with open(probed, "w", encoding="utf-8") as f:
        f.write(text)
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu",
         "--window-size=1280,2000", "--virtual-time-budget=20000",
         f"--user-data-dir={folder}/profile", "--dump-dom",
         "file://" + probed],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
    found = re.search(r'<pre id="probe">(.*?)</pre>',
                      done.stdout.decode("utf-8", "replace"), re.S)
    return json.loads(html.unescape(found.group(1))) if found else None


def drawn(chart):
    return chart is not None and chart["colors"] > 3 and chart["drawn"] > 1000


def check_page(study, seen, expected):
    """Charts of `expected` are drawn, in both themes, all others are not."""
    check(study, "nothing was seen of the page", seen is not None)
    if seen is None:
        return
    check(study, "the console says", not seen["seen"], seen["seen"])
    for name, chart in seen["charts"].items():
        if name in expected:
            check(study, f"{name} is not drawn", drawn(chart), chart)
            check(study, f"{name} is not drawn in the other theme",
                  drawn(seen["changed"][name]))
        else:
            check(study, f"{name} is there", chart is None, chart)
    check(study, "values lie off the parallel coordinates",
          not seen["outside"], seen["outside"])
    check(study, "the themes are one", len(set(seen["themes"])) == 2)
    check(study, "the brush could not be removed",
          seen["removed"] == seen["all"], seen["removed"])


def check_brush(study, seen, shown):
    brushed = seen and seen["brushed"]
    check(study, "the brush filters nothing",
          brushed and "inside the brushes" in brushed["count"]
          and brushed["rows"] <= shown, brushed)
    found = re.match(r"(\d+) of (\d+) ", brushed["count"]) if brushed else None
    check(study, "the brush holds all or none",
          found and 0 < int(found[1]) < int(found[2]), brushed)
    check(study, "the table has others than the brush",
          found and int(found[1]) == brushed["inside"], brushed)


SEARCH = {"history", "rungs", "pool", "timeline"}
MODEL = {"importance", "pairs", "pair0", "pair1", "pair2"}
STUDIES = {
    # of the study: ranks, charts that it has data for, whether to brush it
    "one": (1, SEARCH, False),
    "thirty": (8, SEARCH | MODEL | {"finals", "ladders", "parallel"}, True),
    "thousand": (64, SEARCH | MODEL | {"finals", "ladders", "parallel"}, True),
    "ten-thousand": (500, SEARCH | MODEL | {"ladders", "parallel"}, True),
    "model": (4, SEARCH | MODEL | {"ladders", "parallel", "calibration",
                                   "memory"}, True),
    "failures": (4, {"pool", "timeline", "parallel"}, False),
    "edge": (4, SEARCH | {"parallel"}, False),
    "odd": (4, SEARCH | {"importance", "pairs", "pair0", "finals", "ladders",
                         "parallel"}, True)}


def has_charts(folder):
    record = os.path.join(folder, "first.h5")
    subprocess.run([make, "one", "1", record], check=True,
                   stdout=subprocess.DEVNULL)
    said = subprocess.run([trireme, "report", "--json", "--quiet", record],
                          check=True, stdout=subprocess.PIPE)
    return json.loads(said.stdout)["charts"]


def look_at_studies(folder):
    for study, (ranks, charts, brushes) in STUDIES.items():
        seen = look(folder, report(folder, study, ranks))
        check_page(study, seen, charts)
        if brushes:
            check_brush(study, seen, 25)
        if study == "odd" and seen:
            check(study, "the name is another",
                  seen["name"].startswith('<script>alert(1) "quoted" &')
                  and "三段櫂船" in seen["name"], seen["name"])


def look_at_bare(folder):
    page = os.path.join(folder, "bare.html")
    subprocess.run([bare, "thirty", "8", page], check=True)
    seen = look(folder, page)
    check_page("without charts", seen, set())
    check("without charts", "tables are missing",
          seen and seen["tables"] >= 10, seen and seen["tables"])


def report(folder, study, ranks):
    record = os.path.join(folder, study + ".h5")
    page = os.path.join(folder, study + ".html")
    subprocess.run([make, study, str(ranks), record], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([trireme, "report", "--quiet", record, "-o", page],
                   check=True)
    return page


with tempfile.TemporaryDirectory() as temporary:
    charts_built = has_charts(temporary)
    look_at_bare(temporary)
    if charts_built:
        look_at_studies(temporary)
if failures:
    sys.exit(1)
if not charts_built:
    print("skipped: this build has no charts (scripts/deps fetches ECharts)")
    sys.exit(77)
print("report in chromium: ok")
