"""Peers on tables of learning curves, where a run may end early.

Durations: a unit of resource lasts one virtual second, with stragglers
x (1 + |N(0, S)|) for a whole trial (Optuna) or run (asha).  What going on
costs is what is added, for all.  Cost is counted in full trainings: rank-seconds
over the units of a whole curve.
"""

import heapq
import math
import time

import numpy

import cluster
import peers


class Clock:
    """Virtual time, the CPU seconds of decisions, and what was measured."""

    def __init__(self, table, settings):
        self.table, self.settings = table, settings
        self.stragglers = cluster.Stragglers(settings["seed"],
                                             settings["straggle"])
        self.end = table.n_points * max(
            settings["trainings"] / settings["workers"], 4)
        self.now, self.cpu, self.decisions = 0.0, 0.0, 0
        self.history, self.done = [], False

    def measured(self, trial, value, is_top):
        finite = not math.isnan(value)
        self.history.append([self.now, trial, value if finite else None])
        self.done |= is_top and value == self.table.optimum

    def decided(self, function, *arguments):
        before = time.process_time()
        out = function(*arguments)
        self.cpu += time.process_time() - before
        self.decisions += 1
        return out

    def answer(self):
        return {"history": self.history,
                "decision_s": self.cpu / max(1, self.decisions)}


# ---- Optuna: random, with the pruner of successive halving -----------------


class Pruned:
    """Trials of Optuna, each reporting every unit until it is pruned."""

    def __init__(self, table, settings):
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        seed = settings["seed"]
        self.table, self.space = table, peers.Space(table)
        self.study = optuna.create_study(
            sampler=optuna.samplers.RandomSampler(seed=seed),
            direction="maximize" if table.maximize else "minimize",
            pruner=optuna.pruners.SuccessiveHalvingPruner(
                min_resource=settings["min"],
                reduction_factor=settings["eta"]))
        rng = numpy.random.default_rng([seed, 0xbe])
        self.order = rng.permutation(len(table.rows))
        self.free = numpy.ones(len(table.rows), dtype=bool)

    def start(self):
        """A trial and its row."""
        trial = self.study.ask(self.space.distributions)
        row = int(self.space.nearest(trial.params, self.free, self.order))
        self.free[row] = False
        return trial, row

    def step(self, trial, unit, value):
        """Whether the trial ends with this unit."""
        from optuna.trial import TrialState

        if math.isnan(value):
            self.study.tell(trial, state=TrialState.PRUNED)
            return True
        trial.report(value, unit)
        if unit == self.table.n_points:
            self.study.tell(trial, value)
            return True
        if trial.should_prune():
            self.study.tell(trial, state=TrialState.PRUNED)
            return True
        return False


def run_pruned(table, settings):
    clock, optuna = Clock(table, settings), Pruned(table, settings)
    running, started = [], 0

    def launch():
        nonlocal started
        if started >= len(table.rows):
            return
        trial, row = clock.decided(optuna.start)
        pace = clock.stragglers.draw()
        heapq.heappush(running, (clock.now + pace, started, 1, pace, row,
                                 trial))
        started += 1

    for _ in range(settings["workers"]):
        launch()
    while running and not clock.done:
        at, number, unit, pace, row, trial = heapq.heappop(running)
        if at > clock.end:
            break
        clock.now = at
        value = table.curves[row][unit - 1]
        clock.measured(number, value, unit == table.n_points)
        if clock.decided(optuna.step, trial, unit, value):
            launch()
        else:
            heapq.heappush(running, (at + pace, number, unit + 1, pace, row,
                                     trial))
    return clock.answer()


# ---- asha with XGBoost's choice of configurations --------------------------


def rungs(points, least, eta):
    out, r = [], least
    while r < points:
        out.append(r)
        r *= eta
    return [*out, points]


