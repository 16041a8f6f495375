#!/usr/bin/env bash
# Through real MPI, asha with eight one-rank groups finds the same best as
# `none` (every configuration at the top) in under half the rank-seconds.
# usage: asha_against_none.sh TRIREME MPIRUN...
set -euo pipefail
trireme=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for scheduler in asha none; do
    cat > "$work/$scheduler.yaml" <<Y
study: known-optimum
seed: 5
model: {kind: synthetic, cost: 0.01}
space:
  a: {int: [1, 8]}
  b: {int: [1, 8]}
objective: {minimize: loss}
scheduler: $scheduler
search: random
resource: {unit: steps, min: 4, max: 64, eta: 4}
budget: {trials: 64}
finals: none
Y
    (cd "$work" && timeout 100 "$@" -n 9 "$trireme" tune $scheduler.yaml \
        -o $scheduler.h5 --quiet > $scheduler.out 2>&1) || {
        cat "$work/$scheduler.out"
        exit 1
    }
    "$trireme" export "$work/$scheduler.h5" --table runs > "$work/$scheduler.csv"
    "$trireme" best "$work/$scheduler.h5" --json > "$work/$scheduler.json"
done
python3 - "$work" <<'P'
import csv, json, sys

work = sys.argv[1]
cost, best = {}, {}
for scheduler in ("asha", "none"):
    rows = list(csv.DictReader(open(f"{work}/{scheduler}.csv")))
    cost[scheduler] = sum((float(r["end_s"]) - float(r["start_s"])) * int(r["ranks"]) for r in rows)
    best[scheduler] = json.load(open(f"{work}/{scheduler}.json"))["winner"]["configuration"]
    print(scheduler, f"{cost[scheduler]:.2f} rank-seconds, best", best[scheduler])
ratio = cost["asha"] / cost["none"]
print(f"asha / none = {ratio:.3f}")
assert best["asha"] == best["none"], "different best"
assert ratio < 0.5, "asha does not pay"
P
