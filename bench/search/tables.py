"""Tables of measurements: any CSV whose parameters come first and whose
objective comes last.

What is not said is derived, by names and places only, never by which table it
is:

  failed      a column of that name: 1 where the measurement failed.  What lies
              between it and the objective was measured too, and is left out.
  curve       columns step_0, step_1, ...: the objective after 1, 2, ... units.
              What follows them is the last of them again, and is left out.
  left out    columns that only a measurement can know: named as times, memory
              or rates are and of many different values (more than a tenth of
              the rows), or empty in failed rows only.
  direction   more is better where the objective's name says a rate or a share
              of the peak (per_s, mfu, flops, throughput, accuracy, ...).

A file NAME.json beside NAME.csv overrules: {"parameters": [...], "objective":
"...", "maximize": true, "failed": "..." or null, "curve": "step_" or null}.

Rows of one configuration are one: the median of the finite objectives, failed
only if all of them failed.
"""

import csv
import hashlib
import json
import math
import os
import re
import statistics

MEASURED = re.compile(
    r"_(s|ms|us|ns|seconds|gb|gib|mb|mib|bytes|watts|joules)$|per_s|"
    r"(^|_)(mfu|hfu|loss|accuracy|throughput|runtime|time|latency|energy|"
    r"t?gflops|tflops|flops|mem|memory)$")
MORE_IS_BETTER = re.compile(
    r"per_s|per_sec|mfu|hfu|flops|throughput|accuracy|(^|_)(gb|mb)_s$|"
    r"bandwidth|speed|score|reward|auc")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*$")
# Columns of /trials, which a parameter may not be called.
TAKEN = {"trial", "created_s", "origin", "state", "ranks", "predicted",
         "predicted_lo", "predicted_hi", "predicted_bytes", "p_feasible",
         "rule"}


class BadTable(Exception):
    pass


