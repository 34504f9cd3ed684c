#!/bin/sh
# fmt-xray: what read-xray tells becomes a log again

. t/lib.sh

R="$B/read-xray"
F="$B/fmt-xray"
M=$TB/mkxray

# The same as runtimes write it, but zeros in reserved bytes: what fmt-xray
# makes of it must be it, byte by byte.
"$M" -z >"$T/v5" <<'END'
head 5 1 3 2596120000 16384 99
ext
newbuf 4711
wall 1234 500
pid 4700
cpu 3 0xfedcba9876543210
enter 1 0
enterarg 2 20826
arg 0xfffffffffffffffb
custom 16 a\134b\000\377 c
custom 0xfffffff0 before
custom 1
typed 65535 0x7fffffff x
tail 2 0x7fffffff
wrap 5
wrap 5
exit 1 0
cpu 65535 100
exit 268435455 1
ext
newbuf 4712
wall -1 999999
cpu 0 7
enter 3 1
ext
newbuf 4711
wall 1234 501
pid 4700
cpu 3 0
enter 1 0
END
# the second buffer is the oldest
"$M" -z >"$T/v5.sorted" <<'END'
head 5 1 3 2596120000 16384 99
ext
newbuf 4712
wall -1 999999
cpu 0 7
enter 3 1
ext
newbuf 4711
wall 1234 500
pid 4700
cpu 3 0xfedcba9876543210
enter 1 0
enterarg 2 20826
arg 0xfffffffffffffffb
custom 16 a\134b\000\377 c
custom 0xfffffff0 before
custom 1
typed 65535 0x7fffffff x
tail 2 0x7fffffff
wrap 5
wrap 5
exit 1 0
cpu 65535 100
exit 268435455 1
ext
newbuf 4711
wall 1234 501
pid 4700
cpu 3 0
enter 1 0
END
"$R" "$T/v5" 2>/dev/null >"$T/v5.ev"
check "version 5" "$F" -o "$T/v5.xray" "$T/v5.ev"
cmp -s "$T/v5.sorted" "$T/v5.xray"
ok "version 5: the bytes of the log" $?

# into other versions and back: the same, but for what they have no place for
body() { # log: its events without its header and end
	"$R" "$1" 2>/dev/null | grep -v '^[FCE]'
}
body "$T/v5" >"$T/want"
for v in 3 4 5; do
	check "as version $v" "$F" -f $v -o "$T/as$v" "$T/v5.ev"
	body "$T/as$v" >"$T/got"
	samefile "as version $v: the same" "$T/want" "$T/got"
	same "as version $v: header" "$v" "$(od -An -tu2 -N2 "$T/as$v" | tr -d ' ')"
done
sed -e 's/^\(T [0-9]*\) .*/\1/' -e '/^D [0-9a-f]*:/d' "$T/want" >"$T/want12"
for v in 1 2; do
	check "as version $v" "$F" -f $v -o "$T/as$v" "$T/v5.ev"
	same "as version $v: what it cannot hold" \
	    "fmt-xray: typed events left out, as version $v has none: 1" \
	    "$(cat "$T/err")"
	body "$T/as$v" >"$T/got"
	samefile "as version $v: the rest is the same" "$T/want12" "$T/got"
done

# version 1: what a reader that goes by the header's size must find
size=$(od -An -tu8 -j16 -N8 "$T/as1" | tr -d ' ')
same "version 1: buffers of one size" $((32 + 3 * size)) "$(wc -c <"$T/as1" | tr -d ' ')"
same "version 1: size of the log that was read" 16384 "$size"
sed '/^F/d' "$T/v5.ev" >"$T/nolog.ev"
check "version 1 of a stream without a log" "$F" -f 1 -o "$T/as1n" "$T/nolog.ev"
size=$(od -An -tu8 -j16 -N8 "$T/as1n" | tr -d ' ')
[ "$size" -lt 600 ] && [ $((32 + 3 * size)) -eq "$(wc -c <"$T/as1n")" ]
ok "version 1 of a stream without a log: as long as needed" $?
body "$T/as1n" >"$T/got"
samefile "version 1 of a stream without a log: the same" "$T/want12" "$T/got"

