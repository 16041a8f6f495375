#!/usr/bin/python3
"""Predictions for more ranks than were measured: learn from the rows of at most
N ranks of a throughput table, predict those of 2 N and 4 N.

    bench/search/extrapolate.py [TABLE.csv ...] [--program FILE] [--json FILE]

Without tables: those of ../shared/data/throughput, and a made one.  A table has
a column gpus (or ranks) and a rate: tokens_per_s_per_gpu, or tokens_per_s, which
is divided by the ranks, so that every method predicts the rate of one rank.
Rows that failed, and columns that only a measurement can know, are left out.
Each N for which at least 20 rows of at most N ranks and 10 of 2 N (4 N) ran.

  tau     Kendall's tau-b of predicted and measured rates, among rows of the same
          number of ranks; twice or four times N
  error   median of |predicted - measured| / measured
  regret  what the row that is predicted best loses against the best row

Methods: ours (gp, trees, mlp, mlp-squared; trend: the Gaussian process about a
linear trend in the logarithms, which earlier studies are read by); same: the
rate that the configuration nearest but for ranks and replicas (dp, and steps of
accumulation, which follow from it) had at the most ranks measured: linear
scaling; xgboost and sklearn-gp (Matern 5/2 with a length for each column, noise;
best of three starts) on the logarithm of the rate, of the same columns, in
logarithms where they are positive.
"""
import argparse
import csv
import glob
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[name + "_NUM_THREADS"] = "1"

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MEASURED = {"failed", "mem_gb", "mfu", "iter_time_s", "tokens_per_s",
            "tokens_per_s_per_gpu"}
OURS = ["gp", "trees", "mlp", "mlp-squared", "trend"]


def number(text):
    v = float(text)
    return int(v) if v == int(v) else v


class Table:
    """Rows that ran: parameters, ranks, rate of a rank."""

    def __init__(self, name, columns, rows):
        self.name, self.columns = name, columns
        median = {}
        for x, rate in rows:
            median.setdefault(tuple(x), []).append(rate)
        self.x = sorted(median)
        self.rate = np.array([np.median(median[x]) for x in self.x])
        self.at = columns.index("gpus")
        self.ranks = np.array([x[self.at] for x in self.x])

    def logs(self):
        x = np.array(self.x, float)
        for c in range(x.shape[1]):
            if (x[:, c] > 0).all():
                x[:, c] = np.log(x[:, c])
        low, high = x.min(0), x.max(0)
        return (x - low) / np.where(high > low, high - low, 1)


def read(path):
    with open(path) as f:
        table = list(csv.DictReader(f))
    columns = ["gpus" if c == "ranks" else c for c in table[0]
               if c not in MEASURED]
    rows = []
    for r in table:
        if float(r.get("failed") or 0):
            continue
        ranks = float(r.get("gpus") or r.get("ranks"))
        rate = float(r["tokens_per_s_per_gpu"]
                     if "tokens_per_s_per_gpu" in r
                     else float(r["tokens_per_s"]) / ranks)
        if math.isfinite(rate) and rate > 0:
            rows.append(([number(r.get(c) or r["ranks"]) for c in columns],
                         rate))
    return Table(os.path.basename(path)[:-4], columns, rows)


def made():
    """A made machine of 8 ranks a host: compute, a bubble, tensor traffic that
    is dear across hosts, and a reduction that grows with the replicas."""
    rows = []
    for gpus in (4, 8, 16, 32, 64, 128):
        for tp in (1, 2, 4, 8):
            for pp in (1, 2, 4, 8):
                for mbs in (1, 2, 4, 8):
                    if gpus % (tp * pp):
                        continue
                    dp = gpus // (tp * pp)
                    micro = 512 // (dp * mbs)
                    if micro < 1:
                        continue
                    work = mbs ** 0.85 / (tp * pp)
                    tensor = 0.05 * (tp - 1) / tp * mbs * (1 if tp <= 4 else 3)
                    step = (micro + pp - 1) * (work + tensor / pp) + \
                        0.8 * (dp - 1) / dp * (1 + 0.3 * math.log2(gpus)) / \
                        (tp * pp)
                    rows.append(([gpus, dp, tp, pp, mbs],
                                 512 / step / gpus))
    return Table("made", ["gpus", "dp", "tp", "pp", "mbs"], rows)


# ---- methods ---------------------------------------------------------------


