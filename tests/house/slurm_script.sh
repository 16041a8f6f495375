#!/bin/bash
# Runs tune.sbatch without Slurm: stand-ins for squeue, scontrol, mpirun and trireme
# on PATH record what they were told.
#
#   slurm_script.sh SCRIPT
# shellcheck disable=SC2016  # texts for stand-ins
set -euo pipefail

script=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
mkdir bin
export PATH=$place/bin:$PATH SLURM_JOB_ID=77 TRIREME_MARGIN_S=60
unset TRIREME TRIREME_LAUNCH TRIREME_DEADLINE SLURM_JOB_END_TIME

stand_in() { # NAME, text on standard input
    { echo '#!/bin/bash' && cat; } >"bin/$1"
    chmod +x "bin/$1"
}
stand_in squeue <<'END'
[ "${QUEUE_KNOWS:-yes}" = yes ] || exit 1
echo 2031-05-06T07:08:09
END
stand_in scontrol <<<'echo "$*" >>scontrol.log'
# as mpirun: runs the command behind its options, hands USR1 on
stand_in mpirun <<'END'
while [[ $1 == -* ]]; do shift 2; done
"$@" &
trap 'kill -USR1 $!' USR1
trap '' TERM
status=0
wait $! || status=$?
[ $status -le 128 ] || { wait $!; status=$?; }
exit $status
END
stand_in trireme <<'END'
echo "$*" >trireme.log
echo "${TRIREME_DEADLINE:-none}" >deadline.log
output=$4
end() { # STATUS REASON RESUMABLE
    echo "{\"status\": $1, \"reason\": \"$2\", \"epoch\": 1, \"resumable\": $3}" \
        >"$output.exit"
    exit "$1"
}
case $MODE in
finish) end 0 done false ;;
refuse) exit 1 ;;
crash) exit 99 ;;
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

run() {
    rm -f ./*.log ready out
    status=0
    MODE=$1 "$script" some/where/my.yaml >out 2>&1 || status=$?
}

signal_run() { # SIGNAL: to the script, once trireme is up
    rm -f ./*.log ready out
    MODE="hold" "$script" some/where/my.yaml >out 2>&1 &
    local pid=$!
    for ((i = 0; i < 200; i++)); do
        [ ! -e ready ] || break
        sleep 0.05
    done
    kill "-$1" "$pid"
    status=0
    wait "$pid" || status=$?
}

run finish
expect status "$status" 0
expect command "$(cat trireme.log)" "tune some/where/my.yaml -o my.h5 --resume"
expect deadline "$(cat deadline.log)" \
    $(($(date -d 2031-05-06T07:08:09 +%s) - 60))
expect requeue "$(cat scontrol.log 2>/dev/null || true)" ""

QUEUE_KNOWS=no SLURM_JOB_END_TIME=2000000000 run finish
expect deadline "$(cat deadline.log)" 1999999940
QUEUE_KNOWS=no run finish
expect deadline "$(cat deadline.log)" none

run refuse
expect status "$status" 1
run crash
expect status "$status" 4
expect requeue "$(cat scontrol.log 2>/dev/null || true)" ""

signal_run USR1
expect status "$status" 3
expect requeue "$(cat scontrol.log)" "requeue 77"

signal_run TERM
expect status "$status" 3
expect requeue "$(cat scontrol.log 2>/dev/null || true)" ""
echo "tune.sbatch: deadlines, signals and ends are as said"
