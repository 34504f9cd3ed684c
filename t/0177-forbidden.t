#!/bin/sh
# Where a filter forbids a system call that trace makes, or its runtime in the
# program, the run is the same without it, or trace says in one line why there
# is none: it never waits for ever, and no count changes.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
"$TB/forbid" 135 true || skip_all "no filters of system calls"
LIMIT=20
victim=$TB/victim/exact-mix

run "$B/trace" -e counts -o "$T/want.ev" "$victim"
"$B/icount" "$T/want.ev" >"$T/want"

# judge STATUS: "same", what was said, or what is wrong
judge() {
	if [ "$1" -eq 0 ] && [ ! -s "$T/err" ]; then
		"$B/icount" "$T/run.ev" | cmp -s - "$T/want" && echo same ||
		    echo "other counts"
	elif [ "$1" -eq 125 ] && [ "$(wc -l <"$T/err")" -eq 1 ] &&
	    [ ! -e "$T/run.ev" ]; then
		cat "$T/err"
	else
		echo "status $1: $(cat "$T/err")"
	fi
}

# forbidden NUMBER ERRNO
forbidden() {
	rm -f "$T/run.ev"
	run "$TB/forbid" "$1:$2" "$B/trace" -e counts -o "$T/run.ev" "$victim"
	judge $?
}

# Where trace ends before the child has asked to be traced, init would trace it.
# On one processor the child begins when trace has ended, more often than not.
cp "$victim" "$T/left"
cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
for i in $(seq 20); do
	taskset -c "$cpu" "$TB/forbid" 61:1 "$B/trace" -e counts \
	    -o "$T/run.ev" "$T/left" >"$T/out" 2>&1
done
left=$(pgrep -f "^$T/left")
same "no program is left stopped where trace could not wait" "" "$left"
[ -z "$left" ] || kill -9 $left

# Not here: calls without which no program is loaded, writes nothing, or its C
# library waits or aborts by itself (exit, futex).
while read -r number call what; do
	for errno in 1 38; do
		case $errno in
		1) text="Operation not permitted" ;;
		*) text="Function not implemented" ;;
		esac
		want=$(echo "$what" | sed "s/%/$text/")
		[ "$want" = same ] || want="trace: $want"
		same "$call fails with $errno" "$want" \
		    "$(forbidden "$number" $errno |
		    sed 's/0x[0-9a-f]*/N/; s|: /[^:]*/run.ev|: FILE|')"
	done
done <<'EOF'
7 poll poll: %
8 lseek same
13 rt_sigaction inside the program: rt_sigaction is forbidden
14 rt_sigprocmask same
16 ioctl same
18 pwrite64 the program's memory at N: %
20 writev same
21 access same
24 sched_yield same
25 mremap inside the program: no memory for the first thread
28 madvise same
33 dup2 same
35 nanosleep same
39 getpid inside the program: getpid is forbidden
56 clone fork: %
57 fork same
61 wait4 waiting for the program: %
62 kill same
72 fcntl seals of the memory shared with the program: %
77 ftruncate memory shared with the program: %
82 rename FILE: rename: %
87 unlink same
89 readlink same
101 ptrace ptrace: %
131 sigaltstack inside the program: sigaltstack is forbidden
135 personality same
138 fstatfs same
157 prctl same
186 gettid inside the program: gettid is forbidden
200 tkill same
203 sched_setaffinity same
204 sched_getaffinity same
217 getdents64 same
228 clock_gettime same
230 clock_nanosleep same
234 tgkill same
273 set_robust_list set_robust_list: %
302 prlimit64 same
310 process_vm_readv same
311 process_vm_writev same
318 getrandom same
319 memfd_create a memory file in the program: %
323 userfaultfd same
324 membarrier same
334 rseq same
424 pidfd_send_signal same
434 pidfd_open same
EOF
# the C library does without clone3 where there is none
same "clone3 fails with 1" "trace: thread: Operation not permitted" \
    "$(forbidden 435 1)"
same "clone3 fails with 38" same "$(forbidden 435 38)"
done_testing
