#!/usr/bin/env python3
"""What a report of 10,000 runs costs.

Makes a study of some 10,000 runs of ten parameters in the simulator, records
it, and has `trireme report` write its page.  Verified before it counts: the
page holds every trial, and data that parse.

Units.  wall_s, cpu_s: of one whole process, reading the record included, the
least of five; rss_mb: its largest resident size, in 10^6 bytes; page_bytes: of
the file.  Limits: 3 s, 300 MB, 3,000,000 bytes.

  run.py BUILD        the folder of a build, build/release say

Prints one JSON object; ends with 1 where a limit is missed.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

LIMITS = {"wall_s": 3.0, "rss_mb": 300.0, "page_bytes": 3_000_000}
RUNS = 5


def measured(command):
    begin = time.monotonic()
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def verify(page, runs):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    data = json.loads(re.search(
        r'<script type="application/json" id="data">(.*?)</script>', text,
        re.S)[1])
    assert data["state"]["runs"] == runs, data["state"]
    trials = data["trials"]
    assert trials["shown"] == trials["total"] == data["state"]["trials"]
    assert len(trials["columns"]["objective"]) == trials["shown"]
    assert data["importance"]["parameters"]
    return data["library"]


def main():
    build = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
    make = os.path.join(build, "tests/report/report_make")
    with tempfile.TemporaryDirectory() as folder:
        record = os.path.join(folder, "study.h5")
        page = os.path.join(folder, "study.html")
        made = subprocess.run([make, "ten-thousand", "500", record],
                              check=True, stdout=subprocess.PIPE, text=True)
        runs = int(made.stdout.split()[0])
        command = [os.path.join(build, "trireme"), "report", "--quiet", record,
                   "-o", page]
        measured(command)
        library = verify(page, runs)
        walls, cpus, sizes = zip(*(measured(command) for _ in range(RUNS)))
        result = {"runs": runs, "library": library, "wall_s": min(walls),
                  "cpu_s": min(cpus), "rss_mb": max(sizes),
                  "page_bytes": os.path.getsize(page), "limits": LIMITS}
    print(json.dumps({k: round(v, 3) if isinstance(v, float) else v
                      for k, v in result.items()}))
    sys.exit(any(result[k] > limit for k, limit in LIMITS.items()))


main()
