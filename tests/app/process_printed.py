"""Studies of trainers that print no JSON: whole, through MPI, with the lines of
those that are known and with a pattern of the user's; and what the module for
users' trainers says.

    process_printed.py TRIREME MPIEXEC IMITATIONS MODULE
"""
import os
import sys

import tuned

STUDY = """
study: printed
seed: 1
model:
  kind: process
  command: [{python}, {script}, {kind}, "{{rate}}"]
  metrics: {metrics}
space: {{rate: {{choice: [2000, 4000]}}}}
objective: {objective}
resource: {{unit: steps, min: 6, max: 6}}
budget: {{trials: 2}}
finals: none
"""
TALKER = """
import sys
sys.path.insert(0, {module!r})
import trireme_report as trireme
rate = trireme.param("rate")
for step in trireme.steps(3):
    trireme.report(step=step, loss=1 / rate, step_s=0.5, tokens_per_s=rate)
    print('{{"step": 999, "loss": 9}}', flush=True)
    if rate == 4000 and step == 4:
        trireme.failure("oom-device", "no room for 4000")
        sys.exit(1)
"""
GIB = 1 << 30


def study(kind, metrics, objective, script=None, status=0):
    text = STUDY.format(kind=kind, metrics=metrics, objective=objective,
                        python=sys.executable, script=script or sys.argv[3])
    with open("printed.yaml", "w", encoding="utf-8") as f:
        f.write(text)
    if os.path.exists("printed.h5"):
        os.remove("printed.h5")
    tuned.tune("printed.yaml", "printed.h5", 2, status=status)
    return tuned.table("printed.h5", "runs")


def near(x, y):
    return x is not None and abs(x - y) <= 1e-6 * abs(y)


def expect(kind, metrics, objective, **columns):
    """Whether every run finished, and measured what was said: for a column the
    factor of the rate, or a function of the row."""
    rates = {}
    for row in study(kind, metrics, objective):
        assert row["status"] == "finished", (kind, row)
        loss = 1 / row["steps_done"]
        assert row["loss"] is None or abs(row["loss"] - loss) < 1e-3, row
        trial = tuned.table("printed.h5", "trials")[row["trial"]]
        rate = rates[row["trial"]] = trial["rate"]
        for name, value in columns.items():
            good = value(row[name]) if callable(value) \
                else near(row[name], value * rate)
            assert good, (kind, name, rate, row)
    assert sorted(rates.values()) == [2000, 4000], rates
    winner = tuned.best("printed.h5")["winner"]["configuration"]["rate"]
    assert winner == 4000, (kind, winner)
    print(kind, "is read")


def main():
    tuned.workplace()
    expect("megatron", "megatron-lm", "{minimize: step_s}", samples_per_s=1,
           step_s=lambda x: near(x, 0.5) or near(x, 0.25))
    expect("deepspeed", "deepspeed", "{maximize: samples_per_s}",
           samples_per_s=1, peak_bytes=lambda x: x == 1.5 * GIB)
    expect("nanotron", "nanotron", "{maximize: tokens_per_s}",
           tokens_per_s=1, peak_bytes=lambda x: x == 1.5e9)
    expect("torchtitan", "torchtitan", "{maximize: tokens_per_s}",
           tokens_per_s=1, peak_bytes=lambda x: x == 1.5 * GIB)
    patterns = r"{patterns: {step: '^it (\d+):', step_ms: 'took (\S+) ms', " \
        r"samples: 'of ([\d,]+) images'}}"
    expect("own", patterns, "{maximize: samples_per_s}", samples_per_s=1,
           step_s=lambda x: near(x, 0.5) or near(x, 0.25))
    for row in study("huggingface", "huggingface", "{minimize: loss}"):
        assert row["status"] == "finished", row
        assert near(row["loss"], round(1 / row["steps_done"], 4)), row
        assert row["tokens_per_s"] > 0, row
    print("huggingface is read")

    # No line is known: a failure that says so.
    for row in study("own", "nanotron", "{minimize: step_s}", status=2):
        assert (row["status"], row["reason"]) == ("failed", "bad-exit"), row

    with open("talker.py", "w", encoding="utf-8") as f:
        f.write(TALKER.format(module=sys.argv[4]))
    rows = study("x", "{patterns: {loss: 'never (x)'}}",
                 "{maximize: tokens_per_s}", script="talker.py")
    for row in rows:
        rate = tuned.table("printed.h5", "trials")[row["trial"]]["rate"]
        if rate == 2000:
            assert row["status"] == "finished", row
            assert near(row["tokens_per_s"], 2000), row
            assert near(row["loss"], 1 / 2000) and row["step_s"] == 0.5, row
        else:
            assert (row["status"], row["reason"]) == ("failed", "oom-device"), \
                row
    print("the module is heard on its descriptor")
    tuned.check_no_survivors()


main()
