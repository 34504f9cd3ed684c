#!/bin/sh
# While a program asks for much code trace stays on its processor.  That is over
# when it asks for no more: then trace, and whatever it has started, may run
# where it might before.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

allowed=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
one=${allowed%%[-,]*}

# The processors of trace and its threads: a child, which is not traced, looks
# while its parent waits, until they are the program's own.
cat >"$T/seen" <<'EOF'
look() {
	sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/$1/status $2 | sort -u
}
(
	n=0
	until [ "$(look self "/proc/$PPID/task/*/status")" = "$(look self)" ] ||
	    [ $n -ge 100 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	look self "/proc/$PPID/task/*/status"
) &
wait
EOF

for kind in none cache; do
	check "$kind" "$B/trace" -e $kind -o "$T/ev" sh "$T/seen"
	same "$kind: all processors" "$allowed" "$(cat "$T/out")"
	check "$kind: on one" taskset -c "$one" "$B/trace" -e $kind \
	    -o "$T/ev" sh "$T/seen"
	same "$kind: only that" "$one" "$(cat "$T/out")"
done

# Each on a processor of its own
other=${allowed##*[-,]}
check "apart" taskset -c "$one" "$B/trace" -e none -o "$T/ev" \
    taskset -c "$other" sh -c 'echo $((6 * 7))'
same "the program's output" 42 "$(cat "$T/out")"

# And a program that its traces follow
check "followed" "$B/trace" -f -e none -o "$T/ev.%p" sh -c \
    'sh "$1"; (sleep 0.1; echo done)' sh "$T/seen"
same "all processors" "$allowed done" \
    "$(tr '\n' ' ' <"$T/out" | sed 's/ $//')"

done_testing
