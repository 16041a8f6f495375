#!/usr/bin/env python3
"""A PyTorch trainer as many are: a small transformer under
DistributedDataParallel, gradients accumulated to a global batch.  It knows of
trireme only that it reports a line a step, how many steps it is to do and where
a checkpoint goes; without trireme it runs as ever:

    torchrun --nproc-per-node 2 pytorch_ddp.py --micro-batch 8

Under trireme it ends after TRIREME_RESOURCE steps, leaves its last state in
TRIREME_CHECKPOINT_DIR, also when it is asked to end early (SIGTERM), and goes
on from TRIREME_RESUME_DIR.

What it learns: text of a random source in which each letter depends on the one
before it and on whether the one before that is odd.  Source, first weights and
batches follow from --seed, and a batch does not depend on how many ranks share
it, so the loss of a step is that of one process but for rounding.  Nothing can
do better than the source's entropy, which `--floor` prints (about 1.2).
"""

import argparse
import contextlib
import json
import os
import resource
import signal

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

try:  # beside this file; a line that is printed does as well
    from trireme_report import report
except ImportError:
    def report(**_):
        return False

VOCAB, SEQUENCE = 16, 64
LIKELY = torch.tensor([0.5, 0.25, 0.15, 0.1])  # of four successors


class Block(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)

    def forward(self, x, mask):
        b, t, h = x.shape
        q, k, v = (self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1)
                   .permute(2, 0, 3, 1, 4))
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + mask
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2)
                         .reshape(b, t, h))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, hidden, layers, heads):
        super().__init__()
        self.letters = nn.Embedding(VOCAB, hidden)
        self.places = nn.Embedding(SEQUENCE, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads)
                                    for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, VOCAB)
        self.register_buffer("mask", torch.full(
            (SEQUENCE, SEQUENCE), float("-inf")).triu(1), persistent=False)

    def forward(self, x, y):
        h = self.letters(x) + self.places.weight
        for block in self.blocks:
            h = block(h, self.mask)
        return F.cross_entropy(self.head(self.norm(h)).flatten(0, 1),
                               y.flatten())


def write_text(seed, chains=1024, length=256):
    """Text of the source with that seed, a row a chain."""
    g = torch.Generator().manual_seed(seed)
    successors = torch.rand(2, VOCAB, VOCAB, generator=g).argsort(-1)
    choices = torch.multinomial(LIKELY, chains * length, replacement=True,
                                generator=g).view(length, chains)
    text = torch.randint(VOCAB, (length, chains), generator=g)
    for t in range(2, length):
        text[t] = successors[text[t - 2] % 2, text[t - 1], choices[t]]
    return text.t().contiguous()


def batch_of(text, seed, step, size):
    """Inputs and targets of a step, all ranks' samples."""
    g = torch.Generator().manual_seed(seed * 1000003 + step)
    row = torch.randint(text.shape[0], (size, 1), generator=g)
    column = torch.randint(text.shape[1] - SEQUENCE, (size, 1), generator=g)
    windows = text[row, column + torch.arange(SEQUENCE + 1)]
    return windows[:, :-1], windows[:, 1:]


def save(folder, step, model, optimizer):
    """Whole or not at all: a reader never sees half a checkpoint."""
    partial = os.path.join(folder, "partial.pt")
    torch.save({"step": step, "model": model.state_dict(),
                "optimizer": optimizer.state_dict()}, partial)
    with open(partial, "rb") as f:
        os.fsync(f.fileno())
    os.replace(partial, os.path.join(folder, "checkpoint.pt"))


def load(folder, model, optimizer):
    """The step that a checkpoint was saved after; 0 without one."""
    path = os.path.join(folder, "checkpoint.pt") if folder else ""
    if not os.path.exists(path):
        return 0
    state = torch.load(path, map_location="cpu")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["step"]


def train_step(model, optimizer, x, y, micro_batch, sums):
    """One optimiser step over this rank's samples.  To `sums` comes the mean
    loss; then they are made those of all ranks."""
    pieces = list(zip(x.split(micro_batch), y.split(micro_batch)))
    optimizer.zero_grad(set_to_none=True)
    for i, (a, b) in enumerate(pieces):
        last = i + 1 == len(pieces)  # gradients are summed over ranks once
        with contextlib.nullcontext() if last else model.no_sync():
            loss = model(a, b) / len(pieces)
            loss.backward()
        sums[0] += loss.detach()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    dist.all_reduce(sums)


def tell(step, samples, loss):
    """A line of a step, of all ranks: to trireme, if that is there."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    line = {"step": step, "samples": samples, "tokens": samples * SEQUENCE,
            "loss": loss, "bytes": usage.ru_maxrss * 1024}
    if not report(**line):
        print(json.dumps(line), flush=True)


def read_options():
    env = os.environ
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--micro-batch", type=int, default=8)
    p.add_argument("--global-batch", type=int, default=48)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--bucket-mb", type=float, default=25)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--weight-decay", type=float, default=0.01)
    p.add_argument("--hidden", type=int, default=96)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--steps", type=int,
                   default=int(env.get("TRIREME_RESOURCE", 100)))
    p.add_argument("--seed", type=int, default=int(env.get("TRIREME_SEED", 0)))
    p.add_argument("--chance", type=int,
                   default=int(env.get("TRIREME_RUN", 0)),
                   help="other first weights and batches, the same source")
    p.add_argument("--floor", action="store_true",
                   help="print the source's entropy and end")
    return p.parse_args()


def main():
    options = read_options()
    if options.floor:
        print(f"{-(LIKELY * LIKELY.log()).sum().item():.4f}")
        return
    torch.set_num_threads(options.threads)
    dist.init_process_group("gloo")  # of RANK, WORLD_SIZE, MASTER_ADDR, ...
    rank, world = dist.get_rank(), dist.get_world_size()
    share = options.global_batch // world
    if options.global_batch != share * world or share % options.micro_batch:
        raise SystemExit(f"a global batch of {options.global_batch} is no "
                         f"multiple of {world} ranks x {options.micro_batch}")

    seed = options.seed + options.chance
    torch.manual_seed(seed)
    module = Transformer(options.hidden, options.layers, options.heads)
    optimizer = torch.optim.AdamW(module.parameters(), lr=options.lr,
                                  weight_decay=options.weight_decay)
    done = load(os.environ.get("TRIREME_RESUME_DIR"), module, optimizer)
    model = DistributedDataParallel(module, bucket_cap_mb=options.bucket_mb,
                                    broadcast_buffers=False)
    text = write_text(options.seed)
    checkpoints = os.environ.get("TRIREME_CHECKPOINT_DIR")
    asked = []  # to end early
    if checkpoints:
        signal.signal(signal.SIGTERM, lambda *_: asked.append(True))

    sums = torch.zeros(2)  # loss; how many ranks were asked to end
    for step in range(done + 1, options.steps + 1):
        x, y = batch_of(text, seed, step, options.global_batch)
        sums[0], sums[1] = 0, len(asked)
        train_step(model, optimizer, x[rank * share:][:share],
                   y[rank * share:][:share], options.micro_batch, sums)
        loss, n_asked = sums.tolist()  # the same on all, so all end here
        last = n_asked > 0 or step == options.steps
        if last and checkpoints and rank == 0:
            save(checkpoints, step, module, optimizer)
        if rank == 0:
            tell(step, options.global_batch, loss / world)
        if last:
            break
    # In this order, and with `sums` alive: PyTorch 1.13 can deadlock where a
    # thread of gloo is the last to let go of a tensor that Python has seen.
    del model
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
