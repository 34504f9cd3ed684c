#!/bin/sh
# count: instructions executed, from each kind that tells how often

. t/lib.sh

C=$B/count
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
through() { "$C" -t "$T/blocks.ev" | "$C"; }
check "passed through" through
same "the next stage counts the same" 41 "$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$T/out")"
status 2 "not of kind counts" "$C" -t "$T/counts.ev"
head -n 7 "$T/counts.ev" >"$T/cut.ev"
status 2 "a cut stream" "$C" "$T/cut.ev"
same "has no totals" 0 "$(grep -c '^totals' "$T/out")"

# each kind of the same run, and trace's own sum
if [ -x "$B/trace" ]; then
	seq 300 >"$T/lines"
	for kind in counts blocks all; do
		"$B/trace" -e $kind -o "$T/$kind" --clear-env --vdso=no \
		    /usr/bin/sort "$T/lines" >/dev/null
		"$C" "$T/$kind" | "$B/fmt-cachegrind" >"$T/$kind.out"
	done
	same "the sum is that of the I lines" \
	    "summary: $(awk '/^I/ { n += $2 } END { print n }' "$T/counts")" \
	    "$(grep summary "$T/counts.out")"
	check "callgraph has the same" "$B/callgraph" "$T/blocks"
	same "as has blocks" "$(sed -n 's/^totals: //p' "$T/out")" \
	    "$(sed -n 's/^summary: //p' "$T/blocks.out")"
fi

done_testing
