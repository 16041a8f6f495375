#!/usr/bin/python3
"""What a study file tells without its program: best and its front over ranks,
every table as CSV and JSON lines, the machine on the report, recovery of
tables.

offline.py TRIREME MPIRUN GOLDEN    GOLDEN: the header line of each table
"""
import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TRIREME, MPIRUN, GOLDEN = (os.path.abspath(sys.argv[1]), sys.argv[2],
                           os.path.abspath(sys.argv[3]))
TABLES = "trials runs reports events models pool epochs".split()
STUDY = """\
study: 'a "b", c'
seed: 5
model: {kind: synthetic, cost: 0.004, fail: 0.05}
space:
  dp: {choice: [1, 2, 3]}
  x: {int: [1, 20]}
  word: {choice: ['plain', 'with, comma', 'with "quotes"', 'größer']}
  deep: {float: [-1.0, 1.0], when: x > 10}
ranks: dp
objective: {minimize: loss}
baseline: {dp: 1, x: 1, word: plain}
resource: {unit: steps, min: 1, max: 8, eta: 2}
search: random
budget: {trials: 40}
finals: {top: 2, repeats: 2}
"""
checks = 0


def check(condition, message):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(message)


def trireme(*args, status=0):
    ran = subprocess.run([TRIREME, *args], capture_output=True, timeout=120)
    ran.stdout = ran.stdout.decode("utf-8")
    ran.stderr = ran.stderr.decode("utf-8")
    check(ran.returncode == status, f"{args}: status {ran.returncode}, "
                                    f"not {status}\n{ran.stdout}{ran.stderr}")
    return ran


def tune(study):
    return subprocess.Popen([MPIRUN, "--oversubscribe", "-n", "4", TRIREME,
                             "tune", study, "-o", "s.h5", "--quiet"],
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, start_new_session=True)


# ---- export ------------------------------------------------------------------


def number(text):
    try:
        return None if text == "" else int(text)
    except ValueError:
        return float(text)


def headers_are_as_they_were():
    with open(GOLDEN, encoding="utf-8") as f:
        golden = f.read()
    lines = []
    for table in TABLES:
        out = trireme("export", "s.h5", "--table", table).stdout
        lines.append(f"{table}: {out.splitlines()[0]}\n")
    check("".join(lines) == golden,
          "columns changed:\n" + "".join(lines))


def both_formats_hold_the_same():
    for table in TABLES:
        text = trireme("export", "s.h5", "--table", table).stdout
        rows = list(csv.reader(io.StringIO(text, newline="")))
        lines = trireme("export", "s.h5", "--table", table,
                        "--format", "json").stdout.splitlines()
        objects = [json.loads(line, object_pairs_hook=list) for line in lines]
        check(len(objects) == len(rows) - 1, f"{table}: rows differ")
        for row, pairs in zip(rows[1:], objects):
            check([key for key, _ in pairs] == rows[0], f"{table}: order")
            for cell, (key, value) in zip(row, pairs):
                same = (cell == value if isinstance(value, str)
                        else number(cell) == value)
                check(same, f"{table}.{key}: {cell!r}, {value!r}")
    text = trireme("export", "s.h5", "--table", "trials").stdout
    words = {row["word"] for row in csv.DictReader(
        io.StringIO(text, newline=""))}
    # words are bare: the only quotes are those of CSV
    check({"with, comma", 'with "quotes"', "größer"} <= words, words)
    check('"with ""quotes"""' in text, "not quoted by RFC 4180")
    check("\r" not in text, "lines end with a line feed")
    check("nan" not in text.lower() and "inf" not in text.lower(),
          "a number that is none")


# ---- best --------------------------------------------------------------------