def ours(program, table, n, folder):
    """{method: {index of row: rate}}"""
    path = os.path.join(folder, "table.csv")
    with open(path, "w") as f:
        f.write(",".join(table.columns + ["rate"]) + "\n")
        for x, rate in zip(table.x, table.rate):
            f.write(",".join(map(str, x)) + ",%.17g\n" % rate)
    with open(os.path.join(folder, "study.yaml"), "w") as f:
        f.write("study: rows\nmodel: {kind: table, file: table.csv, "
                "parameters: [%s], objective: rate}\nspace: table\n"
                "ranks: gpus\nobjective: {maximize: rate, compare: total}\n"
                % ", ".join(table.columns))
    done = subprocess.run([program, os.path.join(folder, "study.yaml"), str(n)],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    said = {m: np.full(len(table.x), np.nan) for m in OURS}
    at = 0
    for r in rows:  # in the order of the table, of those beyond N
        while table.ranks[at] <= n or abs(
                table.rate[at] - float(r["objective"])) > 1e-9 * table.rate[at]:
            at += 1
        for m in OURS:
            said[m][at] = float(r[m])
        at += 1
    return said


def same(table, n):
    keep = [i for i, c in enumerate(table.columns)
            if c not in ("gpus", "dp", "grad_acc")]
    x = table.logs()[:, keep]
    known = np.flatnonzero(table.ranks <= n)
    said = []
    for row in x:
        far = np.abs(x[known] - row).sum(1)
        near = known[far <= far.min() + 1e-9]
        most = near[table.ranks[near] == table.ranks[near].max()]
        said.append(np.median(table.rate[most]))
    return np.array(said)


def xgboost(table, n):
    import xgboost as xgb
    x, y = table.logs(), np.log(table.rate)
    model = xgb.XGBRegressor(n_estimators=300, max_depth=6, learning_rate=0.1,
                             subsample=0.8, n_jobs=1, random_state=1)
    model.fit(x[table.ranks <= n], y[table.ranks <= n])
    return np.exp(model.predict(x))


def sklearn_gp(table, n):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import (ConstantKernel, Matern,
                                                  WhiteKernel)
    x, y = table.logs(), np.log(table.rate)
    known = np.flatnonzero(table.ranks <= n)
    if len(known) > 400:
        known = np.random.RandomState(1).choice(known, 400, replace=False)
    kernel = ConstantKernel(1) * Matern(np.ones(x.shape[1]), nu=2.5) + \
        WhiteKernel(1e-2)
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=1,
                                     n_restarts_optimizer=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x[known], y[known])
    return np.exp(model.predict(x))


def peers():
    found = {"same": same}
    for name, module, method in (("xgboost", "xgboost", xgboost),
                                 ("sklearn-gp", "sklearn", sklearn_gp)):
        try:
            __import__(module)
            found[name] = method
        except ImportError:
            print("%s is not installed: left out" % name)
    return found


# ---- scores ----------------------------------------------------------------


def kendall(a, b):
    s = np.sign(a[:, None] - a[None, :]) * np.sign(b[:, None] - b[None, :])
    ties = [(np.sign(v[:, None] - v[None, :]) != 0).sum() for v in (a, b)]
    return s.sum() / math.sqrt(ties[0] * ties[1]) if min(ties) else 0.0


def score(said, table, ranks):
    at = np.flatnonzero(table.ranks == ranks)
    p, y = said[at], table.rate[at]
    return {"rows": len(at), "tau": kendall(p, y),
            "error": float(np.median(np.abs(p - y) / y)),
            "regret": float(1 - y[np.argmax(p)] / y.max())}


def cases(table):
    for n in sorted(set(table.ranks)):
        for times in (2, 4):
            if (table.ranks <= n).sum() >= 20 and \
                    (table.ranks == times * n).sum() >= 10:
                yield int(n), times


def measure(tables, program):
    methods = peers()
    report = []
    with tempfile.TemporaryDirectory() as folder:
        for table in tables:
            said = {}
            for n, times in cases(table):
                if n not in said:
                    said[n] = ours(program, table, n, folder)
                    said[n].update({m: f(table, n) for m, f in methods.items()})
                report.append({"table": table.name, "n": n, "times": times,
                               "methods": {m: score(s, table, times * n)
                                           for m, s in said[n].items()}})
    return report


def show(report):
    for times in (2, 4):
        print("%d x N%*s tau    error   regret" % (times, 22, ""))
        of = [r for r in report if r["times"] == times]
        for name in sorted({r["table"] for r in of}) + ["all"]:
            rows = [r for r in of if name in ("all", r["table"])]
            print("  %s, N %s" % (name, " ".join(str(r["n"]) for r in rows)
                                  if name != "all" else "of all"))
            for m in rows[0]["methods"] if rows else []:
                mean = [np.mean([r["methods"][m][k] for r in rows])
                        for k in ("tau", "error", "regret")]
                print("    %-20s %6.2f  %5.1f %%  %5.1f %%" %
                      (m, mean[0], 100 * mean[1], 100 * mean[2]))


def newest():
    found = glob.glob(ROOT + "/build/*/bench/search/bench_search_extrapolate")
    if not found:
        sys.exit("build the target bench_search_extrapolate first")
    return max(found, key=os.path.getmtime)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("tables", nargs="*")
    p.add_argument("--program")
    p.add_argument("--json")
    o = p.parse_args()
    paths = o.tables or sorted(glob.glob(
        os.path.join(os.path.dirname(ROOT), "shared/data/throughput/*.csv")))
    tables = [read(path) for path in paths] + ([] if o.tables else [made()])
    report = measure(tables, o.program or newest())
    show(report)
    if o.json:
        with open(o.json, "w") as f:
            json.dump(report, f, indent=1)


if __name__ == "__main__":
    main()
