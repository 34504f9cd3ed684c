#!/bin/sh
# How a run ends: killed program, killed trace, Ctrl-C, a full disk, a reader
# that goes away; and what the program may do to itself that would be in
# trace's way.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

# counts file threads rounds: thread i counts in the file's i-th number
cat >"$T/counts.c" <<'EOF'
#include <sys/mman.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile uint64_t *shared;
static uint64_t rounds;

static void *
count(void *arg)
{
	volatile uint64_t *c = &shared[(intptr_t)arg * 8];

	for (uint64_t i = 0; i < rounds; i++)
		++*c;
	return NULL;
}

int
main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0666);
	long n = atol(argv[2]), i;
	uint64_t sum = 0;
	pthread_t t[16];

	rounds = strtoull(argv[3], NULL, 10);
	if (argc != 4 || ftruncate(fd, 4096) < 0)
		return 1;
	shared = mmap((void *)0x100000000, 4096, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_FIXED, fd, 0);
	dprintf(9, "%d\n", (int)getpid());
	for (i = 1; i < n; i++)
		pthread_create(&t[i], NULL, count, (void *)i);
	count((void *)0);
	for (i = 1; i < n; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < n; i++)
		sum += shared[i * 8];
	dprintf(2, "counted %lu\n", (unsigned long)sum);
	return sum == (uint64_t)n * rounds ? 7 : 8;
}
EOF
check "a program that counts" cc -O1 -o "$T/counts" "$T/counts.c" -lpthread

# told FILE THREADS: each thread's count, and 1 if the stream told all but
# perhaps the last store, whose record was not whole; the kind must be all, and
# without superblocks: a loop unrolled into one has many stores in a record
told() {
	"$B/plain" "$1" >"$T/lines" || return 1
	for i in $(seq 0 $(($2 - 1))); do
		want=$(od -An -t u8 -j $((i * 64)) -N 8 "$T/file")
		got=$(grep -c "^ [SM] $(printf %x $((0x100000000 + i * 64))),8\$" \
		    "$T/lines")
		[ "$got" = $((want)) ] || [ "$got" = $((want - 1)) ] ||
		    echo "thread $i: $want stores, $got told"
	done
}

# ------------------------------------------------- the program is killed

bad=
for k in 1 2 3 4 5 6 7 8; do
	[ "$("$TB/ends" -d $((k * 211)) 9 guest "$B/trace" --debug=nosuper -o "$T/k.ev" \
	    "$T/counts" "$T/file" 1 1000000000 2>"$T/err")" = \
	    "signal 9, gone" ] || bad="$bad $k"
	[ "$(tail -n 1 "$T/k.ev" | cut -d' ' -f1-3)" = "E signal 9" ] ||
	    bad="$bad $k(E)"
	more=$(told "$T/k.ev" 1) && [ -z "$more" ] || bad="$bad $k($more)"
done
same "killed at any moment: a whole stream of all that was done" "" "$bad"

bad=
for k in 1 2 3 4; do
	[ "$("$TB/ends" -d $((k * 1009)) 9 guest "$B/trace" --debug=nosuper -o "$T/k.ev" \
	    "$T/counts" "$T/file" 3 1000000000 2>"$T/err")" = \
	    "signal 9, gone" ] || bad="$bad $k"
	more=$(told "$T/k.ev" 3) && [ -z "$more" ] || bad="$bad $k($more)"
done
same "killed with threads" "" "$bad"

bad=
for k in 1 2 3 4; do
	"$TB/ends" -d $((k * 1009)) 9 guest "$B/trace" -e counts -i 10000 \
	    -o "$T/k.ev" "$T/counts" "$T/file" 2 1000000000 >"$T/out" \
	    2>"$T/err"
	"$TB/evcount" "$T/k.ev" >/dev/null 2>"$T/err" || bad="$bad $k"
done
same "killed in kind counts" "" "$bad"

# ------------------------------------------------------- trace is killed

for how in all blocks counts "cache 64"; do
	kind=${how%% *}
	same "trace killed: the program goes on ($kind)" "signal 9, gone" \
	    "$("$TB/ends" -d 5000 9 trace "$B/trace" -e $kind -o "$T/k.ev" \
	    "$T/counts" "$T/file" 1 300000000 2>"$T/err")"
	same "and ends as it should" "counted 300000000" "$(cat "$T/err")"
