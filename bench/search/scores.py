"""Numbers of a run, and of many."""

import math

VERSION = {"plain": 2, "curves": 3}  # of what is kept of a run
REGRET_AFTER = (20, 50, 100, 200)        # distinct evaluations
REGRET_AFTER_TRAININGS = (5, 10, 20, 50)  # full trainings
KNOWN_FAILURES = 10


def of_run(table, answer, settings):
    """The scores of one run.  None: not reached."""
    curve = walk(table, answer["history"], answer.get("levels", 1))
    out = {"decision_s": answer["decision_s"],
           "runs": len(answer["history"]),
           "failed": sum(v is None for _, _, v in answer["history"])}
    hit = next((p for p in curve if p["close"]), None)
    until = answer["history"][:curve.index(hit) + 1] if hit else (
        answer["history"])
    out["until"] = [len(until), sum(v is None for _, _, v in until)]
    out["evaluations"] = hit["distinct"] if hit else None
    out["virtual_s"] = hit["at"] if hit else None
    # where it is not said all workers are busy to the end
    out["rank_seconds"] = (answer["rank_seconds_1%"]
                           if "rank_seconds_1%" in answer else
                           hit["at"] * settings["workers"] if hit else None)
    if table.points:
        cost = out["rank_seconds"]
        out["trainings"] = None if cost is None else cost / table.n_points
        unit = table.n_points / settings["workers"]
        out["regret"] = [regret_at(table, curve, "at", n * unit)
                         for n in REGRET_AFTER_TRAININGS]
    else:
        out["regret"] = [regret_at(table, curve, "distinct", n)
                         for n in REGRET_AFTER]
        out["known"] = after_failures(answer["history"], settings["workers"])
    return out


def walk(table, history, levels):
    """The course of the search.  Where it has several levels of resource, a
    trial's n-th result is that of the n-th of them, and only those of the last
    count: the optimum is of whole curves, and a value in the midst of one may
    lie beyond it."""
    results, best, curve = {}, None, []
    for at, trial, value in history:
        results[trial] = results.get(trial, 0) + 1
        if (value is not None and results[trial] == levels and
                (best is None or table.sign * value < table.sign * best)):
            best = value
        curve.append({"at": at, "distinct": len(results), "best": best,
                      "close": best is not None and table.is_close(best)})
    return curve


def regret_at(table, curve, key, limit):
    """After what was measured by then; a run that ended before, at the best of
    all or with its budget, has that of its end."""
    best = None
    for p in curve:
        if p[key] > limit + 1e-9:
            break
        best = p["best"]
    return None if best is None else max(0.0, table.regret(best))


def after_failures(history, workers):
    """Of the runs launched after the tenth failure was known: how many there
    are, and how many did not fail.  Trials are numbered as they are launched,
    and when the n-th ends n - 1 + workers had been launched."""
    failures = 0
    for n, (_, _, value) in enumerate(history):
        failures += value is None
        if failures == KNOWN_FAILURES:
            later = [v for _, trial, v in history if trial >= n + workers]
            return [len(later), sum(v is not None for v in later)]
    return [0, 0]


# ---- of many ---------------------------------------------------------------


def median(values):
    x = sorted(math.inf if v is None else v for v in values)
    if not x:
        return math.nan
    return (x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2


def percentile90(values):
    """The value that 90 % do not exceed."""
    x = sorted(math.inf if v is None else v for v in values)
    return x[math.ceil(0.9 * len(x)) - 1] if x else math.nan


def spread(runs, key):
    values = [r[key] for r in runs]
    return {"median": median(values), "p90": percentile90(values),
            "reached": sum(v is not None for v in values)}


def of_runs(table, runs):
    out = {"seeds": len(runs), "evaluations_to_1%": spread(runs, "evaluations"),
           "rank_seconds_to_1%": spread(runs, "rank_seconds"),
           "decision_s": median(r["decision_s"] for r in runs),
           "failed_share": share(sum(r["failed"] for r in runs),
                                 sum(r["runs"] for r in runs))}
    out["failed_share_to_1%"] = share(sum(r["until"][1] for r in runs),
                                      sum(r["until"][0] for r in runs))
    steps = REGRET_AFTER_TRAININGS if table.points else REGRET_AFTER
    out["regret_after"] = {
        str(n): median(r["regret"][k] for r in runs)
        for k, n in enumerate(steps)}
    if table.points:
        out["trainings_to_1%"] = spread(runs, "trainings")
    else:
        out["feasible_after_10_failures"] = share(
            sum(r["known"][1] for r in runs), sum(r["known"][0] for r in runs))
    return out


def share(part, whole):
    return part / whole if whole else math.nan
