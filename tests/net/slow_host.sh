#!/bin/sh
# Three hosts, one of them half as fast: runs on it are measured again
# elsewhere and flagged, its rank is benched, and that is said and recorded.
# Then ranks that a launcher dealt out in turn: the ranks of a group are listed
# host by host, and with `exclusive: node` no two groups share a host.
#   slow_host.sh TRIREME MPIEXEC
set -eu

trireme=$1
mpiexec=$2
folder=$(mktemp -d /tmp/trireme-slow-XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > train.sh << 'END'
s=0.01
[ "${TRIREME_HOST_NAME:-}" = h2 ] && s=0.02
i=1
while [ $i -le "$TRIREME_RESOURCE" ]; do
    echo "{\"step\": $i, \"tokens\": 100, \"step_s\": $s$((i % 3))}"
    i=$((i + 1))
done
END
cat > slow.yaml << 'END'
study: slow
seed: 1
model: {kind: process, command: [sh, train.sh], cwd: .}
space: {x: {int: [0, 9999]}}
constraints: [x >= 0]
ranks: 1
objective: {maximize: tokens_per_s}
search: random
resource: {unit: steps, min: 8, max: 64, eta: 2}
budget: {trials: 200}
finals: none
END
cat > mesh.yaml << 'END'
study: mesh
seed: 1
model: {kind: synthetic, cost: 0.002}
space: {x: {int: [0, 255]}, n: {choice: [1, 2]}}
ranks: n
objective: {minimize: loss}
search: random
exclusive: node
resource: {unit: steps, min: 2, max: 8, eta: 2}
budget: {trials: 12}
finals: none
END

# tune STUDY HOST...: rank 0, and one rank on each of the hosts.
tune() {
    study=$1
    shift
    set -- "$@" end
    set -- "$@" "$mpiexec" --oversubscribe -n 1 "$trireme" tune "$study.yaml"
    while [ "$1" != end ]; do
        host=$1
        shift
        set -- "$@" : -n 1 -x TRIREME_HOST_NAME="$host" "$trireme" tune \
            "$study.yaml"
    done
    shift
    "$@" > log 2>&1 || {
        cat log >&2
        exit 1
    }
}

fail() {
    echo "$1" >&2
    cat log >&2
    exit 1
}

# Columns of the finished runs, by name.
runs() {
    "$trireme" export "$1.h5" --table runs > runs.csv
    shift
    awk -F, -v want="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["status"]) == "finished" {
            n = split(want, w, " ")
            for (i = 1; i <= n; i++) printf "%s ", $(at[w[i]])
            print ""
        }' runs.csv
}

tune slow h1 h2 h3
grep -q 'is measured again elsewhere' log || fail "nothing was suspected"
grep -q 'rank 2 (h2).*benched' log || fail "rank 2 was not benched"
runs slow hosts flaky | sort | uniq -c > flagged
[ "$(awk '$3 == 1 { print $2 }' flagged)" = h2 ] ||
    fail "flagged: $(cat flagged)"
"$trireme" status slow.h5 --json | grep -q '"benched": *1' ||
    fail "the status does not tell of the bench"
"$trireme" replay slow.h5 > /dev/null || fail "the record does not replay"

# Ranks 1 and 3 are on one host, 2 and 4 on the other.
tune mesh h1 h2 h1 h2
runs mesh ranks rank_set | sort | uniq -c > sets
awk '$2 == 2 && $3 !~ /^(1,3|2,4)$/ { bad = 1 } END { exit bad }' sets ||
    fail "groups of two: $(cat sets)"
runs mesh hosts start_s end_s > spans
awk '{ for (i = 1; i < NR; i++)
           if (host[i] == $1 && $2 < end[i] && start[i] < $3) bad = 1
       host[NR] = $1; start[NR] = $2; end[NR] = $3 }
     END { exit bad }' spans || fail "two groups on a host: $(cat spans)"
"$trireme" replay mesh.h5 > /dev/null || fail "the record does not replay"
echo "passed"
