#!/bin/sh
# read-xray -m: functions of all kinds of instrumentation maps; memory

. t/lib.sh

R="$B/read-xray"
M=$TB/mkxray
CC=${CC:-gcc}

# Functions whose map is made by hand: two sleds each, not sorted by address,
# the section not aligned; b comes twice and has two numbers.
cat >"$T/head.s" <<'END'
	.text
	.globl a, b, _Z4longiPKc, _start
	.type a, @function
	.type b, @function
	.type _Z4longiPKc, @function
_start:
a:
.La:	ret
	.size a, .-a
b:
.Lb:	nop
	ret
	.size b, .-b
_Z4longiPKc:
.L_Z4longiPKc:
	nop
	nop
	ret
	.size _Z4longiPKc, .-_Z4longiPKc
	.section .note.GNU-stack,"",@progbits
	.section before,"aw",@progbits
	.byte 1, 2, 3
END
sleds() { # version
	echo '	.section xray_instr_map,"aw",@progbits'
	for f in b b a _Z4longiPKc _Z4longiPKc b; do
		if [ "$1" = 2 ]; then
			echo "	.quad .L$f-.
	.quad .L$f-."
		else
			echo "	.quad $f, $f"
		fi
		echo "	.byte 5, 1, $1
	.zero 13"
	done
}
{
	echo "head 5 1 3 1000 0 0"
	echo ext
	printf '%s\n' "newbuf 1" "wall 1 1" "cpu 0 0"
	for i in 1 2 3 4 5 1; do
		echo "enter $i 1"
		echo "exit $i 1"
	done
} | "$M" >"$T/log"

names() { # file: what -m finds in it, without addresses
	"$R" -m "$1" "$T/log" 2>"$T/err" | sed -n 's/^G \([0-9a-f]*\) [0-9a-f]* /\1 /p'
}
want='1 b
2 a
3 long(int, char const*)
4 b'
for v in 0 1 2; do
	{ cat "$T/head.s"; sleds $v; } >"$T/m$v.s"
	for how in "-no-pie" "-pie" "-shared"; do
		"$CC" $how -nostdlib -Wl,-z,notext -o "$T/m$v$how" "$T/m$v.s" 2>"$T/cc" || {
			skip "version $v $how" "$(head -n 1 "$T/cc")"
			continue
		}
		same "version $v $how" "$want" "$(names "$T/m$v$how")"
	done
done

# addresses are those of the file; M lines make them an object's
"$R" -m "$T/m2-no-pie" "$T/log" >"$T/out"
set -- $(grep '^G 1 ' "$T/out")
same "the address is the symbol's" "b" \
    "$(nm "$T/m2-no-pie" | sed 's/^0*//' | awk -v a="$3" '$1 == a && $2 == "T" { print $3 }')"
set -- "$3" $(grep '^M ' "$T/out")
[ $((0x$4)) -le $((0x$1)) ] && [ $((0x$1)) -lt $((0x$5)) ]
ok "an M line maps it" $?
same "a name comes before its first use, once" "G N X G N X G N X G N X N X N X" \
    "$(echo $(grep '^[GNX]' "$T/out" | cut -c1))"

# stripped: the address instead
strip -o "$T/stripped" "$T/m2-no-pie"
same "stripped" 4 "$("$R" -m "$T/stripped" "$T/log" | grep -c '^G [1-4] \([0-9a-f]*\) @\1$')"

# shared libraries of numbers of their own
{
	echo "head 5 1 3 1000 0 0"
	echo ext
	printf '%s\n' "newbuf 1" "wall 1 1" "cpu 0 0" "enter 2 0" "enter $((3 << 24 | 2)) 0" \
	    "enter $((4 << 24 | 1)) 0"
} | "$M" >"$T/liblog"
check "a library's map" "$R" -m "$T/m2-pie" -m "3=$T/m2-shared" "$T/liblog"
same "a library's map: names of both" "2 a 3000002 a" \
    "$(echo $(sed -n 's/^G \([0-9a-f]*\) [0-9a-f]* /\1 /p' "$T/out"))"
same "a library's map: addresses apart" 2 "$(grep '^G' "$T/out" | cut -d' ' -f3 | sort -u | wc -l | tr -d ' ')"
same "a library's map: M lines of both" "1 4" "$(echo $(grep '^M' "$T/out" | cut -d' ' -f2))"

# what is none
{ cat "$T/head.s"; sleds 2; echo '	.byte 1'; } >"$T/odd.s"
"$CC" -no-pie -nostdlib -o "$T/odd" "$T/odd.s"
status 2 "a part of an entry" "$R" -m "$T/odd" "$T/log"
same "a part of an entry: message" \
    "read-xray: $T/odd: xray_instr_map is no table of 32 bytes an entry" "$(cat "$T/err")"
status 2 "a library beyond 255" "$R" -m "256=$T/m2-pie" "$T/log"
status 2 "two binaries for one" "$R" -m "$T/m2-pie" -m "$T/m2-pie" "$T/log"
same "two binaries for one: message" "read-xray: --map: object 0 has two binaries" "$(cat "$T/err")"
status 2 "no such binary" "$R" -m "$T/nothing" "$T/log"
head -c 3000 "$T/m2-no-pie" >"$T/half"
status 2 "a binary cut short" "$R" -m "$T/half" "$T/log"

# Memory: with the address space that a small log needs, a large one is read.
if [ -n "${SAN:-}" ]; then
	skip "memory" "sanitizers need a lot"
else
	awk 'BEGIN {
		print "H quern-events 1\nH kind calls\nF 5 1 3 1000 16384 0 x"
		for (b = 0; b < 100; b++) {
			printf "T %d\nL 1 %d\nS 0 %x\n", b % 3, b, b * 65536
			for (i = 0; i < 2000; i++)
				printf "N 7 %x\nX 7 %x\n", b * 65536 + 2 * i, b * 65536 + 2 * i + 1
		}
		print "E exit 0 400000"
	}' | "$B/fmt-xray" >"$T/large"
	limit=1000
	until sh -c "ulimit -v $limit; exec '$R' -o /dev/null '$T/log'" 2>/dev/null ||
	    [ $limit -gt 100000 ]; do
		limit=$((limit + 1000))
	done
	same "memory: the large log has more bytes than a megabyte" 1 \
	    "$(($(wc -c <"$T/large") > 3000000))"
	check "memory: it needs no megabyte more" sh -c \
	    "ulimit -v $((limit + 1000)); exec '$R' -o /dev/null '$T/large'"
fi

done_testing
