#!/usr/bin/env python3
"""What `trireme status` of a live study takes whose journal is large.

Makes a journal of 1 GB, as a writer leaves it that is in full swing, and asks
for the status at once.  Verified before it counts: the status is of that study,
not older than a twentieth of its events, and what it says of runs and trials is
what folding the whole journal says, but for as much.

Units.  wall_s, cpu_s: of one whole process, the least of five; rss_mb: its
largest resident size, in 10^6 bytes; fold_cpu_s: of a status that folds the
journal from its beginning, as it is done where no summary is.  Limit: wall_s
0.3.

  status.py BUILD [MEGABYTES [FOLDER]]     build/release say; 1000; /tmp

Prints one JSON object; ends with 1 where the limit is missed.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

LIMIT_S = 0.3
RUNS = 5


def measured(command):
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    out = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return (json.loads(out), wall, used.ru_utime + used.ru_stime,
            used.ru_maxrss * 1024 / 1e6)


def near(value, whole):
    return 0.95 * whole <= value <= whole


def verify(status, folded, made):
    as_of = status["as_of"]
    assert as_of is None or near(as_of["events"], made["events"]), as_of
    for key in ("trials", "runs", "finished"):
        assert near(status[key], folded[key]), (key, status, folded)
    assert folded["runs"] == made["runs"] and folded["as_of"] is None
    assert status["study"] == folded["study"] == "bench"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, megabytes = sys.argv[1], (sys.argv[2:] + ["1000"])[0]
    with tempfile.TemporaryDirectory(dir=(sys.argv[3:] + ["/tmp"])[0]) as folder:
        record = os.path.join(folder, "study.h5")
        made = json.loads(subprocess.run(
            [os.path.join(build, "bench/store/bench_store_journal"), record,
             megabytes], check=True, stdout=subprocess.PIPE).stdout)
        command = [os.path.join(build, "trireme"), "status", "--json", record]
        tries = [measured(command) for _ in range(RUNS)]
        for summary in glob.glob(record + ".status.*"):
            os.unlink(summary)
        folded, _, fold_cpu, _ = measured(command)
        verify(tries[-1][0], folded, made)
    result = {"bench": "store_status", "journal_mb": made["bytes"] / 1e6,
              "events": made["events"], "wall_s": min(t[1] for t in tries),
              "cpu_s": min(t[2] for t in tries),
              "rss_mb": max(t[3] for t in tries), "fold_cpu_s": fold_cpu,
              "limit_s": LIMIT_S}
    result["ok"] = result["wall_s"] <= LIMIT_S
    print(json.dumps({k: round(v, 3) if isinstance(v, float) else v
                      for k, v in result.items()}))
    sys.exit(not result["ok"])


main()
