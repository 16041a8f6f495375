#!/bin/sh
# Kills a whole job with SIGKILL five times at different moments and resumes it
# each time: every result that was recorded stays, and the study ends.
#   kill_resume.sh TRIREME MPIEXEC
set -eu

trireme=$1
mpiexec=$2
kills=5
folder=$(mktemp -d /tmp/trireme-kill-XXXXXX)
cleanup() {
    test -z "${job:-}" || kill_job
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

cat > study.yaml <<'END'
study: killed
seed: 11
model: {kind: synthetic, cost: 0.01}
space: {x: {int: [0, 255]}, n: {int: [1, 2]}}
ranks: n
objective: {minimize: loss}
resource: {unit: steps, min: 2, max: 32, eta: 4}
search: random
budget: {trials: 120}
finals: {top: 2, repeats: 2}
END

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

# The finished runs as "run,trial,rung,objective", by name of the columns.
results() {
    "$trireme" export killed.h5 --table runs --format csv |
        sed 's/"[^"]*"/quoted/g' |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["status"] == "finished" {
                print $at["run"] "," $at["trial"] "," $at["rung"] "," \
                    $at["objective"] }' | sort
}

start() {
    "$mpiexec" -n 4 "$trireme" tune study.yaml -o killed.h5 --resume --quiet \
        > out 2>&1 &
    job=$!
}

# Results so far, 0 while there is no study to read.
n_results() {
    results 2> /dev/null | wc -l
}

: > before
round=1
while [ "$round" -le "$kills" ]; do
    target=$(($(wc -l < before) + 12))
    start
    tries=0
    while [ "$(n_results)" -lt "$target" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 600 ] || ! kill -0 "$job" 2> /dev/null; then
            echo "round $round: the job ended or stood still" >&2
            cat out >&2
            exit 1
        fi
        sleep 0.05
    done
    kill_job
    results > after
    if [ -n "$(comm -23 before after)" ]; then
        echo "round $round: results were lost:" >&2
        comm -23 before after >&2
        exit 1
    fi
    echo "kill $round: $(wc -l < after) results"
    mv after before
    round=$((round + 1))
done

start
wait "$job"
job=
results > after
test -z "$(comm -23 before after)"
grep -q '"status": 0' killed.h5.exit
"$trireme" replay killed.h5
echo "ended with $(wc -l < after) results"
