"""Loss curves of the engine's DLRM against an independent one in PyTorch, from
the same weights and samples, in both precisions.

    dlrm_curve.py PROGRAM PROGRAM_F64      (77: no PyTorch or h5py here)"""
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import torch
except ImportError as e:
    print("skipped:", e)
    sys.exit(77)

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "bench", "engine"))
import dlrm_torch  # noqa: E402

BATCH, STEPS = 48, 60


def curve(path):
    """Losses of the file, and ours."""
    with h5py.File(path) as f:
        w = {n: torch.from_numpy(x[...]) for n, x in f["params"].items()}
        dense, ids, click = (torch.from_numpy(f[n][...])
                             for n in ("dense", "ids", "click"))
        theirs = f["loss"][...].tolist()
    model = dlrm_torch.Dlrm(w, ids.shape[1])
    decays = [x for n, x in model.dense.items() if n.endswith(".w")]
    others = [x for n, x in model.dense.items() if n.endswith(".b")]
    adamw = torch.optim.AdamW([{"params": decays, "weight_decay": 0.1},
                               {"params": others, "weight_decay": 0.0}],
                              lr=0.005, betas=(0.9, 0.95), eps=1e-8)
    adagrad = dlrm_torch.RowWiseAdagrad(model.tables, 0.05)
    ours = []
    for x, i, y in zip(dense, ids.long(), click.to(dense.dtype)):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            model.logits(x, i), y)
        adamw.zero_grad(set_to_none=True)
        for t in model.tables:
            t.grad = None
        loss.backward()
        squares = sum(p.grad.square().sum() for p in decays + others)
        squares += sum(t.grad.coalesce().values().square().sum()
                       for t in model.tables)
        norm = squares.sqrt().item()
        scale = 0.1 / (norm + 1e-6) if norm > 0.1 else 1.0
        for p in decays + others:
            p.grad.mul_(scale)
        adamw.step()
        adagrad.step(scale)
        ours.append(loss.item())
    return ours, theirs


def main():
    torch.set_num_threads(1)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "curve.h5")
        for program, bound in zip(sys.argv[1:3], (1e-4, 1e-11)):
            subprocess.run([program, path, str(BATCH), str(STEPS)], check=True)
            ours, theirs = curve(path)
            off = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
            assert len(ours) == STEPS and sum(ours[-9:]) < .97 * sum(ours[:9])
            print("%s: %d losses, %.3f to %.3f, apart by %.2g at most" %
                  (os.path.basename(program), STEPS, ours[0], ours[-1], off))
            failed += not off < bound
    return 1 if failed else 0


sys.exit(main())
