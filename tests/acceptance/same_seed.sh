#!/usr/bin/env bash
# The same seed gives the same trial -> configuration for the first ten trials
# on 3, 5 and 9 ranks (search: random, points of at most two ranks).
# Where a model leads, the order in which results arrive decides, and no two runs
# need agree; replay of a record does (net_think).
# usage: same_seed.sh TRIREME MPIRUN...
set -euo pipefail
trireme=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/study.yaml" <<'Y'
study: same-seed
seed: 11
model: {kind: synthetic, cost: 0.002}
space:
  a: {int: [1, 100]}
  b: {choice: [one, two, three]}
  width: {choice: [1, 2]}
ranks: width
objective: {minimize: loss}
search: random
resource: {unit: steps, min: 1, max: 4, eta: 4}
budget: {trials: 14}
finals: none
Y
for n in 3 5 9; do
    (cd "$work" && timeout 60 "$@" -n $n "$trireme" tune study.yaml \
        -o n$n.h5 --quiet > n$n.out 2> n$n.err) || {
        cat "$work/n$n.err"
        exit 1
    }
    "$trireme" export "$work/n$n.h5" --table trials | python3 -c '
import csv, sys
for row in list(csv.DictReader(sys.stdin))[:10]:
    print(row["trial"], row["a"], row["b"], row["width"])' > "$work/n$n.txt"
    [ "$(wc -l < "$work/n$n.txt")" = 10 ] || { echo "n=$n: fewer than ten trials"; exit 1; }
done
cat "$work/n3.txt"
cmp "$work/n3.txt" "$work/n5.txt"
cmp "$work/n3.txt" "$work/n9.txt"
echo "seed 11: the same ten configurations on 3, 5 and 9 ranks"
