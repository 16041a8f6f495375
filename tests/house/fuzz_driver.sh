#!/bin/bash
# The fuzz driver finds the fault planted in PROGRAM (fuzz_probe.c), says the
# number of the mutation, and that mutation alone fails again.
set -euo pipefail

out=$(mktemp)
trap 'rm -f "$out"' EXIT

ulimit -c 0
if "$1" 20000 >"$out" 2>&1; then
    echo "20000 mutations did not find the planted fault"
    exit 1
fi
number=$(sed -n 's/^fuzz: again with FUZZ_ONLY=//p' "$out")
[ -n "$number" ] || {
    echo "no mutation was named:"
    cat "$out"
    exit 1
}
if FUZZ_ONLY=$number "$1" 20000 >"$out" 2>&1; then
    echo "mutation $number alone does not fail"
    exit 1
fi
echo "found by mutation $number"
