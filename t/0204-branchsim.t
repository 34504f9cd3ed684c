#!/bin/sh
# branchsim: Cachegrind's predictor to the bit; the others; passing through

. t/lib.sh

S=$B/branchsim
caches="--I1=4096,2,64 --D1=4096,2,64 --LL=65536,4,64"

# one branch, taken nine times, then not: the counter has to rise to 2, for
# each of 7 bits of history anew
cat >"$T/loop.ev" <<'END'
H quern-events 1
H cmd loop
B 1 >1000 4 2C1000
1*9
E exit 0 10
END
check "a loop" "$S" "$T/loop.ev"
same "its costs" "events: Ir Bc Bcm Bi Bim
0x1000 10
+4 10 10 10
totals: 20 10 10" "$(grep '^events\|^0x\|^[+]\|^totals' "$T/out")"
sed 's/1\*9/1*63/; s/ 10$/ 136/; s/^E/1*23\nE/' "$T/loop.ev" >"$T/loop2.ev"
check "a long loop" "$S" "$T/loop2.ev"
# 7 histories that are new, the full one twice, and the last, not taken
same "is learned" "+4 136 136 10" "$(grep '^[+]' "$T/out")"

# outcomes: within blocks, by the next execution, round, signal, end, thread
cat >"$T/flows.ev" <<'END'
H quern-events 1
T 7
B 1 >1000 2C1010 2C2000 >2000 3X >3000 1R >2003 2I
P 2 1 1
P 3 1 2
B 4 >1010 2C1000 1
P 5 4 1
2
4
3
K 14 2000
1
T 8
B 6 >5000 2C6000
6
T 7
4
5
E signal 14 7
END
check "all flows" "$S" "$T/flows.ev"
same "are counted" "0x1000 3 3 1
+2 2 2 2
+14 3 3
+2 2
0x2000 1 0 0 1 1
+3 1 0 0 1 1
0x3000 1
0x5000 1 1
totals: 14 9 3 2 2" "$(grep '^0x\|^[+]\|^totals' "$T/out")"
status 2 "a branch to nowhere" "$S" - <<END
$(sed 's/^K .*/K 14 2001/' "$T/flows.ev")
END
same "is an error" "branchsim: stdin:11: the branch at 1002 to 2000 went on\
 at 2001" "$(cat "$T/err")"

# marks: a thread goes on elsewhere, after its window or after all are off
cat >"$T/marks.ev" <<'END'
H quern-events 2
H kind blocks
T 7
B 1 >1000 2C1010
B 2 >3000 1 2I
B 3 >4000 1
1
J window
3
2
J window
3
T 8
1
T 7
J off
J on
3
T 8
3
T 7
1
J off
J cold
T 8
3
E exit 0 9
END
check "marks" "$S" "$T/marks.ev"
same "end what is open" "0x1000 3 3
0x3000 1
+1 1 0 0 1
0x4000 5
totals: 10 3 0 1" "$(grep '^0x\|^[+]\|^totals' "$T/out")"
cat >"$T/loops.ev" <<'END'
H quern-events 2
H kind blocks
T 7
B 1 >1000 2C1000
B 2 >4000 1
1*63
J window
2
T 8
1*63
T 7
J off
J on
2
T 8
2
E exit 0 203
END
check "marks, through" "$S" -t "$T/loops.ev"
same "outcomes come first, in their threads" "1*5a
O 1 Bcm
J window
1*5c
T 7
T 8
O 1 Bcm
T 7
J off" "$(sed -n '/^1\*5a/,/^J/p; /^1\*5c/,/^J/p' "$T/out")"

sed 's/^T 7/& 1/; s/^T 8/T 7 2/' "$T/loops.ev" >"$T/processes.ev"
check "marks of several processes, through" "$S" -t "$T/processes.ev"
same "threads have the process, too" "T 7 1
T 7 2
O 1 Bcm
T 7 1
J off" "$(sed -n '/^1\*5c/,/^J/p' "$T/out" | tail -n +2)"

