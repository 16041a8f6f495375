#!/bin/bash
# A job that scancel ends in the midst of a search loses nothing: no result, no
# process, no shared memory; the same line goes on, on other ranks.
#
#   cancel.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-cancel "$@"

study 0.1 30
job=$(sbatch --parsable --time=5 --nodes=2 --ntasks-per-node=2 \
    "$scripts/chain.sbatch" my.yaml)
until_true 60 has_results my.h5 5
results my.h5 >first
scancel "$job"
ends 40 "$job"
until_true 20 nothing_left
expect "jobs in the queue" "$(squeue -h)" ""

job=$(sbatch --parsable --time=5 --nodes=1 --ntasks-per-node=3 \
    "$scripts/tune.sbatch" my.yaml)
ends 90 "$job"
expect "code" "$(code "$job")" 0:0
expect "state" "$(field my.h5 state)" "done"
expect "trials" "$(field my.h5 trials)" 30
results my.h5 >all
expect "results twice" "$(uniq -d all)" ""
expect "results lost" "$(comm -23 first all)" ""

# ---- a single drain by hand: USR1 to the batch script ----
rm -f my.h5*
job=$(sbatch --parsable --time=5 --nodes=1 --ntasks-per-node=3 \
    "$scripts/tune.sbatch" my.yaml)
until_true 60 has_results my.h5 3
scancel --signal=USR1 --batch "$job"
ends 40 "$job"
expect "code" "$(code "$job")" 3:0
grep -q '"resumable": true' my.h5.exit || fail "not resumable"
until_true 10 nothing_left
echo "a job that is cancelled goes on where it was"
