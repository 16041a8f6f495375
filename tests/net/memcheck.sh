#!/bin/sh
# A study of eight ranks in which rank 0, a leader and a member use no memory
# that is not theirs: a small engine, in groups of one to four ranks, with
# checkpoints and finals.  Under Valgrind those three ranks; in a build with
# sanitizers all of them.
#   memcheck.sh TRIREME MPIEXEC SUPPRESSIONS valgrind|sanitizers
set -eu

trireme=$1
mpiexec=$2
suppressions=$3
how=$4
if [ "$how" = valgrind ] && ! command -v valgrind > /dev/null; then
    echo "skipped: there is no valgrind"
    exit 77
fi
folder=$(mktemp -d /tmp/trireme-memcheck-XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > study.yaml << 'END'
study: memcheck
seed: 3
model: {kind: gpt, layers: 4, hidden: 16, heads: 2, sequence: 8, vocab: 64, data: builtin}
space:
  dp: {choice: [1, 2]}
  tp: {choice: [1, 2]}
  pp: {choice: [1, 2]}
  micro_batch: {choice: [1, 2]}
  global_batch: 4
constraints: [dp * tp * pp <= 4]
ranks: dp * tp * pp
objective: {minimize: loss}
baseline: {dp: 1, tp: 2, pp: 2, micro_batch: 1}
resource: {unit: steps, min: 1, max: 4, eta: 2}
budget: {trials: 8}
finals: {top: 1, repeats: 2}
timeouts: {startup: 100 s, progress: 100 s}
checkpoints: {dir: .}
END

# Ranks 0, 1 and 2; the others as they are.
cat > under << 'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-0}
if [ "$rank" -gt 2 ]; then
    exec "$@"
fi
exec valgrind --quiet --error-exitcode=99 --log-file="found.$rank" \
    --num-callers=20 --suppressions="$MPI_SUPPRESSIONS" \
    --suppressions="$SUPPRESSIONS" "$@"
END
chmod +x under

set -- "$trireme"
[ "$how" = valgrind ] && set -- ./under "$@"
prefix=$(dirname "$(dirname "$(readlink -f "$(command -v "$mpiexec")")")")
MPI_SUPPRESSIONS=$prefix/share/openmpi/openmpi-valgrind.supp
[ -r "$MPI_SUPPRESSIONS" ] || MPI_SUPPRESSIONS=/dev/null
SUPPRESSIONS=$suppressions
export MPI_SUPPRESSIONS SUPPRESSIONS

status=0
"$mpiexec" -n 8 "$@" tune study.yaml -o study.h5 --quiet \
    > out 2> err || status=$?
# Errors have two signs; one is of system calls that this Valgrind does not know
# and answers as an older system would.
cat found.[0-9]* 2> /dev/null | grep '^==' > found || :
if [ -s found ] || [ "$status" -ne 0 ] ||
    grep -q 'AddressSanitizer\|runtime error' out err; then
    echo "status $status" >&2
    cat out err >&2
    head -c 20000 found >&2
    exit 1
fi
replayed=$("$trireme" replay study.h5 --json)
case $replayed in
*'"mismatches":0'* | *'"mismatches": 0'*) ;;
*)
    echo "$replayed" >&2
    exit 1
    ;;
esac
"$trireme" status study.h5 --json
