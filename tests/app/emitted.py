"""The lines of best --emit at work: trainers that take all they do from
trireme_report.py or trireme/report.h are given, by torchrun and srun (both
stand-ins that start the ranks and nothing more), what the winner had.

    emitted.py TRIREME MPIEXEC PROCESS_MODELS ASKER
"""
import json
import os
import shutil
import sys

import tuned

STUDY = """
study: asks
seed: 5
model:
  kind: process
  command: %s
  %s
space:
  n: {choice: [1, 2]}
  lr: {float: [0.001, 0.1], log: true}
  width: {int: [16, 64], log2: true}
  Mode: {choice: ["a b", "it's", "7"]}
  fast: {choice: [true, false]}
  bucket: {int: [1, 9], when: n > 1}
ranks: n
objective: {minimize: loss}
resource: {unit: steps, min: 2, max: 8, eta: 4}
search: random
budget: {trials: 6}
finals: none
"""
TRAINER = """
import json, os, sys
import trireme_report as trireme

lr, width = trireme.param("lr", -1.0), trireme.param("width", -1)
steps = 0
for step in trireme.steps(1):
    trireme.report(step=step, loss=lr + width)
    steps += 1
told = dict(trireme.params(), steps=steps)
assert told.get("lr", -1.0) == lr and told.get("width", -1) == width
scratch = os.environ.get("TRIREME_SCRATCH")
if scratch:
    with open(os.path.join(scratch, "own"), "x"):
        pass
print("TOLD", json.dumps(told), flush=True)
"""
# Only what the lines need of each; the ranks one after another.
PROGRAMS = {"torchrun": """#!/bin/bash
run=(python3)
while [[ $1 == -* ]]; do
    case $1 in
    --nproc_per_node=*) n=${1#*=} ;;
    --no_python) run=() ;;
    --standalone | --nnodes=1) ;;
    *) echo "what is $1?" >&2; exit 1 ;;
    esac
    shift
done
for ((RANK = 0; RANK < n; RANK++)); do
    export RANK LOCAL_RANK=$RANK WORLD_SIZE=$n
    "${run[@]}" "$@" || exit
done
""", "srun": """#!/bin/bash
for SLURM_PROCID in $(seq 0 $((SLURM_NTASKS - 1))); do
    export SLURM_PROCID SLURM_LOCALID=$SLURM_PROCID SLURM_NODEID=0
    "$@" || exit
done
""", "scontrol": """#!/bin/sh
echo here
"""}


def set_up(models):
    os.mkdir("bin")
    for name, text in PROGRAMS.items():
        with open(f"bin/{name}", "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(f"bin/{name}", 0o755)
    shutil.copy(os.path.join(models, "trireme_report.py"), ".")
    with open("train.py", "w", encoding="utf-8") as f:
        f.write(TRAINER)


def lines_of(file, form, ranks):
    """What each rank was told by the lines in that form."""
    with open("line", "w", encoding="utf-8") as f:
        f.write(tuned.run(tuned.trireme, "best", file, "--emit", form))
    path = f"{os.getcwd()}/bin:{os.environ['PATH']}"
    said = tuned.run("bash", "line", PATH=path, SLURM_NTASKS=str(ranks),
                     SLURM_JOB_ID="7", SLURM_JOB_NODELIST="here")
    print(said)
    return [json.loads(line[5:]) for line in said.splitlines()
            if line.startswith("TOLD ")]


def check(name, command, more=""):
    study = f"{name}.yaml"
    with open(study, "w", encoding="utf-8") as f:
        f.write(STUDY % (json.dumps(command), more))
    tuned.tune(study, f"{name}.h5", 3)
    winner = tuned.best(f"{name}.h5")["winner"]
    want = {key: value for key, value in winner["configuration"].items()
            if value is not None}
    ranks, want["steps"] = want["n"], 8
    for form in "torchrun", "slurm":
        told = lines_of(f"{name}.h5", form, ranks)
        assert len(told) == ranks, (form, told)
        for values in told:
            wanted = {key: want[key] for key in want if key in values}
            assert values == wanted and len(values) >= 5, (values, want)
        if more:  # a folder each, made by the line
            found = sorted(os.listdir("scratch"))
            assert len(found) == ranks, (form, found)
            shutil.rmtree("scratch")


def main():
    models, asker = sys.argv[3:5]
    tuned.workplace()
    set_up(models)
    check("module", ["python3", "train.py"])
    check("named", ["python3", "train.py", "--out", "runs/{lr}-{width}",
                    "--steps", "{resource}"])
    check("scratch", ["python3", "train.py"], "scratch: 'scratch/of {run}'")
    check("header", [asker])
    tuned.check_no_survivors()


main()
