"""Our methods: a study file for a table, and `trireme sim` of it."""

import csv
import hashlib
import json
import math
import os
import resource
import subprocess

import tables

# name: what a study file says under `search`
SEARCHES = {
    "trireme": "auto",
    "gp": "{proposer: acquisition, predictor: gp}",
    "trees": "{proposer: acquisition, predictor: trees}",
    "mlp": "{proposer: acquisition, predictor: mlp}",
    "ucb": "{proposer: acquisition, acquisition: ucb}",
    "thompson": "{proposer: acquisition, acquisition: thompson}",
    "evolution": "{proposer: evolution}",
    "reinforce": "{proposer: reinforce}",
    "quasi": "quasi",
    "random": "random",
}
VARIANTS = set(SEARCHES) - {"trireme", "quasi", "random"}
WAIT_S = 1800

# A configuration of a table without curves is measured once, a virtual second
# long, whatever its ranks would be: workers are trials at a time.
PLAIN = """\
study: bench
seed: 1
model:
  kind: table
  file: {file}
  parameters: [{parameters}]
  objective: {objective}
space: table
ranks: 1
objective: {{{direction}: {objective}}}
search: {search}
resource: {{unit: steps, min: 1, max: 1}}
budget: {{trials: {budget}}}
finals: none
"""

# asha; what is limited is the time, which is that of so many full trainings.
CURVES = """\
study: bench
seed: 1
model:
  kind: table
  file: {file}
  parameters: [{parameters}]
  objective: {objective}
  curve: step_
space: table
ranks: 1
objective: {{{direction}: loss}}
search: {search}
resource: {{unit: steps, min: {min}, max: {points}, eta: {eta}}}
budget: {{time: {time:g} s}}
finals: none
"""


class SimError(Exception):
    """A sentence of the program, and the command that it is the answer to."""


def stamp(program):
    """Of a program, so that results of another build are not taken for its."""
    with open(program, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()[:12]


def write_table(table, folder):
    """The table as a study takes it: [out] its path, and its names."""
    path = os.path.join(folder, f"{table.name}-{table.digest}.csv")
    parameters = tables.safe_names(table.parameters)
    if table.points:
        columns = [f"step_{i}" for i in range(table.n_points)]
    else:
        columns = tables.safe_names([*table.parameters, table.objective])[-1:]
    if not os.path.exists(path):
        with open(path + ".new", "w", newline="", encoding="utf-8") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(parameters + columns)
            for i, row in enumerate(table.rows):
                points = table.curves[i] if table.curves else [table.values[i]]
                out.writerow([*row, *map(repr, points)])
        os.replace(path + ".new", path)
    return path, parameters, columns[-1]


def write_study(table, method, settings, folder):
    path, parameters, objective = write_table(table, folder)
    time = time_of(table, settings) if table.points else 0
    text = (CURVES if table.points else PLAIN).format(
        file=path, parameters=", ".join(parameters), objective=objective,
        direction="maximize" if table.maximize else "minimize",
        search=SEARCHES[method], budget=settings["budget"],
        points=table.n_points, min=settings["min"], eta=settings["eta"],
        time=time)
    key = hashlib.sha256(text.encode()).hexdigest()[:12]
    study = os.path.join(folder, f"{table.name}-{method}-{key}.yaml")
    if not os.path.exists(study):
        with open(f"{study}.{os.getpid()}", "w", encoding="utf-8") as f:
            f.write(text)
        os.replace(f"{study}.{os.getpid()}", study)
    return study


def time_of(table, settings):
    """Virtual seconds: those of the budget of full trainings, shared by the
    workers, and of four trainings at least."""
    return table.n_points * max(settings["trainings"] / settings["workers"], 4)


def simulate(program, study, workers, straggle, seed):
    command = [program, "sim", study, "--workers", str(workers), "--seed",
               str(seed), "--json"]
    if straggle > 0:
        command += ["--straggle", repr(straggle)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=WAIT_S, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime - before.ru_utime +
           after.ru_stime - before.ru_stime)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = {"error": (done.stderr or done.stdout).strip()[-300:]}
    if "error" in answer:
        raise SimError(answer["error"], command)
    return answer, cpu, done.stderr


def is_built(program, method, table, folder):
    """Whether the program has the method, rather than another in its place."""
    settings = {"budget": 12, "workers": 1, "trainings": 1, "min": 1,
                "eta": 3}
    study = write_study(table, method, settings, folder)
    try:
        _, _, log = simulate(program, study, 1, 0, 1)
    except SimError as e:
        return False, e.args[0]
    return "not built" not in log, log.strip()[-300:]


def run(program, table, method, settings, folder):
    """[out] history: [virtual_s, rank_seconds, trial, value or None] of each
    run, and the CPU seconds of a decision."""
    study = write_study(table, method, settings, folder)
    answer, cpu, _ = simulate(program, study, settings["workers"],
                              settings["straggle"], settings["seed"])
    history = [[at, trial, value] for _, at, trial, _, value, _
               in answer["history"]]
    return {"history": history, "decision_s": cpu / max(1, len(history)),
            "rank_seconds_1%": answer["rank_seconds_to"]["1%"],
            "evaluations_1%": answer["evaluations_to"]["1%"],
            "optimum": answer["optimum"]}


def agrees(table, answer):
    """The simulator's optimum is the one that is counted with here."""
    return math.isclose(answer["optimum"], table.optimum, rel_tol=1e-9)
