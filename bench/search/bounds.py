#!/usr/bin/env python3
"""What asha leaves to be won on tables of learning curves: how many full
trainings it takes when what to try is known from the table itself.

    bench/search/bounds.py                  the curves of ../shared/data
    bench/search/bounds.py runs.csv

Promotions are asha's own, one run at a time; only the order in which
configurations are proposed differs:

  best first   the best of all, then the others by chance: what the ladder
               costs by itself, as floor(n / eta) wants eta^k to begin with
  in order     by their final values: good ones are in each other's way
  best 3 %     these by chance, then the others by chance
  learned      by what extremely randomised trees say of a tenth of the rows
               that have learned the final values of all others: as good a
               model as ten times the budget would buy
  by chance    all

The median and the 90th percentile over the seeds of full trainings until a run
to the end of a curve is within 1 % of the best.
"""

import argparse
import math
import os
import sys

import numpy

import halving
import tables
from scores import median, percentile90

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("TRI_SHARED_DIR",
                        os.path.join(HERE, "../../../shared"))
PARTS = 10


def options():
    p = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0].replace("\n", " "))
    p.add_argument("data", nargs="*", default=[os.path.join(SHARED, "data")])
    p.add_argument("--seeds", type=int, default=30)
    p.add_argument("--min", type=int, default=3)
    p.add_argument("--eta", type=int, default=3)
    return p.parse_args()


def trainings(table, order, levels, eta):
    """Until the end of a curve is within 1 %; None: never."""
    ladder = halving.Ladder(table.sign, len(levels), eta)
    waiting = iter(order)
    spent = 0
    while True:
        job = ladder.promotable()
        if job is None:
            row = next(waiting, None)
            if row is None:
                return None
            job = row, 0
        row, k = job
        spent += levels[k] - (levels[k - 1] if k else 0)
        value = table.curves[row][levels[k] - 1]
        ladder.add(k, row, value)
        if k == len(levels) - 1 and table.is_close(value):
            return spent / table.n_points


def costs(table):
    return numpy.array([math.inf if math.isnan(v) else table.sign * v
                        for v in table.values])


def columns(table):
    """Numbers by their places among the rows, words by theirs in a list."""
    out = []
    for k in range(len(table.parameters)):
        texts = [row[k] for row in table.rows]
        keys = [float(x) for x in texts] if table.numeric(k) else texts
        places = {v: i for i, v in enumerate(sorted(set(keys)))}
        out.append([places[v] / len(places) for v in keys])
    return numpy.array(out).T


def foretold(table, seed):
    """Each row's place as the others tell it; None without scikit-learn."""
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError:
        return None
    x, places = columns(table), numpy.argsort(numpy.argsort(costs(table)))
    part = numpy.random.default_rng([seed, 0xb0]).integers(
        PARTS, size=len(places))
    said = numpy.zeros(len(places))
    # the best places are told apart best by their logarithm
    y = numpy.log1p(places)
    for k in range(PARTS):
        model = ExtraTreesRegressor(100, min_samples_split=4,
                                    random_state=seed, n_jobs=1)
        said[part == k] = model.fit(x[part != k], y[part != k]).predict(
            x[part == k])
    return said


def orders(table, seed):
    """name -> rows in the order in which they are proposed."""
    rng = numpy.random.default_rng([seed, 0xb1])
    best = numpy.argsort(costs(table), kind="stable")
    few = max(2, round(0.03 * len(best)))
    said = foretold(table, seed)
    out = {"best first": [best[0], *rng.permutation(best[1:])],
           "in order": best,
           "best 3 %": [*rng.permutation(best[:few]),
                        *rng.permutation(best[few:])],
           "by chance": rng.permutation(best)}
    if said is not None:
        out["learned"] = numpy.argsort(said, kind="stable")
    return out


def main():
    o = options()
    try:
        found = [t for t in tables.find(o.data) if t.points]
    except (OSError, tables.BadTable) as e:
        sys.exit(f"bounds.py: {e}")
    if not found:
        sys.exit(f"bounds.py: no table of curves in {' '.join(o.data)}")
    print(f"{'table':18s} {'proposed':12s} median     p90")
    for table in found:
        levels = halving.rungs(table.n_points, min(o.min, table.n_points),
                               o.eta)
        taken = {}
        for seed in range(1, o.seeds + 1):
            for name, order in orders(table, seed).items():
                taken.setdefault(name, []).append(
                    trainings(table, order, levels, o.eta))
        for name, values in taken.items():
            print(f"{table.name:18s} {name:12s} {median(values):6.1f} "
                  f"{percentile90(values):7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
