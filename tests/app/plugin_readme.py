"""The page of models/plugin as a new user follows it: its code and study into
files, its commands as they stand, in a folder that looks like the project's
with what scripts/quickstart has built.

    plugin_readme.py TRIREME MPIEXEC SOURCE BUILD
"""
import os
import re
import shutil
import sys

import tuned
from pages import blocks, commands

SOURCE, BUILD = map(os.path.abspath, sys.argv[3:5])
# trireme, mpirun, mpicc
PATH = ":".join([os.path.dirname(tuned.trireme),
                 os.path.dirname(shutil.which(tuned.mpiexec)),
                 os.environ["PATH"]])


def lay_out():
    """include and build/release as in the project; the study of the example
    gets a tenth of its time."""
    plugin = "build/release/models/plugin"
    os.makedirs(plugin)
    os.symlink(os.path.join(SOURCE, "include"), "include")
    shutil.copy(os.path.join(BUILD, "models/plugin/matmul.so"), plugin)
    with open(os.path.join(SOURCE, "models/plugin/matmul.yaml"),
              encoding="utf-8") as f:
        text = f.read()
    assert text.count("time: 60 s") == 1, text
    with open(f"{plugin}/matmul.yaml", "w", encoding="utf-8") as f:
        f.write(text.replace("time: 60 s", "time: 6 s"))


def write_blocks(page):
    for kind, file in ("c", "mine.c"), ("yaml", "mine.yaml"):
        found = blocks(page, kind)
        assert len(found) == 1, (kind, len(found))
        with open(file, "w", encoding="utf-8") as f:
            f.write(found[0])


def check_shown(command, shown, said):
    if " tune " in command:
        for start in "winner ", "done: ", "study file ":
            assert re.search(rf"(?m)^{start}", said), (start, said)
    elif " train " in command:
        steps = int(re.search(r"--steps (\d+)", command).group(1))
        found = re.findall(r"(?m)^ *(\d+) +-", said)  # no loss, so a dash
        assert found == [str(i + 1) for i in range(steps)], said
    elif shown:  # but for the time, which is cut
        shown = shown.replace("1 min 00 s", "6.0 s")
        assert said == shown, f"the page shows\n{shown}\nbut it is\n{said}"


def main():
    if not shutil.which("mpicc"):
        tuned.skip("no mpicc")
    tuned.workplace()
    lay_out()
    with open(os.path.join(SOURCE, "models/plugin/README.md"),
              encoding="utf-8") as f:
        page = f.read()
    write_blocks(page)
    n = 0
    for command, shown in commands(page):
        if command.startswith("cmake "):
            target = command.split()[-1]
            with open(os.path.join(SOURCE, "models/plugin/CMakeLists.txt"),
                      encoding="utf-8") as f:
                assert f"add_library({target} " in f.read(), target
            continue
        print("$", command, flush=True)
        said = tuned.run("sh", "-c", command, PATH=PATH)
        print(said, flush=True)
        check_shown(command, shown, said)
        n += 1
    assert n >= 6, n
    tuned.check_no_survivors()


main()
