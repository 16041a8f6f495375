"""A made space in which half of the configurations fail by a memory rule.

Nothing in it was measured.  Layouts of a made model (40 layers, hidden 5120,
sequence 4096, 40 heads) on up to 512 devices: the bytes of a device are its
share of weights, gradients and optimizer state (by tp, pp, ZeRO and dp) and the
activations of a micro-batch (by tp, recomputation and the micro-batches that
1f1b holds), and what needs more than the median of all fails.  The objective is
a rate a device: less for pipeline bubbles, tensor-parallel traffic, gathers of
ZeRO, recomputation and small micro-batches.
"""

import csv
import itertools
import os
import statistics

HEADER = ["dp", "tp", "pp", "micro_batch", "zero", "recompute", "failed",
          "tokens_per_s_per_device"]
LAYERS, HIDDEN, SEQUENCE, BATCH = 40, 5120, 4096, 512
SAVED = {"none": 34.0, "selective": 12.0, "full": 2.0}
SLOWER = {"none": 1.0, "selective": 0.97, "full": 0.77}


def gibibytes(dp, tp, pp, micro_batch, zero, recompute):
    weights = 12 * LAYERS * HIDDEN ** 2 / (tp * pp)
    state = (2 / (dp if zero == 3 else 1) + 4 / (dp if zero >= 2 else 1) +
             12 / (dp if zero >= 1 else 1))
    held = min(pp, BATCH // (dp * micro_batch))
    activations = (SAVED[recompute] * SEQUENCE * micro_batch * HIDDEN *
                   (LAYERS / pp) * held / tp)
    return (weights * state + activations) / 2 ** 30


def rate(dp, tp, pp, micro_batch, zero, recompute):
    micro_batches = BATCH // (dp * micro_batch)
    bubble = (pp - 1) / (micro_batches + pp - 1)
    traffic = {1: 1.0, 2: 0.95, 4: 0.87, 8: 0.74}[tp]
    gathers = 1 - (0.02 * zero + 0.005 * zero * dp ** 0.5 / micro_batches ** 0.5
                   if dp > 1 else 0)
    full = micro_batch / (micro_batch + 0.6)
    return (5000 * (1 - bubble) * traffic * max(gathers, 0.1) * full *
            SLOWER[recompute])


def write(path):
    """The table, the same one always."""
    points = [
        p for p in itertools.product((1, 2, 4, 8, 16, 32, 64), (1, 2, 4, 8),
                                     (1, 2, 4, 5, 8, 10), (1, 2, 4, 8, 16),
                                     (0, 1, 2, 3), SAVED)
        if p[0] * p[3] <= BATCH and p[0] * p[1] * p[2] <= 512]
    limit = statistics.median(gibibytes(*p) for p in points)
    with open(path + ".new", "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(HEADER)
        for p in points:
            fails = gibibytes(*p) > limit
            out.writerow([*p, int(fails),
                          "nan" if fails else f"{rate(*p):.3f}"])
    os.replace(path + ".new", path)
