"""Peers on a table.  None of them knows tables: how each is mapped onto one is
said in `mapping`, which the report prints.

A peer proposes a row that was never proposed before, and is told what came of
it: a value, or NaN where it failed.
"""

import math
import warnings

import numpy

import tables

FIRST_RANDOM = 10


class Coordinates:
    """Rows as points of the unit cube.  A parameter of numbers with at most 64
    values has their ranks as coordinate (powers of two are evenly spaced); one
    with more its value, or its logarithm where the largest is 100 times the
    smallest; one with words a coordinate each.  Constants are left out."""

    def __init__(self, table):
        self.columns = []  # (name, kind, values)
        parts = []
        for k, name in enumerate(table.parameters):
            texts = [row[k] for row in table.rows]
            if len(set(texts)) < 2:
                continue
            if table.numeric(k):
                parts.append(self._numbers(name, texts)[:, None])
            else:
                parts.append(self._words(name, texts))
        self.points = numpy.hstack(parts)

    def _numbers(self, name, texts):
        x = numpy.array([tables.number(t) for t in texts])
        values = numpy.unique(x)
        if len(values) <= 64:
            self.columns.append((name, "rank", values))
            return numpy.searchsorted(values, x) / max(1, len(values) - 1)
        logarithm = values[0] > 0 and values[-1] >= 100 * values[0]
        self.columns.append((name, "log" if logarithm else "real", values))
        x = numpy.log(x) if logarithm else x
        return (x - x.min()) / (x.max() - x.min())

    def _words(self, name, texts):
        values = sorted(set(texts))
        self.columns.append((name, "word", values))
        return numpy.array([[0.5 * (t == v) for v in values] for t in texts])


def raw(table):
    """Rows as trees take them: numbers as they are, words by number."""
    columns = []
    for k in range(len(table.parameters)):
        texts = [row[k] for row in table.rows]
        if table.numeric(k):
            columns.append([tables.number(t) for t in texts])
        else:
            order = sorted(set(texts))
            columns.append([float(order.index(t)) for t in texts])
    return numpy.array(columns).T


class Target:
    """What models learn: the objective, less being better, its logarithm where
    all finite values are positive; what failed, the median of what did not (the
    worst value seen, which is common, makes both models much worse: the fence
    between worst and best hides what lies inside)."""

    def __init__(self, table):
        known = [v for v in table.values if not math.isnan(v)]
        self.log = min(known) > 0
        self.sign = table.sign

    def of(self, values):
        y = numpy.array(values, dtype=float)
        y = self.sign * (numpy.log(y) if self.log else y)
        finite = y[numpy.isfinite(y)]
        y[~numpy.isfinite(y)] = numpy.median(finite) if len(finite) else 0.0
        return y


class Peer:
    mapping = ""

    def __init__(self, table, settings):
        self.table = table
        self.workers = settings["workers"]
        self.rng = numpy.random.default_rng([settings["seed"], 0xbe])
        self.free = numpy.ones(len(table.rows), dtype=bool)
        self.measured, self.results = [], []

    def finish(self, row, value):
        self.measured.append(row)
        self.results.append(value)

    def take(self, row):
        self.free[row] = False
        return int(row)

    def propose(self):
        if len(self.measured) < FIRST_RANDOM:
            return self.any_row()
        return self.take(self.choose())

    def any_row(self):
        return self.take(self.rng.choice(numpy.flatnonzero(self.free)))

    def choose(self):
        raise NotImplementedError


class Random(Peer):
    mapping = "an untried row, uniformly (to check the two clusters with)"

    def propose(self):
        return self.any_row()


class XgboostGreedy(Peer):
    mapping = (
        "100 trees (else defaults) on the logarithm of the objective (failed rows: "
        "the median of the others), fitted again at every result; the untried row "
        "predicted best, with probability 0.05 any; the first 10 results are "
        "of random rows; of what is running it knows only not to repeat it")

    def __init__(self, table, settings):
        super().__init__(table, settings)
        self.x, self.target = raw(table), Target(table)
        self.seed = settings["seed"]
        self.fitted, self.scores = 0, None

    def choose(self):
        import xgboost

        if self.rng.random() < 0.05:
            return self.rng.choice(numpy.flatnonzero(self.free))
        if self.fitted != len(self.measured):
            model = xgboost.XGBRegressor(
                n_estimators=100, n_jobs=1,
                random_state=self.seed % (1 << 31))
            model.fit(self.x[self.measured], self.target.of(self.results))
            self.scores = model.predict(self.x)
            self.fitted = len(self.measured)
        ties = numpy.flatnonzero(
            self.free & (self.scores == self.scores[self.free].min()))
        return self.rng.choice(ties)


