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

# starts PROGRAM ARG...: it is ready; the last one's output is not taken for its
starts() {
	rm -f "$T/out"
	"$@" >"$T/out" 2>"$T/err" &
	pid=$!
	until_line "$T/out" ready
}

# SIGINT is ignored behind "&", and timeout may leave it so
bounded="env --default-signal=INT timeout -k 5 60"

# begun: bounded wait for trace to have the process, and a stream
begun() {
	i=0
	while [ ! -e "$T/run.ev" ] && [ $i -lt 400 ] &&
	    ! ls "$T"/run.ev.tmp.* >/dev/null 2>&1; do
		sleep 0.05
		i=$((i + 1))
	done
}

# a_while SECONDS OPTION...: trace is interrupted when it has had the process
# that long
a_while() {
	time=$1
	shift
	rm -f "$T/run.ev"
	$bounded "$B/trace" "$@" -p $pid -o "$T/run.ev" \
	    2>"$T/trace.err" 9>&- &
	tracer=$!
	begun
	sleep $time
	kill -INT $tracer
	wait $tracer
}

# attached TEXT THREADS ARG...: attach, a signal, then interrupt trace, a
# signal, and the program ends by itself
attached() {
	text=$1 want=$2
	shift 2
	starts "$T/prog" "$@"
	mkfifo "$T/fifo"
	"$B/plain" <"$T/fifo" 2>"$T/plain.err" | head -c 1000000 >"$T/plain" &
	reader=$!
	$bounded "$B/trace" --for=300000 -p "$pid" \
		-o "$T/run.ev" 2>"$T/trace.err" &
	tracer=$!
	begun
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
starts "$T/prog" c 2
timeout -k 5 60 "$B/trace" -e counts -p "$pid" -o "$T/run.ev" &
tracer=$!
begun
kill -TERM "$pid"
wait $pid
same "it ends under trace" 3 $?
wait $tracer
ok "so does trace" $?
same "with its status" "E exit 3" "$(tail -n 1 "$T/run.ev" | cut -d' ' -f1-3)"

# Threads that wait in the kernel in all sorts of calls, one that computes, and
# one that makes others: attached to again and again, nothing is seen of it.
cat >"$T/waits.c" <<'EOF'
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int go[2], word, wrong;
static volatile int end;

static void
want(const char *what, long got, long right)
{
	if (got == right)
		return;
	printf("%s: %ld, errno %d\n", what, got, errno);
	__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void *
in_read(void *arg)
{
	char c;

	want("read", read(go[0], &c, 1), 0);
	return arg;
}

static void *
in_futex(void *arg)
{
	want("futex", syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0),
	    0);
	return arg;
}

static void *
in_poll(void *arg)
{
	struct pollfd p = { go[0], POLLIN, 0 };

	want("poll", poll(&p, 1, -1), 1);
	return arg;
}

static void *
in_select(void *arg)
{
	fd_set s;

	FD_ZERO(&s);
	FD_SET(go[0], &s);
	want("select", select(go[0] + 1, &s, NULL, NULL, NULL), 1);
	return arg;
}

static void *
in_epoll(void *arg)
{
	struct epoll_event v = { .events = EPOLLIN };
	int e = epoll_create1(0);

	epoll_ctl(e, EPOLL_CTL_ADD, go[0], &v);
	want("epoll_wait", epoll_wait(e, &v, 1, -1), 1);
	return arg;
}

static void *
in_sigwait(void *arg)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	want("sigwaitinfo", sigwaitinfo(&s, NULL), SIGUSR2);
	return arg;
}

static void *
in_sleep(void *arg)
{
	struct timespec t = { 0, 30000000 }, a, b;

	while (!end) {
		clock_gettime(CLOCK_MONOTONIC, &a);
		want("nanosleep", nanosleep(&t, NULL), 0);
		clock_gettime(CLOCK_MONOTONIC, &b);
		want("a short nap", (b.tv_sec - a.tv_sec) * 1000000000 +
		    b.tv_nsec - a.tv_nsec < t.tv_nsec, 0);
	}
	return arg;
}

