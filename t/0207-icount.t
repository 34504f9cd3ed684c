#!/bin/sh
# icount: instructions executed, from each kind that tells how often

. t/lib.sh

C=$B/icount
cat >"$T/counts.ev" <<'END'
H quern-events 1
H kind counts
B 1 >1000 4 2C1000
B 2 >2000 3 1 5X
P 3 2 2
T 1
1*9
2
I 23
1
3*4
T 2
2*2
I 21
E exit 0 20
END
check "a stream of counts" "$C" "$T/counts.ev"
same "its costs" "events: Ir
0x1000 11
+4 11
0x2000 9
+3 9
+1 4
totals: 44" "$(grep '^events\|^0x\|^[+]\|^totals' "$T/out")"
sed 's/kind counts/kind blocks/; /^I/d; s/\*2$/*1/; s/ 20$/ 19/' \
    "$T/counts.ev" >"$T/blocks.ev"
check "a stream of blocks" "$C" -v "$T/blocks.ev"
same "its costs: one execution less" "totals: 41" "$(grep '^totals' "$T/out")"
same "-v" "41" "$(tr -cd '0-9' <"$T/err")"
status 2 "there is nothing to pass through" "$C" -t "$T/blocks.ev"
head -n 7 "$T/counts.ev" >"$T/cut.ev"
status 2 "a cut stream" "$C" "$T/cut.ev"
same "has no totals" 0 "$(grep -c '^totals' "$T/out")"

# intervals
parts() {
	awk '/^part/ { printf "%s", $2 } /^desc: T/ { printf " %s", $4 }
	    /^totals/ { print "", $2 }' "$@"
}
check "-i" "$C" -i "$T/counts.ev"
same "-i: a part for each" "1 1 23
2 2 21" "$(parts "$T/out")"
same "-i: the second has what ran in it" "0x1000 1
+4 1
0x2000 8
+3 8
+1 3
totals: 21" "$(sed '1,/^part: 2/d' "$T/out" | grep '^0x\|^[+]\|^totals')"
cp "$T/out" "$T/parts"
check "-i: merge adds the parts up" "$B/merge" "$T/parts"
same "-i: to the whole" 44 "$(sed -n 's/^totals: //p' "$T/out")"
check "-i, nothing but executions" "$C" -i "$T/blocks.ev"
same "-i, nothing but executions: one part" "1 1 41" "$(parts "$T/out")"
check "--interval=2" "$C" --interval=2 "$T/counts.ev"
same "--interval=2: only that" "totals: 21" "$(grep '^totals' "$T/out")"
check "--interval=1" "$C" --interval=1 "$T/counts.ev"
same "--interval=1: only that" "totals: 23" "$(grep '^totals' "$T/out")"
status 2 "--interval=3" "$C" --interval=3 "$T/counts.ev"
same "--interval=3: there is none" "icount: $T/counts.ev:15: only 2 intervals" \
    "$(cat "$T/err")"
status 2 "--interval=0" "$C" --interval=0 "$T/counts.ev"
status 2 "-i and --interval" "$C" -i --interval=1 "$T/counts.ev"
sed 's/^I 21/C/' "$T/counts.ev" >"$T/open.ev"
check "an interval without its end" "$C" --interval=2 "$T/open.ev"
same "an interval without its end: counts" "totals: 21" \
    "$(grep '^totals' "$T/out")"
sed '/^T/d; /^I/d; s/kind counts/kind cache 64 64 8/
    s/^1\*9/W 1 b/; s/^2$/W 2 3/; s/^3.*/W 3 5/; /^1$/d; /^2\*/d
    s/ 20$/ 19/' "$T/counts.ev" >"$T/cache.ev"
check "kind cache: W lines" "$C" "$T/cache.ev"
same "kind cache: totals" "totals: 41" "$(grep '^totals' "$T/out")"
status 2 "kind cache has no intervals" "$C" -i "$T/cache.ev"
same "kind cache has no intervals: message" "icount: $T/cache.ev:1: a stream of\
 kind cache does not tell intervals: needs kind all, blocks or counts" "$(cat "$T/err")"

# rounds: executions that write 5, 0, 2, 2, 2 times and once, and read 3 times,
# not at all, and once; signs do not matter
cat >"$T/rep.ev" <<'END'
H quern-events 2
H kind all
B 1 >1000 2w8.0*1 3r1.2*3 1
P 2 1 1
P 3 1 2
1+7000+5+8000+3
3.-5.-3
2.+2
2..*1
1.-3.-1
I 7
E exit 0 6
END
check "rounds" "$C" --rep=each "$T/rep.ev"
same "rounds: of all executions" "0x1000 18
+2 5
+3 2
totals: 25" "$(grep '^0x\|^[+]\|^totals' "$T/out")"
check "rounds: cachesim" "$B/cachesim" --rep=each "$T/rep.ev"
same "rounds: cachesim has them" "totals: 25" \
    "$(grep '^totals' "$T/out" | cut -d' ' -f1,2)"
