#!/usr/bin/env python3
"""A trainer of the user's own, as small as one can be: logistic regression by
stochastic gradient descent, standard library only.  Every rank trains on its
share of the batch; rank 0 prints one JSON line a step, which is all that
trireme asks of a trainer."""

import argparse
import json
import math
import os
import random


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--lr", type=float, required=True)
    arguments.add_argument("--batch", type=int, required=True)
    options = arguments.parse_args()

    rank = int(os.environ.get("RANK", "0"))
    world = int(os.environ.get("WORLD_SIZE", "1"))
    steps = int(os.environ.get("TRIREME_RESOURCE", "50"))
    data = random.Random(7)
    truth = [data.uniform(-1, 1) for _ in range(16)]
    weights = [0.0] * 16

    for step in range(1, steps + 1):
        loss, gradient = 0.0, [0.0] * 16
        share = max(1, options.batch // world)
        for _ in range(share):
            x = [data.gauss(0, 1) for _ in range(16)]
            y = 1.0 if sum(a * b for a, b in zip(truth, x)) > 0 else 0.0
            z = sum(a * b for a, b in zip(weights, x))
            p = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))
            loss -= math.log(max(p if y else 1.0 - p, 1e-12))
            for i in range(16):
                gradient[i] += (p - y) * x[i]
        for i in range(16):
            weights[i] -= options.lr * gradient[i] / share
        if rank == 0:
            print(json.dumps({"step": step, "samples": share * world,
                              "loss": loss / share}), flush=True)


if __name__ == "__main__":
    main()