static void *
nothing(void *arg)
{
	return arg;
}

static void *
makes(void *arg)
{
	pthread_t t;
	void *got;

	while (!end) {
		want("pthread_create", pthread_create(&t, NULL, nothing, &t), 0);
		pthread_join(t, &got);
		want("its result", got == &t, 1);
	}
	return arg;
}

int
main(void)
{
	void *(*fn[])(void *) = { in_read, in_futex, in_poll, in_select,
		in_epoll, in_sigwait, in_sleep, makes };
	pthread_t t[8];
	char line[8];
	sigset_t s;
	int i;

	alarm(100);
	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &s, NULL);
	want("pipe", pipe(go), 0);
	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, fn[i], NULL);
	puts("ready");
	fflush(stdout);
	want("read from main", read(0, line, 1), 0);
	end = 1;
	close(go[1]);
	/* it may be on its way back into the kernel just now */
	for (i = 0; i < 20000 && syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL,
	    NULL, 0) == 0; i++)
		usleep(1000);
	kill(getpid(), SIGUSR2);
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	printf("%d wrong\n", wrong);
	return 6;
}
EOF
gcc -O1 -w -pthread -o "$T/waits" "$T/waits.c"
mkfifo "$T/fifo"
rm -f "$T/out"
"$T/waits" <"$T/fifo" >"$T/out" 2>"$T/err" &
pid=$!
exec 9>"$T/fifo"
until_line "$T/out" ready
bad=
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	timeout -k 5 60 "$B/trace" -e blocks --for=5000 -p $pid \
	    -o "$T/run.ev" 2>"$T/trace.err" 9>&- || bad="$bad $i"
	"$TB/evcount" "$T/run.ev" >"$T/n" || bad="$bad $i(stream)"
	! grep -q memfd:quern "/proc/$pid/maps" || bad="$bad $i(maps)"
done
for k in counts cache all; do
	a_while 0.2 -e $k
	[ "$(tail -n 1 "$T/run.ev" | cut -d' ' -f1-3)" = "E exit 0" ] ||
	    bad="$bad $k"
	! grep -q memfd:quern "/proc/$pid/maps" || bad="$bad $k(maps)"
done
same "attached to 15 times: each is told, and nothing stays" "" "$bad"
for o in "" --contexts; do
	timeout -k 5 60 "$B/trace" -e cache $o --for=5000 -p $pid \
	    -o "$T/run.ev" 2>"$T/trace.err" 9>&-
	ok "-e cache --for $o" $?
	grep -q '^Q.* s$' "$T/run.ev"
	ok "-e cache --for $o: the references of that window" $?
done
exec 9>&-
wait $pid
same "its end" 6 $?
same "every call had its result" "ready 0 wrong" \
	"$(tr '\n' ' ' <"$T/out" | sed 's/ $//')"

# A process that is stopped stays so.
starts "$T/prog" c 0
kill -STOP $pid
a_while 0.3
same "a stopped process is attached to" "E exit 0" \
	"$(tail -n 1 "$T/run.ev" | cut -d' ' -f1-3)"
# it was woken to be let go, and stops by itself
until_line "/proc/$pid/status" '^State:.T'
same "and is still stopped" T "$(sed -n 's/^State:.\(.\).*/\1/p' \
	"/proc/$pid/status")"
kill -CONT $pid
kill -TERM $pid
wait $pid
same "it goes on" 3 $?

# Restartable sequences that end by being aborted only: by a timer's signal
# while it is traced, by the attaching itself, and when it is let go.
cat >"$T/rseq.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <sys/rseq.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int ticks, done, again;

static void
on(int sig)
{
	ticks += sig == SIGALRM;
	done |= sig == SIGTERM;
	again |= sig == SIGUSR2;
}

