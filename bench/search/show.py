"""The report as text and as JSON."""

import json
import math
import os


def plain(x):
    """JSON has neither NaN nor infinity: both are null."""
    if isinstance(x, float) and not math.isfinite(x):
        return None
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return x


def write_json(report, path):
    with open(path + ".new", "w", encoding="utf-8") as f:
        json.dump(plain(report), f, indent=1, sort_keys=True)
        f.write("\n")
    os.replace(path + ".new", path)


def number(x, digits=3, over=None):
    if x is None or math.isnan(x):
        return "-"
    if math.isinf(x):
        return f">{over:g}" if over is not None else "-"
    return f"{x:.{digits}g}" if abs(x) < 1000 else f"{x:.0f}"


def percent(x):
    return "-" if x is None or not math.isfinite(x) else f"{100 * x:.2g} %"


def decision(x):
    return f"{1e3 * x:.3g} ms"


def rows_of(report, table, o):
    rows = []
    curves = "points" in table
    over = o.trainings if curves else o.budget
    key = "trainings_to_1%" if curves else "evaluations_to_1%"
    for r in report["results"]:
        if r["table"] != table["table"]:
            continue
        rows.append([
            r["method"], str(r["workers"]), str(r["seeds"]),
            number(r[key]["median"], 3, over), number(r[key]["p90"], 3, over),
            *(percent(v) for v in r["regret_after"].values()),
            number(r["rank_seconds_to_1%"]["median"]),
            decision(r["decision_s"]), percent(r["failed_share"]),
            percent(r.get("feasible_after_10_failures"))])
    rows.sort(key=lambda r: int(r[1]))
    return rows


def print_table(head, rows):
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))).rstrip())


def print_of_table(report, table, o):
    curves = "points" in table
    rows = rows_of(report, table, o)
    if not rows:
        return
    steps = list(next(r for r in report["results"]
                      if r["table"] == table["table"])["regret_after"])
    print(f"\n{table['table']}: {table['configurations']} configurations of "
          f"{' '.join(table['parameters'])}; {table['direction']} "
          f"{table['objective']}, optimum {table['optimum']:g}, "
          f"{table['within_1%']} within 1 %, {table['failed']} failed"
          + (f"; {table['points']} points, {table['diverged']} diverged"
             if curves else "")
          + (f"; left out: {' '.join(table['left_out'])}"
             if "left_out" in table else ""))
    unit = "trainings" if curves else "evaluations"
    head = ["method", "workers", "seeds", f"{unit}: median", "p90",
            *(f"regret {n}" for n in steps), "rank-s", "decision", "failed",
            "feasible"]
    print_table(head, rows)


def print_limits(report):
    if not report["limits"]:
        return
    print("\nPromised of trireme:")
    words = {True: "holds", False: "MISSED", None: "not known"}
    print_table(["what", "table", "value", "limit", ""],
                [[c["what"], c["table"],
                  "never" if math.isinf(c["value"]) else number(c["value"]),
                  number(c["limit"]), words[c["holds"]]]
                 for c in report["limits"]])


def print_slowdowns(report):
    workers = sorted({w for of in report["slowdown"].values() for w in of},
                     key=int)
    if not workers:
        return
    print("\nTimes the sequential evaluations, geometric mean over the tables "
          "(at the start all\nworkers are busy before anything is known: where "
          "sequential search needs fewer\nthan there are workers, no method "
          "comes near 1):")
    print_table(["method", *(f"{w} workers" for w in workers)],
                [[m, *(number(of.get(w)) for w in workers)]
                 for m, of in report["slowdown"].items()])


def print_losses(report):
    workers = sorted({w for of in report["beyond_first"].values() for w in of},
                     key=int)
    if not workers:
        return
    print("\nEvaluations beyond the first W - 1 with W workers, over the "
          "sequential ones, mean\nover the tables (1: nothing lost but that "
          "each launch knows W - 1 results fewer):")
    print_table(["method", *(f"{w} workers" for w in workers)],
                [[m, *(number(of[w]["mean"]) if w in of else "-"
                       for w in workers)]
                 for m, of in report["beyond_first"].items()])


def print_report(report, o):
    for table in report["tables"]:
        print_of_table(report, table, o)
    print_slowdowns(report)
    print_losses(report)
    if report["mapping"]:
        print("\nPeers, mapped onto a table:")
    for method, text in report["mapping"].items():
        print(f"  {method} ({report['versions'][method]}): {text}")
    for method, why in report["not_run"].items():
        print(f"{method} did not run: {why}")
    print_limits(report)
    for e in report["errors"]:
        print(f"ERROR {e['method']} on {e['table']}, {e['workers']} workers, "
              f"seed {e['seed']}: {e['error']}")
    print(f"\n{report['runs']} of {report['planned_runs']} runs, "
          f"{report['cpu_s']:.0f} s of one process in all; "
          f"{report['wall_s']:.0f} s this time")
