#!/bin/bash
# A job over three virtual hosts (network namespaces): one of them is cut off
# or killed.  Its ranks are struck, what they did is done again by the others,
# and rank 0 ends the study by itself.  Where it is cut off for 5 s only, while
# the first groups connect, nobody is missed.
#   hosts.sh TRIREME MPIEXEC cut|kill|stall
# Needs root, ip, nsenter and unshare, and a kernel that lets them; ends with 77
# elsewhere.  Makes namespaces of its own, and removes them.
set -euo pipefail

trireme=$1
mpiexec=$(command -v "$2")
mode=$3
folder=$(mktemp -d /tmp/trireme-hosts-XXXXXX)

cleanup() {
    virtual_remove
    rm -rf "$folder"
}
trap cleanup EXIT
# shellcheck source=tests/net/virtual.sh
. "$(dirname "$0")/virtual.sh" "$folder" 3

cd "$folder"
cat > study.yaml << 'END'
study: hosts
seed: 5
model: {kind: gpt, layers: 2, hidden: 32, heads: 4, sequence: 32, vocab: 256}
space:
  dp: {choice: [1, 2, 4]}
  micro_batch: {choice: [1, 2]}
  tp: {choice: [1, 2, 4]}
  pp: {choice: [1, 2]}
  global_batch: 16
constraints: [dp * tp * pp == 4]
ranks: dp * tp * pp
objective: {minimize: loss}
resource: {unit: steps, min: 10, max: 40, eta: 4}
search: random
budget: {trials: 8}
finals: {top: 2, repeats: 2}
timeouts: {startup: 20 s, progress: 6 s, grace: 1 s}
END
[ "$mode" != stall ] || sed -i 's/progress: 6 s/progress: 30 s/' study.yaml

"$virtual_on" h0 "$mpiexec" "${virtual_mpirun[@]}" --enable-recovery \
    -mca orte_abort_on_non_zero_status 0 -host h0:5,h1:2,h2:2 -n 9 \
    "$trireme" tune study.yaml -o hosts.h5 \
    > out 2>&1 &
job=$!

n_results() {
    "$trireme" export hosts.h5 --table runs --format csv 2> /dev/null |
        grep -c finished || true
}

fail() {
    echo "$mode: $1" >&2
    cat out >&2
    exit 1
}

is_time() {
    if [ "$mode" = stall ]; then
        grep -q 'runs so far' out
    else
        [ "$(n_results)" -ge 2 ]
    fi
}

tries=0
until is_time; do
    tries=$((tries + 1))
    [ "$tries" -lt 400 ] || fail "no result came"
    kill -0 "$job" 2> /dev/null || fail "the job ended early"
    sleep 0.1
done
case $mode in
cut) virtual_switch link set v2 down ;;
kill) virtual_pids h2 | xargs -r kill -9 2> /dev/null || true ;;
stall)
    virtual_switch link set v2 down
    sleep 5
    virtual_switch link set v2 up
    ;;
esac
tries=0
while [ ! -e hosts.h5.exit ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 1200 ] || fail "the study did not end"
    sleep 0.1
done
grep -q '"status": 0[,}]' hosts.h5.exit || fail "$(cat hosts.h5.exit)"
"$trireme" replay hosts.h5 || fail "the record is wrong"
# somebody of that host; nobody of another, but for those who were forming a
# group with it, which never returns to them
grep -E 'warn.*rank [0-9]+ on h[0-9]+ (is struck|.*: lost)' out > struck || true
if [ "$mode" = stall ]; then
    [ ! -s struck ] || fail "a false alarm: $(cat struck)"
    ! "$trireme" export hosts.h5 --table runs --format csv | grep -q ',lost,' ||
        fail "a run was lost"
else
    grep -q ' on h2 ' struck || fail "nobody of h2 was struck"
fi
! grep -q ' on h0 ' struck || fail "struck: $(cat struck)"
# ranks that are there still end by themselves; those cut off have the lease
ranks_on() {
    virtual_pids "$1" | xargs -r -n1 ps -o args= -p 2> /dev/null |
        grep -c "^$trireme tune" || true
}
tries=0
while [ "$(ranks_on h0)" -gt 0 ] || [ "$(ranks_on h1)" -gt 0 ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] || fail "ranks did not end"
    sleep 0.1
done
echo "$mode: ok"
