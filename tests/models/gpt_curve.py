"""Loss curves of the engine's transformer against an independent one in
PyTorch, from the same weights and tokens, in both forms and both precisions.

    gpt_curve.py PROGRAM PROGRAM_F64      (77: no PyTorch or h5py here)"""
import os
import subprocess
import sys
import tempfile

try:
    import h5py  # noqa: F401
    import torch
except ImportError as e:
    print("skipped:", e)
    sys.exit(77)

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "..", "bench", "engine"))
import gpt_torch  # noqa: E402

STEPS = 30
# layers, hidden, heads, T, vocabulary, batch: none a multiple of a vector
SIZE = 3, 36, 3, 21, 83, 5


def worst(program, form, path):
    subprocess.run([program, path, form, *map(str, SIZE), str(STEPS)],
                   check=True)
    ours, theirs = gpt_torch.curve(path, SIZE[2])
    assert len(ours) == STEPS and ours[-1] < 0.95 * ours[0], ours
    return max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))


def main():
    torch.set_num_threads(1)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for program, bound in zip(sys.argv[1:3], (1e-4, 1e-12)):
            for form in "gpt", "llama":
                off = worst(program, form, os.path.join(folder, "curve.h5"))
                print("%s %s: %d losses apart by %.2g at most" %
                      (os.path.basename(program), form, STEPS, off))
                failed += not off < bound
    return 1 if failed else 0


sys.exit(main())