__asm__(
"	.pushsection .data.rel, \"aw\"\n"
"	.balign 32\n"
"section:\n"
"	.long	0, 0\n"
"	.quad	1f, 2f - 1f, 4f\n"
"	.popsection\n"
"	.text\n"
"spin_section:\n"
"	lea	section(%rip), %rax\n"
"	mov	%rax, 8(%rdi)\n"
"1:	pause\n"
"	jmp	1b\n"
"2:	xor	%eax, %eax\n"
"	ret\n"
"	.long	0x53053053\n"
"4:	mov	$1, %eax\n"
"	ret\n");
int spin_section(struct rseq *);

int
main(int argc, char *argv[])
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	struct rseq *rs = (struct rseq *)((char *)__builtin_thread_pointer() +
	    __rseq_offset);
	int n = 0, bad = 0;

	if (argc > 1 || __rseq_size == 0)
		return __rseq_size == 0 ? 4 : 5;
	signal(SIGALRM, on);
	signal(SIGTERM, on);
	signal(SIGUSR2, on);
	puts("ready");
	fflush(stdout);
	setitimer(ITIMER_REAL, &every, NULL);
	while (!done && !again) {
		bad += spin_section(rs) != 1;
		n++;
	}
	if (again) {
		signal(SIGALRM, SIG_IGN);
		execl(argv[0], argv[0], "again", (char *)NULL);
	}
	printf("%d bad, %s\n", bad, n > 10 ? "many" : "few");
	return 3;
}
EOF
gcc -O1 -w -o "$T/rseq" "$T/rseq.c"
if starts "$T/rseq"; then
	bad=
	for k in all counts cache blocks all; do
		a_while 0.3 -e $k
		[ "$(tail -n 1 "$T/run.ev" | cut -d' ' -f1-3)" = "E exit 0" ] ||
		    bad="$bad $k($(cat "$T/trace.err"))"
	done
	same "restartable sequences: attached to 5 times" "" "$bad"
	kill -TERM $pid
	{ sleep 20; kill -9 $pid; } >/dev/null 2>&1 &
	killer=$!
	wait $pid
	same "the program comes to its end" 3 $?
	kill $killer
	same "every sequence was aborted" "ready 0 bad, many" \
	    "$(tr '\n' ' ' <"$T/out" | sed 's/ $//')"
	starts "$T/rseq"
	rm -f "$T/run.ev"
	timeout -k 5 60 "$B/trace" -e counts -p $pid -o "$T/run.ev" &
	tracer=$!
	begun
	kill -USR2 $pid
	{ sleep 20; kill -9 $pid; } >/dev/null 2>&1 &
	killer=$!
	wait $pid
	same "a program that it changes to sees no rseq" 4 $?
	kill $killer
	wait $tracer
else
	wait $pid
	for i in 1 2 3 4; do
		skip "restartable sequences" "no rseq"
	done
fi

# One whose system calls become signals: ours would, too.
cat >"$T/dispatch.c" <<'EOF'
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile char block;

int
main(void)
{
	char c;

	if (prctl(59, 1, 0, 0, &block) != 0)
		puts("none");
	puts("ready");
	fflush(stdout);
	return read(0, &c, 1) == 0 ? 3 : 4;
}
EOF
gcc -O1 -w -o "$T/dispatch" "$T/dispatch.c"
rm -f "$T/out"
"$T/dispatch" <"$T/fifo" >"$T/out" 2>"$T/err" &
pid=$!
exec 9>"$T/fifo"
until_line "$T/out" ready
cp "$T/out" "$T/said"
if grep -q none "$T/said"; then
	skip "a process that dispatches its calls" "not in this kernel"
	skip "the message says so" "not in this kernel"
else
	status 125 "a process that dispatches its calls" \
	    "$B/trace" -p $pid -o "$T/no.ev"
	check "the message says so" grep -q USER_DISPATCH "$T/err"
fi
exec 9>&-
wait $pid
same "it is none the worse" 3 $?

