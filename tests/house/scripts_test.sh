#!/bin/bash
# Every script of ours parses, says what it is for, and passes shellcheck where
# that is installed.
#
#   scripts_test.sh SOURCE_DIR
set -euo pipefail

cd "$1"
status=0
scripts=(scripts/deps scripts/format scripts/quickstart scripts/test
    scripts/tidy scripts/slurm/sandbox scripts/slurm/*.sbatch .ci/run tests/*/*.sh)
for script in "${scripts[@]}"; do
    bash -n "$script" || status=1
    [ -x "$script" ] || {
        echo "$script is not executable"
        status=1
    }
    sed -n 2p "$script" | grep -q '^# [A-Z]' || {
        echo "$script does not open with what it is for"
        status=1
    }
done
if command -v shellcheck >/dev/null; then
    shellcheck -S warning "${scripts[@]}" || status=1
else
    echo "shellcheck is not installed"
    [ $status -ne 0 ] || exit 77
fi
exit $status
