#!/bin/sh
# While a program asks for much code trace stays on its processor.  That is over
# when it asks for no more: then trace, and whatever it has started, may run
# where it might before.
# Beside others on its processor it gets its share.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

allowed=$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)
one=${allowed%%[-,]*}

# The processors of trace and its threads: a child, which is not traced, looks
# while its parent waits, until it has seen its own three times in a row.
cat >"$T/seen" <<'EOF'
look() {
	sed -n 's/^Cpus_allowed_list:[^0-9]*//p' $1 | sort -u
}
(
	n=0
	alike=0
	until [ $alike -ge 3 ] || [ $n -ge 100 ]; do
		sleep 0.1
		seen=$(look "/proc/$PPID/task/*/status")
		[ "$seen" = "$(look /proc/self/status)" ] && alike=$((alike + 1)) || alike=0
		n=$((n + 1))
	done
	echo "$seen"
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

# Turns are taken where others want the processors
"$TB/rivals" >"$T/rivals" 2>&1
same "rivals" "first: 0 beside it: 1 no such process: 1" \
    "$(tr '\n' ' ' <"$T/rivals" | sed 's/ $//')"

# Nine on one processor: the program and trace get at least a quarter of what each
# of the others gets.  A timer's signals, or jumps out of functions, make the
# program ask often.  On standard error: their CPU time and the others', in ms.
cat >"$T/crowd.pl" <<'EOF'
use strict;
use POSIX ();

my ($hogs, @command) = @ARGV;
my @pid;
for (1 .. $hogs) {
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		exec "sh", "-c", 'while kill -0 $PPID; do :; done 2>/dev/null'
		    or die "exec: $!";
	}
	push @pid, $pid;
}
my $status = system @command;
my $program = children();
kill "KILL", @pid;
waitpid $_, 0 for @pid;		# their times count from here on
printf STDERR "%d %d\n", $program, (children() - $program) / $hogs;
exit($status == 0 ? 0 : 1);

sub children {
	my @t = POSIX::times();
	return ($t[3] + $t[4]) * 1000 / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}
EOF
crowd() { # name options program
	name=$1
	shift
	LIMIT=300 check "$name, crowded" taskset -c "$one" \
	    perl "$T/crowd.pl" 8 "$B/trace" -o "$T/ev" "$@"
	read -r cpu others <<-EOF
	$(tail -n 1 "$T/err")
	EOF
	[ "$cpu" -gt 0 ] && [ "$others" -lt $((cpu * 4)) ]
	ok "$name: its share" $?
	echo "# $cpu ms, others $others"
}
timeout 20 "$TB/rndasm" -t 2 300 >"$T/p.S" &&
    ${CC:-cc} -static -nostdlib -o "$T/p" "$T/p.S"
ok "a program with a timer" $?
crowd "a timer" -e counts "$T/p"
${CC:-cc} -O1 -o "$T/jumps" t/src/limbo.c
ok "a program that jumps" $?
crowd "jumps" -e counts --contexts "$T/jumps" 20000

done_testing