# what only some can learn: a loop of 49 rounds, 200 times; an indirect jump to
# three places in turn; returns from calls deeper than their stack
totals() { "$S" --predictor="$1" "$T/$2.ev" | sed -n 's/^totals: //p'; }
{
	printf '%s\n' 'H quern-events 1' 'B 1 >1000 4 2C1000' 'B 2 >1006 2J1000'
	for i in $(seq 200); do printf '1*30\n2\n'; done
	printf '1\nE exit 0 10001\n'
} >"$T/rounds.ev"
same "counters are wrong at the end of each loop" 1 \
    "$(totals bimodal rounds | awk '{ print ($3 >= 200 && $3 < 210) }')"
same "tage's history is long enough for it" 1 \
    "$(totals tage rounds | awk '{ print ($3 < 20) }')"
{
	printf '%s\n' 'H quern-events 1' 'B 3 >2000 2I' 'B 4 >3000 2J2000' \
	    'B 5 >3100 2J2000' 'B 6 >3200 2J2000'
	for i in $(seq 300); do printf '3\n4\n3\n5\n3\n6\n'; done
	echo "E exit 0 1800"
} >"$T/turns.ev"
same "the last target is never the next" "1800 0 0 900 900" \
    "$(totals gshare turns)"
same "tage's indirect targets have a history" 1 \
    "$(totals tage turns | awk '{ print ($4 == 900 && $5 < 20) }')"
deep() { # CALLS: each returns behind the call, the first one elsewhere
	printf '%s\n' 'H quern-events 1' 'B 1 >4000 5L4010' 'B 2 >4010 5L4010' \
	    'B 3 >4010 1R' 'B 4 >4015 1R' 'B 5 >4005 2S' 1 \
	    "2*$(printf %x $(($1 - 2)))" 3 "4*$(printf %x $(($1 - 2)))" 5 \
	    "E exit 0 $((2 * $1 + 1))"
}
for n in 32 33; do
	deep $n >"$T/deep.ev"
	same "$n calls deep: returns, mispredicted ones" "$n $((n - 32))" \
	    "$(totals tage deep | awk '{ print $6, $7 + 0 }')"
done

# through: what is told is what is summed up, and what came is passed on
random() { "$TB/caches" gen "$1" 10000; }
real() { "$B/trace" -o "$T/real.ev" /bin/true; }
if [ -x "$B/trace" ] && real >"$T/out" 2>&1; then
	for p in cachegrind tage; do
		"$S" --predictor=$p "$T/real.ev" >"$T/sum"
		check "through, $p" "$S" --predictor=$p -t -o "$T/through.ev" \
		    "$T/real.ev"
		grep -v '^O \|^H outcomes\|^H desc' "$T/through.ev" |
		    "$TB/ev" copy >"$T/a.ev"
		"$TB/ev" copy "$T/real.ev" >"$T/b.ev"
		samefile "$p: all is passed on" "$T/b.ev" "$T/a.ev"
		"$S" --predictor=perfect "$T/real.ev" >"$T/perfect"
		same "$p: all mispredictions are told" \
		    "$(sed -n 's/^totals: //p' "$T/sum" | cut -d' ' -f3,5)" \
		    "$(perl -ne 'if (/^O /) { while
			(/ (Bcm|Bim)(?:\*([0-9a-f]+))?/g)
			{ $n{$1} += defined $2 ? hex $2 : 1 } }
			END { print join " ", map $n{$_}, qw(Bcm Bim) }' \
			"$T/through.ev")"
		"$B/cachesim" $caches "$T/real.ev" >"$T/caches"
		check "$p: then caches" "$B/cachesim" $caches "$T/through.ev"
		grep '^totals' "$T/out" | cut -d' ' -f1-10 >"$T/a"
		grep '^totals' "$T/caches" | cut -d' ' -f1-10 >"$T/b"
		samefile "$p: the caches are the same" "$T/b" "$T/a"
	done
	"$S" "$T/real.ev" >"$T/sum"
	"$S" -t "$T/real.ev" | "$B/cachesim" $caches -t |
	    "$B/cachesim" $caches >"$T/out" 2>"$T/err"
	same "a second cachesim" 1 "$(grep -c 'through a cachesim' "$T/err")"
	"$S" -t "$T/real.ev" | "$B/cachesim" $caches >"$T/both"
	same "one file for branches and caches" \
	    "$(sed -n 's/^totals: [0-9]* //p' "$T/sum")" \
	    "$(sed -n 's/^totals: //p' "$T/both" | cut -d' ' -f10-)"
	status 2 "twice through branchsim" "$S" "$T/through.ev"
