#!/bin/sh
# trace --syscall-times and callgraph --collect-systime

. t/lib.sh

TOP=$PWD G=$B/callgraph
cd "$T" || exit 99
${CC:-gcc} -O1 -g -nostdlib -static -fno-stack-protector -o locks \
    "$TOP/t/src/locks.c" || exit 99

# --- the stream
for kind in all blocks; do
	check "kind $kind" "$B/trace" -e $kind --syscall-times -o ev ./locks
	same "which says so" "H syscalls ns" "$(grep '^H sys' ev)"
	same "each call has a line, and one when it has returned" \
	    "5 Y 110;5 Y 110 t t;1 Y 60;" "$(sed -n '/^Y/{s/ [0-9]* [0-9]*$/ t t/
		p;}' ev | sort | uniq -c | sed 's/^ *//' | tr '\n' ';')"
done
check "callgraph" "$G" --collect-systime=nsec -o costs ev
same "has these events" "event: sysTime : sysTime (elapsed ns)
event: sysCpuTime : sysCpuTime (system cpu ns)
events: Ir sysCount sysTime sysCpuTime" "$(grep ^event costs)"
same "counts all, also the last one" 6 \
    "$(sed -n 's/^totals: [0-9]* \([0-9]*\).*/\1/p' costs)"
check "without the option" "$B/trace" -o plain.ev ./locks
same "there are no times" 0 "$(grep -c '^Y.* .* ' plain.ev)"
status 2 "which callgraph needs" "$G" --collect-systime=usec plain.ev
same "it says" "callgraph: plain.ev: a stream without the times of system calls\
 for --collect-systime: needs trace --syscall-times" \
    "$(sed 's/ev:[0-9]*:/ev:/' err)"
status 125 "kind counts" "$B/trace" --syscall-times -e counts -o c.ev ./locks
same "is refused" "trace: --syscall-times: only kinds all and blocks tell\
 system calls" "$(cat err)"
status 125 "--last" "$B/trace" --syscall-times --last=64k -o c.ev ./locks
same "is refused" "trace: --syscall-times: not with --last" "$(cat err)"
status 2 "another unit" "$G" --collect-systime=sec plain.ev
same "is refused" "callgraph: --collect-systime=sec: no, yes, msec, usec or\
 nsec" "$(cat err)"

# --- sleeping takes at least its time
"$B/trace" --syscall-times -e blocks -o ev sleep 0.02
same "sleep 0.02 takes 20 ms or more" 1 \
    "$(awk '/^Y (35|230) .* / && $3 >= 20000000 { n++ } END { print n + 0 }' ev)"

# --- sums, and where they count: by hand
cat >ev <<'E'
H quern-events 2
H kind blocks
H syscalls ns
T 1
B 1 >1000 3 5w8.0-8L2000
1+7ffe1000
B 2 >2000 2 2S
2
Y 35
Y 35 1500000 2000
B 3 >2004 1r8.0R
3+7ffe0ff8
B 4 >1008 2S
4
Y 39
Y 39 1600000 100
E exit 0 4
E
sums() { # text unit totals call
	check "$1" "$G" --collect-systime=$2 -o costs ev
	same "$1: totals" "$3" "$(sed -n 's/^totals: //p' costs)"
	same "$1: of the call" "$4" "$(sed -n '/^calls/{n;s/^[^ ]* //p;}' costs)"
}
sums "milliseconds" msec "6 2 3" "3 1 1"
sums "yes is milliseconds" yes "6 2 3" "3 1 1"
sums "microseconds" usec "6 2 3100" "3 1 1500"
sums "nanoseconds" nsec "6 2 3100000 2100" "3 1 1500000 2000"
sums "no" no "6" "3"
check "another reader" "$B/plain" -s ev
same "shows them" "system call 35: 1500000 ns, 2000 ns of the processor" \
    "$(grep -o 'system call 35:.*' out)"
check "and one passes them on" "$B/branchsim" -t -o through.ev ev
same "as they are" 2 "$(grep -c '^Y.* .* ' through.ev)"

# --- programs that fork, wait, are interrupted, forbid calls, have threads
for p in prc-fork prc-filter prc-strict prc-execself prc-vfork sig-restart \
    sig-timers sig-suspend thr-mutex thr-cancel thr-mainleaves thr-fork; do
	V=$TOP/build/t/victim/$p
	check "$p is built" test -x "$V"
	check "$p" "$B/trace" --syscall-times -e blocks -o v.ev "$V"
	check "$p: its stream" "$G" --collect-systime=nsec -o /dev/null v.ev
done
mkdir many
check "with -f" "$B/trace" -f --syscall-times -e blocks -o many/%p.ev \
    sh -c '/bin/true; /bin/true & wait'
for e in many/*.ev; do
	check "a stream of it" "$G" --collect-systime=nsec -o /dev/null "$e"
done

if command -v valgrind >/dev/null; then
	check "Callgrind" valgrind -q --tool=callgrind --collect-systime=yes \
	    --callgrind-out-file=cg ./locks
	same "counts as many" 6 \
	    "$(sed -n 's/^totals: [0-9]* \([0-9]*\).*/\1/p' cg)"
else
	skip "Callgrind's count" "no valgrind"
fi
done_testing