done
bad=
for k in 1 2 3 4 5 6; do
	got=$("$TB/ends" -d $((k * 701)) 9 trace "$B/trace" -o "$T/k.ev" \
	    "$T/counts" "$T/file" 5 50000000 2>"$T/err")
	[ "$got" = "signal 9, gone" ] || bad="$bad $k($got)"
	[ "$(cat "$T/err")" = "counted 250000000" ] ||
	    bad="$bad $k($(cat "$T/err"))"
done
same "trace killed: threads go on" "" "$bad"

# ---------------------------------------------------------------- Ctrl-C

same "Ctrl-C ends both" "signal 2, gone" "$("$TB/ends" -d 3000 2 group \
    "$B/trace" --debug=nosuper -o "$T/k.ev" "$T/counts" "$T/file" 2 \
    100000000000 2>"$T/err")"
same "with a whole stream" "E signal 2" \
    "$(tail -n 1 "$T/k.ev" | cut -d' ' -f1-3)"
same "that has everything" "" "$(told "$T/k.ev" 2)"

cat >"$T/handles.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t got;

static void
on(int sig)
{
	got = sig;
}

int
main(void)
{
	signal(SIGINT, on);
	dprintf(9, "%d\n", (int)getpid());
	while (!got)
		;
	return 30 + got;
}
EOF
check "a program with a handler" cc -O1 -o "$T/handles" "$T/handles.c"
same "Ctrl-C is the program's to handle" "exit 32, gone" "$("$TB/ends" \
    -d 3000 2 group "$B/trace" -o "$T/k.ev" "$T/handles" 2>"$T/err")"
same "its stream says so" "E exit 32" \
    "$(tail -n 1 "$T/k.ev" | cut -d' ' -f1-3)"

# ------------------------------------------------ nowhere to write it to

for k in 1 4; do
	status 125 "full disk, $k threads" "$B/trace" -o /dev/full \
	    "$T/counts" "$T/file" $k 10000000 9>/dev/null
	same "one message; the program was not harmed" \
	    "counted ${k}0000000 trace: /dev/full: write: No space left on device" \
	    "$(sort "$T/err" | tr '\n' ' ' | sed 's/ $//')"
done
full() {
	"$B/trace" -e all "$T/counts" "$T/file" 2 10000000 >/dev/full \
	    9>/dev/null
}
status 125 "full standard output" full
check "the program was not harmed" grep -q "^counted 20000000" "$T/err"
full() {
	"$B/trace" -e counts "$T/counts" "$T/file" 2 10000 >/dev/full \
	    9>/dev/null
}
status 125 "full at the very end" full

# A limit of a file's size: memory files are not held to it, the stream and the
# program's files are.
limited() {
	(ulimit -S -f 1000; "$B/trace" -e counts -o "$T/l.ev" sh -c \
	    'ulimit -S -f; true' 9>/dev/null)
}
check "a limit of a file's size" limited
same "the program has it" 1000 "$(cat "$T/out")"
limited() {
	(ulimit -S -f 100; exec "$B/trace" -e all -o "$T/l.ev" \
	    "$T/counts" "$T/file" 1 1000000 9>/dev/null)
}
status 125 "a stream beyond it" limited
same "one message; the program was not harmed" \
    "counted 1000000 trace: $T/l.ev: write: File too large" \
    "$(sort "$T/err" | tr '\n' ' ' | sed 's/ $//')"
rm -f "$T"/l.ev*
for o in "-e counts" --last=64k; do
	limited() {
		(ulimit -S -f 20; exec "$B/trace" $o -o "$T/l.ev" true \
		    9>/dev/null)
	}
	status 125 "$o: one whose last bytes are beyond it" limited
	same "is told once" "trace: $T/l.ev: write: File too large" \
	    "$(cat "$T/err")"
	same "and is not there" "" "$(ls "$T" | grep '^l\.ev')"
	rm -f "$T"/l.ev*
done
limited() {
	(ulimit -f 100; exec "$B/trace" -e counts true)
}
if (ulimit -f 100; ulimit -f unlimited) 2>/dev/null; then
	check "a hard limit, which we may raise" limited
else
	status 125 "a hard limit" limited
	same "is told" "trace: the memory shared with the program is a\
 file, N MB long though nearly empty: longer than the hard limit allows\
 (ulimit -Hf)" "$(sed 's/, [0-9]* MB/, N MB/' "$T/err")"
fi

