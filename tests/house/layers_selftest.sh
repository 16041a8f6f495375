#!/bin/bash
# Checks that layers.sh finds what it is there to find: plants one offence at a time
# in a small tree of its own and expects it to be named.
#
#   layers_selftest.sh CC
set -euo pipefail

cc=${1:-cc}
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fresh_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{include/trireme,src/{base,space,ctl,net,app},models}
    mkdir -p "$tree"/{mpi_workers,lib,models/plugin}
    echo '#include <stdint.h>' >"$tree/include/trireme/status.h"
    echo '#include "trireme/status.h"' >"$tree/src/base/status.c"
    echo '#include <mpi.h>' >"$tree/src/net/net.c"
    echo '#include <mpi.h>' >"$tree/include/trireme/trial.h"
    echo '#include <trireme/trial.h>' >"$tree/models/plugin/a.c"
    echo 'void f(void) { exit(1); }' >"$tree/src/app/main.c"
}

# offence FILE LINE WHAT: with LINE in FILE, the check fails and names WHAT.
offence() {
    fresh_tree
    echo "$2" >>"$tree/$1"
    if "$here/layers.sh" "$tree" >"$tree/out"; then
        echo "not found: $2 in $1"
        exit 1
    fi
    grep -q "$3" "$tree/out" || {
        echo "not named: $2 in $1; said:"
        cat "$tree/out"
        exit 1
    }
}

# symbol ARCHIVE CODE WHAT: likewise for an undefined symbol.
symbol() {
    fresh_tree
    echo 'int nothing;' >"$tree/lib/core.c"
    printf '%s\n' "$2" >"$tree/lib/bad.c"
    (cd "$tree/lib" && "$cc" -O1 -w -c core.c bad.c &&
        ar rc libtri_core.a core.o && ar rc "lib$1.a" bad.o)
    if "$here/layers.sh" "$tree" "$tree/lib" >"$tree/out"; then
        echo "not found in $1: $2"
        exit 1
    fi
    grep -q "$3" "$tree/out" || {
        echo "not named in $1: $2; said:"
        cat "$tree/out"
        exit 1
    }
}

fresh_tree
"$here/layers.sh" "$tree"

offence src/base/a.c '#include "trireme/ctl.h"' 'may not include trireme/ctl.h'
offence src/base/a.c '#include "src/space/x.h"' 'may not include private'
offence src/space/a.c '#include <mpi.h>' 'may not include mpi.h'
offence src/space/a.c '#include <time.h>' 'is pure'
offence src/space/a.c '#include <sys/mman.h>' 'is pure'
offence src/ctl/a.c '#include <hdf5.h>' 'may not include hdf5.h'
offence src/ctl/a.c '#include "mpi_workers/a.h"' 'may not include mpi_workers'
offence src/net/a.c '#include "src/store/a.h"' 'may not include private'
offence src/net/a.c '#include "a.h"' 'does not start at the root'
offence models/a.c '#include "trireme/study.h"' 'models may not include'
offence models/a.c '#include <mpi.h>' 'may not include mpi.h'
offence models/a.c '#include "trireme/trial.h"' 'models may not include'
offence models/plugin/b.c '#include <trireme/study.h>' 'trireme/trial.h only'
offence models/plugin/b.c '#include "models/a.h"' 'a plugin may not include'
offence mpi_workers/a.c '#include "src/ctl/a.h"' 'may not include private'
offence mpi_workers/shard.c '#include <mpi.h>' 'is pure'
offence mpi_workers/schedule.h '#include "mpi_workers/mesh.h"' 'is pure'
offence include/trireme/new.h '#include "trireme/status.h"' 'say its layer'
offence include/trireme/status.h '#include "trireme/ctl.h"' 'may not include'
offence src/net/a.c '    exit(3);' 'only src/app may end'
offence mpi_workers/a.c 'if (x) MPI_Abort(c, 1);' 'only src/app may end'

declare -r e='extern int'
symbol tri_core "$e MPI_Send(); int f(void) { return MPI_Send(); }" MPI_Send
symbol tri_core "$e H5Fopen(); int f(void) { return H5Fopen(); }" H5Fopen
symbol tri_core "$e clock_gettime(); int f(void) { return clock_gettime(); }" \
    clock_gettime
symbol tri_core "$e socket(); int f(void) { return socket(); }" socket
symbol tri_core '#include <stdio.h>
void f(int i) { printf("%d", i); }' printf
symbol tri_sim '#include <math.h>
double f(double x) { return log(x); }' log
symbol tri_sim "$e random(); int f(void) { return random(); }" random
symbol tri_models "$e MPI_Send(); int f(void) { return MPI_Send(); }" MPI_Send
symbol tri_store "$e MPI_Send(); int f(void) { return MPI_Send(); }" MPI_Send
symbol tri_net '#include <stdlib.h>
void f(void) { abort(); }' abort
echo "all planted offences were found"
