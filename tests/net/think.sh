#!/bin/sh
# A search that is led by a model, over a recorded table: replay is exact, and
# thinking again gives the same proposals; killed while it runs, it goes on; and
# a second study learns from the first.
#   think.sh TRIREME MPIEXEC
set -eu

trireme=$1
mpiexec=$2
export TRIREME_LOG=info
folder=$(mktemp -d /tmp/trireme-think-XXXXXX)
cleanup() {
    test -z "${job:-}" || kill_job
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

# A table: the rate has its top at a = 24, b = 4; large products fail.
awk 'BEGIN {
    print "a,b,tokens_per_s,failed"
    for (a = 1; a <= 32; a++)
        for (b = 1; b <= 8; b++)
            printf "%d,%d,%.6f,%d\n", a, b,
                1000 / (1 + (a - 24) ^ 2 / 60 + (b - 4) ^ 2 / 4), (a * b > 200)
}' > table.csv

# write_study NAME [TRIALS]
write_study() {
    cat > "$1.yaml" << END
study: $1
seed: 11
model: {kind: table, file: table.csv, parameters: [a, b],
        objective: tokens_per_s, failed: failed, second: 0.05}
space: table
objective: {maximize: tokens_per_s}
search: auto
scheduler: none
budget: {trials: ${2:-40}}
finals: none
END
}

fail() {
    echo "$*" >&2
    cat log >&2
    exit 1
}

# tune NAME RANKS [OPTION...]: its log is in `log`.
tune() {
    name=$1 ranks=$2
    shift 2
    "$mpiexec" -n "$ranks" "$trireme" tune "$name.yaml" --resume "$@" \
        > log 2>&1 || fail "tune $name"
}

# The launcher and its ranks, which are its children, all at once.
kill_job() {
    ranks=$(ps -o pid= --ppid "$job" || true)
    kill -9 "$job" $ranks 2> /dev/null || true
    wait "$job" 2> /dev/null || true
    for rank in $ranks; do
        while kill -0 "$rank" 2> /dev/null; do
            sleep 0.05
        done
    done
    job=
}

# The value of a key of the JSON in `out`.
value() {
    python3 -c 'import json, sys
d = json.load(open("out"))
for key in sys.argv[1].split("."):
    d = d[key]
print(d)' "$1"
}

# How many of the trials of $1 are of origin $2.
origins() {
    "$trireme" export "$1.h5" --table trials --format csv |
        awk -F, -v origin="$2" 'NR > 1 && $3 == origin { n++ }
            END { print n + 0 }'
}

write_study first
tune first 3
"$trireme" replay first.h5 || fail "replay"
# how many depends on who is faster, the thinker or the ranks
[ "$(origins first model)" -ge 5 ] || fail "few proposals of the model"
"$trireme" replay first.h5 --refit --json > out || fail "refit"
[ "$(value refit.questions)" -ge 5 ] || fail "few questions: $(cat out)"
[ "$(value refit.share)" = 1.0 ] || fail "another thought: $(cat out)"

# killed at moments that mostly find it thinking
cat > killed.yaml << 'END'
study: killed
seed: 11
model: {kind: synthetic, cost: 0.05}
space: {x: {int: [0, 255]}, y: {int: [0, 255]}, n: {int: [1, 2]}, layers: 4}
ranks: n
objective: {minimize: loss}
scheduler: none
resource: {unit: steps, min: 1, max: 1}
budget: {trials: 60}
finals: none
END
for moment in 0.7 1.2; do
    "$mpiexec" -n 3 "$trireme" tune killed.yaml --resume --quiet > log 2>&1 &
    job=$!
    sleep $moment
    kill_job
done
tune killed 3
"$trireme" replay killed.h5 || fail "replay after kills"
[ "$("$trireme" export killed.h5 --table trials --format csv | wc -l)" = 61 ] ||
    fail "trials are missing"
"$trireme" replay killed.h5 --refit > out || fail "refit after kills"

# on another number of ranks, from what the first one knew
write_study second 12
tune second 4 --warm first.h5
grep -q "first.h5: 40 results read, 40 are of configurations of this space" log ||
    fail "no warm rows"
grep -q "earlier studies: .*first.h5: [0-9]* results trusted" log ||
    fail "nothing is said of the first study's use"
"$trireme" replay second.h5 || fail "replay of a warm start"
"$trireme" replay second.h5 --refit --json > out || fail "refit of a warm start"
[ "$(value refit.share)" = 1.0 ] || fail "another warm thought: $(cat out)"
tune second 4 --warm first.h5 # done already

# on other machines what it has measured itself is of use, too
write_study second 14
ln -s first.h5 link.h5
cp first.h5 copy.h5
TRIREME_MACHINE_CLASS='other nodes' tune second 4 --warm ./link.h5 --warm copy.h5
grep -q "second.h5: 12 results read, 12 are of conf" log || fail "own rows"
grep -q "./link.h5 was read before" log || fail "read again"
grep -q "copy.h5: the same results as in .*first.h5" log || fail "a copy counts"
"$trireme" replay second.h5 || fail "replay on other machines"

# from a study of another model, whose space is another too
sed 's/study: killed/study: other/; s/x: {int: \[0, 255\]}/x: {int: [0, 127]}/
    s/n: {int: \[1, 2\]}, layers: 4/n: {choice: [1, 2, 4]}, layers: 8/
    s/trials: 60/trials: 3/' killed.yaml > other.yaml
tune other 3 --warm killed.h5
inside=$("$trireme" export killed.h5 --table trials --format csv |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["x"] <= 127 { n++ } END { print n + 0 }')
grep -q "killed.h5: 60 results read, $inside are of conf" log ||
    fail "not $inside rows"
sed 's/study: other/study: less/; s/y: {int: \[0, 255\]}, //' other.yaml \
    > less.yaml
tune less 3 --warm killed.h5
grep -q "its parameter y is not in this space" log || fail "y is not missed"
sed 's/study: other/study: drawn/; s/budget/search: quasi\nbudget/' other.yaml \
    > drawn.yaml
tune drawn 3 --warm killed.h5
grep -q "warm is of no use to a search that is quasi" log || fail "quasi learns"

# what cannot be learned from
sed 's/maximize: tokens_per_s/minimize: step_s/; s/study: second/study: third/' \
    second.yaml > third.yaml
if "$mpiexec" -n 3 "$trireme" tune third.yaml --warm first.h5 > log 2>&1; then
    fail "another objective was taken"
fi
grep -q "its objective is to maximize tokens_per_s, not to minimize step_s" \
    log || fail "no word on the objective"
[ ! -e third.h5 ] || fail "third.h5 is left behind"
