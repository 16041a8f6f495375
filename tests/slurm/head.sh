#!/bin/bash
# Rank 0 is killed, or a rank dies before MPI has started: the job does not wait
# for a launcher that waits for ever, says what it was, and what was measured is
# there for the next one; a chain goes on by itself.
#
#   head.sh TRIREME SOURCE_DIR
# shellcheck source=tests/slurm/lib.sh
scripts=$2/scripts/slurm
. "$(dirname "$0")/lib.sh" slurm-head "$@"
export TRIREME_LINGER_S=3
shape=(--time=5 --nodes=2 --ntasks-per-node=2)

# kill_head: the process of rank 0, and nothing else
kill_head() {
    local pid
    for pid in $(pgrep -f "^$TRIREME tune my.yaml"); do
        if tr '\0' '\n' <"/proc/$pid/environ" |
            grep -qx OMPI_COMM_WORLD_RANK=0; then
            kill -9 "$pid"
        fi
    done
}

# ---- a chain, in the midst of its first job ----
study 0.1 40
job=$(TRIREME_CHAIN=dependency TRIREME_SBATCH="${shape[*]}" \
    sbatch --parsable "${shape[@]}" "$scripts/chain.sbatch" my.yaml)
until_true 60 has_results my.h5 3
results my.h5 >first
kill_head
ends 60 "$job"
expect "code" "$(code "$job")" 4:0
grep -q 'rank 0 was killed' "job.$job.log" || fail "it is not said"
next=$(sed -n 's/.*; job \([0-9]*\) follows$/\1/p' "job.$job.log")
[ -n "$next" ] || fail "the chain stops"
ends 120 "$next"
expect "code of the next link" "$(code "$next")" 0:0
expect "trials" "$(field my.h5 trials)" 40
results my.h5 >all
expect "results twice" "$(uniq -d all)" ""
expect "results lost" "$(comm -23 first all)" ""
until_true 20 nothing_left

# ---- a rank that never comes to MPI_Init ----
cat >some <<'END'
#!/bin/bash
[ "$OMPI_COMM_WORLD_RANK" != 2 ] || kill -9 $$
exec "$REAL" "$@"
END
chmod +x some
export REAL=$TRIREME
job=$(TRIREME=$place/some TRIREME_INIT_S=3 \
    sbatch --parsable "${shape[@]}" "$scripts/tune.sbatch" my.yaml none.h5)
ends 60 "$job"
expect "code" "$(code "$job")" 4:0
grep -q 'MPI_Init was not done' "job.$job.log" || fail "it is not said"
[ ! -e none.h5 ] || fail "a study was begun"
until_true 20 nothing_left
echo "without rank 0, or with a rank that never came, the job ends by itself"
