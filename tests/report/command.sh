#!/bin/bash
# What trireme report does as a user runs it: where the page goes, what it
# refuses, what it leaves behind, and that the study stays as it was.
#
#   command.sh TRIREME REPORT_MAKE
set -euo pipefail
export LC_ALL=C.UTF-8

trireme=$1
make=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
status=0

# expect STATUS WORDS COMMAND...: exit status, and words in one line said
expect() {
    local want=$1 words=$2 got=0
    shift 2
    "$@" >out 2>err || got=$?
    if [ "$got" != "$want" ] || ! grep -qF -- "$words" out err; then
        echo "$*: status $got, said: $(cat out err)"
        status=1
    fi
}

holds() {
    "$@" || {
        echo "does not hold: $*"
        status=1
    }
}

"$make" odd 4 odd.h5 >made
sum=$(sha256sum odd.h5)
expect 0 "the report is in odd.html" "$trireme" report odd.h5
holds grep -q '<h1 id="name">' odd.html
holds grep -q '"seed","0"' odd.html
expect 0 '"report":"p.html"' "$trireme" report odd.h5 -o p.html --json
expect 0 '</html>' "$trireme" report odd.h5 -o -
"$trireme" report odd.h5 -o p.html --quiet >out 2>err || status=1
holds test ! -s err
expect 1 "is the study itself" "$trireme" report odd.h5 -o odd.h5
ln odd.h5 link.html
expect 1 "is the study itself" "$trireme" report odd.h5 -o link.html
rm link.html
mkdir inside
expect 1 "is a folder" "$trireme" report odd.h5 -o inside
expect 1 "cannot be written" "$trireme" report odd.h5 -o none/p.html
expect 1 "no.h5" "$trireme" report no.h5
expect 1 "FILE.h5" "$trireme" report
holds test ! -e no.html
# what is no plain file is written to, never replaced; links are followed
mkfifo pipe
timeout 60 cat pipe >piped &
expect 0 "the report is in pipe" timeout 60 "$trireme" report odd.h5 -o pipe
wait $! || status=1
holds test -p pipe
holds grep -q '</html>' piped
mkdir far
echo old >far/page.html
chmod 600 far/page.html
ln -s far/page.html way.html
expect 0 "the report is in way.html" "$trireme" report odd.h5 -o way.html
holds test -L way.html
holds grep -q '</html>' far/page.html
holds test "$(stat -c %a far/page.html)" = 600
ln -s far/none.html soon.html
expect 0 "the report is in soon.html" "$trireme" report odd.h5 -o soon.html
holds test -L soon.html
holds grep -q '</html>' far/none.html
if [ -e /dev/full ]; then
    ln -s /dev/full full
    expect 4 "cannot be written" bash -c "'$trireme' report odd.h5 -o - >full"
fi
holds test "$(sha256sum odd.h5)" = "$sum"
left=$(echo *.new)
holds test "$left" = '*.new'
exit $status
