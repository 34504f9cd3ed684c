#!/bin/sh
# trace -p: a process that runs already is taken, told, and let go as it was.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

cat >"$T/prog.c" <<'EOF'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile int ticks, done;
static int wrong;

static void
tick(int sig)
{
	ticks += sig == SIGUSR1;
}

static void
end(int sig)
{
	done = sig;
}

/* Sums of which each round must give the same. */
static void *
spin(void *arg)
{
	unsigned long x, i;
	double d;

	while (!done) {
		x = 1;
		d = 1;
		for (i = 0; i < 1000; i++) {
			x = x * 6364136223846793005ul + 1442695040888963407ul;
			d = d * 1.0001 + 0.5;
		}
		if (x != 0x28fd57c0a5c1b149ul && x != *(unsigned long *)arg)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
		if (d < 500 || d > 600)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void *
nap(void *arg)
{
	struct timespec t = { 0, 2000000 };

	(void)arg;
	while (!done)
		if (nanosleep(&t, NULL) < 0 && !done && ticks == 0)
			wrong++;
	return NULL;
}

int
main(int argc, char *argv[])
{
	unsigned long x = 1, i;
	pthread_t t[8];
	int n = atoi(argv[2]), k;

	for (i = 0; i < 1000; i++)
		x = x * 6364136223846793005ul + 1442695040888963407ul;
	alarm(60);
	signal(SIGUSR1, tick);
	signal(SIGTERM, end);
	for (k = 0; k < n; k++)
		pthread_create(&t[k], NULL, k % 2 ? nap : spin, &x);
	puts("ready");
	fflush(stdout);
	if (argv[1][0] == 's')
		while (!done)
			sleep(100);
	else
		spin(&x);
	for (k = 0; k < n; k++)
		pthread_join(t[k], NULL);
	printf("%s, %d wrong\n", ticks > 0 ? "signals" : "no signal", wrong);
	return argc;
}
EOF
gcc -O1 -w -pthread -o "$T/prog" "$T/prog.c"

# until FILE PATTERN: bounded wait for a line
until_line() {
	i=0
	while ! grep -aq "$2" "$1" 2>/dev/null && [ $i -lt 200 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	grep -aq "$2" "$1"
}

# attached TEXT THREADS ARG...: attach, a signal, then interrupt trace, a
# signal, and the program ends by itself
attached() {
	text=$1 want=$2
	shift 2
	"$T/prog" "$@" >"$T/out" 2>"$T/err" &
	pid=$!
	until_line "$T/out" ready
	mkfifo "$T/fifo"
	"$B/plain" <"$T/fifo" 2>"$T/plain.err" | head -c 1000000 >"$T/plain" &
	reader=$!
	timeout -k 5 60 "$B/trace" --for=300000 -p "$pid" \
		-o "$T/run.ev" 2>"$T/trace.err" &
	tracer=$!
	i=0
	while [ ! -e "$T/run.ev" ] && [ $i -lt 200 ] &&
	    ! ls "$T"/run.ev.tmp.* >/dev/null 2>&1; do
		sleep 0.05
		i=$((i + 1))
	done
	kill -USR1 "$pid"
	sleep 0.2
	kill -INT $tracer 2>/dev/null
	wait $tracer
	ok "$text: trace ends well" $?
	cat "$T/run.ev" >"$T/fifo"
	wait $reader
	rm "$T/fifo"
	same "$text: the stream is whole" "E exit 0" \
		"$(tail -n 1 "$T/run.ev" | cut -d' ' -f1-3)"
	same "$text: and can be read" "" "$(cat "$T/plain.err")"
	same "$text: whose it is" "H pid $pid" "$(grep -a '^H pid' "$T/run.ev")"
	kill -USR1 "$pid"
	sleep 0.1
	kill -TERM "$pid"
	wait $pid
	same "$text: the program's end" 3 $?
	rm -f "$T/run.ev"
	same "$text: its output" "ready signals, 0 wrong" \
		"$(tr '\n' ' ' <"$T/out" | sed 's/ $//')"
}

attached "one that computes" 1 c 0
attached "one that sleeps" 1 s 0
attached "threads" 5 c 4
attached "threads, the first asleep" 4 s 3

# One that ends while it is traced: its own end is told.
"$T/prog" c 2 >"$T/out" 2>"$T/err" &
pid=$!
until_line "$T/out" ready
timeout -k 5 60 "$B/trace" -e counts -p "$pid" -o "$T/run.ev" &
tracer=$!
sleep 0.3
kill -TERM "$pid"
wait $pid
same "it ends under trace" 3 $?
wait $tracer
ok "so does trace" $?
same "with its status" "E exit 3" "$(tail -n 1 "$T/run.ev" | cut -d' ' -f1-3)"

status 125 "a process that is not there" "$B/trace" -p 4194303 -o "$T/no.ev"
check "the message names it" grep -q "process 4194303" "$T/err"
check "and no stream is left" test ! -e "$T/no.ev"
status 125 "no program beside -p" "$B/trace" -p 1 -o "$T/no.ev" true
done_testing
