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

# Every installed header stands alone.
for header in "$prefix"/include/trireme/*.h; do
    name=$(basename "$header")
    [ "$name" != net.h ] || continue # needs MPI's compiler wrapper
    echo "#include <trireme/$name>" >"$place/alone.c"
    cc -std=c11 -Wall -Wextra -Werror "${flags[@]}" -fsyntax-only \
        "$place/alone.c"
done
echo "headers stand alone"