cat >"$T/rounds.ev" <<'END'
H quern-events 2
H kind counts
B 1 >1000 2w8 3r1 1
P 2 1 1
P 3 1 2
1*1
3
2*2
R 1 1 c 1
R 1 2 4 1
I 11
E exit 0 6
END
check "R lines" "$C" --rep=each "$T/rounds.ev"
same "R lines: the same" "0x1000 18
+2 5
+3 2
totals: 25" "$(grep '^0x\|^[+]\|^totals' "$T/out")"
check "R lines, once" "$C" "$T/rounds.ev"
same "R lines, once: totals" "totals: 11" "$(grep '^totals' "$T/out")"
sed 's/events 2/events 1/; /^R/d' "$T/rounds.ev" >"$T/old.ev"
status 2 "version 1, rounds" "$C" --rep=each "$T/old.ev"
same "version 1, rounds: message" "icount: $T/old.ev:1: a stream of kind counts\
 and version 1 does not tell how often instructions were repeated" \
    "$(cat "$T/err")"

# each kind of the same run, and trace's own sum
if [ -x "$B/trace" ]; then
	seq 300 >"$T/lines"
	for kind in counts blocks all; do
		"$B/trace" -e $kind -o "$T/$kind" --clear-env --vdso=no \
		    /usr/bin/sort -S 1M "$T/lines" >/dev/null
		"$C" "$T/$kind" | "$B/fmt-cachegrind" >"$T/$kind.out"
	done
	same "the sum is that of the I lines" \
	    "summary: $(awk '/^I/ { n += $2 } END { print n }' "$T/counts")" \
	    "$(grep summary "$T/counts.out")"
	check "callgraph has the same" "$B/callgraph" "$T/blocks"
	same "as has blocks" "$(sed -n 's/^totals: //p' "$T/out")" \
	    "$(sed -n 's/^summary: //p' "$T/blocks.out")"
fi

# by address: as cachesim has it, rounds counted once or each
if [ -x "$B/trace" ]; then
	addresses() { # "object hex Ir" lines
		perl -ne '
		if (/^ob=\((\d+)\)(?: (.*))?/) {
			$name{$1} = $2 if defined $2; $ob = $name{$1};
		} elsif (/^(0x|\+)(\S+)(?: (\d+))?/) {
			$at = $1 eq "+" ? $at + $2 : hex $2;
			printf "%s %x %d\n", $ob, $at, $3;
		} elsif (/^\*(?: (\d+))?/) {
			printf "%s %x %d\n", $ob, $at, $1;
		}' "$@"
	}
	"$B/trace" -e cache -o "$T/cache" --clear-env --vdso=no \
	    /usr/bin/sort -S 1M "$T/lines" >/dev/null
	for rep in once each; do
		"$B/cachesim" --rep=$rep "$T/all" | addresses >"$T/judge"
		for kind in counts blocks all cache; do
			"$C" --rep=$rep "$T/$kind" | addresses >"$T/got"
			samefile "$rep: of kind $kind, cachesim's Ir of kind all" \
			    "$T/judge" "$T/got"
		done
	done
fi

# by line: as Cachegrind has it
judge() {
	${CC:-gcc} -O1 -g -nostdlib -static -fno-stack-protector -fno-pie \
	    -no-pie -fcf-protection=none -o "$T/branches" \
	    t/fix/branches.c || return 1
	valgrind --tool=cachegrind --cache-sim=no --vex-guest-chase=no \
	    --vex-iropt-level=0 --cachegrind-out-file="$T/cg" "$T/branches" &&
	"$B/trace" -e counts -o "$T/ev" "$T/branches"
}
lines() { # "file function line Ir" lines, in order
	awk -F= '/^fl=/ { fl = $2; sub(".*/", "", fl) } /^fn=/ { fn = $2 }
	    /^[0-9]/ { print fl, fn, $0 }' "$1" | sort
}
if command -v valgrind >/dev/null 2>&1 && judge >"$T/log" 2>&1; then
	"$C" --rep=each "$T/ev" | "$B/fmt-cachegrind" >"$T/ours"
	lines "$T/cg" >"$T/theirs"
	lines "$T/ours" >"$T/got"
	samefile "Cachegrind's instructions by line" "$T/theirs" "$T/got"
	same "Cachegrind's sum" "$(grep '^summary' "$T/cg" | tr -d ' ')" \
	    "$(grep '^summary' "$T/ours" | tr -d ' ')"
else
	skip "Cachegrind" "no valgrind, or no trace"
fi

done_testing
