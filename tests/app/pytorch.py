"""The PyTorch trainer of models/process learns the same on any number of ranks
and from a checkpoint, and a trial that is promoted goes on from one.

    pytorch.py TRIREME MPIEXEC MODELS_PROCESS
"""
import json
import os
import re
import shutil
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


def check_promotion():
    """A promoted trial does the steps that its checkpoint does not have."""
    for name in "pytorch_ddp.py", "trireme_report.py":
        shutil.copy(os.path.join(FOLDER, name), ".")
    with open(os.path.join(FOLDER, "pytorch_loss.yaml"),
              encoding="utf-8") as f:
        text = f.read()
    for key, value in (("resource", "{unit: steps, min: 4, max: 12, eta: 3}"),
                       ("budget", "{trials: 4}"), ("finals", "none")):
        text, n = re.subn(rf"(?m)^{key}: .*$", f"{key}: {value}", text)
        assert n == 1, key
    with open("loss.yaml", "w", encoding="utf-8") as f:
        f.write(text)
    print(tuned.tune("loss.yaml", "loss.h5", 4, PATH=PATH))
    tuned.check_no_survivors()
    runs = tuned.table("loss.h5", "runs")
    reports = tuned.table("loss.h5", "reports")
    assert all(r["status"] == "finished" for r in runs), runs
    assert all(r["checkpoint_bytes"] > 1000 for r in runs if not r["rung"])
    promoted = [r for r in runs if r["rung"] == 1]
    assert promoted, runs
    for run in promoted:
        steps = [r["step"] for r in reports if r["run"] == run["run"]]
        assert steps[0] > 7 and steps[-1] == 15, (run, steps)
    left = [f for f in os.listdir(".") if ".ckpt" in f]
    assert not left, left


if __name__ == "__main__":
    tuned.workplace()
    check_trainer()
    check_promotion()
