#!/bin/bash
# The cluster of these tests: what is killed comes up again, zombies or not, and
# another shape than what is there is refused.
#
#   sandbox.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-sandbox "$@"

refused() { # WHAT is said, ARGUMENTS of up
    local said=$1 status=0
    shift
    "$scripts/sandbox" up "$@" >out 2>&1 || status=$?
    expect "status of up $*" "$status" 1
    grep -q "$said" out || fail "up $*: no '$said'"
}
refused 'has 3 nodes of 4 cores' 5
refused 'has 3 nodes of 4 cores' 3 2
refused "not 'many'" many

mapfile -t daemons < <(cat "$sandbox"/run/*.pid)
kill -9 "${daemons[@]}"
"$scripts/sandbox" up 3 4 >out 2>&1 || fail "the daemons did not come up again"
expect "answer" "$(srun -N 3 --ntasks-per-node=1 echo here | grep -c here)" 3
echo "what was killed came up again"