# One that sleeps, so that the call is made again, and then forks.
cat >"$T/naps.c" <<'EOF'
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int
main(void)
{
	struct timespec t = { 1, 0 };
	int i, bad = 0, status;
	pid_t p;

	puts("ready");
	fflush(stdout);
	for (i = 0; i < 3; i++) {
		nanosleep(&t, NULL);
		p = fork();
		if (p == 0)
			_exit(7);
		waitpid(p, &status, 0);
		bad += p < 0 || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7;
	}
	return bad;
}
EOF
gcc -O1 -w -o "$T/naps" "$T/naps.c"
starts "$T/naps"
status 0 "attached while it sleeps, with children" \
    "$B/trace" -f -e counts -p $pid -o "$T/naps.%p"
wait $pid
same "fork returns 0 in each child" 0 $?
same "which are traced" 3 "$(cat "$T"/naps.* | grep -c '^E exit 7 ')"

# One with a child: both are let go together, and a signal ends neither.
cat >"$T/pair.c" <<'EOF'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Both read until the end of their input, and run until then. */
int
main(void)
{
	volatile unsigned long n = 0;
	int status = 0;
	char c;
	pid_t p;

	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) == 1 && c != 'f')
		continue;
	p = fork();
	if (p == 0) {
		write(1, "child\n", 6);
		while (read(0, &c, 1) == 1)
			for (int i = 0; i < 1000; i++)
				n++;
		_exit(7);
	}
	waitpid(p, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}
