"""The studies of models/process for trainers that are not installed here: each
is checked and, with two lines changed, run with an impostor in the trainer's
place.  What is measured is what the impostor was told.

    templates.py TRIREME MPIEXEC MODELS_PROCESS
"""
import os
import re
import sys

import tuned

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.abspath(sys.argv[3])
PATH = os.path.dirname(sys.executable) + ":" + os.environ["PATH"]

# Where the program is expected, and the objective of a configuration.
TRAINERS = {
    "megatron": ("Megatron-LM/pretrain_gpt.py",
                 lambda c: 256 / (0.1 * c["micro_batch"])),
    "deepspeed": ("train.py",
                  lambda c: 1e6 / (1 + c["zero"]) / c["micro_batch"]),
    "nanotron": ("nanotron/run_train.py",
                 lambda c: 1e5 / c["tp"] / c["micro_batch"]),
    "torchtitan": ("torchtitan/torchtitan/train.py",
                   lambda c: 8 * 8192 * 8192 / c["micro_tokens"]),
    "huggingface": ("run_clm.py", lambda c: 0.02 * c["micro_batch"]),
}
# Such lines are what the study of nanotron changes.
NANOTRON = """general:
  run: tiny_llama
logging:
  iteration_step_info_interval: 100
optimizer:
  learning_rate_scheduler:
    lr_decay_steps: 13
  zero_stage: 0
parallelism:
  dp: 4
  pp: 1
  pp_engine: 1f1b
  tp: 2
  tp_mode: REDUCE_SCATTER
tokens:
  batch_accumulation_per_replica: 1
  micro_batch_size: 3
  train_steps: 2000
"""


def place(name, path):
    """The impostor where the study expects the trainer."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write("import os, sys\nos.execv(sys.executable, [sys.executable, "
                f"'{HERE}/impostors.py', '{name}'] + sys.argv[1:])\n")


def shorten(name):
    """The study, with a small budget."""
    with open(os.path.join(FOLDER, f"{name}.yaml"), encoding="utf-8") as f:
        text = f.read()
    text, n = re.subn(r"(?m)^budget: .*$",
                      "budget: {trials: 4}\nfinals: none", text)
    assert n == 1, name
    with open(f"{name}.yaml", "w", encoding="utf-8") as f:
        f.write(text)
    return text


def scratch():
    return {d for d in os.listdir("/tmp") if d.startswith(
        tuple(f"{name}-" for name in TRAINERS))}


def check(name, path, expected):
    place(name, path)
    text = shorten(name)
    before = scratch()
    said = tuned.run(tuned.trireme, "check", f"{name}.yaml", PATH=PATH)
    assert "note" not in said, said
    ranks = int(re.search(r"(?m)^  gpus: (\d+)$", text).group(1))
    tuned.tune(f"{name}.yaml", f"{name}.h5", ranks + 1, "--quiet", PATH=PATH)
    tuned.check_no_survivors()
    assert scratch() <= before, scratch() - before
    trials = {t["trial"]: t for t in tuned.table(f"{name}.h5", "trials")}
    runs = tuned.table(f"{name}.h5", "runs")
    assert len(trials) == 4, trials
    timed = name == "huggingface"  # by the clock, of which little is sure
    for run in runs:
        told = expected(trials[run["trial"]])
        assert run["status"] == "finished", run
        assert run["ranks"] == ranks, run
        low, high = (0.1, 1e3) if timed else (0.99, 1.01)
        assert told * low < run["objective"] < told * high, (name, run, told)
    check_winner(name)
    print(f"{name}: {len(runs)} runs as told")


def check_winner(name):
    """The two that have a form of their own for it: nothing is lost."""
    if name not in ("megatron", "deepspeed"):
        return
    said = tuned.run(tuned.trireme, "best", f"{name}.h5", "--emit", name)
    assert "has no name" not in said, said
    if name == "megatron":
        assert "sequence-parallel sequence" not in said, said
        assert "--tensor-model-parallel-size" in said, said


if __name__ == "__main__":
    tuned.workplace()
    os.makedirs("nanotron/examples")
    with open("nanotron/examples/config_tiny_llama.yaml", "w",
              encoding="utf-8") as example:
        example.write(NANOTRON)
    for trainer, (where, objective) in TRAINERS.items():
        check(trainer, where, objective)
