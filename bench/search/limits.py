"""What is promised, and whether it holds in this run.

Each is of the method `trireme`.  Tables are named here to say which number is
promised of which; nothing else reads their names."""

import math

MEDIAN = {"nanotron_3b": 15, "vtrain_a100": 15, "kt_pnpoly_3090": 22,
          "kt_convolution_a100": 120}
P90 = {"nanotron_3b": 30, "vtrain_a100": 30}
TRAININGS = 10
LOSS_AT_64 = 1.4
FAILED_AGAINST_RANDOM = 0.5
HALF_FAIL = {"nanotron_1b", "nanotron_3b"}
FEASIBLE = 0.95
MADE = "made_memory"


def held(what, table, value, limit, at_most=True):
    ok = value <= limit if at_most else value >= limit
    return {"what": what, "table": table, "value": value,
            "limit": limit, "holds": None if math.isnan(value) else ok}


def check(results, slowdowns):
    """`results`: (table, method, workers) -> what scores.of_runs gave;
    `slowdowns`: method -> workers -> times the sequential evaluations."""
    out = []
    if "64" in slowdowns.get("trireme", {}):
        out.append(held("evaluations with 64 workers over sequential",
                        "all but curves", slowdowns["trireme"]["64"],
                        LOSS_AT_64))
    for table in sorted({t for t, m, w in results if m == "trireme"}):
        ours = {w: r for (t, m, w), r in results.items()
                if t == table and m == "trireme"}
        out += of_table(table, ours, results)
    return out


def of_table(table, ours, results):
    out = []
    alone = ours.get(1)
    if alone and table in MEDIAN:
        out.append(held("evaluations to within 1 %, median", table,
                        alone["evaluations_to_1%"]["median"], MEDIAN[table]))
    if alone and table in P90:
        out.append(held("evaluations to within 1 %, 90th percentile", table,
                        alone["evaluations_to_1%"]["p90"], P90[table]))
    if alone and "trainings_to_1%" in alone:
        out.append(held("full trainings to within 1 %, median", table,
                        alone["trainings_to_1%"]["median"], TRAININGS))
    for workers, r in sorted(ours.items()):
        random = results.get((table, "random", workers))
        if table in HALF_FAIL and random:
            out.append(held(f"failed launches over random's, {workers} workers",
                            table, r["failed_share"] / random["failed_share"],
                            FAILED_AGAINST_RANDOM))
        if table == MADE:
            out.append(held("feasible launches after 10 failures, "
                            f"{workers} workers", table,
                            r["feasible_after_10_failures"], FEASIBLE, False))
    return out
