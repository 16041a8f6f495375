#!/bin/bash
# The header for users' C and C++ trainers: alone, by every standard it says,
# without a warning, and what a C++ program says through it arrives.
#
#   report_header.sh SOURCE_DIR C_COMPILER
set -euo pipefail

source_dir=$1
cc=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir "$place/trireme"
cp "$source_dir/include/trireme/report.h" "$place/trireme"
cat >"$place/say.c" <<'END'
#include <trireme/report.h>

int main(void)
{
    long last = trireme_last_step(2);
    double lr = trireme_real("lr", 0.5);
    long step;

    for (step = trireme_first_step(); step <= last; step++) {
        trireme_report(step, "loss", lr / (double)step, NULL);
    }
    return 0;
}
END
flags=(-Wall -Wextra -Wshadow -Wpedantic -Werror -I "$place")
said='{"step": 1, "loss": 0.25}
{"step": 2, "loss": 0.125}
{"step": 3, "loss": 0.083333333333333329}'
check() { # PROGRAM: what it says as a trial, and nothing outside
    local heard
    heard=$(TRIREME_RUN=0 TRIREME_FD=3 TRIREME_LR=0.25 TRIREME_RESOURCE=3 \
        "$1" 3> >(cat) >"$place/out")
    wait
    [ -z "$("$1")" ]
    heard+=$(grep . "$place/out" || true)
    [ "$heard" = "$said" ] || {
        printf 'heard:\n%s\n' "$heard"
        exit 1
    }
}
for standard in c99 c11 gnu17; do
    "$cc" -std=$standard "${flags[@]}" "$place/say.c" -o "$place/say" -lm
    check "$place/say"
done
echo "C: says what it should"
cxx=$(command -v c++ || command -v g++ || command -v clang++ || true)
[ -n "$cxx" ] || {
    echo "no C++ compiler here; C alone was tried"
    exit 0
}
for standard in c++11 c++17; do
    "$cxx" -std=$standard "${flags[@]}" -x c++ "$place/say.c" -o "$place/say"
    check "$place/say"
done
echo "C++: says what it should"
