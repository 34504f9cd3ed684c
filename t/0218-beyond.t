#!/bin/sh
# sums beyond 2^63: a message and status 2 from each reader, no wrong sum

. t/lib.sh

cd "$T" || exit 99

stream() { # KIND LINE...
	printf '%s\n' "H quern-events 2" "H kind $1"
	shift
	printf '%s\n' "$@"
}
beyond() { # PROGRAM OPTION... FILE
	status 2 "beyond: $*" "$B/$@"
	same "one message: $*" "${1}: ${message:-the sum of the costs is beyond 64 \
bits}" "$(cat err)"
}
block="B 1 >401000 3 4 2 5C401000"

# executions, whose number the end mark has, too
stream branches "$block" "W 1 ffffffffffffffff" \
    "E exit 0 18446744073709551615" >many.ev
stream branches "$block" "W 1 4000000000000000" "W 1 3fffffffffffffff" \
    "W 1 1" "E exit 0 9223372036854775808" >sum.ev
message="many.ev:4: more than 2^63 executions"
for p in icount branchsim mix; do
	beyond $p many.ev
done

# instructions of them, and their events
stream branches "$block" "W 1 4000000000000000" \
    "E exit 0 4611686018427387904" >insns.ev
stream all "H outcomes X" "B 1 >401000 3r8@500000" 1 "O 1 X*7fffffffffffffff" \
    1 "O 1 X*7fffffffffffffff" 1 "O 1 X*5" "E exit 0 3" >events.ev
stream all "H outcomes D1mr" "B 1 >401000 3r8@500000" 1 \
    "O 1 D1mr*7fffffffffffffff" 1 "O 1 D1mr*7fffffffffffffff" 1 "O 1 D1mr*5" \
    "E exit 0 3" >misses.ev
message=
for p in icount branchsim mix "mix --costs"; do
	beyond $p sum.ev
	beyond $p insns.ev
done
for p in icount branchsim cachesim memsim "mix --costs" callgraph; do
	beyond $p events.ev
done
beyond dataprof misses.ev

sed 's/X.7fffffffffffffff/X*8000000000000000/' events.ev >more.ev
message="more.ev:6: O: more than 2^63 events"
beyond callgraph more.ev

# rounds of a repeated instruction
stream all "B 1 >401000 2r8.0*1w8.2*1 3 2J401000" 1+1000-8000000000000000+2000 \
    "E exit 0 1" >rounds.ev
message=
for p in "icount --rep=each" "callgraph --rep=each" cachesim \
    "cachesim --rep=each"; do
	beyond $p rounds.ev
done

# what fits is counted
stream branches "B 1 >401000 3" "W 1 1000000000000000" \
    "E exit 0 1152921504606846976" >fits.ev
check "2^60 instructions" "$B/icount" fits.ev
same "are counted" "totals: 1152921504606846976" "$(grep ^totals out)"
done_testing
