#!/bin/sh
# read-xray: every version of the format, from logs made record by record

. t/lib.sh

R="$B/read-xray"
M=$TB/mkxray

# log NAME: makes $T/NAME from standard input
log() {
	"$M" >"$T/$1" || exit 99
}

# reads TEXT STATUS NAME: the events, without the first two lines, are those
# on standard input
reads() {
	sed 's/^	*//' >"$T/want"
	status "$2" "$1" "$R" "$T/$3"
	sed -e 1,2d -e "s|$T/||" "$T/out" >"$T/got"
	samefile "$1: events" "$T/want" "$T/got"
}

# says TEXT NAME MESSAGE: one line, behind the log's name
says() {
	same "$1" "read-xray: $T/$2: $3" "$(cat "$T/err")"
}

log v5 <<'END'
head 5 1 3 2596120000 16384 0
ext
newbuf 4711
wall 1234 500
pid 4700
cpu 3 0xfedcba9876543210
enter 1 0
enterarg 2 20826
arg 0xfffffffffffffffb
custom 16 a\134b\000\377 c
typed 40 5 x
wrap 0xfedcba9000000000
tail 2 0xffffffff
cpu 4 100
exit 268435455 1
ext 0
ext
newbuf 4712
wall 1233 999999
cpu 0 7
exit 3 1
END
reads "version 5" 0 v5 <<'END'
F 5 1 3 2596120000 16384 0 v5
T 4712
L 1233 999999
S 0 7
X 3 8
T 4711 4700
L 1234 500
S 3 fedcba9876543210
N 1 fedcba9876543210
N 2 fedcba987654836a
A fffffffffffffffb
D fedcba987654837a a\134b\000\377 c
D fedcba987654837f:28 x
J fedcba9000000000
V 2 fedcba90ffffffff
S 4 64
X fffffff 65
C exits without their entries: 2, entries without their exits: 0, not left at the end: 1
E exit 0 5
END
says "halves are told" v5 "exits without their entries: 2, entries without their exits: 0, not left at the end: 1"
check "the first lines" sh -c 'head -n 2 "$1"; :' - "$T/out"
same "the first lines" "H quern-events 2 H kind calls" \
    "$("$R" "$T/v5" 2>/dev/null | head -n 2 | tr '\n' ' ' | sed 's/ $//')"

# the first versions: plain entries with arguments, absolute times of events
log v1 <<'END'
head 1 1 1 1000000000 256 77
newbuf 1
wall 5 1
cpu 0 1000
enter 1 0
arg 5
custom 5000 hi
exit 1 10
eob
fill
newbuf 1
wall 4 1
cpu 0 100
enter 2 0
exit 2 0xfffffff0
wrap 0x200000000
enter 2 0
exit 2 1
eob
fill
END
reads "version 1" 0 v1 <<'END'
F 1 1 1 1000000000 256 77 v1
T 1
L 4 1
S 0 64
N 2 64
X 2 100000054
J 200000000
N 2 200000000
X 2 200000001
T 1
L 5 1
S 0 3e8
N 1 3e8
A 5
D 1388 hi
X 1 3f2
E exit 0 6
END
same "nothing to say" "" "$(cat "$T/err")"

# the first writer told the clock only in a thread's first buffer
log v1old <<'END'
head 1 1 1 1000000000 128 0
newbuf 1
wall 5 1
cpu 0 1000
enter 1 1
eob
fill
newbuf 1
wall 5 2
exit 1 1
eob
fill
END
reads "version 1 without a clock in later buffers" 0 v1old <<'END'
F 1 1 1 1000000000 128 0 v1old
T 1
L 5 1
S 0 3e8
N 1 3e9
T 1
L 5 2
X 1 3ea
E exit 0 2
END

log v2 <<'END'
head 2 1 3 0 16384 0
ext
newbuf 70000
wall 5 1
cpu 258 1000
enter 1 1
custom 2000 data
exit 1 1
END
reads "version 2" 0 v2 <<'END'
F 2 1 3 0 16384 0 v2
T 70000
L 5 1
S 102 3e8
N 1 3e9
D 7d0 data
X 1 3ea
E exit 0 2
END

log v3 <<'END'
head 3 1 3 0 16384 0
ext
newbuf 2
wall 5 1
pid 1
cpu 0 1000
typed 65535 2000 data
cpu 0 1000
wrap 1000
enter 1 0
END
reads "version 3" 0 v3 <<'END'
F 3 1 3 0 16384 0 v3
T 2 1
L 5 1
S 0 3e8
D 7d0:ffff data
S 0 3e8
J 3e8
N 1 3e8
C exits without their entries: 0, entries without their exits: 0, not left at the end: 1
E exit 0 1
END

# version 4: an event tells its processor
log v4 <<'END'
head 4 1 3 0 16384 0
ext
newbuf 2
wall 5 1
pid 1
cpu 6 1000
custom 2000 6 one
custom 2001 7 two
enter 1 1
exit 1 1
END
reads "version 4" 0 v4 <<'END'
F 4 1 3 0 16384 0 v4
T 2 1
L 5 1
S 6 3e8
D 7d0 one
S 7 7d1
D 7d1 two
N 1 3e9
X 1 3ea
E exit 0 2
END