def number(text):
    """The number, or NaN for what is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def is_failed(text):
    return text.strip().lower() in ("1", "true", "yes")


class Table:
    """
    name, path           of the CSV
    parameters           names, in order
    rows                 distinct configurations, each a tuple of texts
    values               per row the objective, NaN where it failed
    curves               per row its points, or None where there are none
    failed               per row
    sign                 -1 where more is better, 1 where less is
    optimum, limit       the best, and the worst that is within 1 % of it
    """

    def __init__(self, path, name):
        self.path, self.name = path, name
        with open(path, newline="", encoding="utf-8") as f:
            lines = [line for line in csv.reader(f) if line]
        if len(lines) < 3:
            raise BadTable(f"{path}: a header and two rows are the least")
        self.header = [column.strip() for column in lines[0]]
        short = [i for i, line in enumerate(lines)
                 if len(line) != len(self.header)]
        if short:
            raise BadTable(f"{path}:{short[0] + 1}: {len(lines[short[0]])} "
                           f"fields, and the header has {len(self.header)}")
        self._describe(lines[1:])
        self._combine(lines[1:])
        text = json.dumps([self.parameters, self.rows, self.sign,
                           self.curves or self.values], default=repr)
        self.digest = hashlib.sha256(text.encode()).hexdigest()[:16]

    # ---- what the columns are

    def _describe(self, lines):
        said = {}
        beside = os.path.splitext(self.path)[0] + ".json"
        if os.path.exists(beside):
            with open(beside, encoding="utf-8") as f:
                said = json.load(f)
        header = self.header
        self.objective = said.get("objective", header[-1])
        self.failed_column = said.get(
            "failed", "failed" if "failed" in header else None)
        steps = [c for c in header if re.match(r"step_\d+$", c)]
        self.prefix = said.get("curve", "step_" if len(steps) > 1 else None)
        self.points = [c for c in header
                       if self.prefix and re.match(
                           re.escape(self.prefix) + r"\d+$", c)]
        self.points.sort(key=lambda c: int(c[len(self.prefix):]))
        self.maximize = said.get("maximize", bool(
            MORE_IS_BETTER.search(self.objective.lower())))
        self.sign = -1 if self.maximize else 1
        self.parameters = said.get("parameters") or self._parameters(lines)
        for column in [self.objective, *self.parameters]:
            if column not in header:
                raise BadTable(f"{self.path} has no column '{column}'")
        if not self.parameters:
            raise BadTable(f"{self.path}: no column is a parameter")
        named = {*self.parameters, self.objective, self.failed_column,
                 *self.points}
        self.left_out = [c for c in header if c not in named]

    def _parameters(self, lines):
        header = self.header
        ends = [header.index(c) for c in [*self.points, self.objective]]
        if self.failed_column:
            ends.append(header.index(self.failed_column))
        return [c for i, c in enumerate(header[:min(ends)])
                if not self._is_measured(lines, i)]

    def _is_measured(self, lines, i):
        values = {line[i] for line in lines}
        if (MEASURED.search(self.header[i].lower())
                and len(values) > max(10, len(lines) / 10)):
            return True
        blank = [line[i].strip().lower() in ("", "nan") for line in lines]
        at = self.header.index(self.objective)
        return any(blank) and all(
            math.isnan(number(line[at])) for line, b in zip(lines, blank) if b)

    # ---- rows

    def _combine(self, lines):
        at = {c: i for i, c in enumerate(self.header)}
        places = [at[c] for c in self.parameters]
        columns = [at[c] for c in self.points] or [at[self.objective]]
        found = {}
        for line in lines:
            row = tuple(line[i].strip() for i in places)
            failed = bool(self.failed_column) and is_failed(
                line[at[self.failed_column]])
            measured = [math.nan if failed else number(line[i])
                        for i in columns]
            found.setdefault(row, []).append((failed, measured))
        self.rows = list(found)
        self.failed, self.curves = [], []
        for row in self.rows:
            repeats = found[row]
            self.curves.append([self._median(m[k] for _, m in repeats)
                                for k in range(len(columns))])
            self.failed.append(all(f for f, _ in repeats) if self.points
                               else math.isnan(self.curves[-1][0]))
        self.values = [curve[-1] for curve in self.curves]
        if not self.points:
            self.curves = None
        finite = [v for v in self.values if not math.isnan(v)]
        if not finite:
            raise BadTable(f"{self.path}: no row of '{self.objective}' has a "
                           "finite value")
        self.optimum = max(finite) if self.maximize else min(finite)

    @staticmethod
    def _median(values):
        finite = [v for v in values if math.isfinite(v)]
        return statistics.median(finite) if finite else math.nan

    # ---- what methods ask

    @property
    def n_points(self):
        return len(self.points) or 1

    @property
    def kind(self):
        return "curves" if self.points else "plain"

    def is_close(self, value, share=0.01):
        return self.sign * value <= (self.sign * self.optimum +
                                     share * abs(self.optimum))

    def regret(self, value):
        """How far the value is from the optimum, as a share of it."""
        gap = self.sign * (value - self.optimum)
        return gap / abs(self.optimum) if self.optimum else gap

    def numeric(self, k):
        return all(math.isfinite(number(row[k])) for row in self.rows)

    def described(self):
        out = {"table": self.name, "configurations": len(self.rows),
               "failed": sum(self.failed), "parameters": self.parameters,
               "objective": self.points[-1] if self.points else self.objective,
               "direction": "maximize" if self.maximize else "minimize",
               "optimum": self.optimum,
               "within_1%": sum(not math.isnan(v) and self.is_close(v)
                                for v in self.values)}
        if self.points:
            out["points"] = len(self.points)
            out["diverged"] = sum(map(math.isnan, self.values))
        if self.left_out:
            out["left_out"] = self.left_out
        return out


def safe_names(names):
    """Names that a study file takes, one for each, none twice."""
    out = []
    for name in names:
        safe = re.sub(r"\W", "_", name)
        if not IDENTIFIER.match(safe) or safe in TAKEN:
            safe = "p_" + safe
        while safe in out:
            safe += "_"
        out.append(safe)
    return out


def find(places):
    """Tables of files and folders: of a folder every CSV beneath it, but for
    folders called asha, whose files are no tables of configurations."""
    tables = []
    for place in places:
        if not os.path.isdir(place):
            name = os.path.splitext(os.path.basename(place))[0]
            tables.append(Table(place, name))
            continue
        for folder, inner, files in os.walk(place):
            inner[:] = sorted(d for d in inner if d != "asha")
            for file in sorted(f for f in files if f.endswith(".csv")):
                tables.append(Table(os.path.join(folder, file), file[:-4]))
    return tables
