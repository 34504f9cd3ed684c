#!/bin/sh
# func: functions, stubs and sections of addresses

. t/lib.sh

F=$TB/func

cat >"$T/a.c" <<'E'
#include <stdlib.h>
__attribute__((noinline)) void first(void) { __asm__ volatile("nop; nop"); }
__attribute__((noinline)) void second(void) { abort(); }
__attribute__((section("other"))) void third(void) { __asm__ volatile("nop; nop"); }
__asm__(".pushsection .text\n.type part.cold, @function\npart.cold: nop; nop\n"
    ".size part.cold, .-part.cold\n.type part, @function\npart: nop; nop\n"
    ".size part, .-part\nnop; bare: nop; nop\n"
    ".section .tail, \"ax\"\n.type fourth, @function\nfourth: nop\n"
    ".size fourth, .-fourth\nlast: nop\n.popsection\n");
int main(void) { first(); second(); third(); return 0; }
E
${CC:-gcc} -O1 -g0 -fcf-protection=none -fno-pie -no-pie -Wl,-z,lazy -o "$T/a" "$T/a.c" || exit 99
addr() { nm "$T/a" | sed -n "s/^0*\([0-9a-f]*\) [tT] $1\$/\1/p"; }
plus() { printf %x $((0x$1 + $2)); }
name() { printf 0x%016x 0x$1; }
first=$(addr first) second=$(addr second) third=$(addr third)
part=$(addr part) cold=$(addr part.cold) bare=$(addr bare)
again=$(plus $first 0x300000)
section() { # its start; or with a second word, its end
	readelf -SW "$T/a" | sed -n "s/^.* \\$1 *PROGBITS *//p" |
	    while read -r at off size rest; do
		[ $# -eq 2 ] || size=0
		plus "$at" "0x$size"
	    done
}
stub=$(plus "$(section .plt)" 16) stubs=$(section .plt end)
next=$(nm -n "$T/a" | sed -n '/ bare$/,$s/^0*\([0-9a-f]*\) [tT] .*/\1/p' |
    sed -n 2p)
last=$(addr last) lasts=$(section .tail end)

# The file's bytes from 1000 on are at 401000, where they were linked for, and
# at 701000. Ends of functions are cut off.
asked() { # text, expected, lines from standard input
	{ echo "M 1 401000 402000 1000 $T/a"
	  echo "M 1 701000 702000 1000 $T/a"; cat; } |
	    timeout 10 "$F" >"$T/o" 2>&1
	same "$1" "$2" "$(cat "$T/o")"
}

asked "a function's first byte, and the second one" \
    "$first $first $(plus $first 3) entry first
$(plus $first 1) $first $(plus $first 3) first" <<E
? $first
? $(plus $first 1)
E

asked "mapped twice: one function at two addresses" \
    "$again $again $(plus $again 3) entry first
section same, function same" <<E
? $again
= $first $again
E

asked "a stub is a function to skip, without an entry" \
    "$stub $stub $stubs skip $(name $stub) [PLT]" <<E
? $stub
E

asked "sections" "section same, function other
section other, function other
section other, function other
section other, function other" <<E
= $first $second
= $first $third
= $first $stub
= $first 5000
E

asked "a cold part" "section same, function parts" <<E
= $part $cold
E

asked "code without a symbol ends at one, with its section, or nowhere" \
    "$bare $bare $next $(name $bare)
$last $last $lasts $(name $last)
5000 5000 - $(name 5000)" <<E
? $bare
? $last
? 5000
E

done_testing