class Ladder:
    """asha: the best floor(n / eta) of the n results of a rung may go on, the
    topmost rung first; diverged ones count in n and never go on."""

    def __init__(self, sign, levels, eta):
        self.sign, self.eta = sign, eta
        self.results = [[] for _ in range(levels)]  # (value, trial), sorted
        self.gone = [set() for _ in range(levels)]

    def promotable(self):
        for k in range(len(self.results) - 2, -1, -1):
            n = len(self.results[k])
            for value, trial in self.results[k][:n // self.eta]:
                if trial not in self.gone[k] and value < math.inf:
                    self.gone[k].add(trial)
                    return trial, k + 1
        return None

    def add(self, k, trial, value):
        worth = math.inf if math.isnan(value) else self.sign * value
        self.results[k].append((worth, trial))
        self.results[k].sort()


class Chooser:
    """XGBoost on the results of all rungs, the resource being a feature;
    chooses what it predicts best for the last one."""

    def __init__(self, table, settings):
        self.x, self.target = peers.raw(table), peers.Target(table)
        self.rng = numpy.random.default_rng([settings["seed"], 0xbe])
        self.seed, self.points = settings["seed"], table.n_points
        self.free = numpy.ones(len(table.rows), dtype=bool)
        self.rows, self.resources, self.values = [], [], []
        self.fitted, self.scores = 0, None

    def finish(self, row, resource, value):
        self.rows.append(row)
        self.resources.append(math.log(resource))
        self.values.append(value)

    def _fit(self):
        import xgboost

        n = len(self.rows)
        if self.scores is not None and (n < self.fitted + 10 if n > 100
                                        else n == self.fitted):
            return
        model = xgboost.XGBRegressor(n_estimators=100, n_jobs=1,
                                     random_state=self.seed)
        model.fit(numpy.column_stack([self.x[self.rows], self.resources]),
                  self.target.of(self.values))
        top = numpy.full(len(self.x), math.log(self.points))
        self.scores = model.predict(numpy.column_stack([self.x, top]))
        self.fitted = n

    def choose(self):
        free = numpy.flatnonzero(self.free)
        if len(self.rows) < peers.FIRST_RANDOM or self.rng.random() < 0.05:
            row = self.rng.choice(free)
        else:
            self._fit()
            row = self.rng.choice(free[self.scores[free] ==
                                       self.scores[free].min()])
        self.free[row] = False
        return int(row)


def run_asha(table, settings):
    clock, chooser = Clock(table, settings), Chooser(table, settings)
    levels = rungs(table.n_points, settings["min"], settings["eta"])
    ladder = Ladder(table.sign, len(levels), settings["eta"])
    trials, running, runs = [], [], 0

    def next_job():
        job = ladder.promotable()
        if job is None and chooser.free.any():
            trials.append(chooser.choose())
            job = len(trials) - 1, 0
        return job

    while not clock.done:
        while len(running) < settings["workers"]:
            job = clock.decided(next_job)
            if job is None:
                break
            trial, k = job
            units = levels[k] - (levels[k - 1] if k else 0)
            heapq.heappush(running, (
                clock.now + units * clock.stragglers.draw(), runs, trial, k))
            runs += 1
        if not running or running[0][0] > clock.end:
            break
        clock.now, _, trial, k = heapq.heappop(running)
        value = table.curves[trials[trial]][levels[k] - 1]
        clock.measured(trial, value, k == len(levels) - 1)
        ladder.add(k, trial, value)
        chooser.finish(trials[trial], levels[k], value)
    return clock.answer()


CURVES = {
    "optuna-random-pruner": (
        "optuna", run_pruned,
        "RandomSampler and SuccessiveHalvingPruner with min and eta of asha; "
        "a trial reports every unit and is asked "
        "whether to prune; a suggestion becomes the nearest untried row; "
        "diverged ones are pruned"),
    "asha-xgboost": (
        "xgboost", run_asha,
        "asha (promotion type, resumed), its min and eta those of ours; new configurations by 100 "
        "trees on the results of all rungs with the logarithm of the resource "
        "as a feature, the untried row predicted best at the top, with "
        "probability 0.05 any; fitted again at every result up to 100, then "
        "at every 10th; the first 10 results are of random rows"),
}
