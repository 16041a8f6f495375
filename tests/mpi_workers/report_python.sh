#!/bin/bash
# The module for users' Python trainers: its own test, and that it keeps to the
# grammar of Python 3.6.
#
#   report_python.sh SOURCE_DIR
set -euo pipefail

source_dir=$1
python=$(command -v /usr/bin/python3 || command -v python3 || true)
[ -n "$python" ] || {
    echo "no python3 here; skipped"
    exit 77
}
export PYTHONDONTWRITEBYTECODE=1
"$python" - "$source_dir/models/process/trireme_report.py" <<'END'
import ast
import sys

text = open(sys.argv[1]).read()
if sys.version_info >= (3, 8):
    ast.parse(text, feature_version=(3, 6))
END
"$python" "$source_dir/tests/mpi_workers/report_python.py" \
    "$source_dir/models/process"
