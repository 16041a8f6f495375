#!/usr/bin/python3
"""Odd tables through `trireme sim`, with every proposer, predictor and
acquisition: each ends in time, with the status and the words that the manual
promises.

    odd.py TRIREME
"""
import json
import os
import subprocess
import sys
import tempfile

TRIREME = os.path.abspath(sys.argv[1])
LED = ["{predictor: %s}" % p
       for p in ("gp", "trees", "mlp", "mlp-squared", "auto")]
LED += ["{predictor: gp, acquisition: %s}" % a for a in ("ucb", "thompson")]
LED += ["evolution", "{proposer: reinforce, predictor: gp}"]
DRAWN = ["quasi", "random"]
NUMBER = 0


def points():
    return [(a, b, w) for a in range(1, 9) for b in (1, 2, 4, 8)
            for w in ("x", "y")]


def smooth(a, b, w):
    return 1 + (a - 6) ** 2 / 8 + abs(b - 4) / 3 + (w == "x")


def rows(value, failed=lambda a, b, w: 0):
    return [(a, b, w, 7, value(a, b, w), failed(a, b, w))
            for a, b, w in points()]


def run(name, search, table, trials=24, workers=3):
    """Exit status, answer, log."""
    global NUMBER
    NUMBER += 1
    csv, study = "t%d.csv" % NUMBER, "t%d.yaml" % NUMBER
    with open(csv, "w") as f:
        f.write("a,b,w,same,cost,failed\n")
        for row in table:
            f.write(",".join(str(v) for v in row) + "\n")
    with open(study, "w") as f:
        f.write("""study: odd
seed: 5
model: {kind: table, file: %s, parameters: [a, b, w, same], objective: cost,
        failed: failed}
space: table
objective: {minimize: cost}
search: %s
scheduler: none
budget: {trials: %d}
finals: none
""" % (csv, search, trials))
    done = subprocess.run(
        [TRIREME, "sim", study, "--workers", str(workers), "--json"],
        capture_output=True, text=True, timeout=120,
        env=dict(os.environ, TRIREME_LOG="info"))
    if done.returncode < 0:
        sys.exit("%s, %s: signal %d" % (name, search, -done.returncode))
    answer = json.loads(done.stdout) if done.stdout else {}
    return done.returncode, answer, done.stderr


def check(condition, name, search, got):
    if not condition:
        sys.exit("%s, search %s: %s" % (name, search, got))


def distinct(answer):
    return len({h[2] for h in answer["history"]})


def constant(search):
    status, a, log = run("constant", search, rows(lambda a, b, w: 4.5))
    check(status == 0 and a["best"] == 4.5 and distinct(a) == 24, "constant",
          search, (status, a.get("best")))
    check(search in DRAWN or log.count("results are equal") == 1, "constant",
          search, log)


def all_failed(search):
    status, a, log = run("all failed", search,
                         rows(smooth, lambda a, b, w: 1))
    check(status == 2, "all failed", search, (status, log))
    check(search in DRAWN or "that ended failed" in log, "all failed", search,
          log)


def one_row(search):
    status, a, log = run("one row", search, rows(smooth)[:1])
    check(status == 0 and a["distinct"] == 1, "one row", search, (status, log))


def one_trial(search):
    status, a, log = run("one trial", search, rows(smooth), trials=1)
    check(status == 0 and a["distinct"] == 1, "one trial", search,
          (status, log))


def duplicates(search):
    """Each row three times, with values that contradict and failures."""
    table = [(a, b, w, s, v + d, f) for a, b, w, s, v, _ in rows(smooth)
             for d, f in ((0, 0), (90, 0), (0.5, 1))]
    status, a, log = run("duplicates", search, table)
    check(status == 0 and distinct(a) == 24, "duplicates", search,
          (status, log))


def not_numbers(search):
    """A third of the rows are nan, one is infinite."""
    def value(a, b, w):
        return "inf" if (a, b) == (1, 1) else \
            "nan" if (a + b) % 3 == 0 else smooth(a, b, w)
    status, a, log = run("nan", search, rows(value))
    check(status == 0 and a["best"] < 4, "nan", search, (status, log))


def decades(search):
    status, a, log = run("twelve decades", search, rows(
        lambda a, b, w: 10 ** (2.4 * smooth(a, b, w) - 8)), trials=32)
    check(status == 0, "twelve decades", search, (status, log))
    check(search in DRAWN or a["evaluations_to"]["5%"] is not None,
          "twelve decades", search, a["best"])


def enormous(search):
    status, a, log = run("enormous", search, rows(
        lambda a, b, w: -1e300 * smooth(a, b, w)))
    check(status == 0 and abs(a["best"]) < 1e302, "enormous", search,
          (status, log))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for search in LED + DRAWN:
            for test in (constant, all_failed, one_row, one_trial, duplicates,
                         not_numbers, decades, enormous):
                test(search)
            print(search, "ok", flush=True)


main()
