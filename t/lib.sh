# lib.sh - TAP for the shell scripts in this folder
#
#	. t/lib.sh
#	plan 3
#	check "text" cmd arg...		cmd has status 0
#	status 2 "text" cmd arg...	cmd has this status; $T/out, $T/err
#	same "text" expected actual	strings
#	samefile "text" expected actual	files; the difference is shown
#	ok "text" status		the status was 0
#	skip "text" "reason"		one test counted, not run
#	skip_all "reason"		instead of plan
#
# Programs are "$B/name", test drivers "$TB/name": never through PATH, where
# our diff and merge would hide the system's. $T is a folder of our own that
# goes away. Every command is bounded: LIMIT seconds, 60 unless set.
# For "no plan until the end", call done_testing last.  A test that would begin
# after UNTIL, seconds of the epoch, is left out.

B=${B:-$PWD/build/bin}
TB=${TB:-$PWD/build/t}
LIMIT=${LIMIT:-60}
export LC_ALL=C
unset DEBUGINFOD_URLS
# Filters never free; what a sanitizer finds is no status of ours.
export ASAN_OPTIONS=detect_leaks=0:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99
# PATH without the programs' own folder, which trace takes out of a program's,
# as after the README's tour; and without those that have our own valgrind, which
# is no judge.
path=
first=$(valgrind --version 2>/dev/null)
IFS=:
for d in $PATH; do
	[ "$d" != "$B" ] || continue
	case $first in
	*quern*)
		case $("$d/valgrind" --version 2>/dev/null) in
		*quern*) continue ;;
		esac ;;
	esac
	path=$path:$d
done
unset IFS
PATH=${path#:}
T=$(mktemp -d "${TMPDIR:-/tmp}/quern.XXXXXX") || exit 99
trap 'rm -rf "$T"' EXIT
trap 'exit 99' HUP INT TERM
ntests=0

plan() {
	echo "1..$1"
}

done_testing() {
	echo "1..$ntests"
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

[ -z "${UNTIL:-}" ] || [ "$(date +%s)" -lt "$UNTIL" ] ||
    skip_all "no time is left"
unset UNTIL		# tests that this one runs

# ok TEXT STATUS: also shows what a failed command said
ok() {
	ntests=$((ntests + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $ntests - $1"
	else
		echo "not ok $ntests - $1"
		return 1
	fi
}

skip() {
	ntests=$((ntests + 1))
	echo "ok $ntests # SKIP $1: $2"
}

# run cmd...: bounded, into $T/out and $T/err, which it may read before that;
# a shell function as it is
run() {
	case $(type "$1" 2>/dev/null) in
	*function*)
		"$@" >"$T/out.new" 2>"$T/err.new" ;;
	*)
		timeout -k 5 "$LIMIT" "$@" >"$T/out.new" 2>"$T/err.new" ;;
	esac
	set -- $?
	mv "$T/out.new" "$T/out"
	mv "$T/err.new" "$T/err"
	return "$1"
}

status() {
	want=$1 text=$2
	shift 2
	run "$@"
	got=$?
	if [ $got -eq "$want" ]; then
		ok "$text" 0
	else
		ok "$text" 1
		echo "# status $got, not $want: $*"
		head -n 20 "$T/out" "$T/err" | sed 's/^/# /'
		return 1
	fi
}

check() {
	text=$1
	shift
	status 0 "$text" "$@"
}

same() {
	if [ "$2" = "$3" ]; then
		ok "$1" 0
	else
		ok "$1" 1
		printf '%s\n' "$2" | sed 's/^/# expected: /'
		printf '%s\n' "$3" | sed 's/^/# actual:   /'
	fi
}

samefile() {
	if diff -u "$2" "$3" >"$T/difference" 2>&1; then
		ok "$1" 0
	else
		ok "$1" 1
		head -n 40 "$T/difference" | sed 's/^/# /'
	fi
}

# full_folder NAME COMMAND...: two tests: where the temporary folder is full, the
# program NAME says so, and nothing is missing in silence
full_folder() {
	name=$1
	shift
	mounts="unshare -m"
	$mounts true 2>/dev/null || mounts="unshare -U -r -m"
	mkdir full
	if $mounts mount -t tmpfs -o size=4k none full 2>/dev/null; then
		status 2 "a full temporary folder" env TMPDIR="$PWD/full" \
		    $mounts sh -c 'mount -t tmpfs -o size=4k none full
		    echo >full/file; exec "$@"' sh "$@"
		check "is told" grep -q \
		    "^$name: .*/full/quern-.*: cannot be written\$" "$T/err"
	else
		skip "a full temporary folder" "no mounts"
		skip "is told" "no mounts"
	fi
}

# without_null NAME COMMAND...: two tests: the program NAME says that there is no
# /dev/null, and does not wait for what it could not start
without_null() {
	name=$1
	shift
	mounts="unshare -m"
	$mounts true 2>/dev/null || mounts="unshare -U -r -m"
	if $mounts mount -t tmpfs -o ro none /dev 2>/dev/null; then
		status 2 "without /dev/null" $mounts sh -c \
		    'mount -t tmpfs -o ro none /dev; exec "$@"' sh "$@"
		same "is told" "$name: /dev/null: is not there, or not for us" \
		    "$(cat "$T/err")"
	else
		skip "without /dev/null" "no mounts"
		skip "is told" "no mounts"
	fi
}
