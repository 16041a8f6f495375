#!/bin/bash
# A node is lost with all that runs on it, under sbatch and under salloc: the
# study goes on on the others and ends by itself, its launcher does not outlive
# it, and nothing is left.
#
#   node.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-node "$@"

study 0.2 30
end() { # the node comes back, whatever happens
    local status=$?
    "$scripts/sandbox" up >/dev/null 2>&1 || true
    finish $status
}
trap end EXIT

export TRIREME_LINGER_S=3
shape=(--time=5 --nodes=3 --ntasks-per-node=2)

# The last node of `job` is lost; where rank 0 is not.
lose_node() { # FILE.h5
    until_true 60 has_results "$1" 3
    lost=$(last_node "$job")
    results "$1" >first
    "$scripts/sandbox" lose "$lost"
}

check() { # FILE.h5 LOG
    expect "state" "$(field "$1" state)" "done"
    expect "trials" "$(field "$1" trials)" 30
    results "$1" >all
    expect "results twice" "$(uniq -d all)" ""
    expect "results lost" "$(comm -23 first all)" ""
    grep -q 'struck\|silent\|lost' "$2" || fail "nobody missed the node"
    until_true 20 nothing_left
}

job=$(sbatch --parsable "${shape[@]}" "$scripts/tune.sbatch" my.yaml)
lose_node my.h5
ends 150 "$job"
expect "code" "$(code "$job")" 0:0
check my.h5 "job.$job.log"
"$scripts/sandbox" up >/dev/null

salloc --no-kill "${shape[@]}" "$scripts/tune.sbatch" my.yaml alloc.h5 \
    >alloc.log 2>&1 &
salloc=$!
granted() { grep -q 'Granted job allocation' alloc.log; }
until_true 60 granted
job=$(sed -n 's/.*Granted job allocation \([0-9]*\).*/\1/p' alloc.log)
lose_node alloc.h5
is_over() { ! kill -0 "$salloc" 2>/dev/null; }
until_true 150 is_over
status=0
wait "$salloc" || status=$?
expect "status of salloc" $status 0
check alloc.h5 alloc.log
echo "without node $lost the study ended"
