#!/bin/sh
# bad cost files: one line each, with file and line number, and status 2

. t/lib.sh

C=$TB/cost
cd "$T" || exit 99

# bad WHAT MESSAGE LINE...: a Callgrind file of these lines
bad() {
	what=$1 want=$2
	shift 2
	printf '%b\n' "$@" >f
	run "$C" dump f
	got=$?
	same "$what" "2 cost: f:$want" "$got $(cat err)"
}

H='# callgrind format\nevents: Ir Dr'
bad "no events" "2: no events: line before this" "# callgrind format" "fn=a"
bad "events twice" "3: events: is given twice" "$H" "events: Ir"
bad "an event twice" "1: events: has no event, one twice, or over 200" "events: Ir Ir"
bad "no event" "1: events: has no event, one twice, or over 200" "events:"
bad "too many events" "1: events: has no event, one twice, or over 200" \
    "events:$(seq 201 | sed 's/^/ e/' | tr -d '\n')"
bad "version" "1: version: is not 1" "version: 2"
bad "positions" "1: positions: has other words than instr, bb, line" "positions: line col"
bad "no position" "1: positions: is empty" "positions:"
bad "event line" "1: event: without a name" "event: = Ir"
bad "too many counts" "3: more counts than events (2)" "$H" "1 2 3 4"
bad "negative count" "3: negative count -5" "$H" "1 -5"
bad "count beyond 64 bits" "3: 99999999999999999999: more than 64 bits" \
    "$H" "1 99999999999999999999"
bad "count beyond 63 bits" "3: count 9223372036854775808 is too large" \
    "$H" "1 9223372036854775808"
bad "sum beyond 64 bits" "4: a sum of the costs is beyond 64 bits" \
    "$H" "1 9223372036854775807" "2 1"
bad "no count" "3: bad number 'x'" "$H" "1 x"
bad "junk behind a count" "3: junk 'x'" "$H" "1 2x"
bad "hexadecimal without digits" "3: bad number '0x 5'" "$H" "1 0x 5"
bad "line number" "3: line number 4294967296 is too large" "$H" "4294967296 5"
bad "position below 0" "3: position below 0" "$H" "-1 5"
bad "position beyond 64 bits" "4: position beyond 64 bits" \
    "positions: instr\nevents: Ir\n0xffffffffffffffff 1\n+1 1"
bad "position missing" "3: bad number ''" "positions: instr line\nevents: Ir\n0x5"
bad "undefined name" "3: name (7) was not defined" "$H" "fn=(7)"
bad "undefined file" "4: name (1) was not defined" "$H" "fn=(1) f" "fl=(1)"
bad "name defined twice" "4: name (1) is defined twice" "$H" "fn=(1) f" "cfn=(1) g"
bad "name number" "3: bad name number 'x) f'" "$H" "fn=(1x) f"
bad "name number beyond 64 bits" "3: 99999999999999999999) f: more than 64 bits" \
    "$H" "fn=(99999999999999999999) f"
bad "calls without callee" "3: calls= without cfn=" "$H" "calls=1 2"
bad "calls, no count" "4: bad number 'x 2'" "$H" "cfn=f" "calls=x 2"
bad "calls, negative" "4: negative count -1" "$H" "cfn=f" "calls=-1 2"
bad "calls, junk" "4: junk '7'" "$H" "cfn=f" "calls=1 2 7"
bad "calls, no cost line" "5: calls= has no cost line" "$H" "cfn=f" "calls=1 2" "fn=g"
bad "calls, no cost line at the end" "4: truncated: calls= has no cost line" \
    "$H" "cfn=f" "calls=1 2"
bad "calls before totals" "5: calls= has no cost line" \
    "$H" "cfn=f" "calls=1 2" "totals: 0"
bad "jump with counts" "4: counts on the line of a jump" "$H" "jump=1 2" "3 4"
bad "jump without target" "3: bad number ''" "$H" "jump=1"
bad "conditional jump" "3: bad number 'x 5'" "$H" "jcnd=1/x 5"
bad "unknown word" "3: unknown line 'xfn=f'" "$H" "xfn=f"
bad "no line at all" "3: unknown line 'what is this'" "$H" "what is this"
bad "unknown key in the body" "4: unknown line 'foo: bar'" "$H" "1 2" "foo: bar"
bad "a long line is cut in the message" \
    "3: unknown line 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'" \
    "$H" "$(printf '%0100d' 0 | tr 0 a)"
bad "wrong totals" "4: totals: says 3 Ir, but the costs add up to 2" \
    "$H" "1 2" "totals: 3"
bad "totals too long" "4: more counts than events (2)" "$H" "1 2" "totals: 2 0 0"
bad "costs after totals" "5: costs after the end mark" "$H" "1 2" "totals: 2" "2 1"
bad "names after totals" "5: fn= after the end mark" "$H" "1 2" "totals: 2" "fn=f"
bad "a cut file of ours" "4: truncated: no totals: line" \
    "creator: quern" "$H" "1 2"
