#!/bin/sh
# Random programs (t/unit/rndasm.c) natively and under trace: registers, flags,
# vectors and memory agree after every snippet, and all modes tell the same
# number of instructions, but those that tell no executions.  The same programs
# agree while a timer interrupts them.  RANDOM_FROM and RANDOM_TO choose other
# seeds.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

modes="-e.all -e.blocks -e.counts -e.all.--debug=nolink
-e.all.--debug=tinycache -e.all.--debug=nosuper -e.cache -e.all.--from=0x1000
-e.branches -e.branches.--debug=long,tinycache
-e.all.--debug=long -e.blocks.--debug=long,tinycache
-e.counts.--debug=long -e.counts.--debug=long,tinycache"

# predicted TEXT: branches as in the kind before this one
predicted() {
	"$B/branchsim" "$T/ev" | sed '/^desc\|^creator/d' >"$T/predicted"
	[ -f "$T/predicted.$seed" ] ||
		cp "$T/predicted" "$T/predicted.$seed"
	samefile "$1: mispredictions" "$T/predicted.$seed" "$T/predicted"
}

seed=${RANDOM_FROM:-1}
while [ "$seed" -le "${RANDOM_TO:-3}" ]; do
	timeout 20 "$TB/rndasm" "$seed" 300 >"$T/p.S" &&
	    $CC -static -nostdlib -o "$T/p" "$T/p.S" &&
	    timeout 20 "$T/p" >"$T/native" || ok "seed $seed: native" 1
	count=
	for m in $modes; do
		opts=$(echo "$m" | sed 's/-e\./-e /; s/\.--/ --/')
		timeout -k 5 60 "$B/trace" $opts -o "$T/ev" "$T/p" >"$T/traced"
		# offset / 8 is the first bad snippet: rndasm SEED 300 WHICH
		first=$(cmp "$T/native" "$T/traced" 2>&1)
		same "seed $seed $opts: state" "" "$first"
		case $m in
		*.cache|*from*) continue ;;
		esac
		n=$("$TB/evcount" "$T/ev" 2>&1)
		same "seed $seed $opts: instructions" "${count:-$n}" "$n"
		count=$n
		case $m in
		*blocks | *branches*) predicted "seed $seed $opts" ;;
		esac
	done
	timeout 20 "$TB/rndasm" -t "$seed" 300 >"$T/p.S" &&
	    $CC -static -nostdlib -o "$T/p" "$T/p.S" &&
	    timeout 20 "$T/p" >"$T/native" || ok "seed $seed: native timer" 1
	for kind in all cache branches "counts --contexts" \
	    "cache --contexts"; do
		timeout -k 5 120 "$B/trace" -e $kind -o /dev/null "$T/p" \
		    >"$T/traced"
		same "seed $seed -e $kind: state, with a timer" "" \
		    "$(cmp "$T/native" "$T/traced" 2>&1)"
	done
	seed=$((seed + 1))
done
done_testing
