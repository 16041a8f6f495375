#!/bin/bash
# Runs the batch scripts without Slurm: stand-ins for Slurm's commands, mpirun
# and trireme on PATH record what they were told.
#
#   scripts.sh SCRIPTS_DIR
# shellcheck disable=SC2016  # texts for stand-ins
set -euo pipefail

scripts=$1
place=$(mktemp -d)
trap 'rm -rf "$place" /dev/shm/trireme.9999999.*' EXIT
cd "$place"
mkdir bin
export PATH=$place/bin:$PATH SLURM_JOB_ID=9999999 TRIREME_MARGIN_S=60
unset TRIREME TRIREME_LAUNCH TRIREME_DEADLINE SLURM_JOB_END_TIME \
    TRIREME_CHAIN TRIREME_LINK TRIREME_LINKS TRIREME_SBATCH TRIREME_TUNE \
    TRIREME_SCRIPT SLURM_RESTART_COUNT SLURM_JOB_NUM_NODES \
    SLURM_CLUSTER_NAME PMIX_RANK SLURM_PROCID
export TRIREME_LINGER_S=1

stand_in() { # NAME, text on standard input
    { echo '#!/bin/bash' && cat; } >"bin/$1"
    chmod +x "bin/$1"
}
stand_in squeue <<'END'
[ "${QUEUE_KNOWS:-yes}" = yes ] || exit 1
echo 2031-05-06T07:08:09
END
stand_in scontrol <<'END'
[ "$1" != show ] || { echo "   Command=$SCRIPT some/where/my.yaml "; exit; }
echo "$*" >>scontrol.log
END
export SCRIPT=$scripts/chain.sbatch
stand_in sbatch <<<'echo "$*" >>sbatch.log; echo "$TRIREME_LINK" >>link.log
echo 78'
# as mpirun: runs the command behind its options, hands USR1 on
stand_in mpirun <<'END'
echo "$*" >mpirun.log
[ "$MODE" != usage ] || exit 1
while [ "$1" != bash ]; do shift; done
OMPI_COMM_WORLD_RANK=0 "$@" &
trap 'kill -USR1 $!' USR1
trap '' TERM
status=0
wait $! || status=$?
[ $status -le 128 ] || { wait $!; status=$?; }
[ "$MODE" != killed ] || status=1 # of another rank, say
case $MODE in outlived | dead | early) sleep 60 ;; esac
[ "$MODE" != fault ] || status=0 # as with recovery
exit $status
END
stand_in trireme <<'END'
echo "$*" >>commands.log
if [ "$1" = status ]; then
    cat "standing.$(ls standing.* | wc -l)" 2>/dev/null
    exit
fi
echo "$*" >trireme.log
echo "${TRIREME_DEADLINE:-none}" >deadline.log
echo "$OMPI_MCA_btl_vader_backing_directory" >shm.log
output=$4
end() { # STATUS REASON RESUMABLE
    epoch=$((1 + $(cat epoch 2>/dev/null || echo 0)))
    echo $epoch >epoch
    echo "{\"status\": $1, \"reason\": \"$2\", \"epoch\": $epoch," \
        "\"resumable\": $3}" >"$output.exit"
    exit "$1"
}
[ "$MODE" != hold ] || [ ! -e new ] || mv new standing.2
case $MODE in
finish | outlived) end 0 'done: "all", it says' false ;;
over) end 0 'done already' false ;;
refuse) echo 1 >"$TRIREME_EXIT"; exit 1 ;;
fault | early) echo 4 >"$TRIREME_EXIT"; exit 4 ;;
silent) exit 0 ;;
dead | killed) [ ! -e new ] || mv new standing.2; kill -9 $$ ;;
crash) exit 99 ;;
deadline) [ ! -e new ] || mv new standing.2; end 3 deadline true ;;
esac
trap 'end 3 signal true' USR1
touch ready
for ((i = 0; i < 200; i++)); do sleep 0.05; done
END

expect() { # WHAT GOT WANTED
    [ "$2" = "$3" ] || {
        echo "$1: '$2' instead of '$3'"
        cat out
        exit 1
    }
}

log() { cat "$1.log" 2>/dev/null || true; }

