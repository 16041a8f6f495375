#!/bin/bash
# What `best --emit slurm` prints is a batch script that Slurm takes and that
# trains the winner.
#
#   winner.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
. "$(dirname "$0")/lib.sh" slurm-winner "$@"

cat >my.yaml <<END
study: my
seed: 4
model: {kind: gpt, layers: 2, hidden: 32, heads: 2, sequence: 16, vocab: 256}
space: {dp: {choice: [1, 2]}, micro_batch: {choice: [1, 2]}, global_batch: 4}
ranks: dp
objective: {maximize: tokens_per_s, compare: total}
resource: {unit: steps, min: 2, max: 4, eta: 2}
search: random
budget: {trials: 3}
finals: none
END
timeout 100 srun --mpi=pmix -N1 -n3 "$TRIREME" tune my.yaml >out 2>&1 ||
    fail "tune ended with $?"
PATH=$(dirname "$TRIREME"):$PATH
"$TRIREME" best my.h5 --emit slurm >winner.sbatch
sbatch --test-only winner.sbatch >>out 2>&1 ||
    fail "sbatch does not take the script: $(cat winner.sbatch)"
job=$(sbatch --parsable --time=2 winner.sbatch)
ends 60 "$job"
expect "code of the winner's job" "$(code "$job")" 0:0
grep -q loss "job.$job.log" || fail "no losses in the job's log"
echo "the winner's script trains it"
