#!/usr/bin/env bash
# A study that was made with the kernels of one processor is replayed with those
# of others: every decision is the same, since the proposals are on record; and
# thinking again (--refit) says as a number how far it agrees.
# usage: processors.sh TRIREME MPIRUN...
set -euo pipefail
trireme=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Kernels that this machine can run; the first two differ in their rounding.
kernels=(Nehalem)
grep -qm1 avx2 /proc/cpuinfo && kernels+=(Haswell)
grep -qm1 avx512bw /proc/cpuinfo && kernels+=(SkylakeX)
[ ${#kernels[@]} -ge 2 ] || {
    echo "no kernels to compare on this processor"
    exit 77
}

fail() {
    echo "$*" >&2
    exit 1
}

for kernel in "${kernels[@]}"; do
    OPENBLAS_VERBOSE=2 OPENBLAS_CORETYPE=$kernel "$trireme" --version 2>&1 |
        grep "Core: $kernel" > core || {
        echo "this OpenBLAS has no kernels to choose from"
        exit 77
    }
done

# write NAME SEARCH SCHEDULER: a study of numbers, words and failures
write() {
    cat > "$1.yaml" <<Y
study: $1
seed: 5
model: {kind: synthetic, cost: 0.0005, fail: 0.1, noise: 0.05}
space:
  a: {int: [1, 64], log2: true}
  b: {int: [0, 9]}
  c: {choice: [one, two, three]}
  d: {float: [0, 1], when: c == two}
objective: {minimize: loss}
search: $2
scheduler: $3
resource: {unit: steps, min: 1, max: 9, eta: 3}
budget: {trials: 30}
finals: none
Y
}

# refit NAME KERNEL: agreement, which must be a number
refit() {
    OPENBLAS_CORETYPE=$2 "$trireme" replay "$1.h5" --refit --json |
        python3 -c '
import json, sys
d = json.load(sys.stdin)
r = d["refit"]
assert d["mismatches"] == 0, d
assert r["questions"] > 0 and 0 <= r["share"] <= 1, d
print("%d questions, share %.3f" % (r["questions"], r["share"]))'
}

write random random asha
write gp '{predictor: gp}' asha
write trees '{predictor: trees}' none
write ranks '{predictor: mlp}' asha
write squares '{predictor: mlp-squared, acquisition: ucb}' none
write draws '{predictor: gp, acquisition: thompson}' none
write policy '{proposer: reinforce, predictor: gp}' none
write old evolution hyperband
at=0
for study in random gp trees ranks squares draws policy old; do
    made=${kernels[at++ % ${#kernels[@]}]}
    OPENBLAS_CORETYPE=$made timeout 60 "$@" -n 3 "$trireme" tune \
        "$study.yaml" --quiet > log 2>&1 || {
        cat log
        fail "tune $study"
    }
    for kernel in "${kernels[@]}" ''; do
        OPENBLAS_CORETYPE=$kernel "$trireme" replay "$study.h5" > out ||
            fail "$study, made with $made, replayed with $kernel: $(cat out)"
    done
    [ "$study" != random ] || continue
    for kernel in "$made" "${kernels[at % ${#kernels[@]}]}"; do
        agreement=$(refit "$study" "$kernel") || fail "refit $study, $kernel"
        echo "$study, made with $made, again with $kernel: $agreement"
    done
done

# The same seed and the same order of events give the same search: virtual time
# has no other, whatever the kernels as long as they stay.
for study in gp ranks policy; do
    for kernel in "${kernels[@]}"; do
        for again in 1 2; do
            OPENBLAS_CORETYPE=$kernel "$trireme" sim "$study.yaml" --workers 3 \
                --straggle 0.3 --json > "sim$again"
        done
        cmp sim1 sim2 || fail "sim of $study with $kernel is not repeated"
    done
done
