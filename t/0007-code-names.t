#!/bin/sh
# names of code made at run time: what the reader of event text takes and
# refuses, and what simulators make of them

. t/lib.sh

E=$TB/ev

sed -n '/^.Ss Code made at run time/,/^.Ss/p' man/events.5 |
    sed -n '/^H quern-events/,/^E exit/p' >"$T/page.ev"
same "the page has an example" 15 "$(wc -l <"$T/page.ev" | tr -d ' ')"
check "it is read" "$E" copy "$T/page.ev"
samefile "all of it" "$T/page.ev" "$T/out"
# line TEXT MESSAGE LINE...: the last LINE in a stream behind two blocks and a
# prefix, and the other LINEs; - is no message
head="2 all"
line() {
	text=$1 message=$2
	shift 2
	printf '%s\n' "H quern-events ${head% *}" "H kind ${head#* }" \
	    "B 1 >1000 3=48ffc0 1=c3R" "B 2 >2000 3 1R" "P 3 1 1" \
	    "$@" "E exit 0 0" >"$T/l.ev"
	if [ "$message" = - ]; then
		check "$text" "$E" copy "$T/l.ev"
		samefile "$text: is copied" "$T/l.ev" "$T/out"
		return
	fi
	status 2 "$text" "$E" copy "$T/l.ev"
	same "$text: message" "ev: $T/l.ev:$((5 + $#)): $message" \
	    "$(cat "$T/err")"
}
G='G 1 1000 4 f'
for head in "2 all" "2 blocks" "2 counts"; do
	line "a function" - "$G"
	line "a function, its lines, its blocks" - "$G" "L 1 1000 7 a b.js" \
	    "L 1 1003 8 a b.js" "G 1 = 1" "G 1 = 2 1"
done
head="2 all"
line "a name of digits" - "G 1 1000 4 5 6"
line "a name with bytes" - 'G 1 1000 4 \303\274\040'
line "the last byte of all" - "G 1 ffffffffffffffff 1 f"
line "too long" "G: code of 2 bytes at ffffffffffffffff" \
    "G 1 ffffffffffffffff 2 f"
line "empty" "G: code of 0 bytes at 1000" "G 1 1000 0 f"
line "function 0" "G: function 0 behind 0" "G 0 1000 4 f"
line "function 2" "G: function 2 behind 0" "G 2 1000 4 f"
line "twice" "G: function 1 behind 1" "$G" "$G"
line "no name" "G: a field is missing" "G 1 1000 4"
line "no size" "G: a field is missing" "G 1 1000"
line "no number" "G: not a number at \`x 1000 4 f'" "G x 1000 4 f"
line "malformed text" "G: malformed \\ooo" 'G 1 1000 4 \9'
line "a list of nothing known" "G: undefined function 1" "G 1 = 1"
line "an empty list" "G: not a list of ids at \`'" "$G" "G 1 ="
line "a list's blank" "G: not an id at \`'" "$G" "G 1 = "
line "a list of an unknown block" "G: id 4 is no block's" "$G" "G 1 = 1 4"
line "a list of a prefix" "G: id 3 is no block's" "$G" "G 1 = 3"
line "a list, malformed" "G: not a list of ids at \`,2'" "$G" "G 1 = 1,2"
line "a list, two blanks" "G: not an id at \` 2'" "$G" "G 1 = 1  2"
line "a line of nothing" "L: undefined function 1" "L 1 1000 1 a"
line "a line of function 0" "L: undefined function 0" "$G" "L 0 1000 1 a"
line "a line without a file" "L: a field is missing" "$G" "L 1 1000 1"
line "a decimal line" "L: not a number at \`z a'" "$G" "L 1 1000 z a"
head="1 all"
line "version 1: G" "G: the stream is not of kind calls" "$G"
line "version 1: L" "L: the stream is not of kind calls" "L 1 1000 7 a"

# two functions of one block, one without a name, one named twice, lines
cat >"$T/a.ev" <<'X'
H quern-events 2
H cmd ./x
B 1 >1000 3=486bc0 1=c3r8@7ffe0000R
B 3 >2000 1=90 2=9090 1=c3r8@7ffe0000R
B 4 >3000 1=90 2=9090 1=c3r8@7ffe0000R
P 5 3 2
1
1
U 1000 1001
B 2 >1000 3=486bc9 1=c3r8@7ffe0000R
2
3
4
5
G 1 1000 4 first
G 1 = 1
G 2 1000 4 second one
L 2 1003 8 /src/a b.js
L 2 1000 7 /src/a b.js
G 2 = 2
G 3 2000 3 third
G 4 2003 1 fourth
G 4 = 3
G 3 = 3
E exit 0 6
X
for sim in cachesim branchsim; do
	"$B/$sim" -t "$T/a.ev" | grep '^[GL]' >"$T/got"
	grep '^[GL]' "$T/a.ev" >"$T/want"
	samefile "$sim -t passes them on" "$T/want" "$T/got"
done
"$B/icount" "$T/a.ev" | "$B/fmt-cachegrind" >"$T/got"
cat >"$T/want" <<'X'
cmd: ./x
events: Ir
fl=/src/a b.js
fn=second one
7 1
8 1
fl=???
fn=???
0 3
fn=first
0 4
fn=fourth
0 1
fn=third
0 4
summary: 14
X
samefile "icount" "$T/want" "$T/got"
"$B/callgraph" "$T/a.ev" | "$B/fmt-folded" >"$T/got" 2>/dev/null
check "callgraph" grep -q 'second one [24]' "$T/got"
check "the fuzzing corpus" "$TB/fuzz_jit" t/fuzz/corpus/jit

done_testing
