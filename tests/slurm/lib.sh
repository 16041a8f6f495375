#!/bin/bash
# What the tests under a real Slurm share: they source this.  The cluster is
# tests' own (scripts/slurm/sandbox), started by the fixture slurm_up; the tests
# run one at a time in folders of their own.
#
#   . lib.sh NAME TRIREME SOURCE_DIR
# shellcheck disable=SC2034  # for those who source this
set -euo pipefail

test_name=$1
export TRIREME=$2
scripts=$3/scripts/slurm

"$scripts/sandbox" check || exit 77
sandbox=${TRIREME_SANDBOX:?of the fixture slurm_up}
export SLURM_CONF=$sandbox/slurm.conf
[ -s "$SLURM_CONF" ] || {
    echo "the cluster is not up: run the test slurm_up before"
    exit 1
}

place=$(mktemp -d "/tmp/trireme-$test_name-XXXXXX")
cd "$place"
export SBATCH_OUTPUT=$place/job.%j.log
unset SLURM_JOB_ID TRIREME_DEADLINE

finish() { # [STATUS]
    local status=${1:-$?}
    timeout 10 squeue -h -o %i | xargs -r timeout 10 scancel --quiet || true
    if [ $status != 0 ] && [ $status != 77 ]; then
        tail -n 40 ./*.log out 2>/dev/null || true
        timeout 10 squeue || true
    fi
    cd /
    rm -rf "$place"
}
trap finish EXIT

fail() {
    echo "$test_name: $*"
    exit 1
}

expect() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || fail "$1: '$2' instead of '$3'"
}

# until_true SECONDS COMMAND...
until_true() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $end ] || fail "not in time: $*"
        sleep 0.2
    done
}

job_is() { # JOB STATE...: as sinfo has it, by grep
    timeout 10 scontrol show job "$1" | grep -qE "JobState=($2)"
}

ends() { # SECONDS JOB
    until_true "$1" job_is "$2" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL'
}

# The job's exit code, "status:signal".
code() {
    scontrol show job "$1" | sed -n 's/.* ExitCode=\([0-9:]*\).*/\1/p' |
        head -n 1
}

# The last node of a job.
last_node() { # JOB
    scontrol show hostnames "$(squeue -h -j "$1" -o %N)" | tail -n 1
}

started_again() { # JOB
    timeout 10 scontrol show job "$1" | grep -q 'Restarts=[1-9]' &&
        job_is "$1" RUNNING
}

has_epoch() { # FILE.h5 N
    [ "$(field "$1" epoch)" = "$2" ]
}

# study COST TRIALS [OBJECTIVE]: my.yaml, of runs that last COST seconds a step
study() {
    cat >my.yaml <<END
study: my
seed: 4
model: {kind: synthetic, cost: $1}
space: {x: {int: [0, 99]}, n: {choice: [1, 2]}}
ranks: n
objective: ${3:-"{minimize: loss}"}
resource: {unit: steps, min: 1, max: 9, eta: 3}
search: random
budget: {trials: $2}
timeouts: {grace: 2 s}
finals: none
END
}

# field FILE.h5 NAME: a number or word of `status --json`
field() {
    "$TRIREME" status --json "$1" 2>/dev/null |
        sed -n "s/.*\"$2\":\"\{0,1\}\([^\",}]*\).*/\1/p"
}

# The finished runs as "trial,rung", each on a line, sorted.
results() { # FILE.h5
    "$TRIREME" export "$1" --table runs --format csv |
        sed 's/"[^"]*"/quoted/g' |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["status"] == "finished" {
                print $at["trial"] "," $at["rung"] }' | sort
}

n_results() { results "$1" 2>/dev/null | wc -l; }

has_results() { # FILE.h5 N
    [ "$(n_results "$1")" -ge "$2" ]
}

# Nothing of a job stays: no process of trireme, no shared memory of its own.
# Another cluster of this machine may have both.
nothing_left() {
    local cluster
    cluster=$(sed -n 's/^ClusterName=//p' "$SLURM_CONF")
    ! pgrep -f "^$TRIREME tune my.yaml" >/dev/null &&
        ! ls -d /dev/shm/trireme.[0-9]*."$cluster".* >/dev/null 2>&1
}