# the ring: buffers lie in slot order, one comes twice
log ring <<'END'
head 5 1 3 1000 96 0
ext
newbuf 1
wall 9 3
pid 1
cpu 0 30
exit 1 1
ext
newbuf 1
wall 9 1
pid 1
cpu 0 10
enter 1 1
ext
newbuf 1
wall 9 2
pid 1
cpu 0 20
enter 2 1
exit 2 1
ext
newbuf 1
wall 9 2
pid 1
cpu 0 20
enter 2 1
exit 2 1
ext
newbuf 1
wall 9 2
pid 1
cpu 0 20
enter 2 1
END
reads "buffers by their clocks, each once" 0 ring <<'END'
F 5 1 3 1000 96 0 ring
T 1 1
L 9 1
S 0 a
N 1 b
T 1 1
L 9 2
S 0 14
N 2 15
X 2 16
R 140 50 a buffer that comes twice
R 1a0 48 a buffer that comes twice
T 1 1
L 9 3
S 0 1e
X 1 1f
E exit 0 4
END
says "copies are told" ring "offset 320: a buffer that comes twice (such buffers: 2, and as many are missing)"

# more than one log, another frequency, output to a file, gzip, a pipe
check "two logs, -F, -o" "$R" -F 5k -o "$T/two.ev" "$T/v2" "$T/v4"
same "two logs: their headers" "F 2 1 3 5000 16384 0 $T/v2 F 4 1 3 5000 16384 0 $T/v4 E exit 0 4" \
    "$(echo $(grep '^[FE]' "$T/two.ev"))"
gzip -c "$T/v5" >"$T/v5.gz"
"$R" "$T/v5.gz" 2>/dev/null | sed 's/v5.gz$/v5/' >"$T/got"
"$R" "$T/v5" 2>/dev/null >"$T/want"
samefile "gzip" "$T/want" "$T/got"
cat "$T/v5" | "$R" 2>/dev/null | sed "s|stdin$|$T/v5|" >"$T/got"
samefile "a pipe" "$T/want" "$T/got"
"$R" - <"$T/v5" 2>/dev/null | sed "s|stdin$|$T/v5|" >"$T/got"
samefile "standard input" "$T/want" "$T/got"

# basic logs
log basic3 <<'END'
head 3 0 255 1000 0x1234 99
rec 0 3 7 100 11 10
recarg 7 11 10 0xdeadbeefcafe
rec 0 0 -1 101 12 10
rec 1 1 7 102 11 10
rec 2 2 -1 103 12 10
END
reads "basic version 3" 0 basic3 <<'END'
F 3 0 255 1000 4660 99 basic3
T 11 10
S 0 64
N 7 64
A deadbeefcafe
T 12 10
S 0 65
N ffffffff 65
T 11 10
S 1 66
X 7 66
T 12 10
S 2 67
V ffffffff 67
E exit 0 4
END
for v in 1 2; do
	log basic$v <<-END
	head $v 0 1 1000 0 0
	rec 0 0 7 100 11 999
	recarg 7 11 555 9
	rec 0 1 7 102 11 888
	END
	reads "basic version $v: no process in its padding" 0 basic$v <<-END
	F $v 0 1 1000 0 0 basic$v
	T 11
	S 0 64
	N 7 64
	A 9
	X 7 66
	E exit 0 2
	END
done

# a small decoder that knows nothing of ours finds the same ticks
calls() {
	awk '
	/^T/ { tid = $2; pid = $3 + 0 }
	/^[NXV]/ { print pid, tid, $1, $2, $3 }' | while read -r p t l i k; do
		printf '%d %d %s %d %u\n' "$p" "$t" "$l" "0x$i" "0x$k"
	done
}
for f in v1 v2 v3 v4 v5 basic1 basic3; do
	"$R" "$T/$f" 2>/dev/null | calls | sort >"$T/got"
	"$TB/xraydump" "$T/$f" | grep ' [NXV] ' | sort >"$T/want"
	samefile "$f: the same by the other decoder" "$T/want" "$T/got"
done

# a long event's data takes several lines
{
	printf '%s\n' "head 5 1 3 0 0 0" ext "newbuf 1" "wall 1 1" "cpu 0 0"
	printf 'custom 1 '
	awk 'BEGIN { for (i = 0; i < 10000; i++) printf "\\303abc"; print "" }'
	echo "enter 1 1"
} | log long
check "a long event" "$R" "$T/long"
same "a long event: lines" "3" "$(grep -c '^D' "$T/out")"
same "a long event: text" "$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "\\303abc" }' | cksum)" \
    "$(sed -n -e 's/^D [0-9a-f.]* //p' "$T/out" | tr -d '\n' | cksum)"
same "a long event: no line is too long" "" "$(awk 'length > 65536' "$T/out")"

done_testing
