"""Reads a study file as its users do: /runs into a pandas DataFrame, from the
finished file and, followed by SWMR, while the study is written; and with h5dump,
which knows no SWMR, so while it is written from a copy that h5clear has opened.

    read_runs.py PROGRAM FILE.h5     PROGRAM writes a study to FILE.h5, slowly
"""
import os
import shutil
import subprocess
import sys
import time

try:
    import h5py
    import numpy
    import pandas
except ImportError as missing:
    print("skipped:", missing)
    sys.exit(77)


HAS_H5DUMP = bool(shutil.which("h5dump") and shutil.which("h5clear"))


def frame(table):
    """A DataFrame of a table, texts decoded."""
    out = pandas.DataFrame(table[:])
    for name in out.columns:
        if table.dtype[name].kind == "S":
            out[name] = out[name].str.decode("utf-8")
    return out


def dump(path, table):
    """The rows of a table as h5dump prints them; None where it cannot."""
    done = subprocess.run(["h5dump", "-d", "/" + table, "-y", path], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    return done.stdout.split("DATA {")[1].count("\n      {")


def dump_copy(path):
    """A copy may be caught between two writes: then another is taken."""
    copy = path + ".copy"
    for _ in range(20):
        shutil.copy(path, copy)
        subprocess.run(["h5clear", "-s", copy], check=True,
                       stdout=subprocess.DEVNULL)
        rows = dump(copy, "events")
        if rows is not None:
            os.unlink(copy)
            return rows
        time.sleep(0.05)
    sys.exit("h5dump could read no copy of the live file")


def follow(path, writer):
    """Open while it is written; rows may only grow, and must be sound."""
    while not os.path.exists(path) and writer.poll() is None:
        time.sleep(0.01)
    seen, dumped = [], 0
    with h5py.File(path, "r", swmr=True) as file:
        while writer.poll() is None:
            reports, events = file["reports"], file["events"]
            events.refresh()
            reports.refresh()
            rows = reports[:]
            assert (rows["time_s"] > 0).all(), "a report without a time"
            assert (numpy.diff(rows["time_s"]) >= 0).all(), "time runs back"
            seq = events[:]["seq"]
            assert (seq == numpy.arange(len(seq))).all(), "events have gaps"
            seen.append(len(rows))
            if HAS_H5DUMP and len(set(seen)) > 2 and not dumped:
                dumped = dump_copy(path)
                assert dumped >= len(seq), (dumped, len(seq))
            frame(events), frame(file["trials"])
            time.sleep(0.05)
    assert seen == sorted(seen), "rows were lost"
    assert len(set(seen)) > 2, "no growth was seen: %s" % seen
    print("followed:", sorted(set(seen)), "h5dump:", dumped)


def check_end(path):
    if HAS_H5DUMP:
        with h5py.File(path, "r") as file:
            sizes = {t: len(file[t]) for t in file if t not in ("study",
                                                                "blobs")}
        for table, rows in sizes.items():
            assert dump(path, table) == rows, (table, rows, dump(path, table))
    with h5py.File(path, "r") as file:
        assert file.attrs["format_version"] == 1
        runs, trials = frame(file["runs"]), frame(file["trials"])
        assert file["runs"].attrs["end_s.unit"] == b"s" or \
            file["runs"].attrs["end_s.unit"] == "s"
        yaml = file["study/yaml"][()]
        assert b"study: tiny" in yaml, yaml
    assert set(runs.status) <= {"finished", "failed"}, set(runs.status)
    assert (runs.end_s >= runs.start_s).all()
    joined = runs.merge(trials, on="trial", suffixes=("", "_trial"))
    assert len(joined) == len(runs)
    done = runs[runs.status == "finished"]
    assert done.objective.notna().all() and (done.resource > 0).all()
    print(joined[["run", "trial", "rung", "resource", "status", "objective",
                  "a", "b", "c"]].head())


def main():
    program, path = sys.argv[1:3]
    for name in os.listdir(os.path.dirname(path)):
        os.unlink(os.path.join(os.path.dirname(path), name))
    writer = subprocess.Popen([program, path])
    follow(path, writer)
    assert writer.returncode == 0, writer.returncode
    check_end(path)


if __name__ == "__main__":
    main()
