#!/bin/sh
# plain: events one a line, and back

. t/lib.sh

P=$B/plain
cat >"$T/in.ev" <<'END'
H quern-events 1
B 1 >1000 4r8.0+10 3m4@5000 2
P 2 1 1
B 3 >2000 2r4.0*1w4.2*1 5w40.3w8.4
1+7ffe1000
2+8*1
3+6010-2+7010+9000+a000
3.+2.-9000.
3.-2...
E exit 0 6
END
check "events" "$P" "$T/in.ev"
same "are lines" "I  00001000,4
 L 7ffe1010,8
I  00001004,3
 M 00005000,4
I  00001007,2
I  00001000,4
 L 7ffe1018,8
I  00001000,4
 L 7ffe1020,8
I  00002000,2
 L 00006010,4
 S 00007010,4
 L 0000600c,4
 S 0000700c,4
I  00002002,5
 S 00009000,64
 S 0000a000,8
I  00002000,2
I  00002002,5
 S 0000a000,8
I  00002000,2
 L 00006010,4
 S 00007010,4
 L 0000600c,4
 S 0000700c,4
I  00002002,5
 S 0000a000,8" "$(cat "$T/out")"
cp "$T/out" "$T/lines"
check "-d" "$P" -d "$T/in.ev"
same "is data only" "$(grep -v '^I' "$T/lines")" "$(cat "$T/out")"
check "--rep=each" "$P" --rep=each "$T/in.ev"
same "has a fetch for each round, and one behind them" "I  00002000,2
 L 00006010,4
 S 00007010,4
I  00002000,2
 L 0000600c,4
 S 0000700c,4
I  00002000,2
I  00002002,5" "$(sed -n '10,17p' "$T/out")"
same "and none where there is no round" "I  00002000,2
I  00002002,5" "$(sed -n '20,21p' "$T/out")"
status 2 "--rep=twice" "$P" --rep=twice "$T/in.ev"
same "is told" "plain: --rep=twice: neither once nor each" "$(cat "$T/err")"
check "back" "$P" -r "$T/lines"
cp "$T/out" "$T/back.ev"
check "and there" "$P" "$T/back.ev"
samefile "is the same" "$T/lines" "$T/out"

# Lackey's log around it, other spacing, addresses of all lengths
cat >"$T/log" <<'END'
==12== Lackey, an example Valgrind tool
==12== Command: a b \ c

I 0400d7d4,8
 L  7fffffffe010,8
SB 00400000
I  ffffffffff600000,15
--12-- warning
I  400,19
 S 10,1
==12== Exit code: 0
END
check "a log" "$P" -r "$T/log"
same "is read" 'H quern-events 2
H cmd a b \134 c
B 1 >400d7d4 8r8.0
1+7fffffffe010
B 2 >ffffffffff600000 f
2
B 3 >400 fw1.0
3+10
E exit 0 3' "$(cat "$T/out")"

refused() { # line
	printf 'I  1000,4\n%s\n' "$1" >"$T/bad"
	status 2 "refused: $1" "$P" -r "$T/bad"
	same "$1: message" "plain: $T/bad:2: not a line of Lackey's: \`$1'" \
	    "$(cat "$T/err")"
	same "$1: no end mark" "" "$(grep '^E' "$T/out")"
}
refused "hello"
refused " L 1000"
refused " L 1000,"
refused " L 1000,0"
refused " L 1000,8x"
refused " L ,8"
refused "I  12345678123456781,4"
refused " X 1000,8"
printf ' L 1000,8\n' >"$T/bad"
status 2 "a reference before any instruction" "$P" -r "$T/bad"
awk 'BEGIN { print "I  1000,4"
    for (i = 0; i < 201; i++)
	print " L 2000,8" }' >"$T/bad"
status 2 "more than 200 references of an instruction" "$P" -r "$T/bad"
same "the 201st is named" "plain: $T/bad:202: more than 200 references of an \
instruction, as plain --rep=each never writes: \` L 2000,8'" "$(cat "$T/err")"

printf 'H quern-events 1\nH kind counts\nB 1 >1 1\n1\nE exit 0 1\n' \
    >"$T/counts.ev"
