"""PyTorch as it is used: the trainer of models/process learns the same on any
number of ranks and from a checkpoint, and its study is tuned end to end.

    pytorch.py TRIREME MPIEXEC MODELS_PROCESS
"""
import json
import os
import subprocess
import sys

import tuned

try:
    import torch.distributed
except ImportError as missing:
    tuned.skip(missing)
if not torch.distributed.is_gloo_available():
    tuned.skip("this PyTorch has no gloo")

FOLDER = os.path.abspath(sys.argv[3])
TRAINER = os.path.join(FOLDER, "pytorch_ddp.py")
# python3 of the studies is the one that has torch.
PATH = os.path.dirname(sys.executable) + ":" + os.environ["PATH"]


def train(ranks, steps, port, **more):
    """The losses of a training on so many ranks, by step."""
    command = [sys.executable, TRAINER, "--steps", str(steps), "--hidden", "32"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                  env=tuned.environment(
                                      RANK=str(rank), WORLD_SIZE=str(ranks),
                                      MASTER_ADDR="127.0.0.1",
                                      MASTER_PORT=str(port), **more))
                 for rank in range(ranks)]
    said = [p.communicate(timeout=100)[0] for p in processes]
    assert all(p.returncode == 0 for p in processes), said
    lines = [json.loads(line) for line in said[0].splitlines()]
    assert all(line["samples"] == 48 for line in lines), lines
    return {line["step"]: line["loss"] for line in lines}


def check_trainer():
    """One rank; three; and one that goes on where the three left off."""
    alone = train(1, 4, 24871)
    os.mkdir("saved")
    shared = train(3, 2, 24872, TRIREME_CHECKPOINT_DIR="saved")
    rest = train(1, 4, 24873, TRIREME_RESUME_DIR="saved")
    assert os.listdir("saved") == ["checkpoint.pt"]
    assert sorted(shared) == [1, 2] and sorted(rest) == [3, 4], (shared, rest)
    for step, loss in {**shared, **rest}.items():
        assert abs(loss - alone[step]) < 1e-3, (alone, shared, rest)


def check_study():
    print(tuned.tune(os.path.join(FOLDER, "pytorch_ddp.yaml"), "ddp.h5", 4,
                     "--max-time", "40 s", PATH=PATH))
    tuned.check_no_survivors()
    runs = tuned.table("ddp.h5", "runs")
    assert all(r["status"] in ("finished", "stopped") for r in runs), runs
    for r in (r for r in runs if r["status"] == "finished"):
        assert r["samples_per_s"] > 0 and r["peak_bytes"] > 50 << 20, r
        assert abs(r["tokens_per_s"] / r["samples_per_s"] - 64) < 0.1, r
    answer = tuned.best("ddp.h5")
    assert answer["speedup"]["value"] > 0, answer
    assert answer["baseline"]["configuration"]["micro_batch"] == 2, answer


if __name__ == "__main__":
    tuned.workplace()
    check_trainer()
    check_study()
