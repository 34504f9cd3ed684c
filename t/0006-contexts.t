#!/bin/sh
# calling contexts and rounds: what the reader of event text takes and refuses

. t/lib.sh

E=$TB/ev

sed -n '/^.Ss Calling contexts/,/^.Ss [ABD-Z]/p' man/events.5 |
    sed -n '/^H quern-events/,/^E exit/p' >"$T/page.ev"
same "the page has an example" 37 "$(wc -l <"$T/page.ev" | tr -d ' ')"
check "it is read" "$E" copy "$T/page.ev"
samefile "all of it" "$T/page.ev" "$T/out"
same "its costs add up" "11 8" "$(awk '
	$1 == "A" { from[$2] = $3; to[$2] = $6 }
	$1 == "V" { ir = index("123456789abcdef", $4)
	    if (length($4) == 2) ir = 17
	    if (from[$2] == 0) all = $4
	    own[to[$2]] += ir; own[from[$2]] -= ir }
	END { print all, own[3] }' "$T/page.ev")"

# line TEXT MESSAGE LINE...: the last LINE in a stream of $kind, behind one
# block, one state and one arc, and the other LINEs; - is no message
kind="counts"
line() {
	text=$1 message=$2
	shift 2
	printf '%s\n' "H quern-events 2" "H kind $kind" "H contexts 9" \
	    "B 1 >1000 3 2w1 1R" "P 2 1 2" "S 1 0 1 1000" "A 1 0 0 1000 1" \
	    "$@" "E exit 0 0" >"$T/l.ev"
	if [ "$message" = - ]; then
		check "$text" "$E" copy "$T/l.ev"
		samefile "$text: the same" "$T/l.ev" "$T/out"
	else
		status 2 "$text" "$E" copy "$T/l.ev"
		same "$text: message" "ev: $T/l.ev:$((7 + $#)): $message" \
		    "$(cat "$T/err")"
	fi
}

line "a state" - "S ffffffff 1 2 ffffffffffffffff"
line "a state that differs" - "S 2 1"
line "a state like no state" "S: undefined state 3" "S 2 3"
line "a state like one that has no line of its own" \
    "S: state 2 has no context of its own" "S 2 1" "S 3 2"
line "a state in none" "S: undefined state 2" "S 2 2 1 1000"
line "a state twice" "S: state 1 is defined twice, or no id" "S 1 0 1 1000"
line "state 0" "S: state 0 is defined twice, or no id" "S 0 0 1 1000"
line "a state's id" "S: state 100000000 is defined twice, or no id" \
    "S 100000000 0 1 1000"
line "level 0" "S: level 0, neither 1 nor 2" "S 2 1 0 1000"
line "level 3" "S: level 3, neither 1 nor 2" "S 2 1 3 1000"
line "half a state" "S: a field is missing" "S 2 1 1"
line "an arc" - "A 2 1 1005 1000 1"
line "an arc within a state" - "A 2 1 1005 1000 1 1"
line "an arc to no state" "A: undefined state 2" "A 2 1 1005 1000 2"
line "an arc from no state" "A: undefined state 2" "A 2 2 1005 1000 1"
line "an arc twice" "A: arc 1 is defined twice, or no id" "A 1 0 0 1000 1"
line "a beginning within a state" "A: what begins is within no state" \
    "A 2 0 0 1000 1 1"
line "within no state" "A: undefined state 9" "A 2 1 5 1000 1 9"
line "a beginning with a site" "A: site 5 in no state" "A 2 0 5 1000 1"
line "a block's state" - "F 1 1"
line "a prefix's state" "F: id 2 is no block's" "F 2 1"
line "no block's state" "undefined id 3" "F 3 1"
line "a stub's state, and who calls it" - "F 1 1 1005"
line "a block's no state" "F: undefined state 2" "F 1 2"
line "calls" - "V 1 1 ffffffffffffffff"
line "calls of no arc" "V: undefined arc 2" "V 2 1 1"
line "calls with references" "V: 5 numbers, but in kind counts it has 3" \
    "V 1 1 1 1 1"
line "calls with reads alone" "V: a field is missing" "V 1 1 1 1"
line "a frame" "N: the stream is not of kind cache" "N 1 7ffe0000"
line "a frame's end" "X: the stream is not of kind cache" "X 1"
line "rounds" - "R 1 2 ffffffffffffffff 1"
line "a prefix's rounds" "R: id 2 is no block's" "R 2 2 0 1"
line "rounds of nothing" "undefined id 3" "R 3 1 1 1"
line "rounds of instruction 0" "R: id 1 has no instruction 0" "R 1 0 1 1"
line "rounds behind the end" "R: id 1 has no instruction 4" "R 1 4 1 1"
line "rounds, short" "R: a field is missing" "R 1 1 1"
line "rounds, long" "R: \` 5' behind the last field" "R 1 1 1 1 5"
kind="cache 64 64 8"
line "cache: calls" - "V 1 1 5 2 3"
line "cache: calls without references" \
    "V: 3 numbers, but in kind cache it has 5" "V 1 1 1"
