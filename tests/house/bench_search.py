#!/usr/bin/env python3
"""bench/search on made tables: what it takes columns for, what it counts, that
two runs agree, and what it says of a table that is none.  Our methods only.

usage: bench_search.py TRIREME SOURCE
"""

import json
import math
import os
import subprocess
import sys
import tempfile

TRIREME, SOURCE = sys.argv[1:]
BENCH = os.path.join(SOURCE, "bench/search")
sys.dont_write_bytecode = True
sys.path.insert(0, BENCH)

import scores  # noqa: E402
import tables  # noqa: E402


def expect(got, wanted, what):
    if got != wanted:
        sys.exit(f"{what}: {got!r}, expected {wanted!r}")


def table(folder, text, name="t"):
    path = os.path.join(folder, name + ".csv")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return tables.Table(path, name)


def check_columns(folder):
    t = table(folder, "a,kind,iter_time_s,failed,mem_gb,tokens_per_s\n" +
              "".join(f"{i},{'xy'[i % 2]},{i}.5,{int(i == 3)},"
                      f"{'' if i == 3 else i},{'nan' if i == 3 else i}\n"
                      for i in range(20)) + "3,y,1.5,0,1,9\n")
    expect(t.parameters, ["a", "kind"], "parameters")
    expect(t.left_out, ["iter_time_s", "mem_gb"], "left out")
    expect((t.maximize, t.optimum), (True, 19.0), "direction and optimum")
    expect(t.values[3], 9.0, "failed once, fine once")
    t = table(folder, "lr,step_0,step_1,final_loss\n"
              "0.1,3,nan,nan\n0.2,2,1,1\n0.3,2,1.5,1.5\n")
    expect((t.parameters, t.n_points, t.maximize, t.optimum),
           (["lr"], 2, False, 1.0), "curves")
    expect(t.failed, [False] * 3, "diverged is not failed")
    try:
        table(folder, "a,b\n1,2\n1\n")
    except tables.BadTable as e:
        expect(":3: 1 fields, and the header has 2" in str(e), True, str(e))
    else:
        sys.exit("a short line was accepted")


def check_curves(folder):
    t = table(folder, "a,step_0,step_1,loss\n1,5,9,9\n2,6,8,8\n3,3,12,12\n")
    history = [[1.0, 0, 5.0], [2.0, 2, 3.0], [3.0, 2, 12.0], [4.0, 1, 6.0],
               [5.0, 1, 8.0]]
    s = scores.of_run(t, {"history": history, "decision_s": 0.5, "levels": 2},
                      {"workers": 1})
    expect((s["evaluations"], s["rank_seconds"]), (3, 5.0),
           "only whole curves reach the optimum")


def check_counts(folder):
    t = table(folder, "a,loss\n" + "".join(
        f"{i},{10 + i if i < 90 else 'nan'}\n" for i in range(100)))
    history = [[k + 1.0, k, None if k < 10 else 60.0 - k] for k in range(51)]
    answer = {"history": history, "decision_s": 0.5}
    s = scores.of_run(t, answer, {"workers": 2})
    expect((s["evaluations"], s["rank_seconds"], s["failed"]),
           (51, 102.0, 10), "of one run")
    expect(s["regret"], [3.1, 0.1, 0.0, 0.0], "regret")
    expect(s["known"], [40, 40], "after ten failures")
    expect(scores.median([1, 2, 3, None]), 2.5, "median")
    expect(scores.percentile90(range(1, 11)), 9, "90th percentile")
    expect(math.isinf(scores.median([1, None, None])), True, "never")


def run(folder, *arguments, status=0):
    done = subprocess.run(
        [sys.executable, "-B", os.path.join(BENCH, "run.py"), "--trireme",
         TRIREME, "--work", folder, "--jobs", "1", *arguments],
        capture_output=True, text=True, timeout=100, check=False)
    expect(done.returncode, status, done.stdout + done.stderr)
    return done


def results(folder):
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as f:
        report = json.load(f)
    for r in report["results"]:
        del r["decision_s"]
    return report


def check_runs(folder):
    toy = os.path.join(SOURCE, "models/table/toy.csv")
    arguments = [toy, "--no-made", "--methods", "trireme,random", "--workers",
                 "1,8", "--seeds", "2", "--budget", "25"]
    first, second = (os.path.join(folder, d) for d in "ab")
    text = run(first, *arguments).stdout
    expect("toy: " in text and "8 of 8 runs" in text, True, text)
    report = results(first)
    expect(len(report["results"]), 4, "results")
    run(second, *arguments, "--time", "0")
    expect(results(second)["runs"], 0, "runs with no time")
    run(second, *arguments)
    expect(results(second)["results"], report["results"], "once more")
    run(first, *arguments, "--report-only")
    expect(results(first)["results"], report["results"], "from the cache")
    done = run(first, toy, "--methods", "oracle", status=1)
    expect("there is no method 'oracle'" in done.stderr, True, done.stderr)


with tempfile.TemporaryDirectory() as made:
    check_columns(made)
    check_counts(made)
    check_curves(made)
    check_runs(made)
