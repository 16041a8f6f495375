#!/usr/bin/python3
"""status --watch in a terminal: what it shows of a study that runs, was
killed, or ended; keys, sizes, colours, signals; text where there is no
terminal; and that it writes nothing and leaves the terminal as it was.

watch.py TRIREME MPIRUN

Prints a reason and ends with 77 without python3-pyte.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

try:
    from terminal import Run
except ImportError:
    print("no python3-pyte here (scripts/deps --tests installs it)")
    sys.exit(77)

TRIREME, MPIRUN = os.path.abspath(sys.argv[1]), sys.argv[2]
STUDY = """\
study: bowl-σ
seed: 3
model: {kind: synthetic, cost: 0.012, fail: 0.05}
space:
  dp: {choice: [1, 2]}
  x: {int: [1, 20]}
  y: {choice: [alpha, beta, gamma]}
ranks: dp
objective: {minimize: loss}
baseline: {dp: 1, x: 1, y: alpha}
resource: {unit: steps, min: 2, max: 16, eta: 2}
search: random
budget: {trials: 60}
finals: {top: 2, repeats: 2}
"""
OVERVIEW = ["best ", "history ", "trials ", "time ", "runs ", "failed ",
            "ranks ", "bracket  rung", "configuration", "q quit"]
PAGES = {"2": "promoted", "3": "host  ", "4": "since", "5": "configuration",
         "6": "bad-exit"}
COLOUR = re.compile(rb"\033\[(?:\d+;)*3[0-7]m")
checks = 0


def check(condition, message):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(message)


def watch(name="bowl.h5", rows=24, columns=80, env=None, more=()):
    return Run([TRIREME, "status", "--watch", *more, name], rows, columns, env)


def tune(*more):
    return subprocess.Popen(
        [MPIRUN, "--oversubscribe", "-n", "4", TRIREME, "tune", "bowl.yaml",
         "-o", "bowl.h5", "--quiet", *more], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True)


def files():
    return {name: os.stat(name).st_mtime_ns for name in os.listdir(".")}


def fits(screen, rows, columns):
    lines = screen.split("\n")
    check(len(lines) == rows, f"{len(lines)} rows:\n{screen}")
    check(all(len(line) <= columns for line in lines), screen)
    check("quit" in lines[-1], "no keys in the last row:\n" + screen)


def of_a_study_that_runs():
    job = tune()
    try:
        while not os.path.exists("bowl.h5.journal.1"):
            check(job.poll() is None, "the study does not begin")
            time.sleep(0.1)
        run = watch(more=["--watch=0.2s"])
        screen = run.wait_for("finished")
        for word in OVERVIEW:
            check(word in screen, f"no {word!r}:\n{screen}")
        check("bowl-σ: search, opening 1" in screen, screen)
        fits(screen, 24, 80)
        before = screen
        until = time.monotonic() + 10
        while run.text() == before and time.monotonic() < until:
            run.read(0.2)
        check(run.text() != before, "nothing moves:\n" + before)
        for key, word in PAGES.items():
            run.press(key)
            if key != "6":
                run.wait_for(word)
        run.press("1")
        run.wait_for(": done,", 60)
        screen = run.wait_for("all trials", 20) \
            if "all trials" in run.text() else run.text()
        check("finals" in screen, "no winner of the finals:\n" + screen)
        run.press("q")
        check(run.end() == 0, f"status {run.status}")
        check(job.wait(60) == 0, "the study ended ill")
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def of_a_study_that_ended():
    before = files()
    run = watch()
    screen = run.wait_for("bowl-σ: done")
    fits(screen, 24, 80)
    for key, word in PAGES.items():
        run.press(key)
        fits(run.wait_for(word), 24, 80)
    run.press("\t")  # the first again
    run.wait_for("history")
    run.press("\033[D")  # left: the last
    run.wait_for("bad-exit")
    run.press("5")
    first = run.wait_for("ended  ")
    run.press("\033[B\033[B\033[6~")
    run.settle(0.5)
    check(run.text() != first, "the list does not scroll")
    run.press("\033[H\033[A\033[A")
    run.press("1")
    for rows, columns in ((40, 120), (10, 40), (3, 12), (24, 80)):
        run.resize(rows, columns)
        run.settle(0.6)
        check(len(run.text().split("\n")) == rows, run.text())
    fits(run.wait_for("history"), 24, 80)
    run.press("q")
    check(run.end() == 0, f"status {run.status}")
    check(files() == before, "it wrote something")


def colours_and_letters():
    run = watch(env={"TERM": "xterm-256color"})
    run.wait_for("history")
    run.press("q")
    run.end()
    check(COLOUR.search(run.raw), "no colours")
    run = watch(env={"TERM": "xterm-256color", "NO_COLOR": "1"})
    run.wait_for("history")
    run.press("q")
    run.end()
    check(not COLOUR.search(run.raw), "colours in spite of NO_COLOR")
    run = watch(env={"LC_ALL": "C"})
    screen = run.wait_for("history")
    run.press("q")
    run.end()
    check(screen.isascii(), "not ASCII:\n" + screen)
    check("bowl-?: done" in screen, screen)


def signals_restore_the_terminal():
    for sig in (signal.SIGINT, signal.SIGTERM):
        run = watch(env={"TERM": "xterm"})
        run.wait_for("history")
        os.kill(run.pid, sig)
        check(run.end() == 0, f"status {run.status}")
        check(b"\033[?1049l" in run.raw[-200:], "the screen stays")
        check(b"\033[?12l\033[?25h" in run.raw or b"\033[?25h" in run.raw,
              "the cursor stays away")
    run = watch()
    run.wait_for("history")
    os.write(run.fd, b"\003")
    check(run.end() == 0, f"control-C: status {run.status}")


def of_a_study_that_was_killed():
    job = tune("--seed", "3")
    while not os.path.exists("bowl.h5.journal.1"):
        check(job.poll() is None, "the study does not begin")
        time.sleep(0.05)
    time.sleep(1)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    last = None
    while last != (last := os.stat("bowl.h5.journal.1").st_size):
        time.sleep(1)  # rank 0 outlives mpirun for a moment
    long_ago = time.time() - 3000
    os.utime("bowl.h5.journal.1", (long_ago, long_ago))
    os.utime("bowl.h5", (long_ago, long_ago))
    run = watch()
    screen = run.wait_for("no update for 50 min")
    check("tune --resume" in screen, screen)
    fits(screen, 24, 80)
    run.press("q")
    check(run.end() == 0, f"status {run.status}")


def without_a_terminal():
    ran = subprocess.run([TRIREME, "status", "--watch", "bowl.h5"],
                         capture_output=True, text=True, timeout=60)
    check(ran.returncode == 0 and "study     bowl-σ" in ran.stdout, ran)
    check("\033" not in ran.stdout, "escapes in plain text")
    ran = subprocess.Popen([TRIREME, "status", "--watch=0.1s", "--json",
                            "bowl.h5"], stdout=subprocess.PIPE, text=True)
    lines = [json.loads(ran.stdout.readline()) for _ in range(3)]
    check(all(line["state"] == "broken" for line in lines), lines)
    ran.send_signal(signal.SIGINT)
    check(ran.wait(10) == 0, f"status {ran.returncode}")
    ran = subprocess.run([TRIREME, "status", "--watch", "none.h5"],
                         capture_output=True, text=True, timeout=60)
    check(ran.returncode == 1 and "none.h5" in ran.stderr, ran)
    dumb = Run([TRIREME, "status", "--watch=0.1s", "bowl.h5"],
               env={"TERM": "dumb"})
    dumb.wait_for("study     bowl-σ")
    os.kill(dumb.pid, signal.SIGINT)
    check(dumb.end() == 0, f"status {dumb.status}")
    check(b"\033" not in dumb.raw, "escapes on a dumb terminal")
    unknown = Run([TRIREME, "status", "--watch=0.1s", "bowl.h5"],
                  env={"TERM": "no-such-terminal"})
    unknown.wait_for("study     bowl-σ")
    check("'no-such-terminal' is not known" in unknown.raw.decode(),
          unknown.raw)
    os.kill(unknown.pid, signal.SIGINT)
    check(unknown.end() == 0, f"status {unknown.status}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("bowl.yaml", "w", encoding="utf-8") as f:
            f.write(STUDY)
        of_a_study_that_runs()
        of_a_study_that_ended()
        colours_and_letters()
        signals_restore_the_terminal()
        for name in os.listdir("."):
            if name.startswith("bowl.h5"):
                os.unlink(name)
        of_a_study_that_was_killed()
        without_a_terminal()
        os.chdir("/")
    print(f"{checks} checks")


main()