# version 1, small buffers: full ones are followed by others
awk 'BEGIN {
	print "H quern-events 1\nH kind calls\nF 5 1 3 1000 0 0 x"
	for (b = 0; b < 2; b++) {
		print "T " b + 1 "\nL 7 999998\nS 0 64"
		for (i = 0; i < 100; i++) {
			printf "N 5 %x\nA %x\n", 100 + 2 * i, i
			if (i % 10 == 0)
				printf "D %x text%d\n", 100 + 2 * i, i
			printf "X 5 %x\n", 101 + 2 * i
		}
	}
	print "E exit 0 400"
}' >"$T/many.ev"
check "small buffers" "$F" -f 1 -b 256 -o "$T/small" "$T/many.ev"
size=$(wc -c <"$T/small")
same "small buffers: nothing but whole ones" 0 $(((size - 32) % 256))
grep '^[NXAD]' "$T/many.ev" >"$T/want"
"$R" "$T/small" 2>"$T/err" >"$T/small.ev"
for t in 1 2; do
	awk -v t=$t '/^T/ { on = $2 == t } on && /^[NXAD]/' "$T/small.ev"
done >"$T/got"
samefile "small buffers: all calls and events" "$T/want" "$T/got"
same "small buffers: nothing to say" "" "$(cat "$T/err")"
awk 'BEGIN {
	print "H quern-events 1\nH kind calls\nT 1\nN 1 1"
	printf "D 2 "
	for (i = 0; i < 300; i++) printf "x"
	print "\nX 1 3\nE exit 0 2"
}' >"$T/big.ev"
status 2 "an event that no buffer can hold" "$F" -f 1 -b 256 "$T/big.ev"
same "an event that no buffer can hold: message" \
    "fmt-xray: a record of 316 bytes does not fit in buffers of 256 bytes" \
    "$(cat "$T/err")"

# a buffer that is exactly full comes back as one, and an entry goes where its
# argument goes
awk 'BEGIN {
	print "H quern-events 1\nH kind calls\nG 1 . f"
	for (i = 1; i < 33; i++)
		printf "%s 1 %x\n", i < 17 ? "N" : "X", i
	print "E exit 0 32"
}' >"$T/whole.ev"
"$F" -f 1 -o "$T/whole" "$T/whole.ev" && "$R" "$T/whole" >"$T/whole2.ev" &&
    "$F" -f 1 -o "$T/whole2" "$T/whole2.ev"
ok "an exactly full buffer" $?
samefile "is the same" "$T/whole" "$T/whole2"
awk 'BEGIN {
	print "H quern-events 1\nH kind calls\nF 1 1 3 0 256 0 x\nT 1"
	for (i = 1; i < 24; i++)
		printf "N 1 %x\n", i
	print "N 2 18\nA 7\nX 2 19\nE exit 0 25"
}' >"$T/last.ev"
check "an argument that does not fit" "$F" -f 1 -o "$T/last" "$T/last.ev"
same "has its entry in another buffer" "N 2 18;A 7;X 2 19;" \
    "$("$R" "$T/last" | sed -n '/^L/,$p' | sed '1d;1,/^L/d' |
    grep '^[NAX]' | tr '\n' ';')"
same "of which there are two" "$((32 + 2 * 256))" "$(wc -c <"$T/last")"
for n in 255 257 260; do
	status 2 "buffers of $n bytes" "$F" -b $n "$T/last.ev"
done

# threads that take turns, without buffers: one for each; more than memory holds
awk 'BEGIN {
	print "H quern-events 1\nH kind calls\nH pid 9"
	for (i = 0; i < 40000; i++)
		printf "T %d\nN 1 %x\nX 1 %x\n", 1 + i % 3, 16 * i, 16 * i + 5
	print "E exit 0 80000"
}' >"$T/turns.ev"
check "threads in turns" "$F" -F 1000 -o "$T/turns" "$T/turns.ev"
"$R" "$T/turns" >"$T/turns2.ev"
same "threads in turns: a buffer each, by time" "T 1 9 L 0 0 T 2 9 L 0 16000 T 3 9 L 0 32000" \
    "$(echo $(grep '^[TL]' "$T/turns2.ev"))"