def results():
    """The best value of each trial: of the finals, else of its top rung."""
    rows = list(csv.DictReader(io.StringIO(
        trireme("export", "s.h5", "--table", "runs").stdout, newline="")))
    failed = {row["trial"] for row in csv.DictReader(io.StringIO(
        trireme("export", "s.h5", "--table", "trials").stdout, newline=""))
        if row["state"] == "failed"}
    values = {}
    for row in rows:
        if row["status"] == "finished" and row["trial"] not in failed:
            key = (row["phase"] == "finals", int(row["rung"]))
            old = values.get(int(row["trial"]))
            if not old or key >= old[0]:
                values[int(row["trial"])] = (key, float(row["objective"]),
                                             int(row["ranks"]))
    return values


def front_is_what_no_smaller_one_reaches():
    best = json.loads(trireme("best", "s.h5", "--json").stdout)
    values = results()
    expected = []
    for ranks in (1, 2, 3):
        of = [(v, trial) for trial, (_, v, n) in values.items() if n == ranks]
        if ranks == best["winner"]["ranks"]:
            of = [(best["winner"]["objective"], best["winner"]["trial"])]
        if of and (not expected or min(of)[0] < expected[-1][1]):
            expected.append((ranks, *min(of)))
    got = [(p["ranks"], p["objective"], p["trial"]) for p in best["front"]]
    check(len(got) == len(expected), f"{got}\n{expected}")
    for mine, theirs in zip(got, expected):
        check(mine[0] == theirs[0] and mine[2] == theirs[2] and
              abs(mine[1] - theirs[1]) < 1e-9, f"{got}\n{expected}")
    for before, point in zip(best["front"], best["front"][1:]):
        check(abs(point["gain"] - point["objective"] / before["objective"])
              < 1e-12, point)
    check(best["front"][0]["gain"] is None, best["front"][0])
    text = trireme("best", "s.h5").stdout
    check("what more ranks give" in text, text)
    for ranks in (1, 2, 3):
        on = json.loads(trireme("best", "s.h5", "--json",
                                "--ranks", str(ranks)).stdout)
        check(all(t["ranks"] == ranks for t in on["top"]), on)
        check(on["winner"]["configuration"]["dp"] == ranks, on)
        losses = [t["objective"] for t in on["top"]]
        check(losses[1:] == sorted(losses[1:]), losses)
        script = trireme("best", "s.h5", "--emit", "torchrun", "--json",
                         "--ranks", str(ranks)).stdout
        check(json.loads(script)["ranks"] == ranks, script)
    ran = trireme("best", "s.h5", "--ranks", "7", status=2)
    check("1, 2 and 3" in ran.stderr, ran.stderr)


# ---- report ------------------------------------------------------------------


def the_page_names_the_machine():
    trireme("report", "s.h5", "-o", "s.html")
    with open("s.html", encoding="utf-8") as f:
        page = f.read()
    for fact in ('["MPI library","', '["rank 0\'s host","',
                 'GiB (auto: its share of its host)'):
        check(fact in page, f"no {fact} in the page")


# ---- recover -----------------------------------------------------------------


def counts():
    return {table: len(trireme("export", "s.h5", "--table", table, "--format",
                               "json").stdout.splitlines())
            for table in TABLES}


def nothing_to_recover():
    before = os.stat("s.h5").st_mtime_ns
    ran = trireme("recover", "s.h5")
    check("nothing to recover" in ran.stdout, ran.stdout)
    check(os.stat("s.h5").st_mtime_ns == before, "it was written to")


def kill_a_study():
    with open("long.yaml", "w", encoding="utf-8") as f:
        f.write(STUDY.replace("0.004", "0.03").replace("40}", "4000}"))
    job = tune("long.yaml")
    while not (os.path.exists("s.h5.journal.1") and
               os.stat("s.h5.journal.1").st_size > 9000):
        check(job.poll() is None, "it ended too early")
        time.sleep(0.02)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()
    last = None
    while last != (last := os.stat("s.h5.journal.1").st_size):
        time.sleep(0.5)  # rank 0 outlives mpirun for a moment


