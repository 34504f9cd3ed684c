#!/bin/sh
# Paths lead on behind stubs of linkage, calls by pointers and returns to a busy
# caller: with them a stream has far fewer executions, of the same instructions,
# also where such a guess turns out to be wrong; and where executions are only
# counted there are such paths as well, with the same counts

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

cat >"$T/lib.c" <<'E'
int inner(int x);
int inner(int x) { return x + 1; }
int outer(int x);
int outer(int x) { return inner(x) * 3; }	/* by the library's linkage */
E
cat >"$T/prog.c" <<'E'
#include <stdlib.h>
int outer(int);
static int add(int x, int y) { return x + y; }
static int take(int x, int y) { return x - y; }
/* returns to one caller mostly, and to another now and then */
__attribute__((noinline)) static int
apply(int (*f)(int, int), int x, int y)
{
	return f(x, y) ^ 5;
}
int
main(int argc, char **argv)
{
	int (*volatile f)(int, int) = add;
	int sum = 0, n = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < n; i++) {
		if (i == n / 2)
			f = take;	/* what was guessed is wrong from here */
		sum = outer(sum);
		sum = apply(f, sum, i);
		if (i % 100 == 99)
			sum += apply(take, i, sum);
	}
	return sum & 63;
}
E
$CC -O1 -fPIC -shared -o "$T/libq.so" "$T/lib.c" 2>/dev/null &&
	$CC -O1 -o "$T/prog" "$T/prog.c" -L"$T" -lq -Wl,-rpath,"$T" ||
	skip_all "no compiler"
"$T/prog" 600000
want=$?
for mode in nosuper "" long; do
	env -i "$B/trace" ${mode:+--debug=$mode} -o "$T/ev" "$T/prog" 600000
	same "${mode:-as it is}: the program ends as ever" "$want" $?
	for tool in icount branchsim callgraph; do
		"$B/$tool" -o "$T/$tool.$mode" "$T/ev"
	done
	sed -n 's/^E exit [0-9]* //p' "$T/ev" >"$T/executions.$mode"
done
for mode in "" long; do
	for tool in icount branchsim callgraph; do
		samefile "$tool: nosuper and ${mode:-as it is}" \
		    "$T/$tool.nosuper" "$T/$tool.$mode"
	done
done
same "a block has a stub, a call by a pointer and returns inside" yes "$(awk '
	/^B / && / [^ ]*I >/ && / [^ ]*X >/ && / [^ ]*R >.* [^ ]*R >/ {
		print "yes"; exit }' "$T/ev")"
# a round has two jumps and calls by words, a call by a pointer, and four
# returns, at each of which an execution of nosuper ends
echo "# executions: $(cat "$T/executions.nosuper"), $(cat "$T/executions.")"
ok "fewer executions, by two thirds" \
    "$(($(cat "$T/executions.") > 600000 * 4))"

# The streams of kinds with counters: a block on which a path goes behind a return.
has_path() {
	awk '/^B / && / [^ ]*R >/ { n = 1 } END { exit !n }' "$T/ev"
}

# counted KIND ROUNDS COSTS [OPTION]: the costs of so many rounds
counted() {
	env -i "$B/trace" -e "$1" $4 -o "$T/ev" "$T/prog" "$2"
	case $1 in
	branches) "$B/branchsim" -o "$T/$3" "$T/ev" ;;
	*) "$B/icount" -o "$T/$3" "$T/ev" ;;
	esac
}

# The counters are looked at now and then, so a short run has no path yet: more
# rounds, until there is one.
for kind in counts branches; do
	rounds=2000000
	while counted $kind $rounds along; ! has_path &&
	    [ $rounds -lt 500000000 ]; do
		rounds=$((rounds * 4))
	done
	has_path
	ok "$kind: a path goes on behind a return ($rounds rounds)" $?
	counted $kind $rounds straight --debug=nosuper
	samefile "$kind: the same counts as without" "$T/straight" "$T/along"
done

# With a store: a path is found from blocks that are only text there. On a busy
# machine that takes more rounds, too.
mkdir -m 700 "$T/store"
for run in cold warm; do
	while counted counts $rounds $run "--store=$T/store"; ! has_path &&
	    [ $rounds -lt 500000000 ]; do
		[ $run = warm ] || rm -rf "$T/store"/*
		rounds=$((rounds * 4))
	done
	has_path
	ok "store, $run: a path ($rounds rounds)" $?
	counted counts $rounds straight --debug=nosuper
	samefile "store, $run: the same counts" "$T/straight" "$T/$run"
done

# A run too short to find paths: they are found at its end, for the next one,
# with where indirect calls and returns led, and up to a jump to other code
for kind in counts branches all; do
	mkdir -m 700 "$T/short.$kind"
	for run in cold warm; do
		counted $kind 20001 "short.$run" "--store=$T/short.$kind"
		sed -n 's/^E exit [0-9]* //p' "$T/ev" >"$T/executions.$run"
	done
	echo "# $kind: $(cat "$T/executions.cold" "$T/executions.warm")"
	[ $kind = all ] || {
		has_path
		ok "store, $kind: the next short run goes on behind a return" $?
	}
	samefile "store, $kind: a short run's costs" "$T/short.cold" \
	    "$T/short.warm"
done

done_testing
