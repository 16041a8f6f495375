"""The page of models/process as a new user follows it: its commands, in a new
folder, with its two lines put into the copied study.  Times are shortened.

    process_readme.py TRIREME MPIEXEC MODELS
"""
import os
import re
import shutil
import sys

import tuned
from pages import blocks, commands

try:
    import torch
except ImportError as missing:
    tuned.skip(missing)

MODELS = os.path.abspath(sys.argv[3])
# trireme, mpirun, and the python3 that has torch
PATH = ":".join([os.path.dirname(tuned.trireme),
                 os.path.dirname(shutil.which(tuned.mpiexec)),
                 os.path.dirname(sys.executable), os.environ["PATH"]])
# What a study that is shown must print; numbers are the machine's.
SHOWN = ["trial ", "finals", "winner ", "baseline ", "verdict ", "study file "]


def change_lines(study, lines):
    """Each line of the page takes the place of that with its key."""
    with open(study, encoding="utf-8") as f:
        text = f.read()
    for line in lines.splitlines():
        key = re.match(r" *\w+:", line).group()
        text, n = re.subn(rf"(?m)^{key} .*$", lambda _, to=line: to, text)
        assert n == 1, (key, text)
    with open(study, "w", encoding="utf-8") as f:
        f.write(text)


def shorten(command):
    """The study that is tuned gets a third of its time or less."""
    study = command.split()[-1]
    with open(study, encoding="utf-8") as f:
        text = f.read()
    text, n = re.subn(r"time: \d+ s}", "time: 25 s}", text)
    assert n == 1, text
    with open(study, "w", encoding="utf-8") as f:
        f.write(text)


def check_shown(command, shown, said):
    if command.startswith("trireme check"):
        assert said == shown, f"the page shows\n{shown}\nbut it is\n{said}"
    elif " tune " in command:
        for start in SHOWN:
            assert re.search(rf"(?m)^{start}", said), (start, said)
            assert re.search(rf"(?m)^{start}", shown), (start, shown)


def follow(page):
    two_lines = blocks(page, "yaml")[0]
    assert two_lines.count("\n") == 2, two_lines
    changed = False
    for command, shown in commands(page):
        if not changed and "mine.yaml" in command and os.path.exists(
                "mine.yaml"):
            change_lines("mine.yaml", two_lines)
            changed = True
        if " tune " in command:
            shorten(command)
        print("$", command, flush=True)
        said = tuned.run("sh", "-c", command, PATH=PATH)
        print(said, flush=True)
        check_shown(command, shown, said)
        tuned.check_no_survivors()
    assert changed


def check_runs():
    for r in tuned.table("pytorch-ddp.h5", "runs"):
        assert r["status"] in ("finished", "stopped"), r
        if r["status"] == "finished":
            assert r["samples_per_s"] > 0 and r["peak_bytes"] > 50 << 20, r
            assert abs(r["tokens_per_s"] / r["samples_per_s"] - 64) < 0.1, r


if __name__ == "__main__":
    print("torch", torch.__version__)
    tuned.workplace()
    shutil.copytree(os.path.join(MODELS, "process"), "models/process")
    with open("models/process/README.md", encoding="utf-8") as readme:
        follow(readme.read())
    check_runs()
    left = [f for f in os.listdir("models/process") if "ckpt" in f]
    assert not left, left