same "threads in turns: all calls" \
    "$(grep '^[NX]' "$T/turns.ev" | sort | cksum)" \
    "$(grep '^[NX]' "$T/turns2.ev" | sort | cksum)"
check "threads in turns: version 1" "$F" -f 1 -F 1000 -o "$T/turns1" "$T/turns.ev"
same "threads in turns: version 1, all calls" \
    "$(grep '^[NX]' "$T/turns.ev" | sort | cksum)" \
    "$("$R" "$T/turns1" | grep '^[NX]' | sort | cksum)"

printf '%s\n' "head 1 1 3 0 96 0" "newbuf 1" "wall 1 1" "cpu 0 16" "enter 1 1" eob fill |
    "$M" >"$T/tiny"
"$R" "$T/tiny" >"$T/tiny.ev" 2>/dev/null
check "a log of tiny buffers" "$F" -f 1 -o "$T/tiny2" "$T/tiny.ev"
same "a log of tiny buffers: the same" "$(body "$T/tiny")" "$(body "$T/tiny2")"

# the first T line names the thread that ran before it
{
	printf '%s\n' "H quern-events 1" "H kind calls" "H pid 9"
	awk 'BEGIN { for (i = 0; i < 10000; i++) printf "N 1 %x\nX 1 %x\n", i, i }'
	printf '%s\n' "T 5" "T 6" "N 2 7" "T 5" "N 1 ffff" "E exit 0 20002"
} >"$T/late.ev"
check "a thread named late" "$F" -o "$T/late" "$T/late.ev"
"$R" "$T/late" >"$T/late2.ev" 2>"$T/err"
same "a thread named late: all of it" "T 5 9 20001 T 6 9 1" \
    "$(echo $(awk '/^T/ { t = $0 } /^[NX]/ { n[t]++ } END { for (t in n) print t, n[t] }' "$T/late2.ev" | sort))"
head -n 30 "$T/late.ev" | sed 's/^E.*//' >"$T/late3.ev"
printf '%s\n' "T 5" "T 6" "N 2 7" "E exit 0 28" >>"$T/late3.ev"
check "a thread named late, still in memory" "$F" -o "$T/late" "$T/late3.ev"
same "a thread named late, still in memory: all of it" "T 5 9 27 T 6 9 1" \
    "$(echo $("$R" "$T/late" | awk '/^T/ { t = $0 } /^[NX]/ { n[t]++ } END { for (t in n) print t, n[t] }' | sort))"

# one buffer for each thread of a log of many
"$F" -o "$T/many" "$T/many.ev"
check "-j" "$F" -j -o "$T/joined" "$T/small.ev"
"$R" "$T/joined" >"$T/joined.ev" 2>/dev/null
same "-j: one each" "2" "$(grep -c '^L 7 999998' "$T/joined.ev")"
same "-j: no more" "2" "$(grep -c '^L' "$T/joined.ev")"
grep '^[NXAD]' "$T/joined.ev" >"$T/got"
samefile "-j: all calls and events" "$T/want" "$T/got"

# ticks that do not fit
printf '%s\n' "H quern-events 1" "H kind calls" "T 1" "N 1 5" \
    "X 1 80000005" "N 1 4" "X 1 100000003" "N 1 100000004" "X 1 7fffffffffffffff" \
    "E exit 0 6" >"$T/far.ev"
check "far ticks" "$F" -o "$T/far" "$T/far.ev"
same "far ticks: the clock is told where it must be" \
    "S 0 5 N 1 5 J 80000005 X 1 80000005 J 4 N 1 4 J 100000003 X 1 100000003 N 1 100000004 J 7fffffffffffffff X 1 7fffffffffffffff" \
    "$(echo $("$R" "$T/far" | grep '^[NXJS]'))"
check "far ticks, version 2" "$F" -f 2 -o "$T/far2" "$T/far.ev"
same "far ticks, version 2: it has 32 bits" \
    "S 0 5 N 1 5 X 1 80000005 J 4 N 1 4 X 1 100000003 N 1 100000004 J 7fffffffffffffff X 1 7fffffffffffffff" \
    "$(echo $("$R" "$T/far2" | grep '^[NXJS]'))"

