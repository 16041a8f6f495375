#!/bin/bash
# PROGRAM holds all of the models: it runs, and loads no MPI and no HDF5.
set -euo pipefail

"$1"
libraries=$(ldd "$1")
if grep -E 'libmpi|libhdf5|libopen-(rte|pal)' <<<"$libraries"; then
    echo "the models pull in a transport"
    exit 1
fi