line "cache: frames" - "N 1 7ffe0000" "N 1 7ffdfff8" "X 2"
line "cache: places that differ" - "N 1 7ffe0000" "N 1 -8" "N 1 ." "N 1 0" \
    "N 1 +ffffffffffffffff" "N 1 0 1" "N 1 +0" "X 6"
line "cache: a difference from no place" \
    "N: \`N 1 +8' differs from no place" "N 1 0" "N 1 +8"
line "cache: from another thread's place" \
    "N: \`N 1 .' differs from no place" "T 1" "N 1 7ffe0000" "T 2" "N 1 ."
line "cache: a difference of nothing" "N: not a number at \`+'" "N 1 +"
line "cache: behind a difference" "N: a field is missing" "N 1 7ffe0000" \
    "N 1 .5"
line "cache: too many are left" "X: 2 frames left of 1" "N 1 7ffe0000" "X 2"
line "cache: another thread's are left" "X: 1 frames left of 0" "T 1" \
    "N 1 7ffe0000" "T 2" "X 1"
line "cache: none is left" "X: 0 frames left of 1" "N 1 7ffe0000" "X 0"
line "cache: a frame of no arc" "N: undefined arc 2" "N 2 7ffe0000"
line "cache: a frame in place of one" - "N 1 0" "N 1 0 1" "X 1"
line "cache: a frame in place of none" \
    "N: no frame, whose place this one could take" "N 1 0 1"
line "cache: one by no arc" "N: undefined arc 2" "N 1 0" "N 1 0 2"
line "cache: rounds of a reference alone" "R: id 3 is no block's" \
    "Q 3 1 2 1" "R 3 1 1 1"

# what the first lines allow
for l in "N 1 1" "X 1 1" "V 1 1" "A 1" "F 1 1 1 1 1 1 x" "S 1 1" \
    "R 1 1 x"; do
	for head in "1 all" "2 all" "2 blocks" "1 counts"; do
		printf '%s\n' "H quern-events ${head% *}" "H kind ${head#* }" \
		    "$l" "E exit 0 0" >"$T/l.ev"
		status 2 "version $head: ${l%% *}" "$E" copy "$T/l.ev"
		same "version $head: ${l%% *}: message" "ev: $T/l.ev:3:\
 ${l%% *}: the stream is not of kind calls" "$(cat "$T/err")"
	done
done
grep -v '^H contexts' "$T/page.ev" >"$T/none.ev"
status 2 "no contexts" "$E" copy "$T/none.ev"
same "no contexts: message" \
    "ev: $T/none.ev:3: S: the stream has no contexts" "$(cat "$T/err")"
sed 's/kind counts/kind blocks/' "$T/page.ev" >"$T/none.ev"
status 2 "contexts in kind blocks" "$E" copy "$T/none.ev"
same "contexts in kind blocks: message" \
    "ev: $T/none.ev:4: H contexts: the stream is of kind blocks" \
    "$(cat "$T/err")"
sed 's/contexts .*/contexts x/' "$T/page.ev" >"$T/none.ev"
status 2 "contexts without a number" "$E" copy "$T/none.ev"
same "contexts without a number: message" \
    "ev: $T/none.ev:3: H contexts: not a number" "$(cat "$T/err")"

# ids that are far from each other cost what their lines cost, and are found
awk 'BEGIN {
	print "H quern-events 2\nH kind counts\nH contexts 9"
	for (i = 30000; i > 0; i--) {
		printf "S %x 0 1 1000\n", i * 65536 + 1
		printf "A %x 0 0 1000 %x\n", i * 65536 + 2, i * 65536 + 1
		printf "V %x 1 1\n", i * 65536 + 2
	}
	print "S 1 10001 1 1000\nE exit 0 0"
}' >"$T/far.ev"
([ -n "${SAN:-}" ] || ulimit -v 250000; "$E" copy "$T/far.ev") >"$T/far.out"
same "ids far from each other" 0 $?
samefile "all of them" "$T/far.ev" "$T/far.out"
sed 's/^V 20002/V 20003/' "$T/far.ev" >"$T/none.ev"
status 2 "one between them" "$E" copy "$T/none.ev"
same "one between them: message" \
    "ev: $T/none.ev:90000: V: undefined arc 20003" "$(tail -n 1 "$T/err")"
done_testing