status 2 "kind counts" "$P" "$T/counts.ev"
head -n 6 "$T/in.ev" >"$T/cut.ev"
status 2 "truncated" "$P" "$T/cut.ev"
same "what there is" 9 "$(grep -c . "$T/out")"
status 2 "-d and -r" "$P" -d -r "$T/lines"
# lines of the source: threads, system calls, signals, and what has no names
cat >"$T/s.ev" <<'END'
H quern-events 1
H kind blocks
B 1 >1000 4 3 2C1000
B 2 >2000 5 2S
T 7
1*3
T 8
2
Y 39
T 7
1
K 11 1004
E signal 11 6
END
check "-s" "$P" -s "$T/s.ev"
same "-s: lines" "thread 7
???: ???
thread 8
???: ???
system call 39
thread 7
???: ???
signal 11 (Segmentation fault) at 1004 ???: ???" "$(cat "$T/out")"
sed 's/blocks/counts/; /^[TYK]/d; s/^E.*/E exit 0 6/' "$T/s.ev" >"$T/c.ev"
check "-s: counts" "$P" -s "$T/c.ev"
same "-s: counts: lines" "4 times ???: ???
1 times ???: ???
1 times ???: ???" "$(cat "$T/out")"
check "-s: contexts" "$P" -s t/fuzz/corpus/ev/contexts
same "-s: contexts: lines" "state 1: 401000 ???: ???
arc 1: to state 1
own cost of state 1: 401000 ???: ???
state 2: in state 1, 401100 ???: ???
arc 2: from state 1 to state 2 by 401007 ???: ???
own cost of state 2: 401100 ???: ???
state 3, called again: in state 2, 401100 ???: ???" "$(head -n 7 "$T/out")"
same "-s: contexts: counts" "2 times ???: ???
1 times ???: ???
1 times ???: ???
64 rounds, 0 times none: 401005 ???: ???
arc 1: 1 calls, 17 instructions
arc 2: 1 calls, 13 instructions
arc 3: 1 calls, 8 instructions
arc 4: 1 calls, 3 instructions
an interval of 17 instructions" "$(tail -n 9 "$T/out")"
check "-s: calls of a function that was left" "$P" -s t/fuzz/corpus/ev/within
same "-s: are said to lie within another" \
    "arc 5: from state 3 to state 3, within state 1, by 401105 ???: ???" \
    "$(grep within "$T/out")"
check "-s: frames" "$P" -s t/fuzz/corpus/ev/frames
same "-s: frames: lines" "a frame by arc 1, return address at 7ffe0008
a frame by arc 2, return address at 7ffe0000
L 7ffe1000,8 2000 ???: ???
L 7ffe1000,8 2000 ???: ???
1 frames left" "$(sed -n '/^a frame/,/left/p' "$T/out" | head -n 5)"
same "-s: frames: counts" "3 times ???: ???
2 times ???: ???
20 rounds, 1 times none: 1000 ???: ???
arc 1: 1 calls, 10 instructions, 2 reads, 2 writes
arc 2: 2 calls, 4 instructions, 2 reads, 0 writes" "$(tail -n 5 "$T/out")"
printf 'H quern-events 2\nH kind calls\nN 1 1\nE exit 0 1\n' >"$T/calls.ev"
status 2 "-s: not of calls" "$P" -s "$T/calls.ev"
status 2 "-s and -d" "$P" -s -d "$T/s.ev"
cat >"$T/s.c" <<'END'
static volatile int v;
static inline __attribute__((always_inline)) int twice(int n)
{
	v = n;
	return v;
}
int main(int argc, char **argv)
{
	int s = 0;
	for (int i = 0; i < argc + 2; i++)
		s += twice(i) * argv[0][0];
	return s == 1;
}
END
if [ -x "$B/trace" ] && ${CC:-gcc} -O1 -g -o "$T/s" "$T/s.c"; then
	"$B/trace" -e blocks -o "$T/s.ev" "$T/s"
	check "-s: a program" "$P" -s -o "$T/s.lines" "$T/s.ev"
	same "-s: what was inlined" "$T/s.c:4: twice in main" "$(grep -m1 twice "$T/s.lines")"
	grep "$T/s.c" "$T/s.lines" | uniq -d >"$T/twice"
	same "-s: a line is told once" "" "$(cat "$T/twice")"
else
	skip "-s: a program" "no trace"
	skip "-s: what was inlined" "no trace"
	skip "-s: a line is told once" "no trace"
fi

# --- sums: a loop of three rounds, a call, nine rounds of a rep stosb
cat >"$T/sums.ev" <<'END'
H quern-events 2
H kind blocks
B 1 >1000 3r8 2C1000
B 2 >1005 5w8.0L1100
B 3 >1100 2w1*0 1r8.1R
B 5 >100a 2C100a 2S
P 6 5 1
1*2
2+7000
3+9+7000
6
5
Y 231
E exit 3 7
END
check "--sums" "$P" --sums=f "$T/sums.ev"
same "are right" "calls of f: 0
branches: 15
taken: 12
superblocks: 7
completed: 6
instructions: 21
items: 26
status: 3" "$(cat "$T/out")"
# repe cmpsb: three rounds that are equal, then a test that finds no count left;
# two rounds that end unequal; none
cat >"$T/sums.ev" <<'END'
H quern-events 2
H kind blocks
H rep each
B 1 >1000 5 2r1*0r1*0
B 2 >1005 2r1*0r1*0 2S
1+3
2.
Y 1
1-1
B 3 >1007 2S
3
Y 1
B 4 >1000 5
4
2.
E exit 0 6
END
check "comparisons" "$P" --sums=f "$T/sums.ev"
same "are two branches each, and the test" "branches: 12
taken: 9
instructions: 13" "$(grep '^[bti].*[a-z]:' "$T/out" | grep -v items)"
# the largest count, backwards
printf '%s\n' 'H quern-events 2' 'H kind blocks' 'B 1 >1000 2w1*0' \
    '1+8000000000000000' 'E exit 0 1' >"$T/huge.ev"
check "a count of 2^63" "$P" --sums=f "$T/huge.ev"
same "is told" "instructions: 9223372036854775809" "$(grep ^instr "$T/out")"
status 2 "--sums with -s" "$P" -s --sums=f "$T/sums.ev"

done_testing