# Too little memory: trace lives long enough to say so.
limited() {
	(ulimit -"$1" 80000; exec "$B/trace" -e "$2" true 9>/dev/null)
}
for o in "d none" "v none" "d counts" "v all"; do
	if [ -n "${SAN:-}" ]; then
		skip "ulimit -$o" "sanitizers need more"
		continue
	fi
	status 125 "ulimit -$o" limited $o
	check "says what" grep -q '^trace: .*: Cannot allocate memory$' \
	    "$T/err"
done

if [ -z "${SAN:-}" ]; then
	limited() { (ulimit -d 16000; exec "$B/trace" -e none true) }
	status 125 "less memory for data than a table takes" limited
	check "says what" grep -q '^trace: .*: Cannot allocate memory$' \
	    "$T/err"
	limited() {
		(ulimit -v 1000000; exec "$B/trace" -e all -o "$T/l.ev" \
		    touch "$T/touched")
	}
	status 125 "room for the runtime, but not for tables" limited
	same "the program has not run" "" "$(ls "$T" | grep touched)"
fi

for k in 1 4; do
	( "$B/trace" "$T/counts" "$T/file" $k 10000000 2>"$T/err" \
	    9>/dev/null; echo "status $?" >"$T/st" ) | head -n 9 >"$T/head"
	same "the reader goes away, $k threads: SIGPIPE" "status 141" \
	    "$(cat "$T/st")"
	same "after the program has ended" "counted ${k}0000000" \
	    "$(cat "$T/err")"
	same "the reader had its lines" "H quern-events 2 9" \
	    "$(head -n 1 "$T/head") $(wc -l <"$T/head")"
done

same "SIGTERM for trace alone ends both" "signal 15, gone" "$("$TB/ends" \
    -d 3000 15 trace "$B/trace" -o "$T/k.ev" "$T/counts" "$T/file" 2 \
    100000000000 2>"$T/err")"
same "its stream says so" "E signal 15" \
    "$(tail -n 1 "$T/k.ev" | cut -d' ' -f1-3)"
rm -f "$T/k.ev"
for s in 1 10 12 14 26 27 40; do	# as an alarm(2) from before its exec
	same "signal $s, too" "signal $s, gone" "$("$TB/ends" -d 3000 $s trace \
	    "$B/trace" -o "$T/k.ev" "$T/counts" "$T/file" 2 100000000000 \
	    2>"$T/err")"
	same "its stream says so" "E signal $s" \
	    "$(tail -n 1 "$T/k.ev" | cut -d' ' -f1-3)"
	rm -f "$T/k.ev"
done

cat >"$T/group.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int seen;
static void count(int sig) { (void)sig; seen++; }

int
main(void)
{
	static const int sigs[] = { SIGTERM, SIGHUP, SIGUSR2, SIGTERM };
	int st = 0, n;

	signal(SIGTERM, count);
	signal(SIGHUP, count);
	signal(SIGUSR2, count);
	for (int i = 0; i < 4; i++) {
		kill(0, sigs[i]);
		usleep(50000);
	}
	n = seen;
	if (fork() == 0) {	/* and what a parent sends to both */
		seen = 0;
		usleep(400000);
		return seen;
	}
	usleep(200000);
	kill(0, SIGTERM);
	wait(&st);
	printf("%d %d\n", n, WEXITSTATUS(st));
	return 0;
}
EOF
${CC:-gcc} -o "$T/group" "$T/group.c"
same "a signal to its process group comes once" "4 1" \
    "$(setsid -w "$B/trace" -e none "$T/group" 2>&1)"
same "to a child of it, too" "4 1" \
    "$(setsid -w "$B/trace" -f -e counts -o "$T/g.%p" "$T/group" 2>&1)"
rm -f "$T"/g.*
same "the program killed, kind cache" "signal 9, gone" "$("$TB/ends" -d 3000 \
    9 guest "$B/trace" -e cache -o "$T/k.ev" "$T/counts" "$T/file" 2 \
    100000000000 2>"$T/err")"
check "its stream is simulated" "$B/cachesim" -o "$T/costs" "$T/k.ev"
rm -f "$T/k.ev"
"$TB/ends" -d 3000 9 trace "$B/trace" -o "$T/k.ev" "$T/counts" "$T/file" 1 \
    100000000 >"$T/out" 2>"$T/err"
check "trace killed: no stream under its name" test ! -e "$T/k.ev"
status 125 "nowhere to put a stream" "$B/trace" -o "$T/no/such/folder" true

# -------------------------------------------------- what cannot be traced

