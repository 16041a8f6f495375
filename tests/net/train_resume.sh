#!/bin/sh
# A training of the engine that is drained in the middle of a run goes on from
# its checkpoint with --resume: it does not start afresh, and what it has
# learned is what an uninterrupted training learns.
#   train_resume.sh TRIREME MPIEXEC MODEL
# MODEL: gpt, mlp or dlrm.
set -eu

trireme=$1
mpiexec=$2
kind=$3
folder=$(mktemp -d /tmp/trireme-train-XXXXXX)
cleanup() {
    test -z "${job:-}" || kill -9 "$job" 2> /dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

fail() {
    echo "$1"
    cat out
    exit 1
}

batch=8
case $kind in
gpt) model='layers: 1, hidden: 16, heads: 2, sequence: 16, vocab: 256, data: builtin' ;;
mlp) model='inputs: 16, hidden: 32, layers: 2, outputs: 4' batch=64 ;;
dlrm) model='tables: 4, rows: 500, dim: 16, pooling: 2, bottom: [16], top: [16]' ;;
esac
steps=2000 # no more than a run keeps one by one
cat > study.yaml <<END
study: trained
seed: 5
model: {kind: $kind, $model}
space:
  dp: {choice: [2]}
  micro_batch: {choice: [4]}
  zero: {choice: [1]}
  global_batch: $batch
ranks: dp
objective: {minimize: loss}
resource: {unit: steps, min: $steps, max: $steps}
budget: {trials: 1}
finals: none
END

start() {
    "$mpiexec" -n 3 "$trireme" tune study.yaml -o trained.h5 --resume --quiet \
        > out 2>&1 &
    job=$!
}

# A column of the rows of a table, by its name.
column() {
    "$trireme" export trained.h5 --table "$1" --format csv 2> /dev/null |
        sed 's/"[^"]*"/quoted/g' |
        awk -F, -v name="$2" 'NR == 1 {
            for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
            { print $at }'
}

# Drained once it has done some steps.
start
while test "$(column reports step 2> /dev/null | tail -1)" -lt 100 \
    2> /dev/null || test -z "$(column reports step 2> /dev/null)"; do
    kill -0 "$job" 2> /dev/null || fail 'it ended by itself'
    sleep 0.05
done
kill -USR1 "$job"
wait "$job" || true
job=
grep -q '"status": *3' trained.h5.exit || fail 'it was not interrupted'
test "$(find . -name '*.ckpt' | wc -l)" -eq 1 || fail 'nothing was saved'
before=$(column reports step | tail -1)
test "$(column runs checkpoint_bytes | tail -1)" -gt 1000 ||
    fail 'the bytes of the checkpoint are not recorded'

# The rest.
start
wait "$job" || fail "it ended with status $?"
job=
after=$(column reports step | awk -v n="$before" '$1 > n { print; exit }')
n=$(column reports step | awk 'p && $1 < p { n++ } { p = $1 } END { print n + 0 }')
test -n "$after" && test "$n" -eq 0 || fail 'it started afresh'
test -z "$(find . -name '*.ckpt*')" || fail 'a checkpoint is left'

# Another training, by hand, has learned the same: the mean of the last tenth.
"$mpiexec" -n 2 "$trireme" train study.yaml \
    --set "dp=2,micro_batch=4,zero=1,global_batch=$batch" \
    --steps $((steps + 3)) --json > curve 2> out || fail 'train failed'
expected=$(sed -n 's/.*"loss": *\([-0-9.e+]*\).*/\1/p' curve |
    tail -$((steps / 10)) | awk '{ s += $1 } END { printf "%.9f", s / NR }')
got=$(column runs loss | tail -1)
echo "$kind: drained after $before of $steps steps; loss $got, uninterrupted" \
    "$expected"
awk -v a="$got" -v b="$expected" \
    'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d < 1e-6 * b) }' ||
    fail 'it has learned something else'
