#!/usr/bin/python3
"""What --warm costs and saves: evaluations to within 1 % of the best on made
functions, without and with an earlier study that is helpful or misleads.

    bench/search/transfer.py [--seeds 20] [--trireme FILE] [--mpiexec CMD]
                             [--json FILE] [--check]

A made function has four parameters (two numbers, a power of two, a word), a
smooth main part and interactions.  The earlier study is 60 configurations drawn
quasi-random from a table of its own function, run through `trireme tune`:

  same      the function itself, in another unit (times 37)
  related   the function, a quarter of its spread from another one
  shifted   its best at another place (each number moved by a quarter)
  unlike    another function altogether
  opposite  the function upside down
  shuffled  its values, dealt to configurations at random
  failed    every configuration failed

Printed is the mean of log evaluations over seeds and functions as a geometric
mean, the ratio to the same seeds without --warm, and the worst function's ratio.
With --check the exit status is 1 unless `same` saves a fifth and nothing that
misleads costs more than 15 %.
"""
import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile

KINDS = ["same", "related", "shifted", "unlike", "opposite", "shuffled",
         "failed"]
MISLEADING = ["unlike", "opposite", "shuffled", "failed"]
WORDS = ["one", "two", "three"]
MISSED = 150  # evaluations of a seed that never came so far: the budget


def points():
    return [(a, b, 2 ** p, w) for a in range(1, 25) for b in range(1, 13)
            for p in range(7) for w in WORDS]


def made(seed, move=0.0):
    """A cost above 0 over the unit cube and three words."""
    r = random.Random(seed)
    top = [r.uniform(0.1, 0.9) for _ in range(3)]
    top = [(t + move) % 1 for t in top]
    weight = [r.uniform(0.5, 3) for _ in range(3)]
    tilt = [r.uniform(-1, 1) for _ in range(3)]
    word = [r.uniform(0, 0.6) for _ in range(3)]
    bend = [[r.uniform(-0.5, 0.5) for _ in range(3)] for _ in range(3)]

    def cost(x):
        u = [(x[0] - 1) / 23, (x[1] - 1) / 11, math.log2(x[2]) / 6]
        k = WORDS.index(x[3])
        d = [u[i] - top[i] - 0.2 * bend[k][i] for i in range(3)]
        square = sum(weight[i] * d[i] * d[i] for i in range(3))
        square += tilt[0] * d[0] * d[1] + 0.5 * tilt[1] * d[1] * d[2]
        return 1 + word[k] + max(square, 0) + 0.15 * math.sin(9 * u[0] + tilt[2])
    return cost


def costs(kind, seed):
    all_points = points()
    here = made(seed)
    there = made(seed + 1000)
    values = [here(x) for x in all_points]
    other = [there(x) for x in all_points]
    if kind == "same":
        return [37 * v for v in values]
    if kind == "related":
        return [0.75 * v + 0.25 * o for v, o in zip(values, other)]
    if kind == "shifted":
        moved = made(seed, 0.25)
        return [moved(x) for x in all_points]
    if kind == "unlike":
        return other
    if kind == "opposite":
        return [max(values) + 1 - v for v in values]
    if kind == "shuffled":
        random.Random(seed).shuffle(values)
    return values


def write_table(path, values, failed):
    with open(path, "w") as f:
        f.write("a,b,p,w,cost,failed\n")
        for x, v in zip(points(), values):
            f.write("%d,%d,%d,%s,%.9g,%d\n" % (*x, v, failed))


def write_study(path, table, trials, search):
    with open(path, "w") as f:
        f.write("""study: transfer
seed: 1
model: {kind: table, file: %s, parameters: [a, b, p, w], objective: cost,
        failed: failed, second: 0.0001}
space: table
objective: {minimize: cost}
search: %s
scheduler: none
budget: {trials: %d}
finals: none
""" % (table, search, trials))


def earlier(o, folder, kind, seed):
    """The study file of an earlier study."""
    name = "%s/%s-%d" % (folder, kind, seed)
    write_table(name + ".csv", costs(kind, seed), kind == "failed")
    write_study(name + ".yaml", name + ".csv", 60, "quasi")
    done = subprocess.run(o.mpiexec.split() + ["-n", "5", o.trireme, "tune",
                          name + ".yaml", "-o", name + ".h5", "--quiet"],
                          capture_output=True, text=True)
    if done.returncode not in (0, 2):
        sys.exit("tune %s: %s" % (name, done.stderr))
    return name + ".h5"


def evaluations(o, study, seed, warm):
    command = [o.trireme, "sim", study, "--workers", str(o.workers), "--seed",
               str(seed), "--json"]
    done = subprocess.run(command + (["--warm", warm] if warm else []),
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    n = json.loads(done.stdout)["evaluations_to"]["1%"]
    return MISSED if n is None else n


def geometric(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def measure(o, folder):
    report = {}
    for f in range(o.functions):
        here = "%s/here-%d" % (folder, f)
        write_table(here + ".csv", costs("here", f), 0)
        write_study(here + ".yaml", here + ".csv", MISSED, o.search)
        for kind in ["none"] + o.kinds:
            warm = None if kind == "none" else earlier(o, folder, kind, f)
            report.setdefault(kind, []).append(
                [evaluations(o, here + ".yaml", s, warm)
                 for s in range(1, o.seeds + 1)])
    return report


def show(report):
    print("%-9s %11s %7s %7s" % ("warm", "evaluations", "ratio", "worst"))
    ratios = {}
    for kind, runs in report.items():
        each = [geometric(r) / geometric(n)
                for r, n in zip(runs, report["none"])]
        ratios[kind] = geometric(each)
        print("%-9s %11.1f %7.2f %7.2f" % (
            kind, geometric([v for r in runs for v in r]), ratios[kind],
            max(each)), flush=True)
    return ratios


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--trireme", default="trireme")
    p.add_argument("--mpiexec", default="mpiexec --oversubscribe")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--functions", type=int, default=3)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--search", default="auto")
    p.add_argument("--kinds", default=",".join(KINDS))
    p.add_argument("--json")
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    o.kinds = o.kinds.split(",")
    o.trireme = os.path.abspath(o.trireme) if os.path.exists(o.trireme) \
        else o.trireme
    with tempfile.TemporaryDirectory() as folder:
        report = measure(o, folder)
    ratios = show(report)
    if o.json:
        with open(o.json, "w") as f:
            json.dump({"evaluations": report, "ratio": ratios}, f, indent=1)
    if o.check:
        bad = [k for k in MISLEADING if ratios.get(k, 0) > 1.15]
        bad += [k for k in ["same"] if ratios.get(k, 0) > 0.8]
        for k in bad:
            print("%s: %.2f of the evaluations without --warm" %
                  (k, ratios[k]))
        sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