cat >"$T/int80.c" <<'EOF'
int
main(void)
{
	int r;

	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");
	return r > 0 ? 5 : 6;
}
EOF
rm -f "$T/k.ev"
check "a program with an old system call" cc -o "$T/int80" "$T/int80.c"
status 125 "int 0x80 ends the stream" "$B/trace" -o "$T/k.ev" "$T/int80"
same "with its name and its address" 1 \
    "$(grep -c '^trace: 0x[0-9a-f]*: int .*cannot be traced' "$T/err")"
same "and that the stream ends" 1 "$(grep -c 'stream ends here$' "$T/err")"
status 125 "int 0x80 without a stream" "$B/trace" -e none "$T/int80"
same "nothing is said of one" "1 0" "$(grep -c 'goes on natively$' "$T/err") \
$(grep -c stream "$T/err")"
check "no stream is left" test ! -e "$T/k.ev"

cat >"$T/leaves.c" <<'EOF'
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>

static volatile unsigned long rounds;
static volatile int got, sent, done;
static pthread_t first;

static void
on(int sig)
{
	got += sig == SIGUSR1;
}

static void *
spin(void *arg)
{
	while (!done)
		rounds++;
	return arg;
}

/* One signal at a time; a lost one ends it. */
static void *
sends(void *arg)
{
	int wait = 0;

	while (sent < 1000 && wait < 1000000) {
		pthread_kill(first, SIGUSR1);
		sent++;
		for (wait = 0; got != sent && wait < 1000000; wait++)
			sched_yield();
	}
	return arg;
}

int
main(void)
{
	unsigned long before;
	pthread_t t[2];
	int r;

	first = pthread_self();
	signal(SIGUSR1, on);
	pthread_create(&t[0], NULL, spin, NULL);
	pthread_create(&t[1], NULL, sends, NULL);
	while (got < 100)
		;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");
	pthread_join(t[1], NULL);
	before = rounds;
	while (rounds - before < 1000000)
		;
	done = 1;
	pthread_join(t[0], NULL);
	dprintf(2, "%d lost\n", sent - got);
	return 5;
}
EOF
check "the same with threads and signals" cc -o "$T/leaves" "$T/leaves.c" \
    -lpthread
bad=
for k in 1 2 3 4 5; do
	"$B/trace" -o "$T/k.ev" "$T/leaves" 2>"$T/err"
	grep -q '^0 lost' "$T/err" || bad="$bad $k($(cat "$T/err"))"
done
text="all threads go on natively, no signal is lost"
if "$T/leaves" 2>"$T/out" || [ $? -eq 5 ]; then
	same "$text" "" "$bad"
else
	skip "$text" "this kernel does not know int 0x80"
fi

cat >"$T/waits.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* What waits for a signal of instructions to be unblocked, goes on waiting. */
int
main(void)
{
	static const int sigs[] = { SIGFPE, SIGSEGV, SIGTRAP };
	sigset_t all, set;
	int r, i, n = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (i = 0; i < 3; i++)
		i == 1 ? raise(sigs[i]) : kill(getpid(), sigs[i]);
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(20) : "memory");
	sigpending(&set);
	for (i = 0; i < 3; i++)
		n += sigismember(&set, sigs[i]);
	dprintf(2, "%d wait\n", n);
	return 5;
}
EOF
check "and with signals that wait" cc -o "$T/waits" "$T/waits.c"
text="they wait when it goes on natively"
if "$T/waits" 2>"$T/out" || [ $? -eq 5 ]; then
	"$B/trace" -e none "$T/waits" 2>"$T/err"
	same "$text" "3 wait" "$(grep wait "$T/err")"
else
	skip "$text" "this kernel does not know int 0x80"
fi