# names go into a file beside the log
printf '%s\n' "H quern-events 1" "H kind calls" "G 3 401000 main" "N 3 1" \
    "G 7 . list<int, (char)40>::push(int)" "N 7 2" "X 7 3" "X 3 4" "G 1 401000 alias" \
    "N 1 5" "G 2 401000 another" "N 2 5" "N 5 6" "E exit 0 7" >"$T/names.ev"
check "-m" "$F" -m "$T/names" -o "$T/named" "$T/names.ev"
"$R" -m "$T/names" "$T/named" >"$T/out"
same "-m: the names come back" \
    "1 alias 2 another 3 main 5 @ 7 list<int, (char)40>::push(int)" \
    "$(echo $(sed -n 's/^G \(.\) [0-9a-f]* /\1 /p' "$T/out" | sed 's/@.*/@/' | sort))"
same "-m: addresses that can be kept are" "1 401000" \
    "$(echo $(sed -n 's/^G \(1\) \([0-9a-f]*\) .*/\1 \2/p' "$T/out" | sort))"
check "-m without names" "$F" -m "$T/nonames" -o "$T/named" "$T/far.ev"
check "-m without names: it is a map" "$R" -m "$T/nonames" "$T/named"
status 2 "-m where no file can be" "$F" -m "$T/no/names" -o "$T/named" "$T/names.ev"

# what cannot be written, or read
bad() { # text message line...
	text=$1 message=$2
	shift 2
	printf '%s\n' "H quern-events 1" "H kind calls" "$@" >"$T/bad.ev"
	status 2 "$text" "$F" -o "$T/bad.xray" "$T/bad.ev"
	same "$text: message" "fmt-xray: $message" "$(cat "$T/err")"
}
bad "a large id" "$T/bad.ev:4: N: id 10000000 does not fit in 28 bits" \
    "T 1" "N 10000000 1" "E exit 0 1"
bad "two frequencies" "$T/bad.ev:4: F: a log of another frequency: one log cannot hold both" \
    "F 5 1 3 1 0 0 a" "F 5 1 3 2 0 0 b" "E exit 0 0"
# version 1 pads each buffer to the size in the header, however large it is
printf '%s\n' "H quern-events 2" "H kind calls" \
    "F 1 1 3 1000 1000000000000000 0 x" "T 1" "L 0 0" "S 0 64" "N 1 64" \
    "X 1 c8" "E exit 0 2" >"$T/huge.ev"
huge() { # option...: no file grows beyond 10 MB
	(ulimit -f 20000
	exec timeout 20 "$F" "$@" -o "$T/huge" "$T/huge.ev")
}
status 2 "huge buffers in version 1" huge -f 1
same "huge buffers in version 1: message" "fmt-xray: $T/huge.ev:3: F: buffers \
of 1000000000000000 bytes, more than 4294967295: see -b" "$(cat "$T/err")"
check "huge buffers in version 1 with -b" huge -f 1 -b 256
same "huge buffers in version 1 with -b: all of it" 288 "$(wc -c <"$T/huge")"
check "huge buffers in version 3" huge -f 3
same "huge buffers in version 3: the header as it was" 1000000000000000 \
    "$(od -An -tu8 -j16 -N8 "$T/huge" | tr -d ' ')"
bad "an argument alone" "an argument that belongs to no entry" "T 1" "A 5" "E exit 0 0"
bad "a continuation alone" "$T/bad.ev:3: D: no event that goes on" "D . x" "E exit 0 0"
bad "a truncated stream" "$T/bad.ev: truncated after 1 executions" "T 1" "N 1 1"
check "a truncated stream: what there was" "$R" "$T/bad.xray"
same "a truncated stream: its entry" "N 1 1" "$(grep '^N' "$T/out")"
printf '%s\n' "H quern-events 1" "E exit 0 0" >"$T/all.ev"
status 2 "another kind of stream" "$F" "$T/all.ev"
same "another kind of stream: message" \
    "fmt-xray: $T/all.ev:1: a stream of kind all does not tell entries and exits of functions: needs kind calls" \
    "$(cat "$T/err")"

done_testing