bad "a cut file of Callgrind's" "4: truncated: no totals: line" \
    "creator: callgrind-3.19.0" "$H" "1 2"
bad "a first part that is cut" "4: truncated: no totals: line" \
    "creator: quern\nevents: Ir" "1 2" "part: 2" "events: Ir"
bad "a second part that is cut" "7: truncated: no totals: line" \
    "creator: quern\nevents: Ir" "1 2" "totals: 2" "part: 2" "events: Ir" "1 3"
bad "a part that is not there" "5: truncated: another part should follow" \
    "creator: quern\nevents: Ir" "1 2" "# another part follows" "totals: 2"
bad "a file behind a part, which has another one" \
    "6: truncated: another part should follow" \
    "creator: quern\nevents: Ir" "1 2" "# another part follows" "totals: 2" \
    "version: 1" "events: Ir"
bad "a zero byte in a name" "3: a zero byte" "$H" 'fn=a\0000b'
bad "a zero byte in the header" "1: a zero byte in the header" 'cmd: a\0000b'
bad "a zero byte in a count" "3: a zero byte" "$H" '1 2\00003'
bad "a line of zero bytes" "3: a zero byte" "$H" '\0000\0000'

# Cachegrind's
K='cmd: x\nevents: Ir Dr\nfl=a\nfn=f'
bad "no summary" "5: truncated: no summary: line" "$K" "1 2"
bad "wrong summary" "6: summary: says 2 Dr, but the costs add up to 0" \
    "$K" "1 2" "summary: 2 2"
bad "costs after summary" "7: costs after the end mark" "$K" "1 2" "summary: 2" "2 1"
bad "Callgrind's words" "5: ob= in a file of Cachegrind's" "$K" "ob=x"
bad "a relative line" "5: bad line number '+1 2'" "$K" "+1 2"
bad "Cachegrind: negative count" "5: negative count -1" "$K" "1 -1"

# files that are cut anywhere are noticed, be it the last newline
"$C" random 3 line >whole
len=$(wc -c <whole) missed=
for cut in 1 7 100 500 1000 $((len / 2)) $((len - 30)) $((len - 3)); do
	head -n 40 whole >part.some; head -c $((len - cut)) whole >part
	"$C" dump part >/dev/null 2>err && missed="$missed $cut"
	[ "$(wc -l <err)" -le 1 ] || missed="$missed lines:$cut"
done
same "cut files are noticed" "" "$missed"
gzip -c whole | head -c 2000 >part.gz
status 2 "a cut gzip file" "$C" dump part.gz
same "a cut gzip file: one line" 1 "$(wc -l <err)"

# what is odd, but right
check "an empty part" sh -c 'printf "events: Ir\ntotals: 0\n" | "$0" dump -' "$C"
check "a file of another writer's behind one of ours" sh -c '
	printf "creator: quern\nevents: Ir\n1 2\ntotals: 2\n%s\nevents: Ir\n1 2\n" \
	    "# callgrind format" | "$0" dump -' "$C"
check "megabyte lines" sh -c '
	{ printf "events: Ir\nfn="; head -c 3000000 /dev/zero | tr "\0" a
	printf "\n1"; head -c 2000000 /dev/zero | tr "\0" " "; printf "5\n"; } |
	"$0" dump - | wc -c' "$C"
same "megabyte lines: read" 3000076 "$(cat out)"
if [ -z "${SAN:-}" ]; then
	endless() {
		(ulimit -v 400000; head -c 500000000 /dev/zero | "$C" dump -)
	}
	status 2 "a line that memory cannot hold" endless
	same "is named" "cost: stdin:1: a line of more than N bytes" \
	    "$(sed 's/[0-9]* bytes/N bytes/' err)"
fi
check "CR LF" sh -c 'printf "events: Ir\r\nfn=f\r\n1 5\r\ntotals: 5\r\n" | "$0" dump -' "$C"
same "CR LF: record" "self fn[||f] at[|0|0|1] 5" "$(tail -n 1 out)"
printf 'H quern-events 2\nH kind all\nE exit 0 0\n' >stream
status 2 "events" "$C" dump stream
same "events: message" "cost: stream:1: events, not costs: needs a simulator\
 before this, as in cachesim stream" "$(cat err)"
status 2 "an empty file" "$C" dump /dev/null
same "an empty file: message" "cost: /dev/null: empty input" "$(cat err)"
sed '$d' whole >part
check "cut, but taken as it is" "$C" partial part
check "cut, but taken as it is: said" grep -q "^truncated$" out

check "the fuzzing corpus" "$TB/fuzz_cost" "$OLDPWD/t/fuzz/corpus/cost"
done_testing