else
	skip "passing through" "no trace"
fi

# the judge: the same instructions under Cachegrind
judge() {
	${CC:-gcc} -O1 -nostdlib -static -fno-stack-protector -fno-pie \
	    -no-pie -fcf-protection=none -o "$T/branches" \
	    t/fix/branches.c || return 1
	valgrind --tool=cachegrind --branch-sim=yes --cache-sim=no \
	    --vex-guest-chase=no --vex-iropt-level=0 \
	    --cachegrind-out-file="$T/cg" "$T/branches" || return 1
	"$B/trace" -o "$T/branches.ev" "$T/branches"
}
if command -v valgrind >/dev/null 2>&1 && judge >"$T/log" 2>&1; then
	check "branches" "$S" --rep=each "$T/branches.ev"
	same "as Cachegrind has them" "$(sed -n 's/^summary: //p' "$T/cg")" \
	    "$(sed -n 's/^totals: //p' "$T/out")"
	check "branches, rep once" "$S" "$T/branches.ev"
	same "the indirect ones are the same" \
	    "$(sed -n 's/^summary: //p' "$T/cg" | cut -d' ' -f4,5)" \
	    "$(sed -n 's/^totals: //p' "$T/out" | cut -d' ' -f4,5)"
	# rounds told in O lines
	"$S" --rep=each -t "$T/branches.ev" | "$B/cachesim" $caches \
	    --rep=each >"$T/out"
	same "and through" "$(sed -n 's/^summary: //p' "$T/cg")" \
	    "$(sed -n 's/^totals: //p' "$T/out" | cut -d' ' -f1,10-)"
	bcm() {
		"$S" --predictor="$1" "$T/branches.ev" |
		    awk -v k="$2" '/^totals/ { print $(k + 1) + 0 }'
	}
	ok "tage is better than gshare, gshare than bimodal" "$(
	    [ "$(bcm tage 3)" -lt "$(bcm gshare 3)" ] &&
	    [ "$(bcm gshare 3)" -lt "$(bcm bimodal 3)" ]; echo $?)"
	same "perfect is" "0 0" "$(bcm perfect 3) $(bcm perfect 5)"
	same "the return stack is right" 0 "$(bcm tage 7)"
else
	skip "the judge" "no valgrind, or no trace"
fi

# kinds and options
printf 'H quern-events 1\nH kind counts\nB 1 >1 1\n1\nE exit 0 1\n' \
    >"$T/counts.ev"
status 2 "kind counts" "$S" "$T/counts.ev"
same "is refused" "branchsim: $T/counts.ev:1: a stream of kind counts does\
 not tell the order of executions: needs kind all, blocks or branches" "$(cat "$T/err")"
printf 'H quern-events 1\nH kind blocks\nB 1 >1 1r8 2C1\n1\nE exit 0 1\n' \
    >"$T/blocks.ev"
check "kind blocks" "$S" "$T/blocks.ev"
status 2 "kind blocks, rounds" "$S" --rep=each "$T/blocks.ev"
# version 1 does not tell them, and passing it on does not change that
"$S" -t "$T/blocks.ev" >"$T/through.ev"
status 2 "kind blocks, passed on, rounds" "$B/callgraph" --rep=each \
    "$T/through.ev"
sed 's/events 1/events 2/' "$T/blocks.ev" >"$T/two.ev"
check "kind blocks, version 2, rounds" "$S" --rep=each "$T/two.ev"
status 2 "no such predictor" "$S" --predictor=x "$T/loop.ev"
same "is said" "branchsim: --predictor=x: not one of cachegrind, bimodal,\
 gshare, tage, perfect" "$(cat "$T/err")"
check "-v" "$S" -v -o "$T/o" "$T/loop.ev"
same "a summary" "conditional              10 branches              10\
 mispredicted 100.00%
indirect                  0 branches               0 mispredicted   0.00%" \
    "$(cat "$T/err")"
head -n 4 "$T/loop.ev" >"$T/cut.ev"
status 2 "truncated" "$S" "$T/cut.ev"
same "no end mark" "0x1000 10" "$(grep '^0x\|^totals' "$T/out")"
done_testing
