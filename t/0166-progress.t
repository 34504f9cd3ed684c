#!/bin/sh
# A line a second says how far a run, or the reading of a file, is

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

cat >"$T/prog.c" <<'EOF'
#include <unistd.h>
/* until the file is there, if one is given */
int
main(int argc, char **argv)
{
	for (volatile int i = 0; i < 1000000; i++)
		;
	while (argc > 1 && access(argv[1], F_OK) != 0)
		;
	return 0;
}
EOF
$CC -O1 -o "$T/prog" "$T/prog.c" || skip_all "no compiler"

# what -v says at the end; so small a run is counted in full
for kind in counts cache "counts --contexts" all blocks; do
	check "-v, kind $kind" "$B/trace" -v -e $kind -o "$T/ev" "$T/prog"
	same "all instructions" \
	    "trace: $("$B/icount" "$T/ev" | sed -n 's/^totals: //p') instructions" \
	    "$(grep ' instructions$' "$T/err")"
done
check "without it" "$B/trace" -o "$T/ev" "$T/prog"
same "nothing" "" "$(cat "$T/err")"

if ! command -v script >/dev/null 2>&1; then
	skip "a terminal's line" "no script(1)"
	done_testing
	exit
fi

# await TEXT FILE: until the text is in the file, or half a minute is over
await() {
	n=0
	until tr '\r' '\n' <"$2" 2>/dev/null | grep -q "$1" ||
	    [ $n -ge 300 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	tr '\r' '\n' <"$2" | grep -q "$1"
}

line='trace: .*[0-9] M instructions, [0-9.]* M a second'
for kind in all blocks counts cache; do
	rm -f "$T/go"
	: >"$T/tty"
	timeout $LIMIT script -qefc "'$B/trace' -e $kind -o '$T/ev' '$T/prog' \
	    '$T/go' >'$T/out'" /dev/null >"$T/tty" 2>&1 </dev/null &
	await "$line" "$T/tty"
	same "kind $kind: a line on the terminal" 0 $?
	: >"$T/go"
	wait $!
	same "kind $kind: which is erased" "$(printf '\r\033[K')" \
	    "$(tail -c 4 "$T/tty")"
done
# the program's output is on the terminal as well: no line comes in between
timeout $LIMIT script -qefc "'$B/trace' --for-time=2.2 -o '$T/ev' '$T/prog'" \
    /dev/null >"$T/tty" 2>&1 </dev/null
same "not beside the program's own output" 0 \
    "$(tr '\r' '\n' <"$T/tty" | grep -c "$line")"
# with -v and no terminal each line stays
rm -f "$T/go"
timeout $LIMIT "$B/trace" -v -e counts -o "$T/ev" "$T/prog" "$T/go" \
    2>"$T/err" &
await "$line" "$T/err"
same "with -v, without a terminal" 0 $?
: >"$T/go"
wait $!

# readers of files: the first read sets the time, so each later one is late
head -c 8000000 /dev/zero | tr '\0' x >"$T/big"
mkfifo "$T/fifo"
rm -f "$T/tty"
timeout $LIMIT script -qefc "'$TB/lib' cat '$T/big' >'$T/fifo'" /dev/null \
    >"$T/tty" 2>&1 </dev/null &
{ head -c 1; sleep 2; cat; } <"$T/fifo" >"$T/copy"
wait $!
same "its share of a file" 1 "$(tr '\r' '\n' <"$T/tty" |
    grep -c "^lib: $T/big: [0-9]* %" | sed 's/^[1-9].*/1/')"
same "all of it is read" 8000000 "$(wc -c <"$T/copy" | tr -d ' ')"

done_testing
