#!/bin/sh
# Interrupted runs keep what they have: SIGINT to all of a pipeline

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
LIMIT=30

cat >"$T/prog.c" <<'EOF'
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void
on(int sig)
{
	got = sig;
}
/* tell the FIFO that all is ready; end by a signal, or behind it with 3 */
int main(int argc, char **argv)
{
	if (argc > 2)
		signal(SIGINT, on);
	close(open(argv[1], O_WRONLY));
	while (!got)
		;
	return 3;
}
EOF
$CC -O1 -o "$T/prog" "$T/prog.c" || skip_all "no compiler"
mkfifo "$T/ready"
command -v pgrep >/dev/null || skip_all "no pgrep"
env --default-signal=INT true 2>/dev/null || skip_all "no env --default-signal"

# settled GROUP N: it has so many processes, and all of them but the program
# handle or ignore SIGINT
settled() {
	set -- "$2" "$1" $(pgrep -g "$1")
	[ $# -eq $(($1 + 2)) ] || return
	leader=$2
	shift 2
	for p; do
		awk -v leader=$leader '/^Name:/ { name = $2 }
		    /^Pid:/ { pid = $2 }
		    /^Sig(Ign|Cgt):.*[2367abef]$/ { n++ }
		    END { exit name != "prog" && (n == 0 ||
			name == "sh" && pid != leader) }' "/proc/$p/status" \
		    2>/dev/null || return
	done
}

# pipeline COMMAND: run it in a session of its own, and interrupt all of it once
# the program is ready, and all that is beside it; ready: how to wait for that
pipeline() {
	rm -f "$T/pid"
	timeout $LIMIT setsid -w env --default-signal=INT,TERM sh -c \
	    'trap : INT TERM; echo $$ >"$1/pid"; eval "$2"' - "$T" "$1" \
	    2>"$T/err" &
	job=$!
	ready
	group=$(cat "$T/pid")
	n=0
	until settled $group $(($(echo "$1" | tr -cd '|' | wc -c) + beside)) ||
	    [ $n -ge 400 ]; do
		sleep 0.05
		n=$((n + 1))
	done
	kill -s INT -- -$group
	wait $job
}
ready() { timeout $LIMIT cat "$T/ready"; }

beside=3	# the shell, trace and the program, and a filter for each "|"
desc="desc: Interrupted:      by signal 2, Interrupt"
for kind in all blocks counts cache; do
	case $kind in
	all|cache) sim=cachesim ;;
	*) sim=icount ;;
	esac
	pipeline "'$B/trace' -e $kind '$T/prog' '$T/ready' | tee -i '$T/ev' |
	    '$B/$sim' -o '$T/costs'; '$B/fmt-cachegrind' -o '$T/cg' \
	    <'$T/costs'; echo \$? >'$T/status'"
	same "$kind: all filters succeed" 0 "$(cat "$T/status")"
	same "$kind: the stream has its end mark" "E signal 2" \
	    "$(tail -n 1 "$T/ev" | cut -d' ' -f1-3)"
	same "$kind: the profile tells it" "$desc" "$(grep Inter "$T/cg")"
	"$B/$sim" "$T/ev" >"$T/again"
	samefile "$kind: the costs are those of the stream" "$T/again" "$T/costs"
done
pipeline "'$B/trace' '$T/prog' '$T/ready' | '$B/cachesim' |
    '$B/fmt-callgrind' | tee -i '$T/cg' | '$B/annotate' >'$T/text'
    echo \$? >'$T/status'"
same "four filters" 0 "$(cat "$T/status")"
same "each tells it" 2 "$(cat "$T/cg" "$T/text" | grep -c 'Interrupted: .*2')"
pipeline "'$B/trace' -e counts --contexts '$T/prog' '$T/ready' |
    '$B/callgraph' | '$B/fmt-callgrind' >'$T/cg'; echo \$? >'$T/status'"
same "callgraph" "0 $desc" "$(cat "$T/status") $(grep Inter "$T/cg")"
"$B/cachesim" "$T/ev" 2>/dev/null | "$B/annotate" >"$T/text" 2>"$T/err"
same "annotate reads the costs themselves" 1 "$(grep -c Interrupted "$T/text")"

# the program decides
pipeline "'$B/trace' '$T/prog' '$T/ready' handles | tee -i '$T/ev' |
    '$B/cachesim' >'$T/costs'; echo \$? >'$T/status'"
same "a program that handles the signal" "0 E exit 3" \
    "$(cat "$T/status") $(tail -n 1 "$T/ev" | cut -d' ' -f1-3)"
same "was not interrupted" 0 "$(grep -c Interrupted "$T/costs")"

# filters alone: the first signal passes, a second one does not
mkfifo "$T/in"
begin() { # command...
	env --default-signal=INT,TERM "$@" <"$T/in" &
	filter=$!
	exec 3>"$T/in"
	printf 'H quern-events 2\nH kind all\nB 1 >1000 4\n' >&3
}
for sig in INT TERM; do
	begin timeout --foreground $LIMIT "$B/icount" -o "$T/costs"
	until p=$(pgrep -P $filter) && [ -n "$(ls "$T"/costs.tmp.* \
	    2>/dev/null)" ]; do sleep 0.02; done
	kill -s $sig "$p"
	printf '1*9\nE exit 0 10\n' >&3
	exec 3>&-
	wait $filter
	same "the first $sig passes" "0 totals: 10" \
	    "$? $(tail -n 1 "$T/costs")"
	rm "$T/costs"
done
begin timeout --foreground $LIMIT "$B/icount" -o "$T/costs"
until p=$(pgrep -P $filter) && [ -n "$(ls "$T"/costs.tmp.* 2>/dev/null)" ]; do
	sleep 0.02
done
kill -s INT "$p"
kill -s TERM "$p"
wait $filter
same "a second one ends it" "yes" \
    "$([ $? -ge 128 ] && [ -z "$(ls "$T"/costs* 2>/dev/null)" ] && echo yes)"
exec 3>&-

# attached: we are interrupted, the process goes on
rm -f "$T/hold"
cat >"$T/loop.c" <<'EOF'
#include <unistd.h>
int main(int argc, char **argv)
{
	while (access(argv[1], F_OK) != 0)
		;
	return 7;
}
EOF
$CC -O1 -o "$T/loop" "$T/loop.c"
timeout $LIMIT "$T/loop" "$T/hold" &
job=$!
until pid=$(pgrep -x -P $job loop); do sleep 0.02; done
if "$B/trace" -e none -o /dev/null --for-time=0.1 -p "$pid" 2>"$T/err"; then
	prog=$job
	beside=2
	ready() {
		until grep -q '^Y' "$T/ev" 2>/dev/null; do sleep 0.02; done
	}
	rm -f "$T/ev"
	pipeline "'$B/trace' -p $pid | tee -i '$T/ev' | '$B/cachesim' |
	    '$B/fmt-cachegrind' >'$T/cg'; echo \$? >'$T/status'"
	same "attached" "0 $desc" "$(cat "$T/status") $(grep Inter "$T/cg")"
	same "the mark says it" "J interrupted 2 E exit 0" "$(tail -n 2 \
	    "$T/ev" | cut -d' ' -f1-3 | tr '\n' ' ' | sed 's/ $//')"
	: >"$T/hold"
	wait $prog
	same "the process goes on to its end" 7 $?
else
	: >"$T/hold"
	skip "attached" "$(head -n 1 "$T/err")"
fi

done_testing
