#!/bin/sh
# trace reads a process through /proc: one of other process numbers, where
# another process has its number, is not believed.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
other="unshare -p -f"
$other true 2>/dev/null || other="unshare -U -r -p -f"
$other true 2>/dev/null || skip_all "unshare -p is not permitted"

says() {
	sed 's/process [0-9][0-9]*/process N/' "$T/err"
}
line="trace: /proc is not that of our process numbers: it does not show \
process N (with unshare: --mount-proc)"

status 125 "a program" $other "$B/trace" -o "$T/run.ev" echo ran
same "one line" "$line" "$(says)"
same "it did not run" "" "$(cat "$T/out")"
status 125 "with its children" $other "$B/trace" -f -o "$T/run.%p" echo ran
same "one line" "$line" "$(says)"
status 125 "a process that runs" $other sh -c \
    'sleep 50 & "$1" -o "$2" -p $!; r=$?; kill -0 $! && kill -9 $!; exit $r' \
    sh "$B/trace" "$T/run.ev"
same "one line; it was left alone" "$line" "$(says)"
check "no stream" test ! -e "$T/run.ev"

# what else may be wrong is called by its name
cp /bin/true "$T/few"
for n in 3 4 5 6 7 8 9 10 11 12 13 14; do
	(ulimit -n $n; "$B/trace" -e none "$T/few") 2>&1
done >"$T/said"
check "few descriptors" grep -q '/proc/.*: Too many open files' "$T/said"
same "few descriptors: nothing else is said" "" \
    "$(grep -v 'Too many open files\|error while loading' "$T/said")"
left=
for p in /proc/[0-9]*; do
	[ "$(readlink "$p/exe")" != "$T/few" ] || left="$left ${p#/proc/}"
done
same "few descriptors: no program is left" "" "$left"
[ -z "$left" ] || kill -9 $left
pidfd_open=434
if "$TB/forbid" $pidfd_open true; then
	check "without pidfd_open" \
	    "$TB/forbid" $pidfd_open "$B/trace" -e none true
fi
mounts="unshare -m"
$mounts true 2>/dev/null || mounts="unshare -U -r -m"
if $mounts mount -t tmpfs none /proc 2>/dev/null; then
	status 125 "no /proc" $mounts sh -c \
	    'mount -t tmpfs none /proc && exec "$@"' sh "$B/trace" -e none true
	same "no /proc: what is said" "trace: /proc is not mounted here: it is\
 needed" "$(cat "$T/err")"
else
	skip "no /proc" "no mounts"
	skip "no /proc: what is said" "no mounts"
fi
# a program that may be executed but not read: nor may its memory
cp /bin/true "$T/noread"
as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid=65534 --regid=65534 --clear-groups"
if chmod 755 "$T" && chmod 111 "$T/noread" && $as "$T/noread" 2>/dev/null; then
	status 125 "a program that may not be read" $as "$B/trace" -e none \
	    "$T/noread"
	same "is told" "trace: /proc/N/mem: of a program that may not be read?: \
Permission denied" "$(sed 's|/proc/[0-9]*|/proc/N|' "$T/err")"
else
	skip "a program that may not be read" "no setpriv"
	skip "is told" "no setpriv"
fi
done_testing
