"""DLRM in PyTorch, from its definition (Naumov et al. 2019): bottom perceptron,
embedding bags, dot products of all pairs, top perceptron, binary cross-entropy;
AdamW for the dense part, row-wise Adagrad for the tables.

Used as the reference of loss curves (tests/models/dlrm_curve.py) and, run, as
the peer of a benchmark: one JSON object.

    /usr/bin/python3 bench/engine/dlrm_torch.py [BATCH [STEPS [BUILD]]]

Of the tables' optimizer the faster of two is timed: PyTorch's own for sparse
gradients, and row-wise Adagrad written out.  With BUILD (a build folder, preset
release) bench_dlrm runs in turns with it and the ratio is said.  Times are of
the processor; both draw their samples inside the step."""
import json
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F


class Dlrm:
    """`weights`: name -> tensor, as they are named by the engine."""

    def __init__(self, weights, tables):
        self.dense = {n: x.clone().requires_grad_() for n, x in weights.items()
                      if not n.startswith("table.")}
        self.tables = [weights["table.%d" % t].clone().requires_grad_()
                       for t in range(tables)]
        self.n = {name: len([n for n in self.dense if n.startswith(name)
                             and n.endswith(".w")]) for name in ("bottom", "top")}
        i, j = torch.tril_indices(tables + 1, tables + 1, -1)
        self.i, self.j = i, j

    def stack(self, x, name, last):
        for k in range(self.n[name]):
            x = F.linear(x, self.dense["%s.%d.w" % (name, k)],
                         self.dense["%s.%d.b" % (name, k)])
            x = F.relu(x) if last or k + 1 < self.n[name] else x
        return x

    def logits(self, dense, ids, sparse=True):
        bottom = self.stack(dense, "bottom", True)
        bags = [F.embedding_bag(ids[t], table, mode="sum", sparse=sparse)
                for t, table in enumerate(self.tables)]
        x = torch.stack([bottom] + bags, 1)
        pairs = torch.bmm(x, x.transpose(1, 2))[:, self.i, self.j]
        return self.stack(torch.cat([bottom, pairs], 1), "top", False)[:, 0]


class RowWiseAdagrad:
    def __init__(self, tables, lr, eps=1e-8):
        self.tables, self.lr, self.eps = tables, lr, eps
        self.state = [torch.zeros(len(t), dtype=t.dtype) for t in tables]

    @torch.no_grad()
    def step(self, scale=1.0):
        for table, state in zip(self.tables, self.state):
            g = table.grad.coalesce()
            rows, g = g.indices()[0], g.values() * scale
            state.index_add_(0, rows, g.square().mean(1))
            rate = self.lr / (state[rows].sqrt() + self.eps)
            table.index_add_(0, rows, -rate[:, None] * g)


def drawn(rows, tables, dim, dense=13, bottom=(512, 256), top=(512, 256)):
    torch.manual_seed(1)
    weights = {}
    pairs = dim + (tables + 1) * tables // 2
    for name, widths in (("bottom", (dense, *bottom, dim)),
                         ("top", (pairs, *top, 1))):
        for k, (i, o) in enumerate(zip(widths, widths[1:])):
            weights["%s.%d.w" % (name, k)] = torch.randn(o, i) * (2 / (i + o)) ** .5
            weights["%s.%d.b" % (name, k)] = torch.zeros(o)
    for t in range(tables):
        weights["table.%d" % t] = torch.randn(rows, dim) / (3 * rows) ** .5
    return weights


def sample(batch):
    u = torch.rand(8, batch, 1, dtype=torch.float64)  # Zipf, 1.05
    ids = ((1 + u * (100001.0 ** -0.05 - 1)) ** -20 - 1).long()
    ids = ids.clamp(0, 99999) * 61803 % 100000
    x = torch.randn(batch, 13)
    return x, ids, (x[:, 0] + x[:, 1] > 0).float()


def best_step(batch, steps, own):
    """Seconds of the processor, losses first and last."""
    torch.set_num_threads(1)
    model = Dlrm(drawn(100000, 8, 64), 8)
    adamw = torch.optim.AdamW(list(model.dense.values()), lr=1e-3,
                              betas=(0.9, 0.95), weight_decay=0.01)
    tables = (torch.optim.SparseAdam(model.tables, lr=1e-3) if not own
              else RowWiseAdagrad(model.tables, 0.02))
    best, losses = float("inf"), []
    for k in range(steps):
        start = time.process_time()
        x, ids, y = sample(batch)
        loss = F.binary_cross_entropy_with_logits(model.logits(x, ids), y)
        adamw.zero_grad(set_to_none=True)
        for t in model.tables:
            t.grad = None
        loss.backward()
        adamw.step()
        tables.step()
        losses.append(loss.item())
        best = min(best, time.process_time() - start) if k else best
    few = max(1, steps // 4)
    if not sum(losses[-few:]) < sum(losses[:few]):
        sys.exit("dlrm_torch: the loss does not fall: %r" % losses)
    return best


def engine(build, batch, steps):
    env = {k: v for k, v in os.environ.items()
           if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    env.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    path = os.path.join(build, "bench", "engine", "bench_dlrm")
    return json.loads(subprocess.check_output([path, str(batch), str(steps)],
                                              env=env))


def main():
    batch = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    out = {"batch": batch, "torch": torch.__version__,
           "torch_cpu_s": float("inf")}
    mine = []
    for _ in range(3 if len(sys.argv) > 3 else 1):
        for own in (0, 1):
            s = best_step(batch, steps, own)
            if s < out["torch_cpu_s"]:
                out["torch_cpu_s"] = round(s, 6)
                out["tables"] = ("SparseAdam", "row-wise Adagrad")[own]
        if len(sys.argv) > 3:
            mine.append(engine(sys.argv[3], batch, steps))
    out["torch_samples_per_s"] = round(batch / out["torch_cpu_s"])
    if mine:
        out["engine"] = min(mine, key=lambda r: r["cpu_s"])
        out["ratio"] = round(out["torch_cpu_s"] / out["engine"]["cpu_s"], 2)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
