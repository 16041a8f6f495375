#!/bin/bash
# Two jobs, each too short for the study, end it between them: the first drains
# before its time limit, the second goes on with what it left.  Once with a job
# that depends on the first, and the drain by the deadline; once with one job
# that is requeued, and the drain by Slurm's signal.
#
#   chain.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-chain "$@"

study 0.8 16

# The second link of a chain by dependency, "" while there is none.
second() { sed -n 's/.*; job \([0-9]*\) follows$/\1/p' "job.$1.log" 2>/dev/null; }
has_second() { [ -n "$(second "$1")" ]; }

# ---- by dependency: the drain starts at the deadline, which is as long before
# the end of a minute as TRIREME_MARGIN_S says; USR1 would come later ----
export TRIREME_MARGIN_S=40 TRIREME_CHAIN=dependency
export TRIREME_SBATCH="--nodes=2 --ntasks-per-node=2 --time=1 --signal=B:USR1@1"
read -r -a options <<<"$TRIREME_SBATCH"
job=$(sbatch --parsable "${options[@]}" "$scripts/chain.sbatch" my.yaml a.h5)
until_true 60 has_second "$job"
grep -q 'for the deadline of the job\|not end before the deadline' \
    "job.$job.log" || fail "the first job did not end for its deadline"
ends 60 "$job"
next=$(second "$job")
results a.h5 >first || true
ends 90 "$next"
while has_second "$next"; do # a slow machine takes a third
    next=$(second "$next")
    ends 90 "$next"
done
expect "code of the first link" "$(code "$job")" 3:0
expect "code of the last link" "$(code "$next")" 0:0
expect "state" "$(field a.h5 state)" "done"
expect "trials" "$(field a.h5 trials)" 16
results a.h5 >all
expect "results twice" "$(uniq -d all)" ""
expect "results lost" "$(comm -23 first all)" ""
[ "$(field a.h5 epoch)" -ge 2 ] || fail "one opening only"

# ---- a link after the end has nothing to do ----
job=$(sbatch --parsable "${options[@]}" "$scripts/chain.sbatch" my.yaml a.h5)
ends 30 "$job"
expect "code of a link too many" "$(code "$job")" 0:0
grep -q 'done already' "job.$job.log" || fail "the study is opened again"

# ---- by requeue: Slurm sends USR1 from 50 s before the limit on, up to a minute
# early, long before this study would end ----
unset TRIREME_SBATCH
export TRIREME_CHAIN=requeue TRIREME_MARGIN_S=1
study 2.5 16
job=$(sbatch --parsable --nodes=2 --ntasks-per-node=2 --time=1 \
    --signal=B:USR1@50 "$scripts/chain.sbatch" my.yaml b.h5)
until_true 60 grep -qs 'back into the queue' "job.$job.log"
grep -q 'drained for a signal' "job.$job.log" || fail "not drained by USR1"
results b.h5 >first
# Enough for now: a budget may change between openings.
sed -i 's/trials: 16/trials: 3/' my.yaml
until_true 40 job_is "$job" PENDING
scontrol update jobid="$job" timelimit=5
ends 120 "$job"
expect "code of the requeued job" "$(code "$job")" 0:0
expect "state" "$(field b.h5 state)" "done"
results b.h5 >all
expect "results twice" "$(uniq -d all)" ""
expect "results lost" "$(comm -23 first all)" ""

until_true 10 nothing_left
echo "two jobs end a study, by dependency and by requeue"
