#!/bin/bash
# The ways to start trireme under Slurm: srun with PMIx, mpirun in a batch job on
# one node and on several; srun without PMIx is refused, once, with advice; the
# report after a job.
#
#   launch.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-launch "$@"

study 0.01 12

# ---- srun without PMIx ----
status=0
timeout 60 srun -N2 -n4 "$TRIREME" tune my.yaml -o none.h5 >out 2>&1 ||
    status=$?
expect "status without PMIx" $status 1
expect "advice" "$(grep -c 'srun --mpi=pmix' out)" 1
expect "words of Open MPI" "$(grep -c 'direct launched' out || true)" 0
[ ! -e none.h5 ] || fail "a refused start wrote a study"

# ---- srun with PMIx, two nodes ----
timeout 60 srun --mpi=pmix -N2 -n4 "$TRIREME" tune my.yaml -o srun.h5 \
    >out 2>&1 || fail "srun --mpi=pmix ended with $?"
grep -q 'survival level resume' out || fail "no survival level in the log"
expect "state under srun" "$(field srun.h5 state)" "done"

# ---- tune.sbatch: one node, several nodes, by srun ----
for shape in "--nodes=1 --ntasks-per-node=3" "--nodes=3 --ntasks-per-node=2"; do
    read -r -a options <<<"$shape"
    rm -f batch.h5 batch.h5.exit
    job=$(sbatch --parsable --time=5 "${options[@]}" "$scripts/tune.sbatch" \
        my.yaml batch.h5)
    ends 60 "$job"
    expect "code of $shape" "$(code "$job")" 0:0
    expect "state of $shape" "$(field batch.h5 state)" "done"
    grep -q 'survival level heartbeat' "job.$job.log" ||
        fail "the recovery flags do not reach the ranks"
    grep -q 'TRIREME_DEADLINE' "job.$job.log" || fail "no deadline in the log"
done
rm -f batch.h5 batch.h5.exit
job=$(TRIREME_LAUNCH='srun --mpi=pmix' sbatch --parsable --time=5 --nodes=2 \
    --ntasks-per-node=2 "$scripts/tune.sbatch" my.yaml batch.h5)

# ---- after.sbatch, once that has ended ----
after=$(sbatch --parsable --dependency="afterany:$job" \
    "$scripts/after.sbatch" batch.h5)
ends 90 "$after"
expect "code by srun" "$(code "$job")" 0:0
expect "code of the report" "$(code "$after")" 0:0
for file in status.txt status.json best.txt best.json trials.csv runs.csv \
    report.html; do
    [ -s "batch.report/$file" ] || fail "no batch.report/$file"
done

# ---- a study that cannot be read ----
echo "model: {kind: gpt" >my.yaml
job=$(sbatch --parsable --time=5 --nodes=1 --ntasks-per-node=3 \
    "$scripts/tune.sbatch" my.yaml bad.h5)
ends 60 "$job"
expect "code of a bad study" "$(code "$job")" 1:0

until_true 10 nothing_left
echo "started by srun, by mpirun on one node and on three; refused without PMIx"
