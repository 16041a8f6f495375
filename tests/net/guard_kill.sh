#!/bin/bash
# Whoever is killed with SIGKILL, a worker, mpirun, both at once, or all guards
# with their workers, no process of a trial is left: not one that heeds no
# signal, no session of its own, no daemon, no stopped one.  Nor is a scratch
# folder.
#   guard_kill.sh TRIREME MPIEXEC
set -eu

trireme=$1
mpiexec=$2
mark=trireme-guard-kill-$$
folder=$(mktemp -d /tmp/trireme-guard-XXXXXX)
job=
cleanup() {
    [ -z "$job" ] || ranks | xargs -r kill -9 "$job" 2>/dev/null || true
    rm -rf "$folder"
}
trap cleanup EXIT
cd "$folder"

cat >study.yaml <<END
study: guarded
seed: 1
model:
  kind: process
  shell: true
  scratch: scratch/{run}.{rank}
  env: {MARK: $mark}
  command:
    - |
      trap '' TERM HUP INT
      (setsid sh -c 'sleep 1000 & exec >/dev/null 2>&1; wait' &)
      setsid sh -c 'trap "" TERM HUP; sleep 1000' &
      sh -c 'kill -STOP \$\$' &
      echo '{{"step": 1, "loss": 1}}'
      while :; do sleep 1000; done
space: {x: {int: [0, 1000]}}
objective: {minimize: loss}
resource: {unit: steps, min: 2, max: 2, eta: 2}
search: random
finals: none
timeouts: {startup: 600 s, progress: 600 s}
END

# Processes that carry the mark: those of trials, and their guards.
marked() {
    grep -lz "^MARK=$mark\$" /proc/[0-9]*/environ 2>/dev/null |
        sed 's|/proc/||; s|/environ||'
}
ranks() {
    ps -o pid= --ppid "$job"
}
# The ranks that have a trial's process.
workers() {
    for rank in $(ranks); do
        ! pgrep -P "$rank" tri-guard >/dev/null || echo "$rank"
    done
}

# await WHAT COMMAND...: until it succeeds, a minute at most.
await() {
    what=$1
    shift
    for _ in $(seq 1200); do
        ! "$@" || return 0
        sleep 0.05
    done
    echo "$what: not within a minute" >&2
    marked | xargs -r ps -o pid,ppid,stat,args -p >&2
    cat out >&2
    exit 1
}
both_train() { # two guards, and six processes each
    [ "$(marked | wc -l)" -ge 14 ] && [ "$(workers | wc -l)" -eq 2 ]
}
nobody() { [ -z "$(marked)" ]; }
no_scratch() { [ -z "$(ls -A scratch 2>/dev/null)" ]; }
guards() {
    for rank in $(workers); do
        pgrep -P "$rank" tri-guard
    done
}
none_of() { # the ranks are gone
    for pid in "$@"; do
        ! kill -0 "$pid" 2>/dev/null || return 1
    done
}

for victim in worker launcher all guards; do
    "$mpiexec" -n 3 "$trireme" tune study.yaml -o "$victim.h5" --quiet \
        >out 2>&1 &
    job=$!
    await "two trials of $victim" both_train
    mapfile -t all < <(ranks)
    case $victim in
    worker) kill -9 "$(workers | head -n 1)" ;;
    launcher) kill -9 "$job" ;;
    all) kill -9 "$job" "${all[@]}" ;;
    guards)
        mapfile -t both < <(guards; workers)
        kill -9 "${both[@]}"
        ;;
    esac
    wait "$job" 2>/dev/null || true
    # where mpirun is killed its ranks may outlive it for a while
    await "the ranks' end after a kill of $victim" none_of "${all[@]}"
    await "the trials' end after a kill of $victim" nobody
    await "the scratch folders' end after a kill of $victim" no_scratch
    job=
    echo "kill -9 of $victim: nobody is left"
done
