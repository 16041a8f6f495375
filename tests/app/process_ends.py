"""One study of trainers that run out of memory, hang, print garbage, are
killed, lose a rank and leave daemons: it ends by itself, the record has the
right classes, the answer is right, and no process is left.

    process_ends.py TRIREME MPIEXEC
"""
import os
import re
import sys

import tuned

STUDY = """
study: ends
seed: 5
model:
  kind: process
  command: [%s, %s, "{what}"]
space:
  what: {choice: [good, fair, noisy, daemons, memory, hang, deaf, garbage,
                  killed, orphans, half, epochs]}
ranks: if(what == half, 2, 1)
objective: {minimize: loss}
baseline: {what: fair}
resource: {unit: steps, min: 4, max: 8, eta: 4}
search: random
budget: {trials: 12}
finals: {top: 1, repeats: 2}
checkpoints: {policy: never}
timeouts: {startup: 20 s, progress: 1 s, grace: 0.3 s}
"""
# What failed, as which class, in how many runs; others have none.  Who is killed
# by somebody is lost, and to blame the second time.
FAILED = {"memory": ("oom-host", 2), "hang": ("hung", 2), "deaf": ("hung", 2),
          "garbage": ("bad-exit", 2), "killed": ("killed", 2),
          "orphans": ("bad-exit", 2), "half": ("bad-exit", 2),
          "epochs": ("hung", 2)}


def check_runs(trials, runs):
    for what, trial in trials.items():
        own = [r for r in runs if r["trial"] == trial["trial"]]
        ends = [(r["status"], r["reason"]) for r in own]
        if what not in FAILED:
            assert trial["state"] != "failed", (what, ends)
            assert all(e == ("finished", "") for e in ends), (what, ends)
            continue
        reason, n = FAILED[what]
        assert trial["state"] == "failed", (what, ends)
        status = "lost" if reason == "killed" else "failed"
        assert ends == [(status, reason)] * n, (what, ends)
        assert all(r["objective"] is None for r in own), (what, own)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    tuned.workplace()
    with open("study.yaml", "w", encoding="utf-8") as f:
        f.write(STUDY % (sys.executable, os.path.join(here, "troubled.py")))
    print(tuned.tune("study.yaml", "ends.h5", 4))
    tuned.check_no_survivors()
    trials = {t["what"]: t for t in tuned.table("ends.h5", "trials")}
    assert len(trials) == 12, trials
    check_runs(trials, tuned.table("ends.h5", "runs"))
    said = tuned.run(tuned.trireme, "status", "ends.h5")
    assert re.search(r"no step beyond 3 in 1 s .*; \d+ lines came with earlier "
                     "steps: steps must count on", said), said
    answer = tuned.best("ends.h5")
    assert answer["winner"]["configuration"] == {"what": "good"}, answer
    assert answer["baseline"]["configuration"] == {"what": "fair"}, answer
    assert answer["speedup"]["significant"], answer
    tuned.run(tuned.trireme, "replay", "ends.h5")


if __name__ == "__main__":
    main()
