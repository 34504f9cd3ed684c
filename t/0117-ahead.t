#!/bin/sh
# Where a call returns to is translated before it is asked for.  A program makes
# 400 indirect calls, each from another place and of another function: there is a
# request for each function, and one for every other return at most, however fast
# the program and trace are.  For what was made in an idle moment makes no landing
# known, but the request that follows does.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

N=400
awk -v n=$N 'BEGIN {
	print ".globl _start\n_start:"
	for (i = 0; i < n; i++)
		print "call *w" i "(%rip)\nxor %eax,%eax"
	print "mov $60,%eax\nxor %edi,%edi\nsyscall"
	for (i = 0; i < n; i++)
		print "f" i ": mov %rsp,%rax\nret\n.balign 64"
	print ".data"
	for (i = 0; i < n; i++)
		print "w" i ": .quad f" i }' >"$T/calls.s"
${CC:-gcc} -nostdlib -static -o "$T/calls" "$T/calls.s" || exit 99

for kind in none counts all cache; do
	check "$kind" "$B/trace" -v -e $kind -o "$T/ev" "$T/calls"
	requests=$(sed -n 's/^trace: \([0-9]*\) requests,.*/\1/p' "$T/err")
	echo "# $requests requests"
	[ "$requests" -ge $N ] && [ "$requests" -lt $((N + N / 2 + 40)) ]
	ok "$kind: a request for each function" $?
	check "$kind: with a cache that is flushed all the time" \
	    "$B/trace" --debug=tinycache -e $kind -o "$T/ev" "$T/calls"
done
run "$B/trace" -e all -o "$T/ev" "$T/calls"
same "all instructions are told" $((4 * N + 3)) "$("$TB/evcount" "$T/ev")"

done_testing
