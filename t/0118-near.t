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

# Nine on one processor: the program and trace get at least a quarter of their
# share, a ninth of the time.  A timer's signals make the program ask often.  On
# standard error: their CPU time and the share, in ms.
cat >"$T/crowd.pl" <<'EOF'
use strict;
use POSIX ();
use Time::HiRes 'time';

my ($hogs, @command) = @ARGV;
my @pid;
for (1 .. $hogs) {
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		alarm 600;
		exec "sh", "-c", "while :; do :; done" or die "exec: $!";
	}
	push @pid, $pid;
}
my $start = time;
my $status = system @command;
my $wall = time - $start;
kill "KILL", @pid;
my @cpu = POSIX::times();	# the hogs have not been waited for
my $cpu = ($cpu[3] + $cpu[4]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
printf STDERR "%d %d\n", $cpu * 1000, $wall * 1000 / ($hogs + 1);
waitpid $_, 0 for @pid;
exit($status == 0 ? 0 : 1);
EOF
timeout 20 "$TB/rndasm" -t 2 300 >"$T/p.S" &&
    ${CC:-cc} -static -nostdlib -o "$T/p" "$T/p.S"
ok "a program with a timer" $?
LIMIT=300 check "crowded" taskset -c "$one" perl "$T/crowd.pl" 8 \
    "$B/trace" -e counts -o "$T/ev" "$T/p"
read -r cpu share <<EOF
$(tail -n 1 "$T/err")
EOF
[ "$cpu" -gt 0 ] && [ "$share" -lt $((cpu * 4)) ]
ok "its share" $?
echo "# $cpu ms of $share"

done_testing
