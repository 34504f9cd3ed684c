#!/bin/sh
# Threads do not wait for each other: in kinds counts, cache and branches no
# line of the engine's memory is written to by two of them while they run code
# that has been translated, and nothing locks the bus

. t/lib.sh

LIMIT=200
[ -x "$B/trace" ] || skip_all "no trace"
N=4
${CC:-gcc} -O1 -pthread -o "$T/apart" t/src/apart.c || skip_all "no threads"

# quiet: all threads ran and wrote, and nothing was shared or locked
quiet() {
	[ "$(told writes)" -gt 300 ] && [ "$(sed -n '/^[tsl]/p' "$T/written" | tr '\n' ' ')" = \
	    "threads $N shared 0 locked 0 " ]
}

# written STEPS [all]: the threads of the program that trace, or nobody, runs;
# once more while a thread still waits for code that is being translated, or
# cannot be stepped at this moment
written() {
	n=0
	until [ -s "$T/pid" ] || [ $n -ge 300 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	pid=$(cat "$T/pid")
	n=0 s=1
	while kill -0 "$pid" && [ $n -lt 20 ]; do
		n=$((n + 1))
		timeout $LIMIT "$TB/written" "$pid" "$@" >"$T/written"
		s=$?
		if [ $s -eq 0 ] && { [ $# -gt 1 ] || quiet; }; then
			break
		fi
		sleep 0.2
	done
	kill -KILL "$pid"
	wait
	return $s
}
told() {
	sed -n "s/^$1 //p" "$T/written"
}

# the judge sees what is shared
"$T/apart" $N shared >"$T/pid" &
written 1000 all || skip_all "no thread can be stepped"
check "natively: lines that are shared" test "$(told shared)" -gt 0
rm "$T/pid"
"$T/apart" $N >"$T/pid" &
check "natively: each its own" written 1000 all
same "none is shared" 0 "$(told shared)"

for kind in counts cache branches "counts --contexts" "cache --contexts"; do
	rm "$T/pid"
	"$B/trace" -e $kind -o /dev/null --stdout="$T/pid" "$T/apart" $N \
	    2>"$T/err" &
	check "kind $kind" written 5000
	same "all threads run" $N "$(told threads)"
	check "they write" test "$(told writes)" -gt 300
	same "to no line that another writes to" 0 "$(told shared)"
	same "without a lock" 0 "$(told locked)"
done
done_testing