cat >"$T/to32.c" <<'EOF'
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A far return into 32-bit code: write(2, "ok\n", 3), exit(7). */
int
main(void)
{
	static const unsigned char code[] = {
		0xb8, 4, 0, 0, 0, 0xbb, 2, 0, 0, 0, 0xb9, 0, 1, 1, 0,
		0xba, 3, 0, 0, 0, 0xcd, 0x80,
		0xbb, 7, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0xcd, 0x80
	};
	char *p = mmap((void *)0x10000, 4096, PROT_READ | PROT_WRITE |
	    PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	memcpy(p, code, sizeof code);
	memcpy(p + 256, "ok\n", 3);
	__asm__ volatile("pushq $0x23; pushq $0x10000; lretq");
	return 1;
}
EOF
check "a program with 32-bit code" cc -o "$T/to32" "$T/to32.c"
if "$T/to32" 2>"$T/out" || [ $? -eq 7 ]; then
	status 125 "32-bit code ends the stream" "$B/trace" -o "$T/k.ev" \
	    "$T/to32"
	same "the program goes on natively" "ok" "$(grep ok "$T/err")"
	same "a message says why" 1 "$(grep -c \
	    '^trace: 0x10000: 32-bit code cannot be traced' "$T/err")"
else
	for i in 1 2 3; do
		skip "32-bit code" "this kernel runs none"
	done
fi

cat >"$T/all32.s" <<'EOF'
	.globl _start
_start:	mov $4, %eax			# write(2, "ok\n", 3)
	mov $2, %ebx
	mov $text, %ecx
	mov $3, %edx
	int $0x80
	mov $1, %eax			# exit(7)
	mov $7, %ebx
	int $0x80
	.data
text:	.ascii "ok\n"
EOF
all32() {
	as --32 -o "$T/all32.o" "$T/all32.s" &&
	    ld -m elf_i386 -o "$T/all32" "$T/all32.o"
}
check "a 32-bit program" all32
if "$T/all32" 2>"$T/err"; [ $? -eq 7 ]; then
	rm -f "$T"/k.ev*
	status 125 "it is not traced" "$B/trace" -o "$T/k.ev" "$T/all32"
	same "it runs, and one line says how" \
	    "ok trace: $T/all32: 32-bit programs cannot be traced: it runs natively, without a stream" \
	    "$(sort "$T/err" | tr '\n' ' ' | sed 's/ $//')"
	check "no stream is left" test -z "$(ls "$T"/k.ev* 2>/dev/null)"
	status 125 "exec of it ends the stream" "$B/trace" -o "$T/k.ev" \
	    sh -c 'exec "$0"' "$T/all32"
	same "it runs, and one line says so" \
	    "ok trace: process N: exec of a 32-bit program: it runs natively, the stream ends here" \
	    "$(sort "$T/err" | tr '\n' ' ' |
		sed 's/ $//; s/process [0-9]*:/process N:/')"
	check "and no stream is left" test -z "$(ls "$T"/k.ev* 2>/dev/null)"
	status 7 "it is not followed" "$B/trace" -f -o "$T/k.ev.%p" \
	    sh -c '"$0"; exit $?' "$T/all32"
	same "which is said once" 1 \
	    "$(grep -c '^trace: .*exec of a 32-bit program' "$T/err")"
	same "there is one stream, its parent's" 1 \
	    "$(ls "$T"/k.ev.* | wc -l)"
else
	for i in 1 2 3 4 5 6 7 8 9; do
		skip "a 32-bit program" "this kernel runs none"
	done
fi

# A program that does nothing but exec itself, and is killed or left meanwhile.
cat >"$T/again.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;
	char left[16];
	FILE *f = argc > 2 ? fopen(argv[2], "w") : NULL;

	if (f != NULL) {
		fprintf(f, "%d\n", (int)getpid());
		fclose(f);
	}
	snprintf(left, sizeof left, "%d", n - 1);
	if (n > 0)
		execl("/proc/self/exe", argv[0], left, (char *)NULL);
	return 3;
}
EOF
cat >"$T/again.pl" <<'EOF'
my ($how, $pid, @trace) = @ARGV;
my $bad = 0;
for my $i (1 .. 40) {
	unlink $pid;
	my $trace = fork // die "fork: $!";
	exec @trace or exit 99 if $trace == 0;
	for (1 .. 1000) {
		last if -s $pid;
		select undef, undef, undef, 0.01;
	}
	select undef, undef, undef, 0.0007 * $i;
	if ($how eq "kill") {
		open my $f, "<", $pid or die "$pid: $!";
		kill KILL => scalar <$f>;
	} else {
		kill ALRM => $trace;
	}
	waitpid $trace, 0;
	$bad++ if $? != ($how eq "kill" ? 9 : 0x300);
}
print "$bad bad\n";
EOF
check "a program that execs itself" cc -o "$T/again" "$T/again.c"
same "killed at an exec, its end is trace's" "0 bad" \
    "$(perl "$T/again.pl" kill "$T/again.pid" "$B/trace" -e counts \
	-o "$T/k.ev" "$T/again" 3000 "$T/again.pid" 2>&1)"
