#!/bin/bash
# A daemon of Slurm dies alone, and what it had started lives on.  On one node of
# several: the study does not notice.  On a job's first node: Slurm gives the
# node up, ends what it reaches of the job and starts it again, and the study
# goes on in a second opening.
#
#   deaf.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-deaf "$@"

end() { # the nodes come back, whatever happens
    local status=$?
    "$scripts/sandbox" up >/dev/null 2>&1 || true
    finish $status
}
trap end EXIT
export TRIREME_LINGER_S=3

study 0.05 20
job=$(sbatch --parsable --time=5 --nodes=2 --ntasks-per-node=2 \
    "$scripts/tune.sbatch" my.yaml)
until_true 60 has_results my.h5 3
"$scripts/sandbox" deafen "$(last_node "$job")"
until_true 60 test -e my.h5.exit
grep -q '"status": 0' my.h5.exit || fail "it ended with $(cat my.h5.exit)"
expect "trials" "$(field my.h5 trials)" 20
! grep -q 'struck\|: lost' "job.$job.log" || fail "a rank was missed"
scancel "$job" # its node does not answer, so it would stay for long
"$scripts/sandbox" up >/dev/null
until_true 60 job_is "$job" 'COMPLETED|CANCELLED'

# ---- the first node of a job ----
rm -f my.h5*
study 2 40
job=$(sbatch --parsable --time=10 --nodes=1 --ntasks-per-node=3 \
    "$scripts/tune.sbatch" my.yaml)
until_true 60 has_results my.h5 2
results my.h5 >first
ranks=$(pgrep -f "^$TRIREME tune my.yaml" | sort)
"$scripts/sandbox" deafen "$(last_node "$job")"
until_true 120 started_again "$job"
until_true 60 has_epoch my.h5 2
is_over() { # all that the first job had started
    local pid
    for pid in $ranks; do
        [ ! -e "/proc/$pid" ] || return 1
    done
}
until_true 60 is_over
sed -i 's/trials: 40/trials: 1/' my.yaml # enough for now
scancel --signal=USR1 --batch "$job"
ends 60 "$job"
results my.h5 >all
expect "results twice" "$(uniq -d all)" ""
expect "results lost" "$(comm -23 first all)" ""
until_true 20 nothing_left
echo "where a daemon died alone nothing was lost, and nothing done twice"
