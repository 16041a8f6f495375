"""What tests of whole studies share: tune under mpiexec, read the record as
users do, and look for processes that were left behind.

A program that uses it is started as PROGRAM TRIREME MPIEXEC ..., and works in a
folder of its own, which is removed at the end.
"""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

trireme, mpiexec = (sys.argv + ["trireme", "mpiexec"])[1:3]
# In the environment of everything that this program starts.
MARK = f"TRIREME_TEST_MARK={os.path.basename(sys.argv[0])}-{os.getpid()}"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def workplace():
    """A new folder, which becomes the working one; its path."""
    folder = tempfile.mkdtemp(prefix="trireme-test-")
    atexit.register(shutil.rmtree, folder, True)
    os.chdir(folder)
    return folder


def environment(**more):
    name, value = MARK.split("=")
    return {**os.environ, name: value, **more}


def run(*command, status=0, seconds=150, **more):
    """What a command prints; it must end in time, with that status."""
    done = subprocess.run(command, env=environment(**more), timeout=seconds,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != status:
        print(done.stdout)
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}, "
                         f"not {status}")
    return done.stdout


def tune(study, file, ranks, *options, **more):
    """A study by `ranks` processes of trireme; what it printed."""
    return run(mpiexec, "-n", str(ranks), trireme, "tune", study, "-o", file,
               *options, **more)


def table(file, name):
    """Rows of a table, as dictionaries."""
    text = run(trireme, "export", file, "--table", name, "--format", "json")
    return [json.loads(line) for line in text.splitlines()]


def best(file):
    return json.loads(run(trireme, "best", file, "--json"))


def survivors():
    """(pid, command) of processes that carry the mark, but for this one."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                marked = MARK.encode() in f.read().split(b"\0")
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                command = f.read().replace(b"\0", b" ").decode()
        except OSError:  # it has just ended, or is somebody else's
            continue
        if marked:
            found.append((int(pid), command))
    return found


def check_no_survivors():
    """None is left; mpiexec's own helpers get a moment to go."""
    for _ in range(100):
        if not survivors():
            return
        time.sleep(0.02)
    raise SystemExit(f"left behind: {survivors()}")