def tables_come_back():
    expected = counts()
    for what in ("kept", "missing", "empty", "cut", "text"):
        if what == "missing":
            os.unlink("s.h5")
        elif what == "empty":
            open("s.h5", "w").close()
        elif what == "cut":
            os.truncate("s.h5", os.stat("s.h5").st_size // 2)
        elif what == "text":
            with open("s.h5", "w", encoding="utf-8") as f:
                f.write("no study\n")
        names = sorted(os.listdir("."))
        dry = json.loads(trireme("recover", "s.h5", "--dry-run",
                                 "--json").stdout)
        check(sorted(os.listdir(".")) == names, f"{what}: a dry run writes")
        done = json.loads(trireme("recover", "s.h5", "--json").stdout)
        check(done["recovered"] and not dry["recovered"], (done, dry))
        check(done["rows"] == dry["rows"] == expected, (what, done, expected))
        check(done["had_tables"] == (what != "missing"), (what, done))
        check(done["damage"] is None and done["lost_events"] == 0, done)
    shutil.copy("s.h5.journal.1", "whole")
    os.truncate("s.h5.journal.1", os.stat("whole").st_size - 5)
    torn = json.loads(trireme("recover", "s.h5", "--json").stdout)
    check(torn["torn_bytes"] > 0, torn)
    check(torn["rows"]["events"] == expected["events"] - 1, torn)
    shutil.copy("whole", "s.h5.journal.1")


def a_folder_that_cannot_be_written_is_named():
    """As far as this user, or root in a name space of its own, can make one."""
    folder = os.path.abspath("sealed")
    os.mkdir(folder)
    shutil.copy("whole", os.path.join(folder, "s.h5.journal.1"))
    ran = subprocess.run(
        ["unshare", "-m", "sh", "-c",
         'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77;'
         'cd "$1" && exec "$2" recover s.h5', "sh", folder, TRIREME],
        capture_output=True, text=True, timeout=60, check=False)
    if ran.returncode == 77 or "unshare" in ran.stderr:
        print("no folder can be made read-only here")
        return
    check(ran.returncode == 1 and "write into the folder" in ran.stderr, ran)
    check(os.listdir(folder) == ["s.h5.journal.1"], os.listdir(folder))


def damage_is_told():
    os.unlink("s.h5")
    with open("s.h5.journal.1", "r+b") as f:
        f.seek(os.stat("whole").st_size // 2)
        byte = f.read(1)[0]
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([byte ^ 1]))
    ran = trireme("recover", "s.h5")
    check("damaged" in ran.stdout and "at least" in ran.stdout, ran.stdout)
    check(os.path.exists("s.h5.damaged.1"), os.listdir("."))
    check(not os.path.exists("s.h5.journal.1"), os.listdir("."))
    check(counts()["events"] > 0, "the tables hold nothing")
    again = trireme("recover", "s.h5").stdout
    check("broke off" in again and "in order" not in again, again)


def nothing_is_there():
    ran = trireme("recover", "none.h5", status=1)
    check("none.h5" in ran.stderr, ran.stderr)
    with open("text.h5", "w", encoding="utf-8") as f:
        f.write("no study\n")
    ran = trireme("recover", "text.h5", status=1)
    check("no study file" in ran.stderr, ran.stderr)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("s.yaml", "w", encoding="utf-8") as f:
            f.write(STUDY)
        check(tune("s.yaml").wait(120) == 0, "the study failed")
        headers_are_as_they_were()
        both_formats_hold_the_same()
        front_is_what_no_smaller_one_reaches()
        the_page_names_the_machine()
        nothing_to_recover()
        nothing_is_there()
        os.unlink("s.h5")
        kill_a_study()
        tables_come_back()
        a_folder_that_cannot_be_written_is_named()
        damage_is_told()
        os.chdir("/")
    print(f"{checks} checks")


main()
