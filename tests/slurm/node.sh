#!/bin/bash
# A node is lost with all that runs on it: the study goes on on the others and
# ends by itself, its launcher does not outlive it, and nothing is left.
#
#   node.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-node "$@"

study 0.2 30
end() { # the node comes back, whatever happens
    "$scripts/sandbox" up >/dev/null 2>&1 || true
    finish
}
trap end EXIT

export TRIREME_LINGER_S=3
job=$(sbatch --parsable --time=5 --nodes=3 --ntasks-per-node=2 \
    "$scripts/tune.sbatch" my.yaml)
until_true 60 has_results my.h5 3
first=$(scontrol show job "$job" | sed -n 's/ *BatchHost=//p')
lost=$(scontrol show hostnames "$(squeue -h -j "$job" -o %N)" |
    grep -vx "$first" | tail -n 1)
results my.h5 >first
"$scripts/sandbox" lose "$lost"

ends 150 "$job"
expect "code" "$(code "$job")" 0:0
expect "state" "$(field my.h5 state)" "done"
expect "trials" "$(field my.h5 trials)" 30
results my.h5 >all
expect "results twice" "$(uniq -d all)" ""
expect "results lost" "$(comm -23 first all)" ""
grep -q 'struck\|silent\|lost' "job.$job.log" || fail "nobody missed the node"
until_true 20 nothing_left
echo "without node $lost the study ended"
