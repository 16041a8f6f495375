"""A virtual cluster for methods that are not ours, by the rules of `trireme
sim`: a worker that is free asks at once; a run lasts one virtual second, with
stragglers x (1 + |N(0, S)|); a failed configuration lasts as long as another,
is final and counts as measured; nothing is measured twice."""

import heapq
import math
import time

import numpy


class Stragglers:
    """What a run's duration is multiplied by."""

    def __init__(self, seed, straggle):
        self.rng = numpy.random.default_rng([seed, 0x57a6])
        self.straggle = straggle

    def draw(self):
        if self.straggle <= 0:
            return 1.0
        return 1 + self.straggle * abs(float(self.rng.standard_normal()))


def run(table, peer, settings):
    """[out] history: [virtual_s, trial, value or None] of each run in the order
    in which they end, and the CPU seconds of a decision.  It ends with the
    budget, or when the best row of all is known: nothing changes after that."""
    stragglers = Stragglers(settings["seed"], settings["straggle"])
    budget = min(settings["budget"], len(table.rows))
    running, history = [], []
    now, cpu, launched, done = 0.0, 0.0, 0, False
    spent, spent_to = 0.0, None  # rank-seconds
    while not done:
        while launched < budget and len(running) < settings["workers"]:
            before = time.process_time()
            row = peer.propose()
            cpu += time.process_time() - before
            heapq.heappush(running, (now + stragglers.draw(), launched, row))
            launched += 1
        if not running:
            break
        spent += len(running) * (running[0][0] - now)
        now, trial, row = heapq.heappop(running)
        value = table.values[row]
        before = time.process_time()
        peer.finish(row, value)
        cpu += time.process_time() - before
        history.append([now, trial, None if math.isnan(value) else value])
        if spent_to is None and table.is_close(value):
            spent_to = spent
        done = value == table.optimum
    return {"history": history, "decision_s": cpu / max(1, launched),
            "rank_seconds_1%": spent_to}
