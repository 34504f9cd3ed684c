#!/bin/sh
# callgrind_control: dumps, zeroing and switching of programs under valgrind

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
C=$B/callgrind_control V=$B/valgrind
. t/server.sh
cd "$T" || exit 99
unset VALGRIND_OPTS
TMPDIR=$T
export TMPDIR

begin() {
	rm -f in answers
	mkfifo in
	"$V" --tool=callgrind --callgrind-out-file=cl "$@" ./server <in \
	    >answers 2>said &
	pid=$!
	exec 5>in
}

total() {
	sed -n 's/^totals: //p' "$1"
}

# --- nobody is there
status 0 "nobody" "$C"
same "is told" "No active callgrind runs detected." "$(cat out)"
status 1 "somebody else" "$C" -z 1
same "is told" "callgrind_control: Callgrind task with PID/name '1' not detected" \
    "$(cat err)"
for o in -x "-i maybe" -i "-d -z" -b -e --instr=yes; do
	status 1 "$o" "$C" $o
done

# --- one that runs
begin
check "answers" asked a
status 0 "the list" "$C"
same "has it" "PID $pid: ./server " "$(cat out)"
status 0 "by its name" "$C" -s server
same "its state" "PID $pid: ./server |  Instrumentation: on|  Number of running \
threads: 1|" "$(tr '\n' '|' <out)"
status 0 "a dump" "$C" --dump="so far" $pid
same "is told" "PID $pid: ./server  [requesting 'dump so far']|  OK.|" \
    "$(tr '\n' '|' <out)"
check "is written" there cl.1
check "with its reason" grep -q '^desc: Trigger.*: so far$' cl.1
check "and the costs" test "$(total cl.1)" -gt 500000
asked b
"$C" --zero >/dev/null
"$C" -i off >/dev/null
status 0 "the state" "$C" -s ./server
check "is off" grep -q 'Instrumentation: off' out
asked c
"$C" --instr=on >/dev/null	# and it is on
asked d
"$C" -d >/dev/null
check "another dump" there cl.2
check "has what ran while it was on" test "$(total cl.2)" -gt 500000 -a \
    "$(total cl.2)" -lt 900000
exec 5>&-
wait $pid
same "the status" 0 $?
check "the last part" test "$(total cl)" -lt 20000
same "no FIFO is left" "" "$(ls -d vgdb-* 2>/dev/null)"

# --- the page's example, with one answer as its minute
sed -n '/^\.Sh EXAMPLES/,$p' "$OLDPWD/man/callgrind_control.1" |
    sed -n '/^\.Bd/,/^\.Ed/p' | grep -v '^\.' >example
valgrind() {
	exec "$V" --callgrind-out-file=minute "$@" <in >answers \
	    2>said 5>&-
}
callgrind_control() {
	"$C" "$@"
}
sleep() {
	if [ "$1" = 60 ]; then
		asked a
	else
		command sleep "$1"
	fi
}
rm -f in answers
mkfifo in
exec 5<>in
. ./example >example.out
unset -f sleep
check "the example's dump" there minute.1
check "has what the server did" test "$(total minute.1)" -gt 500000
check "and its reason" grep -q '^desc: Trigger.*: minute$' minute.1
exec 5>&-
wait $!

# --- a child of it, and its end; elsewhere
begin --vgdb-prefix="$T/else" --callgrind-out-file=kid.%p
asked f
asked h
status 0 "not where it is not" "$C"
same "is told" "No active callgrind runs detected." "$(cat out)"
status 0 "two" "$C" --vgdb-prefix="$T/else"
cp out two
same "are there" 2 "$(grep -c '^PID' two)"
check "the first by its number" grep -q "^PID $pid: " two
kid=$(sed -n "/PID $pid:/d; s/^PID \([0-9]*\):.*/\1/p" two)
status 0 "one is ended" "$C" --vgdb-prefix="$T/else" -k "$kid"
exec 5>&-
wait $pid
check "its profile is there" there "kid.$kid"
check "and that of the other" there "kid.$pid"

begin --vgdb=no
asked a
status 0 "--vgdb=no" "$C"
same "is not reached" "No active callgrind runs detected." "$(cat out)"
exec 5>&-
wait $pid

done_testing