EOF
gcc -O1 -w -o "$T/pair" "$T/pair.c"
for how in --for-time=1 INT TERM; do
	rm -f "$T/out" "$T"/pair.*.ev
	"$T/pair" <"$T/fifo" >"$T/out" 2>"$T/err" &
	pid=$!
	exec 9>"$T/fifo"
	until_line "$T/out" ready
	option=
	[ ${how#--} = $how ] || option=$how
	$bounded "$B/trace" -f -e counts $option -p $pid \
	    -o "$T/pair.%p.ev" 2>"$T/trace.err" 9>&- &
	tracer=$!
	i=0
	while ! ls "$T"/pair.$pid.ev* >/dev/null 2>&1 && [ $i -lt 400 ]; do
		sleep 0.05
		i=$((i + 1))
	done
	echo f >&9
	until_line "$T/out" child
	# timeout passes it on to all of the group: to the child's trace as well
	[ -n "$option" ] || kill -$how $tracer
	wait $tracer
	same "$how: trace ends while both run" "0 $pid" \
	    "$? $(kill -0 $pid && echo $pid)"
	same "$how: with two whole streams" 2 \
	    "$(cat "$T"/pair.*.ev | grep -c '^E exit 0 ')"
	exec 9>&-
	wait $pid
	same "$how: the child ends as natively" 7 $?
done

# One with a mapping below all else, and one with no room at all.
cat >"$T/room.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A page in each so many bytes of the address space. */
int
main(int argc, char *argv[])
{
	unsigned long at, each = strtoul(argv[1], NULL, 0), end = 1ul << 47;
	char c;

	for (at = each >> 40 ? 1ul << 39 : 1ul << 32; at < end; at += each)
		mmap((void *)at, 4096, PROT_NONE, MAP_PRIVATE |
		    MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	puts("ready");
	fflush(stdout);
	return read(0, &c, 1) == 0 ? 3 : 4;
}
EOF
gcc -O1 -w -o "$T/room" "$T/room.c" -no-pie
in_room() { # EACH: the program, with its end at "$T/fifo"
	rm -f "$T/out"
	"$T/room" "$1" <"$T/fifo" >"$T/out" 2>"$T/err" &
	pid=$!
	exec 9>"$T/fifo"
	until_line "$T/out" ready
}
in_room 0x800000000000
for k in "counts --contexts" "cache --contexts" all; do
	# shellcheck disable=SC2086
	status 0 "a page at 1 << 39: $k" "$B/trace" -e $k --for-time=0.1 \
	    -p $pid -o "$T/room.ev"
done
exec 9>&-
wait $pid
same "it is none the worse" 3 $?
in_room 0x100000000
status 0 "a page in each 4 GB: with less of all" "$B/trace" -e counts \
    --contexts --for-time=0.1 -p $pid -o "$T/room.ev"
status 125 "which is too little for more" "$B/trace" -e cache --contexts \
    --for-time=0.1 -p $pid -o "$T/no.ev"
check "the message says that there is no room" grep -q "has no room" "$T/err"
exec 9>&-
wait $pid
same "and it is none the worse" 3 $?
in_room 0x8000000
status 125 "as many mappings as there can be" "$B/trace" -e counts -p $pid \
    -o "$T/no.ev"
check "the message says what was in want" grep -q "no memory" "$T/err"
exec 9>&-
wait $pid
same "and the call that it waits in goes on" 3 $?

# The kernel's own threads in a process never run its code: io_uring's wait for
# what others write.
cat >"$T/ring.c" <<'EOF'
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buf[8];

int
main(void)
{
	struct io_uring_params p;
	struct io_uring_sqe *e;
	int fd, fds[2];
	char *sq, c;

	memset(&p, 0, sizeof p);
	fd = syscall(SYS_io_uring_setup, 8, &p);
	if (fd < 0 || pipe(fds) != 0)
		return 77;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ |
	    PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	e = mmap(NULL, p.sq_entries * sizeof *e, PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, IORING_OFF_SQES);
	memset(e, 0, sizeof *e);
	e->opcode = IORING_OP_READ;
	e->flags = IOSQE_ASYNC;
	e->fd = fds[0];
	e->addr = (unsigned long)buf;
	e->len = sizeof buf;
	*(unsigned *)(sq + p.sq_off.tail) = 1;
	if (syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) != 1)
		return 77;
	puts("ready");
	fflush(stdout);
	return read(0, &c, 1) == 0 ? 3 : 4;
}
EOF
# with_end PROGRAM: it is ready, with its end at "$T/fifo"; false: it ended
with_end() {
	rm -f "$T/out"
	"$@" <"$T/fifo" >"$T/out" 2>"$T/err" &
	pid=$!
	exec 9>"$T/fifo"
	until_line "$T/out" ready
}
if gcc -O1 -w -o "$T/ring" "$T/ring.c" 2>"$T/err" && with_end "$T/ring"; then
	sleep 0.1
	same "io_uring has a thread in it" 2 "$(ls /proc/$pid/task | wc -l)"
	for i in first second; do
		status 0 "io_uring: attached for the $i time" "$B/trace" \
		    -e counts --for-time=0.1 -p $pid -o "$T/room.ev"
		same "io_uring: nothing is left, time $i" 0 \
		    "$(grep -c memfd:quern /proc/$pid/maps)"
	done
	exec 9>&-
	wait $pid
	same "io_uring: it is none the worse" 3 $?
else
	skip "threads of io_uring" "io_uring is not permitted"
fi

# A thread in the runtime whose access to the program's memory waits for a
# handler of faults does not come out.
cat >"$T/fault.c" <<'EOF'
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *page;
static int done;

static void *
act(void *arg)
{
	(void)arg;
	done = syscall(SYS_rt_sigaction, SIGUSR2, page, NULL, 8) == 0;
	return NULL;
}

int
main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_zeropage z = { .mode = 0 };
	struct uffd_msg m;
	int fd = syscall(SYS_userfaultfd, 0);
	pthread_t t;
	char c;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	r.range.start = z.range.start = (unsigned long)page;
	r.range.len = z.range.len = 4096;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0 ||
	    ioctl(fd, UFFDIO_REGISTER, &r) != 0)
		return 77;
	puts("ready");
	fflush(stdout);
	read(0, &c, 1);
	pthread_create(&t, NULL, act, NULL);
	read(fd, &m, sizeof m);
	puts("waits");
	fflush(stdout);
	read(0, &c, 1);
	ioctl(fd, UFFDIO_ZEROPAGE, &z);
	pthread_join(t, NULL);
	puts("goes on");
	fflush(stdout);
	return read(0, &c, 1) == 0 && done ? 3 : 5;
}
EOF
if gcc -O1 -w -pthread -o "$T/fault" "$T/fault.c" 2>"$T/err" &&
    with_end "$T/fault"; then
	rm -f "$T/run.ev"
	$bounded "$B/trace" -e counts -p $pid -o "$T/run.ev" \
	    2>"$T/trace.err" 9>&- &
	tracer=$!
	begun
	echo >&9
	until_line "$T/out" waits
	kill -INT $tracer
	wait $tracer
	same "a thread does not come out: the status" 125 $?
	check "the message says so" grep -q "thread [0-9]* does not leave" \
	    "$T/trace.err"
	status 125 "nor can it be attached to" "$B/trace" -e counts \
	    --for-time=0.1 -p $pid -o "$T/room.ev"
	check "the message says why" grep -q "has put it" "$T/err"
	echo >&9
	until_line "$T/out" "goes on"
	status 0 "once it has come out it can" "$B/trace" -e counts \
	    --for-time=0.1 -p $pid -o "$T/room.ev"
	exec 9>&-
	wait $pid
	same "and it is none the worse" 3 $?
