"""The engine against PyTorch, size by size: one JSON object, and a table.

    /usr/bin/python3 bench/engine/run.py BUILD [--sizes s,m,l] [--rounds 3]
        [--steps 12] [--ranks 2] [--micro-batch 8] [--out FILE]

BUILD: a build folder (preset release) with bench_engine, gpt_curve and
gpt_curve_f64.

Verified before timed: PyTorch's program (gpt_torch.py) must reach the losses of
the engine's from the same weights and tokens.  Then both run in turns, each in
a process of its own with one thread; the best step of all rounds counts, in
seconds of the processor (on a machine that others use, the clock tells of
them).  PyTorch is taken at its best of the instruction sets that it knows and
of its two forms of the optimizer.  Of several ranks the processor's time is
the longest of any rank's, waiting included, and the clock's is said as well.
OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE are unset
for both."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# layers, hidden, heads, T, vocabulary
SIZES = {"s": (4, 128, 4, 64, 1024), "m": (6, 256, 8, 128, 4096),
         "l": (8, 512, 8, 256, 8192)}
BATCH = 8
WANTED = {"s": 1.3, "m": 1.15, "l": 1.1}
FORMS = [(cap, foreach) for cap in ("avx2", "avx512") for foreach in (1, 0)]


def environment(**more):
    env = {k: v for k, v in os.environ.items()
           if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    env.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               **more)
    return env


# ---- PyTorch, in a process of its own ----

def torch_step(size, steps, foreach):
    import gpt_torch
    import torch

    layers, hidden, heads, T, vocab = SIZES[size]
    torch.set_num_threads(1)
    model = gpt_torch.Transformer(
        gpt_torch.drawn(layers, hidden, vocab, T), heads, T)
    training = gpt_torch.Training(
        model, lambda n: n.endswith(".w"), foreach=foreach)
    torch.manual_seed(2)
    return training, [torch.randint(256, (BATCH, T + 1)) for _ in range(steps)]


def torch_alone(size, steps, foreach):
    training, batches = torch_step(size, steps, foreach)
    cpu, wall = [], []
    for tokens in batches:
        c, w = time.process_time(), time.perf_counter()
        training.step(tokens)
        cpu.append(time.process_time() - c)
        wall.append(time.perf_counter() - w)
    print(json.dumps({
        "cpu_s": min(cpu[1:]), "step_s": min(wall[1:]),
        "rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))


def torch_ranks(size, steps, rank, ranks, meet):
    """One rank of DistributedDataParallel over gloo."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    dist.init_process_group("gloo", init_method="file://" + meet, rank=rank,
                            world_size=ranks)
    training, batches = torch_step(size, steps, 1)

    class Module(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model
            self.all = torch.nn.ParameterList(
                torch.nn.Parameter(x) for x in model.parameters())
            model.w = dict(zip(model.w, self.all))

        def forward(self, tokens):
            return self.model.loss(tokens)

    module = Module(training.model)
    ddp = DistributedDataParallel(module, gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, foreach=True)
    each, wall, cpu = BATCH // ranks, [], []
    for tokens in batches:
        w, c = time.perf_counter(), time.process_time()
        optimizer.zero_grad(set_to_none=True)
        ddp(tokens[rank * each:(rank + 1) * each]).backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        wall.append(time.perf_counter() - w)
        cpu.append(time.process_time() - c)
    most = torch.tensor([min(cpu[1:])])
    dist.all_reduce(most, dist.ReduceOp.MAX)
    if rank == 0:
        print(json.dumps({"step_s": min(wall[1:]), "cpu_s": most.item()}))
    dist.destroy_process_group()


# ---- turns ----

def said(command, env):
    done = subprocess.run(command, env=env, check=True, capture_output=True,
                          text=True)
    return json.loads(done.stdout.splitlines()[-1])


def apart(program, size, steps):
    """The largest difference of losses, ours and PyTorch's."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "curve.h5")
        subprocess.run([program, path, "gpt", *map(str, SIZES[size]),
                        str(BATCH), str(steps)], env=environment(), check=True)
        code = ("import sys, json; sys.path.insert(0, %r); import gpt_torch, "
                "torch; torch.set_num_threads(1); "
                "a, b = gpt_torch.curve(%r, %d); "
                "print(json.dumps([list(a), b]))" %
                (HERE, path, SIZES[size][2]))
        ours, theirs = said([sys.executable, "-c", code], environment())
    return max(abs(a - b) / b for a, b in zip(ours, theirs)), ours, theirs


def verify(build, size):
    """In double, where rounding cannot hide a difference or make one; and in
    float, as it is timed, for as long as steps do not amplify rounding."""
    result = []
    for program, steps, bound in (("gpt_curve_f64", 3, 1e-9),
                                  ("gpt_curve", 3, 1e-5)):
        off, ours, theirs = apart(
            os.path.join(build, "tests/models", program), size, steps)
        if not off < bound:
            sys.exit("size %s, %s: losses %s are not PyTorch's %s" %
                     (size, program, ours, theirs))
        result.append(off)
    return result


def least(results, key):
    return min(r[key] for r in results)


def alone(build, size, rounds, steps, micro):
    engine, peers = [], {form: [] for form in FORMS}
    for k in range(rounds):
        engine.append(said([os.path.join(build, "bench/engine/bench_engine"),
                            size, str(steps), str(micro)], environment()))
        # all forms first, then the best of them
        forms = FORMS if k == 0 else [
            min(peers, key=lambda f: least(peers[f], "cpu_s"))]
        for form in forms:
            peers[form].append(said(
                [sys.executable, __file__, "--torch", size, str(steps),
                 str(form[1])], environment(ATEN_CPU_CAPABILITY=form[0])))
    best = min(peers, key=lambda f: least(peers[f], "cpu_s"))
    tokens = BATCH * SIZES[size][3]
    out = {
        "size": size, "micro_batch": micro, "kernel": engine[0]["kernel"], "path": engine[0]["path"],
        "cpu_s": least(engine, "cpu_s"), "step_s": least(engine, "step_s"),
        "ceiling_cpu_s": min(tokens / e["cpu_ceiling_tokens_per_s"]
                             for e in engine),
        "torch_cpu_s": least(peers[best], "cpu_s"),
        "torch_step_s": least(peers[best], "step_s"),
        "torch_form": "%s, foreach %d" % best,
        "rss_bytes": max(e["rss_bytes"] for e in engine),
        "peak_bytes": engine[0]["peak_bytes"],
        "torch_rss_bytes": min(r["rss_bytes"] for r in peers[best]),
    }
    out["ratio"] = out["torch_cpu_s"] / out["cpu_s"]
    out["wanted"] = WANTED[size]
    out["share"] = out["ceiling_cpu_s"] / out["cpu_s"]
    out["share_all"] = max(e["share_all"] for e in engine)
    out["memory"] = out["rss_bytes"] / out["torch_rss_bytes"]
    out["tokens_per_cpu_s"] = tokens / out["cpu_s"]
    out["torch_tokens_per_cpu_s"] = tokens / out["torch_cpu_s"]
    return out


def together(build, size, ranks, rounds, steps):
    engine, peers = [], []
    for _ in range(rounds):
        engine.append(said(
            ["mpirun", "--oversubscribe", "-n", str(ranks),
             os.path.join(build, "bench/engine/bench_engine"), size,
             str(steps)], environment()))
        with tempfile.TemporaryDirectory() as folder:
            meet = os.path.join(folder, "meet")
            others = [subprocess.Popen(
                [sys.executable, __file__, "--ddp", size, str(steps), str(r),
                 str(ranks), meet], env=environment(),
                stdout=subprocess.PIPE, text=True) for r in range(ranks)]
            said_by = [p.communicate()[0] for p in others]
            peers.append(json.loads(said_by[0].splitlines()[-1]))
    step, cpu = least(engine, "ranks_step_s"), least(engine, "ranks_cpu_s")
    return {"ranks": ranks, "ranks_step_s": step, "ranks_cpu_s": cpu,
            "speedup": least(engine, "step_s") / step,
            "cpu_speedup": least(engine, "cpu_s") / cpu,
            "ddp_step_s": least(peers, "step_s"),
            "ddp_cpu_s": least(peers, "cpu_s"),
            "of_ddp": least(peers, "step_s") / step,
            "cpu_of_ddp": least(peers, "cpu_s") / cpu}


def two(r, key):
    """By the processor, and by the clock."""
    return "%.2f, %.2f" % (r["cpu_" + key], r[key]) if key in r else ""


def table(results):
    print("| size | tokens a CPU second | PyTorch's | ratio (wanted) | "
          "share of sgemm (0.80) | with attention's | memory of PyTorch's | ranks: of one (1.8) | "
          "of DDP (1.5), by processor, clock |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in results:
        print("| %s | %.0f | %.0f | %.2f (%.2f) | %.2f | %.2f | %.2f | %s | %s |" %
              (r["size"], r["tokens_per_cpu_s"], r["torch_tokens_per_cpu_s"],
               r["ratio"], r["wanted"], r["share"], r["share_all"],
               r["memory"],
               two(r, "speedup"), two(r, "of_ddp")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--sizes", default="s,m,l")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--micro-batch", type=int, default=BATCH)
    parser.add_argument("--out")
    a = parser.parse_args()
    results = []
    for size in a.sizes.split(","):
        off = verify(a.build, size)
        r = alone(a.build, size, a.rounds, a.steps, a.micro_batch)
        r["verified_to"] = off
        if a.ranks > 1:
            r.update(together(a.build, size, a.ranks, a.rounds, a.steps))
        results.append(r)
        print(json.dumps(r), flush=True)
    if a.out:
        with open(a.out, "w") as f:
            json.dump(results, f, indent=1)
    table(results)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--torch"]:
        torch_alone(sys.argv[2], int(sys.argv[3]), bool(int(sys.argv[4])))
    elif sys.argv[1:2] == ["--ddp"]:
        torch_ranks(sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6])
    else:
        main()
