#!/bin/sh
# A study is done on machines of one class, and goes on, with a larger budget,
# on those of another: every configuration is measured again as the same trial,
# and what was recorded stays.
#   machine_class.sh TRIREME MPIEXEC
set -eu

trireme=$1
mpiexec=$2
export TRIREME_LOG=warn
folder=$(mktemp -d /tmp/trireme-class-XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The study with that many trials.
write_study() {
    cat > study.yaml << END
study: classes
seed: 11
model: {kind: synthetic, cost: 0.001}
space: {x: {int: [0, 255]}, n: {int: [1, 2]}}
ranks: n
objective: {minimize: loss}
resource: {unit: steps, min: 2, max: 8, eta: 2}
search: random
budget: {trials: $1}
finals: none
END
}

# tune CLASS: its log is in `log`.
tune() {
    TRIREME_MACHINE_CLASS=$1 "$mpiexec" -n 3 "$trireme" tune study.yaml \
        -o class.h5 --resume > log 2>&1 || {
        cat log >&2
        exit 1
    }
}

# The finished runs as "epoch,trial,rung", by name of the columns.
finished() {
    "$trireme" export class.h5 --table runs --format csv |
        sed 's/"[^"]*"/quoted/g' |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["status"] == "finished" {
                print $at["epoch"] "," $at["trial"] "," $at["rung"] }'
}

# The trials with a result at rung 0 in opening $1, each once a result.
measured() {
    finished | awk -F, -v epoch="$1" '$1 == epoch && $3 == 0 { print $2 }' |
        sort -n | tr '\n' ' '
}

expect() {
    if [ "$2" != "$3" ]; then
        echo "$1: '$2', not '$3'" >&2
        cat log >&2
        exit 1
    fi
}

write_study 5
tune 'old nodes'
expect "first opening" "$(measured 1)" "0 1 2 3 4 "
finished > before

tune 'new nodes' # done already: left as it is
finished > after
cmp before after

write_study 7
tune 'new nodes'
grep -q "machine class changed from 'old nodes' to 'new nodes': 5 trials" log ||
    expect "log" "$(cat log)" "a line on the machine class"
finished | grep '^1,' | cmp before -
epoch=$(finished | tail -n 1 | cut -d , -f 1)
expect "later opening" "$(measured "$epoch")" "0 1 2 3 4 5 6 "
"$trireme" replay class.h5
