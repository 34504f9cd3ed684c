#!/bin/sh
# What readers keep of a block, in bytes of resident memory: streams of 20,000
# and of 60,000 blocks, each with a prefix, of an object without symbols.

. t/lib.sh

[ -z "${SAN:-}" ] || skip_all "sanitizers need memory of their own"
cd "$T" || exit 99
printf '\t.text\n\t.globl _start\n_start:\t.skip 0x200000\n' >prog.s
${CC:-gcc} -nostdlib -static -s -Wl,-Ttext=0x401000 -Wl,--build-id=none \
    -o prog prog.s 2>err || { cat err; exit 99; }

# stream BLOCKS: each of 4 instructions, with two references; it is executed
# up to its branch, which goes back, and then whole, and goes on to the next
stream() {
	awk -v n="$1" -v prog="$T/prog" 'BEGIN {
		print "H quern-events 1\nH kind all"
		print "M 1 401000 600000 1000 " prog
		for (i = 1; i <= n; i++) {
			at = 4198400 + 20 * i
			printf "B %x >%x 5r8.0 5C%x 5w8.0+8 5J%x\n",
			    2 * i, at, at, at + 20
			printf "P %x %x 2\n", 2 * i + 1, 2 * i
			printf "%x+1000\n%x-1000\n", 2 * i + 1, 2 * i
		}
		print "E exit 0 " 2 * n
	}'
}
stream 20000 >few.ev
stream 60000 >many.ev

# at_most BYTES READER...: for each block that there is more
at_most() {
	local most=$1 few many

	shift
	few=$("$TB/peak" "$B/$@" few.ev 2>err) &&
	    many=$("$TB/peak" "$B/$@" many.ev 2>err) || cat err >&2
	check "$1: at most $most bytes a block, not \
$(((many - few) * 1024 / 40000))" [ $(((many - few) * 1024 / 40000)) -le "$most" ]
}

at_most 250 icount
at_most 560 cachesim --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64
at_most 400 branchsim
at_most 700 callgraph
at_most 300 mix
at_most 440 bbv
done_testing