class GaussianProcess(Peer):
    mapping = (
        "constant x Matern 5/2 ARD + white noise on coordinates in [0, 1] "
        "(ranks of up to 64 values, else the value or its logarithm; words one "
        "each), the logarithm of the objective, failed rows the median of the others; "
        "the untried row of largest expected improvement; hyper-parameters by "
        "L-BFGS from the last ones at every result up to 50, then at every "
        "10th; running rows are believed to be what they are predicted to be; "
        "the first 10 results are of random rows")
    REFIT_ALL, REFIT_EVERY = 50, 10

    def __init__(self, table, settings):
        super().__init__(table, settings)
        self.x, self.target = Coordinates(table).points, Target(table)
        self.kernel, self.fitted = None, 0
        self.running = []

    def finish(self, row, value):
        super().finish(row, value)
        if row in self.running:
            self.running.remove(row)

    def take(self, row):
        self.running.append(int(row))
        return super().take(row)

    def _fresh_kernel(self):
        from sklearn.gaussian_process import kernels

        return (kernels.ConstantKernel(1.0, (1e-2, 1e3)) *
                kernels.Matern(numpy.full(self.x.shape[1], 0.5), (0.02, 20.0),
                               nu=2.5) +
                kernels.WhiteKernel(1e-3, (1e-6, 1.0)))

    def _fit(self, rows, y, optimizer):
        from sklearn.gaussian_process import GaussianProcessRegressor

        model = GaussianProcessRegressor(
            kernel=self.kernel or self._fresh_kernel(), optimizer=optimizer,
            normalize_y=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(self.x[rows], y)

    def _is_due(self):
        n = len(self.measured)
        return self.kernel is None or (
            n > self.fitted and n <= self.REFIT_ALL) or (
            n >= self.fitted + self.REFIT_EVERY)

    def choose(self):
        rows, y = list(self.measured), self.target.of(self.results)
        best = y.min()
        due = self._is_due()
        model = self._fit(rows, y, "fmin_l_bfgs_b" if due else None)
        if due:
            self.kernel, self.fitted = model.kernel_, len(self.measured)
        if self.running:
            y = numpy.append(y, model.predict(self.x[self.running]))
            model = self._fit(rows + self.running, y, None)
        candidates = numpy.flatnonzero(self.free)
        mean, sd = model.predict(self.x[candidates], return_std=True)
        return candidates[numpy.argmax(improvement(best, mean, sd))]


def improvement(best, mean, sd):
    from scipy.special import ndtr

    sd = numpy.maximum(sd, 1e-12)
    z = (best - mean) / sd
    return sd * (z * ndtr(z) + numpy.exp(-z * z / 2) / math.sqrt(2 * math.pi))


class Space:
    """A table's parameters as Optuna's distributions: numbers of up to 64
    values by their rank (an integer), others as reals, by logarithm where the
    largest is 100 times the smallest; words as categories."""

    def __init__(self, table):
        from optuna import distributions as d

        self.at = Coordinates(table)
        self.distributions, self.settings = {}, []
        for name, kind, values in self.at.columns:
            if kind == "word":
                self.distributions[name] = d.CategoricalDistribution(values)
            elif kind == "rank":
                self.distributions[name] = d.IntDistribution(
                    0, len(values) - 1)
            else:
                self.distributions[name] = d.FloatDistribution(
                    float(values[0]), float(values[-1]), log=kind == "log")
        place = {p: k for k, p in enumerate(table.parameters)}
        for row in table.rows:
            self.settings.append({
                name: self._setting(row[place[name]], kind, values)
                for name, kind, values in self.at.columns})

    @staticmethod
    def _setting(text, kind, values):
        if kind == "word":
            return text
        x = tables.number(text)
        return int(numpy.searchsorted(values, x)) if kind == "rank" else x

    def point(self, settings):
        """Coordinates of what was suggested."""
        out = []
        for name, kind, values in self.at.columns:
            v = settings[name]
            if kind == "word":
                out += [0.5 * (v == w) for w in values]
            elif kind == "rank":
                out.append(v / max(1, len(values) - 1))
            else:
                lo, hi = values[0], values[-1]
                if kind == "log":
                    v, lo, hi = math.log(v), math.log(lo), math.log(hi)
                out.append((v - lo) / (hi - lo))
        return numpy.array(out)

    def nearest(self, settings, free, order):
        """The free row with the least sum of differences; of equal ones the
        first in `order`."""
        distance = numpy.abs(self.at.points - self.point(settings)).sum(axis=1)
        distance[~free] = math.inf
        close = numpy.flatnonzero(distance <= distance.min() + 1e-12)
        return close[numpy.argmin(order[close])]


class OptunaTpe(Peer):
    mapping = (
        "TPESampler(multivariate, constant_liar with more than one worker; "
        "else defaults) over each parameter's own values: the rank of numbers "
        "with up to 64 values, reals else (log where they span a factor of "
        "100), categories for words; a suggestion becomes the nearest untried "
        "row (sum of differences, ties at random), and Optuna is told of that "
        "row, running and measured, in its place; failed rows are told as "
        "pruned")

    def __init__(self, table, settings):
        super().__init__(table, settings)
        self.space = Space(table)
        self.order = self.rng.permutation(len(table.rows))
        self.study = self._study(settings)
        self.numbers = {}

    def _study(self, settings):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            multivariate=True, constant_liar=settings["workers"] > 1,
            seed=settings["seed"] % (1 << 32))
        return optuna.create_study(
            sampler=sampler,
            direction="maximize" if self.table.maximize else "minimize")

    def propose(self):
        from optuna.trial import TrialState, create_trial

        asked = self.study.ask(self.space.distributions)
        row = self.take(self.space.nearest(asked.params, self.free,
                                           self.order))
        self.study.tell(asked.number, state=TrialState.FAIL)
        self.study.add_trial(create_trial(
            state=TrialState.RUNNING, params=self.space.settings[row],
            distributions=self.space.distributions))
        self.numbers[row] = asked.number + 1
        return row

    def finish(self, row, value):
        from optuna.trial import TrialState

        super().finish(row, value)
        if math.isnan(value):
            self.study.tell(self.numbers[row], state=TrialState.PRUNED)
        else:
            self.study.tell(self.numbers[row], value)


PLAIN = {"optuna-tpe": ("optuna", OptunaTpe),
         "xgboost-greedy": ("xgboost", XgboostGreedy),
         "sklearn-gp": ("sklearn", GaussianProcess),
         "peer-random": ("numpy", Random)}