same "left at an exec, it goes on" "0 bad" \
    "$(perl "$T/again.pl" leave "$T/again.pid" "$B/trace" -e counts \
	--for-time=1000 -o "$T/k.ev" "$T/again" 200 "$T/again.pid" 2>&1)"

# A timer of the time that trace itself takes is not the program's.
cat >"$T/timer.pl" <<'EOF'
use Time::HiRes qw(setitimer ITIMER_PROF ITIMER_VIRTUAL);
setitimer(shift eq "prof" ? ITIMER_PROF : ITIMER_VIRTUAL, 0.005, 0.005);
exec @ARGV or die;
EOF
for timer in prof virtual; do
	check "a $timer timer of trace's" perl "$T/timer.pl" $timer "$B/trace" \
	    -e counts -o "$T/k.ev" perl -e 'use POSIX; use Getopt::Long'
done

nothing() {	# a folder of the user's may be one that cannot be searched
	PATH=/usr/bin:/bin "$B/trace" no-such-program | "$B/cachesim" |
	    "$B/fmt-cachegrind"
}
status 2 "a program that is not found" nothing
same "one line says so" "trace: no-such-program: No such file or directory" \
    "$(cat "$T/err")"
same "and nothing comes out" "" "$(cat "$T/out")"

# Stopped while it starts and let go on again, or its child trapped: the program
# is looked for in many folders, so some of these come before its exec.
cat >"$T/stop.pl" <<'EOF'
use POSIX ":sys_wait_h";
my ($trap, $err) = splice @ARGV, 0, 2;
$ENV{PATH} = join(":", map "/no/$_", 1 .. 12000) . ":$ENV{PATH}";
for my $ms (1 .. 30) {
	my $pid = fork;
	if ($pid == 0) {
		setpgrp;
		open STDERR, ">", $err;
		exec @ARGV or exit 99;
	}
	select undef, undef, undef, $ms / 1000;
	if ($trap) {
		trap($pid);
	} else {
		kill STOP => -$pid;
		select undef, undef, undef, 0.01;
		kill CONT => -$pid;
	}
	for (1 .. 1000) {
		last if waitpid($pid, WNOHANG) == $pid;
		select undef, undef, undef, 0.01;
		if ($_ == 1000) {
			kill KILL => -$pid;
			die "$ms ms from the start: it hangs\n";
		}
	}
	die "$ms ms from the start: $?\n" if $? && !($trap && is_programs());
}

# Before its exec the child has its parent's name.  Behind it the trap is the
# program's, which it ends, before or after its first instruction.
sub is_programs {
	return ($? & 127) == 5 ||
	    said() =~ /^trace: the program ended before its first/;
}

sub trap {
	open my $f, "<", "/proc/$_[0]/task/$_[0]/children" or return;
	my ($child) = split " ", <$f> // "" or return;
	open my $name, "<", "/proc/$child/comm" or return;
	kill TRAP => $child if <$name> eq "trace\n";
}

sub said {
	open my $f, "<", $err or return "";
	return join "", <$f>;
}
EOF
check "a trace that is stopped at any time goes on" perl "$T/stop.pl" 0 \
    "$T/n.err" "$B/trace" -e none -o "$T/n.ev" true
check "a child's trap is not taken for its exec" perl "$T/stop.pl" 1 \
    "$T/n.err" "$B/trace" -e none -o "$T/n.ev" true

# An exec that fails when the old program is gone: its segment ends behind all
# addresses.
perl -e 'print pack "a16 S<2 L< Q<3 L< S<6 L<2 Q<6", "\x7fELF\2\1\1", 2, 62, 1,
    0x400078, 64, 0, 0, 64, 56, 1, 0, 0, 0,
    1, 5, 0, 0x400000, 0x400000, 4096, 0x7ffffff00000, 4096;
    print "\xcc" x 8192' >"$T/toobig"
chmod +x "$T/toobig"
status 125 "an exec that the program does not outlive" \
    "$B/trace" -e none -o "$T/n.ev" "$T/toobig"
same "what is said" \
    "trace: the program ended before its first instruction" "$(cat "$T/err")"

# Two threads exec at a time, and one ends the other: nothing is said of that.
i=0
while [ $i -lt 8 ]; do
	"$B/trace" -e none "$TB/victim/thr-exectwo" 2>&1
	i=$((i + 1))
done >"$T/execs"
same "threads that exec at the same time" "ok thr-exectwo" \
    "$(sort -u "$T/execs")"

done_testing
