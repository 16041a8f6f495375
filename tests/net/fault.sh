#!/bin/bash
# Processes of a whole job die or stand still, as they do on a cluster where
# mpirun is told to outlive a rank; the program itself has to cope.
#   fault.sh TRIREME MPIEXEC init|worker|head|zombie|train
#     init    a rank never comes to MPI_Init: the others end, and say why
#     worker  a worker is killed: the study ends with status 0, and nothing of
#             it is left
#     head    rank 0 is killed: the others end, and a resume loses nothing
#     zombie  all of a job is stopped, the study is resumed by another, and then
#             the first goes on: it is fenced, and changes nothing
#     train   a rank of `trireme train` is killed, then one of another is
#             stopped: rank 0 ends and says which of the two it was
set -euo pipefail

trireme=$1
mpiexec=$2
mode=$3
export OMPI_MCA_orte_enable_recovery=1
export OMPI_MCA_orte_abort_on_non_zero_status=0
folder=$(mktemp -d /tmp/trireme-fault-XXXXXX)
jobs_of=
cleanup() {
    for job in $jobs_of; do
        for pid in $(children "$job") "$job"; do
            kill -CONT "$pid" 2> /dev/null || true
            kill -9 "$pid" 2> /dev/null || true
        done
    done
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

cat > study.yaml << 'END'
study: fault
seed: 11
model: {kind: gpt, layers: 2, hidden: 32, heads: 4, sequence: 32, vocab: 256}
space:
  dp: {choice: [1, 2]}
  tp: {choice: [1, 2]}
  pp: {choice: [1, 2]}
  micro_batch: {choice: [1, 2, 4]}
  global_batch: 16
constraints: [dp * tp * pp == 2]
ranks: dp * tp * pp
objective: {minimize: loss}
resource: {unit: steps, min: 10, max: 40, eta: 4}
search: random
budget: {trials: 9}
finals: {top: 2, repeats: 2}
END

children() {
    ps -o pid= --ppid "$1" || true
}

fail() {
    echo "$mode: $1" >&2
    cat out* >&2 || true
    exit 1
}

signal() { # NAME "PIDS"
    for pid in $2; do
        kill "-$1" "$pid"
    done
}

# The process of a rank of a job.
rank_of() {
    local pid
    for pid in $(children "$1"); do
        if tr '\0' '\n' < "/proc/$pid/environ" 2> /dev/null |
            grep -qx "OMPI_COMM_WORLD_RANK=$2"; then
            echo "$pid"
        fi
    done
}

start() { # FILE OUTPUT: the study's file, and what is said
    "$mpiexec" -n 5 "$trireme" tune study.yaml -o "$1" --resume --quiet \
        > "$2" 2>&1 &
    job=$!
    jobs_of="$jobs_of $job"
}

# The finished runs as "run,trial,rung,objective".
results() {
    "$trireme" export "$1" --table runs --format csv 2> /dev/null |
        sed 's/"[^"]*"/quoted/g' |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["status"] == "finished" {
                print $at["run"] "," $at["trial"] "," $at["rung"] "," \
                    $at["objective"] }' | sort
}

# until N "what": N tries of 0.1 s of a command.
until_true() {
    local n=$1 what=$2
    shift 2
    while ! "$@"; do
        n=$((n - 1))
        [ "$n" -gt 0 ] || fail "$what"
        sleep 0.1
    done
}

has_results() {
    [ "$(results "$1" | wc -l)" -ge "$2" ]
}

is_over() {
    local pid
    for pid in $1; do
        [ ! -e "/proc/$pid" ] || return 1
    done
}

# What Open MPI and we have there; folders of batch scripts are not ours.
segments() {
    find /dev/shm -newer study.yaml -name '*trireme*' \
        ! -name 'trireme.[0-9]*' ! -path '*/trireme*/*' | sort
}

check_end() { # FILE STATUS
    grep -q "\"status\": $2[,}]" "$1.exit" ||
        fail "$1.exit says $(cat "$1.exit" 2> /dev/null)"
}

# One rank of two is sent a signal while they train; rank 0 ends by itself.
train_and() { # SIGNAL "WHAT IS SAID"
    local head
    "$mpiexec" -n 2 "$trireme" train study.yaml --set dp=2 --steps 1000000 \
        > "out.$1" 2> "err.$1" &
    job=$!
    jobs_of="$jobs_of $job"
    until_true 300 "no step was made" grep -q '^ *2 ' "out.$1"
    head=$(rank_of "$job" 0)
    signal "$1" "$(rank_of "$job" 1)"
    until_true 300 "rank 0 waits for ever" is_over "$head"
    grep -q "^trireme: $2" "err.$1" || fail "it said: $(cat "err.$1")"
}

case $mode in
init)
    TRIREME_INIT_S=2 TRIREME_EXIT=init.exit "$mpiexec" -n 2 "$trireme" tune \
        study.yaml -o none.h5 : -n 1 false > out 2>&1 &
    job=$!
    jobs_of=$job
    until_true 300 "the job did not end" is_over "$job"
    grep -q 'MPI_Init was not done within 2 s' out || fail "nobody said why"
    [ ! -e none.h5 ] || fail "a study was begun"
    [ "$(cat init.exit)" = 4 ] || fail "no status was left"
    ;;
worker)
    start killed.h5 out
    until_true 300 "no result came" has_results killed.h5 2
    all="$job $(children "$job")"
    kill -9 "$(rank_of "$job" 3)"
    until_true 600 "the job did not end" is_over "$all"
    check_end killed.h5 0
    [ -z "$(segments)" ] || fail "left: $(segments)"
    "$trireme" replay killed.h5
    ;;
head)
    start killed.h5 out
    until_true 300 "no result came" has_results killed.h5 3
    results killed.h5 > before
    all=$(children "$job")
    kill -9 "$(rank_of "$job" 0)"
    until_true 300 "workers outlived rank 0" is_over "$all"
    kill -9 "$job" 2> /dev/null || true
    [ ! -e killed.h5.exit ] || fail "an end was written"
    start killed.h5 out2
    until_true 600 "the resume did not end" is_over "$job"
    check_end killed.h5 0
    results killed.h5 > after
    [ -z "$(comm -23 before after)" ] || fail "results were lost"
    "$trireme" replay killed.h5
    ;;
zombie)
    start twice.h5 out
    first=$job
    until_true 300 "no result came" has_results twice.h5 2
    all=$(children "$first")
    signal STOP "$all"
    start twice.h5 out2
    until_true 900 "the second opening did not end" is_over "$job"
    check_end twice.h5 0
    results twice.h5 > before
    signal CONT "$all"
    until_true 300 "the zombie did not end" is_over "$first $all"
    check_end twice.h5 0
    results twice.h5 > after
    cmp before after || fail "the zombie changed the study"
    grep -q 'another opening' out || fail "the zombie did not say why"
    ;;
train)
    echo 'timeouts: {startup: 20, progress: 1, grace: 1}' >> study.yaml
    train_and KILL 'the process of rank 1 of the group is gone'
    train_and STOP 'rank 1 of the group did not come in time'
    ;;
*)
    echo "unknown mode $mode" >&2
    exit 1
    ;;
esac
echo "$mode: ok"
