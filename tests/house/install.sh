#!/bin/bash
# Installs a finished build to a temporary prefix; a user's program then finds
# it by CMake and by pkg-config, builds, and runs.
#
#   install.sh BUILD_DIR CONSUMER_DIR
set -euo pipefail

build=$1
consumer=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
prefix=$place/prefix

said() { # COMMAND...: shown only where it fails
    "$@" >"$place/log" 2>&1 || {
        cat "$place/log"
        exit 1
    }
}
said cmake --install "$build" --prefix "$prefix"
said cmake -S "$consumer" -B "$place/build" -DCMAKE_PREFIX_PATH="$prefix"
said cmake --build "$place/build"
"$place/build/consumer"
echo "by CMake: builds and runs"

pc_dir=$(dirname "$(find "$prefix" -name trireme.pc)")
sed -i "s|^prefix=.*|prefix=$prefix|" "$pc_dir/trireme.pc"
export PKG_CONFIG_PATH=$pc_dir
read -r -a flags <<<"$(pkg-config --cflags trireme)"
read -r -a libs <<<"$(pkg-config --libs trireme)"
cc -std=c11 "${flags[@]}" "$consumer/consumer.c" -o "$place/by_pc" "${libs[@]}"
"$place/by_pc"
echo "by pkg-config: builds and runs"

# The installed program finds its own guard (a build without MPI has none).
if [ -n "$(find "$prefix" -name trireme-guard)" ]; then
    # shellcheck disable=SC2016 # for the shell that is guarded
    found=$("$prefix/bin/trireme" guard sh -c 'readlink "/proc/$PPID/exe"')
    case $found in
    "$prefix"/*/trireme-guard) echo "the guard is found" ;;
    *)
        echo "the guard of the installed program is $found"
        exit 1
        ;;
    esac
fi

# And the program that tries plugins.
if [ -n "$(find "$prefix" -name trireme-plugin)" ]; then
    printf 'int none;\n' >"$place/none.c"
    cc -shared -fPIC "$place/none.c" -o "$place/none.so"
    cat >"$place/none.yaml" <<'EOF'
study: none
model: {kind: plugin, library: none.so}
space: {n: {int: [1, 2]}}
objective: {minimize: loss}
EOF
    found=$("$prefix/bin/trireme" check "$place/none.yaml" 2>&1) || true
    case $found in
    *"has no function trireme_trial_abi"*) echo "plugins are tried" ;;
    *)
        echo "of a plugin check says: $found"
        exit 1
        ;;
    esac
fi

# Every installed header stands alone; some need MPI's.
for header in "$prefix"/include/trireme/*.h; do
    name=$(basename "$header")
    compiler=cc
    if grep -q '^#include <mpi.h>' "$header"; then
        compiler=mpicc
        command -v mpicc >/dev/null || continue
    fi
    echo "#include <trireme/$name>" >"$place/alone.c"
    "$compiler" -std=c11 -Wall -Wextra -Werror "${flags[@]}" -fsyntax-only \
        "$place/alone.c"
done
echo "headers stand alone"

# What users copy.
[ -s "$prefix/share/trireme/trireme_report.py" ]

# A plugin needs one header, in C and in C++, and nothing to link; the installed
# program takes it.
[ -x "$prefix/bin/trireme" ] && command -v mpicc mpicxx >/dev/null || exit 0
mkdir "$place/only" "$place/only/trireme"
cp "$prefix/include/trireme/trial.h" "$place/only/trireme"
plugin=(-Wall -Wextra -Werror -shared -fPIC -I "$place/only"
    "$consumer/plugin.c" -o "$place/plugin.so")
cat >"$place/plugin.yaml" <<'END'
study: plugin
model: {kind: plugin, library: plugin.so}
space: {x: {int: [0, 3]}}
objective: {minimize: loss}
END
for std in 99 11; do
    mpicc -std=c$std -pedantic "${plugin[@]}"
    said "$prefix/bin/trireme" check "$place/plugin.yaml"
done
mpicxx -x c++ -std=c++11 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX \
    "${plugin[@]}"
said "$prefix/bin/trireme" check "$place/plugin.yaml"
said "$prefix/bin/trireme" check "$prefix"/share/trireme/plugin/matmul.yaml
echo "a plugin: builds, and is taken"
