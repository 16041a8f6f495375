#!/bin/bash
# Checks who may use whom: include lines, and undefined symbols of archives.
#
#   layers.sh SOURCE_DIR [ARCHIVE_DIR]
#
# Reads sources under SOURCE_DIR and libtri_*.a under ARCHIVE_DIR; prints one
# line for each offence and ends with 1 if there is any.  Writes nothing.
set -euo pipefail
export LC_ALL=C

source_dir=$1
archive_dir=${2:-}

# file:line:include, for both forms of include line
include_lines() {
    (
        cd "$source_dir"
        grep -rnE --include='*.[ch]' --include='*.def' \
            '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' \
            include src mpi_workers models || true
    ) |
        sed -E 's/^([^:]+):([0-9]+):[^"<]*(["<])([^">]+)[">].*/\1 \2 \3 \4/'
}

check_includes() {
    include_lines | awk '
    BEGIN {
        # folders of src/, from the bottom up; equal numbers are siblings
        split("base 0 space 1 predict 2 propose 2 sched 2 cost 2 ctl 3 " \
              "wire 4 store 4 sim 4 net 4 report 5 app 6", w, " ")
        for (i = 1; i in w; i += 2) rank[w[i]] = w[i + 1]
        # the folder that each public header is the manual of
        split("status base log base region base num base rng base " \
              "stats base cancel base place base slow ctl value space expr space space space " \
              "study space " \
              "recorded space pattern space model base predict predict " \
              "propose propose think propose " \
              "sched sched cost cost event space ctl ctl wire wire store store " \
              "sim sim curve sim net net trial net report report", w, " ")
        for (i = 1; i in w; i += 2) layer[w[i]] = w[i + 1]
        split("mpi.h net hdf5.h store yaml.h space pthread.h - threads.h - " \
              "time.h - sys/time.h - sys/socket.h - unistd.h - fcntl.h - " \
              "sys/mman.h base", w, " ")
        for (i = 1; i in w; i += 2) system_of[w[i]] = w[i + 1]
        split("base space predict propose sched cost ctl wire sim", w, " ")
        for (i = 1; i in w; i++) pure[w[i]] = 1
    }
    # the pure files of mpi_workers: who holds what, and in which order
    function is_pure_worker(path) {
        return path ~ /^mpi_workers\/(shard|schedule|schedule_check|ckpt_cut)\.[ch]$/
    }
    function bad(why) { print file ":" line ": " why; offences++ }
    function folder_of(path,   part) {
        split(path, part, "/")
        if (part[1] == "src") return part[2]
        # examples of what a user writes
        if (path ~ /^models\/plugin\//) return "plugin"
        if (path ~ /^include\/trireme\//) {
            sub(/^include\/trireme\//, "", path)
            sub(/\.h$/, "", path)
            return path in layer ? layer[path] : "?" path
        }
        return part[1]
    }
    function from_src(folder, path,   to) {
        to = folder_of(path)
        if (path ~ /^src\//) {
            if (!(to in rank)) bad("unknown folder in " path)
            else if (to != folder && rank[to] >= rank[folder])
                bad(folder " may not include private " path)
        } else if (path ~ /^(mpi_workers|models)\//) {
            if (folder != "net" && folder != "app")
                bad(folder " may not include " path)
        }
    }
    function public_header(folder, name) {
        sub(/^trireme\//, "", name); sub(/\.h$/, "", name)
        if (!(name in layer)) bad("unknown public header " name ".h")
        else if (folder in rank && rank[layer[name]] > rank[folder])
            bad(folder " may not include trireme/" name ".h")
        else if (folder == "models" && layer[name] != "base")
            bad("models may not include trireme/" name ".h")
        else if (folder == "plugin" && name != "trial")
            bad("a plugin needs trireme/trial.h only, not trireme/" name ".h")
    }
    function third_party(folder, name) {
        if (name == "mpi.h" && folder !~ /^(net|app|mpi_workers|plugin)$/)
            bad(folder " may not include mpi.h")
        # of the engine only checkpoint files
        if (name ~ /^H5.*|^hdf5/ && folder !~ /^(store|app)$/ &&
                file != "mpi_workers/ckpt_file.c")
            bad(folder " may not include " name)
        if (name == "yaml.h" && folder != "space")
            bad(folder " may not include yaml.h")
        if (folder in pure && name in system_of && system_of[name] != folder)
            bad(folder " is pure and may not include " name)
    }
    {
        file = $1; line = $2; folder = folder_of(file)
        if (folder ~ /^\?/) { bad("say its layer in tests/house/layers.sh"); next }
        if (!(folder in rank) && folder !~ /^(models|mpi_workers|plugin)$/) {
            bad("unknown folder " folder); next
        }
        if (is_pure_worker(file) && ($4 in system_of ||
                ($4 ~ /^mpi_workers\// && !is_pure_worker($4)))) {
            bad(file " is pure and may not include " $4); next
        }
        if ($4 ~ /^trireme\//) public_header(folder, $4)
        else if ($3 == "\"" && $4 !~ /^(src|mpi_workers|models)\//)
            bad("\"" $4 "\" does not start at the root")
        else if (folder in rank && $3 == "\"") from_src(folder, $4)
        else if ($3 == "\"") {
            if ($4 ~ /^src\// && $4 !~ /^src\/base\//)
                bad(folder " may not include private " $4)
            if (folder == "models" && $4 ~ /^mpi_workers\//)
                bad("models may not include " $4)
            if (folder == "plugin") bad("a plugin may not include " $4)
        } else third_party(folder, $4)
    }
    END { if (NR == 0) { print "no include lines found"; exit 1 }
          exit offences > 0 }'
}

# The program ends in src/app only.
check_ends() {
    ! (cd "$source_dir" && grep -rnE --include='*.[ch]' \
        '(^|[^A-Za-z0-9_.>"])(exit|_exit|_Exit|quick_exit|abort|MPI_Abort)[[:space:]]*\(' \
        include src mpi_workers models 2>/dev/null | grep -v '^src/app/' |
        grep -vE '^[^:]+:[0-9]+:[[:space:]]*(/?\*|//)' |
        sed 's/$/   <- only src\/app may end the program/')
}

transport='P?MPI_.*|H5.*'
clocks='clock|clock_gettime|clock_nanosleep|time|gettimeofday|nanosleep'
clocks="$clocks|usleep|sleep|times|localtime|gmtime|localtime_r|gmtime_r"
sockets='socket|socketpair|connect|bind|listen|accept4?|sendto|sendmsg'
sockets="$sockets|recv|recvfrom|recvmsg|poll|ppoll|select|epoll_.*"
files='fopen(64)?|fdopen|freopen(64)?|fclose|fread|fwrite|fputs|fputc|putc'
files="$files|puts|putchar|_IO_putc|fgets|getline|getdelim|perror"
files="$files|(__)?v?f?printf(_chk)?|(__)?v?f?scanf|stdout|stderr|stdin"
files="$files|open(64)?|openat(64)?|creat|read|write|pread(64)?|pwrite(64)?"
files="$files|unlink|rename|mkdir|stat(64)?"
chance='rand|rand_r|srand|random|srandom|.rand48|getrandom|getentropy|arc4random'
threads='pthread_create|thrd_create|fork|vfork|posix_spawnp?|system|popen'
inexact='(log|log2|log10|log1p|exp|exp2|exp10|expm1|pow|sin|cos|tan|sincos'
inexact="$inexact|sinh|cosh|tanh|asin|acos|atan|atan2|erf|erfc|lgamma|tgamma"
inexact="$inexact|cbrt|hypot)[fl]?"
ends='exit|_exit|_Exit|quick_exit|abort|P?MPI_Abort'

# undefined ARCHIVE REGEX WHAT: no member leaves such a symbol undefined.
undefined() {
    local archive=$archive_dir/lib$1.a found
    [ -e "$archive" ] || return 0
    found=$(nm -A -u "$archive" 2>/dev/null |
        awk -v bad="^($2)(@.*)?\$" '$NF ~ bad {
            n = split($1, part, ":"); print part[n - 1] " uses " $NF }')
    [ -z "$found" ] || {
        sed "s|^|$1: |; s|\$|   <- $3|" <<<"$found"
        return 1
    }
}

check_symbols() {
    local status=0 archive all
    all="$transport|$clocks|$sockets|$files|$chance|$threads"
    [ -e "$archive_dir/libtri_core.a" ] || {
        echo "no libtri_core.a in $archive_dir"
        return 1
    }
    for archive in tri_core tri_sim; do
        undefined "$archive" "$all|$inexact" "pure code" || status=1
    done
    undefined tri_models "$transport|$clocks|$sockets" \
        "models know no transport and no clock" || status=1
    undefined tri_store 'P?MPI_.*' "the record knows no MPI" || status=1
    for archive in tri_core tri_sim tri_models tri_store tri_worker tri_net \
        tri_report; do
        undefined "$archive" "$ends" "only src/app may end it" || status=1
    done
    return "$status"
}

status=0
check_includes || status=1
check_ends || status=1
if [ -n "$archive_dir" ]; then
    check_symbols || status=1
fi
exit "$status"
