#!/bin/sh
# Blocks that go on over taken branches, jumps, calls and returns tell the same
# as short ones: to the cache, to branch prediction, to the call graph, and to
# the profile of data. What runs is one of our own programs, along the way that
# it mostly takes, and (long) along any.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

# with sanitizers it does not do the same in each run; then another's
prog="$B/plain"
[ -z "${SAN:-}" ] || prog=/usr/bin/sort
env -i "$B/trace" -o "$T/small.ev" /bin/true
for mode in nosuper "" long; do
	env -i "$B/trace" ${mode:+--debug=$mode} --stdout=/dev/null \
	    -o "$T/ev" "$prog" "$T/small.ev"
	for tool in cachesim branchsim callgraph dataprof; do
		"$B/$tool" -o "$T/$tool.$mode" "$T/ev" 2>/dev/null
	done
	"$TB/evcount" "$T/ev" >"$T/instructions.$mode"
	grep -c '^[0-9a-f]' "$T/ev" >"$T/lines.$mode"
done
for mode in "" long; do
	for what in instructions cachesim branchsim callgraph dataprof; do
		samefile "$what: nosuper and ${mode:-as it is}" \
		    "$T/$what.nosuper" "$T/$what.$mode"
	done
done
same "a block has a taken branch inside, a call, and its return" yes "$(awk '
	/^B / && / [0-9a-f]+C[0-9a-f]+ >/ && / [^ ]*L[0-9a-f]+ >/ &&
	    / [^ ]*R >/ { print "yes"; exit }' "$T/ev")"
ok "fewer lines" $(($(cat "$T/lines.long") >= $(cat "$T/lines.nosuper")))

done_testing