else
	skip "a thread that does not come out" "no userfaultfd"
fi

# a thread is attached to and let go whatever fault's signal is on its way to it
cat >"$T/faults.c" <<'EOF'
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static __thread volatile long handled;
static __thread volatile int last;
static volatile int quit, wrong;

static void handler(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	handled++;
	last = sig;
	c->uc_mcontext.gregs[REG_RIP] = c->uc_mcontext.gregs[REG_R12];
}

#define FAULT(code) __asm__ volatile("lea 1f(%%rip), %%r12; xor %%eax, %%eax; " \
    "xor %%ecx, %%ecx; " code "\n1:" ::: "r12", "rax", "rcx", "rdx", "memory")

static void *fault(void *arg)
{
	static const int expected[] = { SIGILL, SIGSEGV, SIGTRAP, SIGSEGV };
	long n;

	for (n = 0; !quit && !wrong; n++) {
		switch (n % 4) {
		case 0: FAULT("ud2"); break;
		case 1: FAULT("mov %%eax, (%%rax)"); break;
		case 2: FAULT("int3"); break;
		case 3: FAULT("hlt"); break;
		}
		if (handled != n + 1 || last != expected[n % 4])
			wrong = 1;
	}
	return NULL;
}

int main(void)
{
	static const int sigs[] = { SIGILL, SIGSEGV, SIGTRAP, SIGSEGV };
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	pthread_t t[3];
	char c;
	int i;

	for (i = 0; i < 4; i++)
		sigaction(sigs[i], &a, NULL);
	for (i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, fault, NULL);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	quit = 1;
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return wrong ? 5 : 3;
}
EOF
cat >"$T/blocked.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int handled;

static void handler(int sig) { handled++; }

int main(void)
{
	static const int sigs[] = { SIGILL, SIGBUS, SIGFPE, SIGSEGV };
	union sigval value = { 0 };
	sigset_t set;
	char c;
	int i, early;

	sigemptyset(&set);
	for (i = 0; i < 4; i++) {
		signal(sigs[i], handler);
		sigaddset(&set, sigs[i]);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (i = 0; i < 4; i++)
		if (i % 2 == 0)
			raise(sigs[i]);
		else
			sigqueue(getpid(), sigs[i], value);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	early = handled;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return early == 0 && handled == 4 ? 3 : 5;
}
EOF
for p in faults blocked; do
	gcc -O1 -w -pthread -o "$T/$p" "$T/$p.c" || exit 99
	for e in none counts all "counts --contexts"; do
		with_end "$T/$p" || exit 99
		lost=
		for i in 1 2 3 4 5; do
			$bounded "$B/trace" -e $e -o /dev/null -p $pid \
			    --for-time=0.03 2>"$T/err" ||
				lost="$lost $i:$(head -n 1 "$T/err")"
		done
		exec 9>&-
		wait $pid
		same "$p, attached to five times, kind $e" "3" "$?$lost"
	done
done

status 125 "a process that is not there" "$B/trace" -p 4194303 -o "$T/no.ev"
check "the message names it" grep -q "process 4194303" "$T/err"
check "and no stream is left" test ! -e "$T/no.ev"
status 125 "no program beside -p" "$B/trace" -p 1 -o "$T/no.ev" true
done_testing
