#!/bin/sh
# Instructions of all encodings (t/src/encodings.c), those that the processor
# refuses, too, natively and under trace: registers, flags, vectors, memory, and
# the signal that comes are the same.  What two native runs do not agree in is
# left out.
#
#	EVERY=N		one of N encodings				[1999]
#	REST=K		those that are K modulo N			[5]
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
EVERY=${EVERY:-1999} REST=${REST:-5}
${CC:-gcc} -O1 -o "$T/encodings" t/src/encodings.c || exit 99

# alike OPTIONS: the run under trace is the native one
alike() {
	timeout -k 5 300 "$B/trace" $1 -o /dev/null "$T/encodings" $set \
	    $EVERY $REST >"$T/traced" 2>"$T/err"
	same "$set, $1: status" 0 $?
	awk 'NR == FNR { sure[$1]; next } $1 in sure' "$T/sure" "$T/traced" \
	    >"$T/got"
	samefile "$set, $1: each does what it does natively" "$T/sure" "$T/got"
}

for set in legacy vex evex; do
	for run in 1 2; do
		timeout -k 5 300 "$T/encodings" $set $EVERY $REST >"$T/run.$run"
		same "$set: native run $run" 0 $?
	done
	awk 'NR == FNR { is[$1] = $0; next } is[$1] == $0' "$T/run.1" \
	    "$T/run.2" >"$T/sure"
	ok "$set: most of them are sure" "$(awk -v all="$(wc -l <"$T/run.1")" \
	    'END { print !(NR > 0.99 * all && NR > 50) }' "$T/sure")"
	for options in "-e all" "-e none" "-e counts" "-e cache" "-e branches" \
	    "-e cache --debug=tinycache" "-e counts --contexts"; do
		alike "$options"
	done
done
done_testing
