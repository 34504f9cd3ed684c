#!/bin/sh
# More pieces of code than there are counters: the counters grow to one for each
# id; where there is no room for that all are told and used again; and where no
# id is left what was told is kept.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
LIMIT=120

# static: what others install changes how far the loader searches meanwhile
$CC -static -O1 -o "$T/many" t/src/many.c || exit 99

# in_full OPTION... PIECES: the stream is whole and tells as many instructions as
# kind blocks, which has no counters
in_full() {
	text=$*
	rm -f "$T/ev"
	eval "pieces=\${$#}"
	status 0 "$text" "$B/trace" "$@"
	same "$text: the program's output" "$pieces" "$(cat "$T/out")"
	same "$text: all instructions" "$expected" "$("$TB/evcount" "$T/ev")"
}

expected_of() {
	run "$B/trace" -e blocks -o "$T/blocks.ev" "$T/many" "$1"
	expected=$("$TB/evcount" "$T/blocks.ev")
	rm -f "$T/blocks.ev"
}

# code that begins at every byte: each piece is found in a few steps, where all
# behind one another took a minute
$CC -O1 -o "$T/dense" t/src/dense.c || exit 99
check "131,072 functions of a byte" sh -c 'ulimit -t 10; "$@"' - \
    "$B/trace" -e counts -o "$T/ev" "$T/dense" 32

expected_of 1100000
in_full -e counts -o "$T/ev" "$T/many" 1100000
same "one interval" 1 "$(grep -c '^I' "$T/ev")"
in_full -e cache -o "$T/ev" "$T/many" 1100000

# A limit of the address space: fewer counters, used several times.
limited() {
	ulimit -v 3000000
	in_full -e counts -o "$T/ev" "$T/many" 1100000
	[ "$(grep -c '^I' "$T/ev")" -gt 1 ]
	ok "several intervals" $?
	echo $ntests >"$T/n"
}
if [ -n "$SAN" ]; then
	skip "limited" "the sanitizer needs address space"
else
	(limited)
	ntests=$(cat "$T/n")
fi

expected_of 20000
in_full -e counts --debug=fewcounts -o "$T/ev" "$T/many" 20000
[ "$(grep -c '^I' "$T/ev")" -gt 80 ]
ok "a few counters: many intervals" $?
in_full -e cache --debug=fewcounts -o "$T/ev" "$T/many" 20000

# The ids last for tens of thousands of pieces. How many executions tell what comes
# before depends on where paths begin; its instructions do not.
expected_of 100000
for kind in counts cache all; do
	rm -f "$T/ev"
	status 125 "$kind: no id is left" "$B/trace" -e $kind --debug=fewids \
	    -o "$T/ev" "$T/many" 100000
	same "$kind: the program goes on" 100000 "$(cat "$T/out")"
	same "$kind: a message" 1 "$(grep -c 'different pieces' "$T/err")"
	status 1 "$kind: no end mark" grep -q '^E ' "$T/ev"
	told=$("$TB/evcount" -c "$T/ev" 2>"$T/cut")
	grep -q 'truncated' "$T/cut" &&
	    [ "$told" -gt $((expected - 90000)) ] && [ "$told" -lt "$expected" ]
	ok "$kind: what was told is there" $?
done
done_testing
