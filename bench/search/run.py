#!/usr/bin/env python3
"""How many evaluations until the best is found: our methods and others on
recorded tables, in one run.  README.md beside this says what is counted.

    bench/search/run.py                        all of ../shared/data
    bench/search/run.py --seeds 3 --tables pnpoly --methods trireme,random
    bench/search/run.py --report-only          what the cache holds
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import concurrent.futures
import hashlib
import importlib.util
import json
import math
import sys
import time

import limits
import made
import ours
import scores
import show
import tables

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PEERS = {"optuna-tpe": "optuna", "xgboost-greedy": "xgboost",
         "sklearn-gp": "sklearn", "optuna-random-pruner": "optuna",
         "asha-xgboost": "xgboost"}
CURVE_PEERS = {"optuna-random-pruner", "asha-xgboost"}


def options():
    p = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0].replace("\n", " "))
    shared = os.environ.get("TRI_SHARED_DIR", os.path.join(ROOT, "../shared"))
    p.add_argument("data", nargs="*", default=[os.path.join(shared, "data")],
                   help="CSV files, and folders of them (../shared/data)")
    p.add_argument("--trireme", help="the program (one of the build folders', "
                   "or on the PATH)")
    p.add_argument("--tables", help="only those whose names hold one of these, "
                   "with commas")
    p.add_argument("--methods", default="all",
                   help="names with commas; ours, peers, all")
    p.add_argument("--workers", default="1,16,64")
    p.add_argument("--straggle", type=float, default=0.5, help="S: a run lasts "
                   "x (1 + |N(0, S)|), with more than one worker")
    p.add_argument("--seeds", type=int, default=30)
    p.add_argument("--variant-seeds", type=int, default=5,
                   help="at most so many of the seeds for variants of ours: "
                   "gp, trees, mlp, ucb, thompson, evolution, reinforce")
    p.add_argument("--first-seed", type=int, default=1)
    p.add_argument("--budget", type=int, default=200,
                   help="configurations, on tables without curves")
    p.add_argument("--trainings", type=float, default=50,
                   help="full trainings, on tables of curves")
    p.add_argument("--min", type=int, default=3, help="smallest resource there")
    p.add_argument("--eta", type=int, default=3)
    p.add_argument("--no-made", action="store_true",
                   help="leave out the made space of the memory rule")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--time", type=float, metavar="MINUTES",
                   help="start nothing after so long; run again to go on")
    p.add_argument("--work", default=os.path.join(ROOT, "build/bench_search"),
                   help="folder of the cache, studies and tables")
    p.add_argument("--json", metavar="FILE",
                   help="the report as JSON (WORK/report.json)")
    p.add_argument("--report-only", action="store_true")
    p.add_argument("--check", action="store_true",
                   help="exit status 1 where a limit is missed")
    return p.parse_args()


def find_program(said):
    places = [said] if said else [
        *(os.path.join(ROOT, "build", b, "trireme")
          for b in ("release", "ci")),
        *(os.path.join(d, "trireme") for d in os.get_exec_path())]
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.abspath(place)
    sys.exit(f"run.py: no program trireme at {' or '.join(places[:3])}; build "
             "it, or name it with --trireme")


def find_tables(o):
    try:
        found = tables.find(o.data)
        if not o.no_made:
            path = os.path.join(o.work, "made_memory.csv")
            made.write(path)
            found.append(tables.Table(path, limits.MADE))
    except (OSError, tables.BadTable) as e:
        sys.exit(f"run.py: {e}")
    wanted = o.tables.split(",") if o.tables else [""]
    found = [t for t in found if any(w in t.name for w in wanted)]
    names = [t.name for t in found]
    for t in found:
        if names.count(t.name) > 1:
            sys.exit(f"run.py: two tables are called {t.name}")
    if not found:
        sys.exit(f"run.py: no table in {' '.join(o.data)}")
    return found


def find_methods(o):
    known = [*ours.SEARCHES, *PEERS]
    groups = {"all": known, "ours": list(ours.SEARCHES), "peers": list(PEERS)}
    out = []
    for name in o.methods.split(","):
        if name not in groups and name not in known:
            sys.exit(f"run.py: there is no method '{name}'; there are "
                     f"{', '.join([*groups, *known])}")
        out += [m for m in groups.get(name, [name]) if m not in out]
    return out


def usable(methods, found, o):
    """[out] methods that can run, and why the others cannot."""
    out, missing = [], {}
    plain = next((t for t in found if not t.points), found[0])
    for m in methods:
        if m in PEERS:
            if importlib.util.find_spec(PEERS[m]) is None:
                missing[m] = f"{PEERS[m]} is not installed"
        else:
            ok, why = ours.is_built(o.trireme, m, plain, o.work)
            if not ok:
                missing[m] = why
        if m not in missing:
            out.append(m)
    return out, missing


def version_of(method, o):
    if method not in PEERS:
        return ours.stamp(o.trireme)
    module = __import__(PEERS[method])
    text = b""
    for file in ("cluster.py", "peers.py", "halving.py"):
        with open(os.path.join(HERE, file), "rb") as f:
            text += f.read()
    return f"{module.__version__}+{hashlib.sha256(text).hexdigest()[:8]}"


# ---- jobs ------------------------------------------------------------------


def plan(o, found, methods):
    """Seed by seed, so that what is cut short has the same seeds of all."""
    versions = {m: version_of(m, o) for m in methods}
    jobs = []
    for seed in range(o.first_seed, o.first_seed + o.seeds):
        for table in found:
            for workers in map(int, o.workers.split(",")):
                for m in methods:
                    if m in PEERS and (m in CURVE_PEERS) != bool(table.points):
                        continue
                    if (m in ours.VARIANTS and
                            seed >= o.first_seed + o.variant_seeds):
                        continue
                    settings = {
                        "workers": workers, "seed": seed,
                        "straggle": o.straggle if workers > 1 else 0.0,
                        "budget": None if table.points else
                        min(o.budget, len(table.rows)),
                        "trainings": o.trainings if table.points else None,
                        "min": min(o.min, table.n_points)
                        if table.points else None,
                        "eta": o.eta if table.points else None}
                    key = json.dumps([scores.VERSION[table.kind],
                                      table.digest, m, versions[m], settings],
                                     sort_keys=True)
                    jobs.append((key, table, m, settings))
    return jobs


def levels_of(table, settings):
    """How many rungs asha has."""
    n, resource = 1, settings["min"] or table.n_points
    while resource < table.n_points:
        n, resource = n + 1, resource * settings["eta"]
    return n


def work(program, folder, table, method, settings):
    """One run, in a process of its own."""
    start = time.monotonic()
    if method in ours.SEARCHES:
        answer = ours.run(program, table, method, settings, folder)
        answer["levels"] = levels_of(table, settings)
        if not ours.agrees(table, answer):
            raise RuntimeError(f"trireme says that the optimum of {table.name} "
                               f"is {answer['optimum']}, not {table.optimum}")
    elif method in CURVE_PEERS:
        import halving

        answer = halving.CURVES[method][1](table, settings)
        if method == "optuna-random-pruner":  # which reports every unit
            answer["levels"] = table.n_points
        else:
            answer["levels"] = levels_of(table, settings)
    else:
        import cluster
        import peers

        peer = peers.PLAIN[method][1](table, settings)
        answer = cluster.run(table, peer, settings)
    out = scores.of_run(table, answer, settings)
    if answer.get("evaluations_1%", out["evaluations"]) != out["evaluations"]:
        raise RuntimeError(f"trireme counts {answer['evaluations_1%']} "
                           f"evaluations, and its history has "
                           f"{out['evaluations']}")
    out["took_s"] = time.monotonic() - start
    return out


def read_cache(path):
    cache = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                try:
                    entry = json.loads(line)
                    cache[entry["key"]] = entry["scores"]
                except (ValueError, KeyError):
                    continue  # the last line of a run that was killed
    return cache


def run_all(o, jobs, cache, path):
    """[out] what failed: (job, sentence)."""
    todo = [j for j in jobs if j[0] not in cache]
    failed, started, last = [], time.monotonic(), 0.0
    end = started + 60 * o.time if o.time is not None else float("inf")
    pool = concurrent.futures.ProcessPoolExecutor(o.jobs)
    running, done = {}, 0
    with pool, open(path, "a", encoding="utf-8") as out:
        while todo or running:
            while todo and len(running) < o.jobs and time.monotonic() < end:
                job = todo.pop(0)
                running[pool.submit(work, o.trireme, o.work, *job[1:])] = job
            if not running:
                break
            ready, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in ready:
                job = running.pop(future)
                done += 1
                try:
                    cache[job[0]] = future.result()
                except Exception as e:  # of a peer: reported, not ours to judge
                    failed.append((job, f"{type(e).__name__}: {e}"))
                    continue
                out.write(json.dumps({"key": job[0], "table": job[1].name,
                                      "scores": cache[job[0]]}) + "\n")
                out.flush()
            if time.monotonic() - last > 10:
                last = time.monotonic()
                print(f"run.py: {done} runs done, {len(todo) + len(running)} "
                      f"left, {last - started:.0f} s", file=sys.stderr)
    return failed


# ---- the report ------------------------------------------------------------


def gather(jobs, cache):
    """(table, method, workers) -> scores of the seeds that there are."""
    groups, by_name = {}, {}
    for key, table, method, settings in jobs:
        by_name[table.name] = table
        if key in cache:
            groups.setdefault((table.name, method, settings["workers"]),
                              []).append(cache[key])
    return {key: scores.of_runs(by_name[key[0]], runs)
            for key, runs in groups.items()}


def slowdowns(results, budget):
    """How many times the sequential evaluations each method needs with more
    workers: the geometric mean over the plain tables of the ratio of medians, a
    median beyond the budget standing for the budget."""
    out = {}
    for (table, method, workers), r in results.items():
        alone = results.get((table, method, 1))
        if workers > 1 and alone and "trainings_to_1%" not in r:
            more, less = (min(x["evaluations_to_1%"]["median"], budget)
                          for x in (r, alone))
            out.setdefault(method, {}).setdefault(str(workers), []).append(
                math.log(more / less))
    return {m: {w: math.exp(sum(x) / len(x)) for w, x in of.items()}
            for m, of in out.items()}


def losses(results, budget):
    """What asynchronous search loses: evaluations beyond the first W - 1, over
    the sequential ones; the mean over the plain tables, and of each.  With W
    workers each launch knows W - 1 results fewer than in sequential search, so
    that W - 1 more are needed for the same even if nothing is lost.  A median
    beyond the budget stands for the budget."""
    out = {}
    for (table, method, workers), r in results.items():
        alone = results.get((table, method, 1))
        if workers > 1 and alone and "trainings_to_1%" not in r:
            more, less = (min(x["evaluations_to_1%"]["median"], budget)
                          for x in (r, alone))
            out.setdefault(method, {}).setdefault(str(workers), {})[table] = (
                max(0, more - (workers - 1)) / less)
    return {m: {w: {"mean": sum(x.values()) / len(x), "tables": x}
                for w, x in of.items()} for m, of in out.items()}


def mappings(methods):
    if not methods:
        return {}
    import halving
    import peers

    out = {m: peers.PLAIN[m][1].mapping for m in methods if m in peers.PLAIN}
    out.update({m: halving.CURVES[m][2] for m in methods
                if m in halving.CURVES})
    return out


def main():
    o = options()
    started = time.monotonic()
    o.work = os.path.abspath(o.work)  # studies name tables from their own folder
    os.makedirs(o.work, exist_ok=True)
    o.trireme = find_program(o.trireme)
    found = find_tables(o)
    methods, missing = usable(find_methods(o), found, o)
    jobs = plan(o, found, methods)
    path = os.path.join(o.work, "cache.jsonl")
    cache = read_cache(path)
    failed = [] if o.report_only else run_all(o, jobs, cache, path)
    results = gather(jobs, cache)
    slower = slowdowns(results, o.budget)
    lost = losses(results, o.budget)
    report = {
        "settings": {k: getattr(o, k) for k in (
            "seeds", "variant_seeds", "first_seed", "workers", "straggle", "budget",
            "trainings", "min", "eta")},
        "versions": {m: version_of(m, o) for m in methods},
        "not_run": missing,
        "tables": [t.described() for t in found],
        "mapping": mappings([m for m in methods if m in PEERS]),
        "results": [{"table": t, "method": m, "workers": w, **r}
                    for (t, m, w), r in results.items()],
        "slowdown": slower,
        "beyond_first": lost,
        "limits": limits.check(results, slower),
        "errors": [{"table": j[1].name, "method": j[2], **j[3], "error": e}
                   for j, e in failed],
        "planned_runs": len(jobs),
        "runs": sum(j[0] in cache for j in jobs),
        "cpu_s": sum(cache[j[0]]["took_s"] for j in jobs if j[0] in cache),
        "wall_s": time.monotonic() - started,
    }
    show.write_json(report, o.json or os.path.join(o.work, "report.json"))
    show.print_report(report, o)
    if failed or not jobs:
        return 4
    missed = [c for c in report["limits"] if not c["holds"]]
    return 1 if o.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
