#!/bin/sh
# Studies on disks of a few kilobytes: full while tables are made, while they
# grow, while they are folded.  Each ends with status 0 or 4, never by a signal,
# says so in .exit, leaves no half-made file, and what it recorded replays.
#   full_disk.sh TRIREME MPIEXEC
set -eu

trireme=$1
mpiexec=$2
export TRIREME_LOG=warn
folder=$(mktemp -d /tmp/trireme-full-XXXXXX)
disk=$folder/disk
mkdir "$disk"
if ! mount -t tmpfs -o size=16k tmpfs "$disk" 2> "$folder/why"; then
    echo "skipped: a small tmpfs needs root: $(cat "$folder/why")"
    rm -rf "$folder"
    exit 77
fi
trap 'umount "$disk"; rm -rf "$folder"' EXIT
cd "$folder"

cat > study.yaml << END
study: full
seed: 3
model: {kind: synthetic, curve: bowl}
space: {x: {float: [0, 1]}, k: {int: [1, 16]}, c: {choice: [a, b, c]}}
objective: {minimize: loss}
resource: {unit: steps, min: 1, max: 16, eta: 4}
budget: {trials: 60}
finals: none
END

fail() {
    echo "$1" >&2
    ls -l disk >&2
    cat log >&2
    exit 1
}

# Tune on a disk of $1; more options follow.
tune() {
    size=$1
    shift
    status=0
    "$mpiexec" -n 3 "$trireme" tune study.yaml -o disk/s.h5 "$@" \
        > log 2>&1 || status=$?
    case $status in
    0) ;;
    4) fours=$((fours + 1)) ;;
    *) fail "$size: status $status" ;;
    esac
    grep -q "signal\|Segmentation" log && fail "$size: a signal"
    grep -q "\"status\": $status," disk/s.h5.exit || fail "$size: .exit"
    for left in disk/*tmp; do
        [ ! -e "$left" ] || fail "$size: half-made files"
    done
    [ "$status" = 0 ] || grep -q "full\|No space" log || fail "$size: no reason"
    "$trireme" replay disk/s.h5 >> log 2>&1 || fail "$size: replay"
}

# The line of the best trial in an answer, of tune or best; "" where none is.
winner() {
    grep -E '^(winner|best) ' "$1" || true
}

fours=0
for size in 12 16 24 40 64 80 120 160 200 208 232 280 400; do
    umount "$disk"
    mount -t tmpfs -o "size=${size}k" tmpfs "$disk"
    tune $size
    if [ "$status" = 4 ]; then
        winner log > told
        "$trireme" best disk/s.h5 > kept 2>&1 || true
        winner kept | cmp -s - told || fail "$size: told is not what is kept"
        "$trireme" status disk/s.h5 > log 2>&1 || fail "$size: no status"
        grep -q "^fault .*\(full\|No space\)" log || fail "$size: fault"
        tune $size --resume
        mount -o remount,size=4M "$disk"
        tune 4096 --resume
        [ "$status" = 0 ] || fail "$size: not resumed"
    fi
done
# No study is opened where its first words cannot be written; that is a fault
# too, but a folder that is not there is bad input.
not_opened() { # WANTED OUTPUT
    status=0
    "$mpiexec" -n 3 "$trireme" tune study.yaml -o "$2" > log 2>&1 || status=$?
    [ "$status" = "$1" ] || fail "$2: status $status, not $1"
}
umount "$disk"
mount -t tmpfs -o size=4k tmpfs "$disk"
not_opened 4 disk/s.h5
[ -z "$(ls disk)" ] || fail "a study that is not opened leaves files"
mount -o remount,ro "$disk"
not_opened 4 disk/s.h5
not_opened 1 nowhere/s.h5

[ "$fours" -ge 10 ] || fail "only $fours ends with a full disk"
echo "$fours ends with a full disk"
