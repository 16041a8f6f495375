#!/bin/bash
# Checks the manual page trireme.1 against what the program says of itself:
# the same commands, and for each the same long options.
#
#   man.sh PROGRAM PAGE
set -euo pipefail
export LC_ALL=C

program=$1
page=$2
plain=$(sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' "$page")
status=0

# The lines of an option's paragraph in the page, and in a help text.
page_options() {
    { grep -E '^(\.B |--|-[a-z], --)' || true; } | long_options
}
help_options() {
    { grep -E '^ +-' || true; } | long_options
}

# The page's section of one command, by .SS.
section() {
    awk -v name="$1" '
        /^\.S[HS]/ { inside = 0 }
        /^\.SS/ { for (i = 2; i <= NF; i++) {
                      sub(/,$/, "", $i); if ($i == name) inside = 1 } }
        inside' <<<"$plain"
}

long_options() {
    grep -oE '(^|[^-A-Za-z])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]*' |
        sort -u || true
}

# Options that every command has stand in a section of their own.
common=$(awk '/^\.SH/ { inside = /OPTIONS/ } inside' <<<"$plain" | page_options)

commands=$("$program" --help | sed -nE 's/^  ([a-z]+) +.*/\1/p')
[ -n "$commands" ] || {
    echo "trireme --help names no command"
    exit 1
}
for command in $commands; do
    text=$(section "$command")
    if [ -z "$text" ]; then
        echo "$command: no section in $page"
        status=1
        continue
    fi
    in_help=$("$program" "$command" --help | help_options)
    in_page=$(page_options <<<"$text")
    missing=$(comm -23 <(echo "$in_help") \
        <(sort -u <<<"$in_page"$'\n'"$common") | xargs)
    if [ -n "$missing" ]; then
        echo "$command: in --help, not in $page: $missing"
        status=1
    fi
    invented=$(comm -13 <(echo "$in_help") <(echo "$in_page") | xargs)
    if [ -n "$invented" ] && "$program" "$command" --help |
        grep -q 'not built yet$'; then
        invented=
    fi
    if [ -n "$invented" ]; then
        echo "$command: in $page, not in --help: $invented"
        status=1
    fi
done
for name in $(sed -nE 's/^\.SS //p' <<<"$plain" | tr -d ,); do
    grep -qx "$name" <<<"$commands" || {
        echo "$name: in $page, not in --help"
        status=1
    }
done
[ $status -ne 0 ] || echo "$(wc -w <<<"$commands") commands agree"
exit $status