run() { # MODE [SCRIPT [STUDY]]
    rm -f ./*.log ready out
    status=0
    MODE=$1 "$scripts/${2:-tune}.sbatch" "${3:-some/where/my.yaml}" \
        >out 2>&1 || status=$?
}

signal_run() { # SIGNAL [SCRIPT]: once trireme is up
    rm -f ./*.log ready out
    MODE="hold" "$scripts/${2:-tune}.sbatch" some/where/my.yaml >out 2>&1 &
    local pid=$!
    for ((i = 0; i < 200; i++)); do
        [ ! -e ready ] || break
        sleep 0.05
    done
    kill "-$1" "$pid"
    status=0
    wait "$pid" || status=$?
}

# ---- tune.sbatch ----

run finish
expect status "$status" 0
expect command "$(log trireme)" "tune some/where/my.yaml -o my.h5 --resume"
expect deadline "$(log deadline)" \
    $(($(date -d 2031-05-06T07:08:09 +%s) - 60))
expect recovery "$(log mpirun | grep -c -- '--enable-recovery')" 1
expect segments "$(log shm)" /dev/shm/trireme.9999999.slurm.node
SLURM_CLUSTER_NAME=big run finish
expect segments "$(log shm)" /dev/shm/trireme.9999999.big.node
expect swept "$(ls -d /dev/shm/trireme.9999999.* 2>/dev/null || true)" ""

QUEUE_KNOWS=no SLURM_JOB_END_TIME=2000000000 run finish
expect deadline "$(log deadline)" 1999999940
# of the job that submitted this one, say
TRIREME_DEADLINE=5 QUEUE_KNOWS=no run finish
expect deadline "$(log deadline)" none

# mpirun that outlives ranks has no status of theirs
run refuse
expect status "$status" 1
run fault
expect status "$status" 4
expect opened "$(grep -c 'not opened: see above' out)" 1
run silent
expect status "$status" 4
run usage # of mpirun
expect status "$status" 1
run crash
expect status "$status" 4
# rank 0 is gone without a word, whatever its launcher has to say of that
run killed
expect status "$status" 4
expect killed "$(grep -c 'rank 0 was killed' out)" 1
run dead
expect status "$status" 4
expect outlived "$(grep -c 'rank 0 is dead, but its launcher' out)" 1
expect killed "$(grep -c 'rank 0 was killed' out)" 1
# a rank never came to the start, and its launcher waits for it
run early
expect status "$status" 4
expect outlived "$(grep -c 'rank 0 has ended, but its launcher' out)" 1
rm my.h5.exit
run fault
expect status "$status" 4
expect swept "$(ls -d /dev/shm/trireme.9999999.* 2>/dev/null || true)" ""
run outlived
expect status "$status" 0
expect outlived "$(grep -c 'it was ended' out)" 1

refused() { # SETTING, WHAT is expected, [SCRIPT]
    run finish "${3:-tune}"
    expect "status of ${1%%=*}" "$status" 1
    expect "${1%%=*}" "$(grep -c "$1.*$2 is expected" out)" 1
    expect commands "$(log commands)" ""
}
TRIREME_MARGIN_S=1m refused "TRIREME_MARGIN_S is '1m'" "number of seconds"
TRIREME_LINGER_S=-1 refused "TRIREME_LINGER_S is '-1'" "number of seconds"
TRIREME_LINKS=abc refused "TRIREME_LINKS is 'abc'" "number of jobs" chain
TRIREME_MARGIN_S=090 run finish
expect deadline "$(log deadline)" \
    $(($(date -d 2031-05-06T07:08:09 +%s) - 90))

run finish tune ./-dash.yaml
expect status "$status" 0
expect command "$(log trireme)" "tune ./-dash.yaml -o ./-dash.h5 --resume"
run finish tune -dash.yaml
expect status "$status" 0
expect command "$(log trireme)" "tune ./-dash.yaml -o ./-dash.h5 --resume"

for signal in USR1 TERM; do
    signal_run $signal
    expect status "$status" 3
    expect requeue "$(log scontrol)" ""
done

# ---- chain.sbatch ----

rm -f standing.*
standing() { # FINISHED RUNS REPEATED
    echo "{\"runs\":$2,\"finished\":$1,\"running\":0,\"repeated_steps\":$3}"
}
chain() { # MODE BEFORE AFTER
    rm -f standing.* new epoch my.h5.exit
    # shellcheck disable=SC2086  # three words each
    standing $2 >standing.1 && standing $3 >new
    run "$1" chain
}

rm -f my.h5.exit
chain deadline "0 0 0" "3 5 8"
expect status "$status" 3
expect requeue "$(log scontrol)" "requeue 9999999"
chain deadline "3 5 8" "3 7 8" # runs that saved what they had done
expect requeue "$(log scontrol)" "requeue 9999999"
chain deadline "3 5 8" "3 7 9"
expect requeue "$(log scontrol)" ""
chain deadline "3 5 8" "3 5 8"
expect requeue "$(log scontrol)" ""
chain refuse "0 0 0" "0 0 0"
expect status "$status" 1
expect requeue "$(log scontrol)" ""

# rank 0 was killed: what it had finished is kept
chain killed "3 5 8" "4 7 8"
expect status "$status" 4
expect requeue "$(log scontrol)" "requeue 9999999"
chain killed "3 5 8" "3 7 8"
expect status "$status" 4
expect requeue "$(log scontrol)" ""
expect reason "$(grep -c 'before any run finished' out)" 1
chain fault "3 5 8" "3 5 8"
expect requeue "$(log scontrol)" ""

TRIREME_LINKS=3 SLURM_RESTART_COUNT=2 chain deadline "0 0 0" "3 5 8"
expect requeue "$(log scontrol)" ""

TRIREME_CHAIN=dependency TRIREME_SBATCH="--nodes=4 -t 60" \
    chain deadline "0 0 0" "3 5 8"
expect requeue "$(log scontrol)" ""
expect next "$(log sbatch)" "--parsable --dependency=afterany:9999999 \
--nodes=4 -t 60 $scripts/chain.sbatch some/where/my.yaml my.h5"
expect link "$(log link)" 2

TRIREME_CHAIN=none chain deadline "0 0 0" "3 5 8"
expect next "$(log scontrol)$(log sbatch)" ""
TRIREME_CHAIN=ring run deadline chain
expect status "$status" 1

chain finish "0 0 0" "3 5 8"
expect status "$status" 0
expect next "$(log scontrol)$(log sbatch)" ""
run deadline chain # of a study that is done, with a larger budget
expect status "$status" 3
expect requeue "$(log scontrol)" "requeue 9999999"
run over chain
expect status "$status" 0
expect requeue "$(log scontrol)" ""
run finish chain ./-dash.yaml
expect status "$status" 0
expect command "$(log trireme)" "tune ./-dash.yaml -o ./-dash.h5 --resume"

# ---- a folder with a blank ----

original=$scripts
scripts="$place/a b"
SCRIPT=$scripts/chain.sbatch
mkdir "$scripts"
cp "$original"/*.sbatch "$scripts"
chain deadline "0 0 0" "3 5 8"
expect status "$status" 3
expect requeue "$(log scontrol)" "requeue 9999999"
TRIREME_CHAIN=dependency chain deadline "0 0 0" "3 5 8"
expect next "$(log sbatch)" "--parsable --dependency=afterany:9999999 \
$scripts/chain.sbatch some/where/my.yaml my.h5"
scripts=$original
SCRIPT=$scripts/chain.sbatch

# ---- a chain that is ended ----

stopped_chain() { # SIGNAL
    rm -f my.h5.exit standing.* new
    standing 0 0 0 >standing.1
    standing 3 5 8 >new
    signal_run "$1" chain
    expect status "$status" 3
}
stopped_chain TERM # by scancel
expect requeue "$(log scontrol)" ""
QUEUE_KNOWS=no SLURM_JOB_END_TIME=$(date +%s) stopped_chain TERM # at the limit
expect requeue "$(log scontrol)" "requeue 9999999"
QUEUE_KNOWS=no stopped_chain TERM # of which nothing is known
expect requeue "$(log scontrol)" ""
stopped_chain USR1
expect requeue "$(log scontrol)" "requeue 9999999"

# ---- after.sbatch ----

stand_in trireme <<'END'
echo "$*" >>commands.log
case $1 in
best) [ "$MODE" != nothing ] || exit 2; echo winner ;;
report) exit 1 ;;
*) echo "$1" ;;
esac
END
MODE=some "$scripts/after.sbatch" my.h5 >out 2>&1
expect files "$(cd my.report && echo *)" "best.json best.sbatch best.txt \
runs.csv status.json status.txt trials.csv"
rm -r my.report
status=0
MODE=nothing "$scripts/after.sbatch" my.h5 report >out 2>&1 || status=$?
expect status "$status" 2
expect files "$(cd report && echo *)" \
    "runs.csv status.json status.txt trials.csv"
echo "tune, chain and after do as they say"
