#!/usr/bin/python3
"""Predictors against scikit-learn and XGBoost: the same rows, the same run.

  predictors.py [PROGRAM] [--rows N,N] [--columns D] [--repeats K] [--json FILE]
                [--only gp|trees|mlp]

PROGRAM is bench_search_predictors, by default the newest of the build folders.  Peers that are not installed
are left out with a sentence.  Nothing is judged here: the table and the JSON
say what was measured.

Units.  fit and predict are seconds of processor time of one thread (numerical
libraries are held to one); ours the least of K repeats, a peer's the least of
K too but of the Gaussian process's, which is run once.  tau is Kendall's
tau-b between 1,000 predictions and the values without their noise; rmse is in
standard deviations of those values; nlpd is the mean negative logarithm of the
density that a normal belief gives to them (less is better; peers without a
deviation have none).
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

for name in ("OMP", "OPENBLAS", "MKL"):
    os.environ[name + "_NUM_THREADS"] = "1"

import numpy as np

HELD_OUT = 1000


# ---- rows ----------------------------------------------------------------


def friedman(x):
    """Friedman's (1991): five columns matter, two only together."""
    return (
        10 * np.sin(np.pi * x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + 5 * x[:, 4]
    )


def table(x):
    """Like a tuning table: few levels a column, costs that multiply, a cliff,
    and a column whose order means nothing."""
    slow = 1 + 2 * (x[:, 0] - 0.6) ** 2 + x[:, 1] * (1 - x[:, 2])
    odd = np.array([0.0, 0.8, 0.2, 0.6])[np.round(x[:, 3] * 3).astype(int)]
    cliff = np.where(x[:, 4] + x[:, 5] > 1.4, 1.5, 1.0)
    return np.log(slow * (1 + odd) * cliff * (1 + 0.5 * np.abs(x[:, 6] - 0.3)))


def make(kind, n, columns, seed):
    """Training rows with noise (a tenth of the deviation), and others."""
    rng = np.random.default_rng(seed)
    x = rng.random((n + HELD_OUT, columns))
    if kind == "table":
        levels = 2 + np.arange(columns) % 8
        levels[3] = 4
        x = np.floor(x * levels) / (levels - 1)
    truth = {"friedman": friedman, "table": table}[kind](x)
    truth = (truth - truth.mean()) / truth.std()
    noisy = truth[:n] + 0.1 * rng.standard_normal(n)
    return x[:n], noisy, x[n:], truth[n:]


# ---- ours ----------------------------------------------------------------


def newest_program():
    root = os.path.dirname(os.path.abspath(__file__))
    found = glob.glob(
        os.path.join(
            root, "../../build/*/bench/search/bench_search_predictors"
        )
    )
    if not found:
        sys.exit("no build folder has bench_search_predictors: build it first")
    return max(found, key=os.path.getmtime)


def run_ours(program, name, rows, repeats):
    x, y, asked, _ = rows
    with tempfile.NamedTemporaryFile(suffix=".rows") as f:
        head = np.array([len(y), len(asked), x.shape[1]], dtype=float)
        for part in (head, x.ravel(), y, asked.ravel()):
            f.write(np.ascontiguousarray(part, dtype=float).tobytes())
        f.flush()
        out = subprocess.run(
            [program, name, f.name, str(repeats)],
            check=True,
            stdout=subprocess.PIPE,
            timeout=1800,
        )
    got = json.loads(out.stdout)
    return (
        got["fit_s"],
        got["predict_s"],
        np.array(got["mean"]),
        np.array(got["sd"]),
        got["model"],
    )


# ---- peers ---------------------------------------------------------------


def least_of(repeats, fit, predict):
    fit_s = predict_s = np.inf
    for _ in range(repeats):
        start = time.process_time()
        model = fit()
        fitted = time.process_time()
        mean, sd = predict(model)
        ended = time.process_time()
        fit_s = min(fit_s, fitted - start)
        predict_s = min(predict_s, ended - fitted)
    return fit_s, predict_s, mean, sd


def sklearn_gp(rows, _):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import (
        ConstantKernel,
        Matern,
        WhiteKernel,
    )

    x, y, asked, _ = rows
    # lengths of columns that do not matter end at their bounds
    warnings.filterwarnings("ignore", module="sklearn")
    kernel = ConstantKernel() * Matern(np.ones(x.shape[1]), nu=2.5)
    gp = GaussianProcessRegressor(kernel + WhiteKernel(0.1), normalize_y=True)

    def predict(model):
        return model.predict(asked, return_std=True)

    return least_of(1, lambda: gp.fit(x, y), predict) + ("Matern 5/2, ARD",)


def sklearn_trees(rows, repeats):
    from sklearn.ensemble import ExtraTreesRegressor

    x, y, asked, _ = rows
    trees = ExtraTreesRegressor(
        100, min_samples_split=5, max_features=1.0, n_jobs=1, random_state=1
    )
    return least_of(
        repeats,
        lambda: trees.fit(x, y),
        lambda model: (model.predict(asked), None),
    ) + ("100 trees, split 5",)


def xgboost_trees(rows, repeats, method):
    import xgboost

    x, y, asked, _ = rows
    settings = {"nthread": 1, "verbosity": 0, "tree_method": method}

    def fit():
        return xgboost.train(settings, xgboost.DMatrix(x, y, nthread=1), 100)

    return least_of(
        repeats,
        fit,
        lambda model: (model.predict(xgboost.DMatrix(asked, nthread=1)), None),
    ) + ("100 trees, depth 6, " + method,)


def peers_of(kind):
    def by(method):
        return lambda rows, repeats: xgboost_trees(rows, repeats, method)

    return {
        "gp": [("sklearn gp", "sklearn", sklearn_gp)],
        "trees": [
            ("sklearn extra-trees", "sklearn", sklearn_trees),
            ("xgboost hist", "xgboost", by("hist")),
            ("xgboost exact", "xgboost", by("exact")),
        ],
        "mlp": [],
    }[kind]


def installed(module, said):
    try:
        __import__(module)
        return True
    except ImportError:
        if module not in said:
            said.add(module)
            print(f"{module} is not installed: its methods are left out.")
        return False


# ---- report --------------------------------------------------------------


def tau_b(a, b):
    """Kendall's tau-b by all pairs (no need of SciPy)."""
    i, j = np.triu_indices(len(a), 1)
    da, db = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
    both = np.sqrt(float((da != 0).sum()) * float((db != 0).sum()))
    return float((da * db).sum() / both) if both > 0 else 0.0


def judge(label, kind, n, got, truth):
    fit_s, predict_s, mean, sd, model = got
    record = {
        "rows": n,
        "data": kind,
        "method": label,
        "model": model,
        "fit_s": fit_s,
        "predict_s": predict_s,
        "tau": tau_b(mean, truth),
        "rmse": float(np.sqrt(np.mean((mean - truth) ** 2))),
    }
    if sd is not None:
        z = (truth - mean) / sd
        record["nlpd"] = float(
            np.mean(0.5 * z**2 + np.log(sd) + 0.5 * np.log(2 * np.pi))
        )
    return record


def show(record):
    nlpd = record.get("nlpd")
    print(
        f"{record['rows']:>6} {record['data']:<9} {record['method']:<20}"
        f"{record['fit_s']:>9.3f} {record['predict_s']:>9.3f}"
        f"{record['tau']:>8.3f} {record['rmse']:>7.3f}"
        + (f"{nlpd:>8.3f}" if nlpd is not None else f"{'-':>8}"),
        flush=True,
    )


def measure(args, kinds):
    said, records = set(), []
    print(
        f"{'rows':>6} {'data':<9} {'method':<20}{'fit s':>9} {'predict s':>9}"
        f"{'tau':>8} {'rmse':>7}{'nlpd':>8}"
    )
    for n in args.rows:
        for data in ("friedman", "table"):
            rows = make(data, n, args.columns, 1000 + n)
            for kind in kinds:
                runs = [
                    (
                        kind,
                        lambda r, k, name=kind: run_ours(
                            args.program, name, r, k
                        ),
                    )
                ]
                for label, module, run in peers_of(kind):
                    # its memory and time grow with n^2 and n^3
                    too_many = kind == "gp" and n > 1000
                    if not too_many and installed(module, said):
                        runs.append((label, run))
                for label, run in runs:
                    got = run(rows, args.repeats)
                    records.append(judge(label, data, n, got, rows[3]))
                    show(records[-1])
    return records


def ratios(records):
    """How many times as long a peer takes, fit and predict together."""
    ours = {"sklearn gp": "gp"}
    found = []
    for r in records:
        mine = ours.get(r["method"], "trees")
        if r["method"] in ("gp", "trees", "mlp"):
            continue
        (own,) = [
            o
            for o in records
            if o["method"] == mine
            and (o["rows"], o["data"]) == (r["rows"], r["data"])
        ]
        total = [v["fit_s"] + v["predict_s"] for v in (own, r)]
        found.append(
            {
                "rows": r["rows"],
                "data": r["data"],
                "ours": mine,
                "peer": r["method"],
                "times_as_long": total[1] / total[0],
                "tau_more": own["tau"] - r["tau"],
            }
        )
    return found


def main():
    parser = argparse.ArgumentParser(
        description="Predictors against scikit-learn and XGBoost."
    )
    parser.add_argument("program", nargs="?")
    parser.add_argument("--rows", default="1000,5000")
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json")
    parser.add_argument("--only", choices=("gp", "trees", "mlp"))
    args = parser.parse_args()
    args.rows = [int(n) for n in args.rows.split(",")]
    if min(args.rows) < 10 or args.columns < 7 or args.repeats < 1:
        parser.error("at least 10 rows, 7 columns and 1 repeat")
    args.program = args.program or newest_program()
    kinds = [args.only] if args.only else ["gp", "trees", "mlp"]
    records = measure(args, kinds)
    found = ratios(records)
    print()
    for r in found:
        print(
            f"{r['rows']:>6} {r['data']:<9} {r['peer']} takes "
            f"{r['times_as_long']:.1f} times as long as {r['ours']}; "
            f"tau {r['tau_more']:+.3f} here"
        )
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump({"records": records, "ratios": found}, f, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
