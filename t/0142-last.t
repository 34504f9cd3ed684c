#!/bin/sh
# the flight recorder: the newest records only, at the end and when asked for

. t/lib.sh

CC=${CC:-gcc}
cat >"$T/p.c" <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define F __attribute__((noinline, noclone, noipa))

static volatile long s;
static const char *dir;

F void fill(long n) { while (n-- > 0) s += n; }
F void one(void) { s++; }
F void two(void) { s++; }
F void spin(void) { for (;;) s++; }
F void fault(int *p) { *p = 1; }	/* the line of the fault */
F void end_a(void) { fill(20000); }
F void end_b(void) { fill(20000); }
F void end_c(void) { fill(20000); }
static void (*const ends[])(void) = { end_a, end_b, end_c };
F void *thread(void *p) { fill(20000); ends[(long)p](); return 0; }

/* a file for the test to wait for, and one that it makes */
static const char *path(const char *name)
{
	static char b[4096];
	snprintf(b, sizeof b, "%s/%s", dir, name);
	return b;
}
static void make(const char *name)
{
	FILE *f = fopen(path("new"), "w");
	char b[4096];
	fprintf(f, "%d\n", getpid());
	fclose(f);
	strcpy(b, path("new"));
	rename(b, path(name));
}
static int there(const char *name) { return access(path(name), F_OK) == 0; }

int main(int argc, char **argv)
{
	const char *what = argv[1];
	pthread_t t[3];
	char line[256];

	dir = argc > 2 ? argv[2] : ".";
	if (strcmp(what, "fault") == 0) {
		fill(100000);
		fault(0);
	} else if (strcmp(what, "spin") == 0) {
		fill(100000);
		make("spins");
		spin();
	} else if (strcmp(what, "phases") == 0) {
		one();
		make("first");
		while (!there("go"))
			one();
		two();
		make("second");
		while (!there("stop"))
			two();
	} else if (strcmp(what, "threads") == 0) {
		for (long i = 0; i < 3; i++)
			pthread_create(&t[i], 0, thread, (void *)i);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], 0);
	} else if (strcmp(what, "maps") == 0) {
		int fd = open("/proc/self/exe", O_RDONLY);
		for (int i = 0; i < 15000; i++)
			munmap(mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), 4096);
		one();
	} else if (strcmp(what, "fill") == 0) {
		fill(atol(argv[3]));
		two();
	} else if (strcmp(what, "memory") == 0) {
		fill(atol(argv[3]));
		snprintf(line, sizeof line, "/proc/%d/status", getppid());
		FILE *f = fopen(line, "r");
		while (fgets(line, sizeof line, f))
			if (strncmp(line, "VmHWM:", 6) == 0)
				fputs(line, stdout);
	}
	return 0;
}
END
"$CC" -O1 -g -fcf-protection=none -o "$T/p" "$T/p.c" -pthread || exit 99

# tails FILE FULL: its lines are the last ones of the other; how many
tails() {
	tail -n "$(wc -l <"$1")" "$2" | cmp -s - "$1" && [ -s "$1" ]
}

# the last records are the last records of the stream that has all, also
# where another program was executed in between
cp "$T/p.c" "$T/lines"
for kind in all blocks; do
	how=; [ $kind = all ] || how=-s
	check "$kind: all records" "$B/trace" -e $kind -o "$T/full.ev" env -i /usr/bin/sort "$T/lines"
	"$B/plain" $how -o "$T/full" "$T/full.ev"
	for size in 4096 50k 300k 20M; do
		check "$kind: the last $size" "$B/trace" -e $kind --last $size -o "$T/last.ev" \
		    env -i /usr/bin/sort "$T/lines"
		check "$kind: $size: is a whole stream" "$B/plain" $how -o "$T/last" "$T/last.ev"
		tails "$T/last" "$T/full"
		ok "$kind: $size: the tail of all" $?
	done
	samefile "$kind: 20M has everything" "$T/full" "$T/last"
	same "$kind: 20M: nothing is dropped" "H dropped 0" "$(grep '^H dropped' "$T/last.ev")"
done
"$B/trace" --last 50k -o "$T/last.ev" env -i /usr/bin/sort "$T/lines" >/dev/null
same "the head tells of it" "H last 51200 H dropped" \
    "$(echo $(sed -n 's/^\(H dropped\) [1-9][0-9]*$/\1/p; /^H last/p' "$T/last.ev"))"
# 4 bytes a record, 8 an address; 32 where the kernel was entered
awk '
/^[0-9a-f]/ {
	n = 1
	if (split($0, r, "*") > 1)
		for (i = 1; i <= length(r[2]); i++)
			more = 16 * (i > 1) * more + index("0123456789abcdef", substr(r[2], i, 1)) - 1
	else
		more = 0
	sub(/\*.*/, "")
	bytes += (1 + more) * (4 + 8 * gsub(/[-+.]/, ""))
}
END { print (bytes > 45000 && bytes <= 51200) }' "$T/last.ev" >"$T/told"
same "50k: so many bytes of records" 1 "$(cat "$T/told")"
# many buffers at once
"$B/trace" -o "$T/full.ev" "$T/p" fill . 300000
"$B/plain" -o "$T/full" "$T/full.ev"
for size in 9000 400k 2M; do
	check "long: the last $size" "$B/trace" --last $size -o "$T/long.ev" "$T/p" fill . 300000
	check "long: $size: is a whole stream" "$B/plain" -o "$T/last" "$T/long.ev"
	tails "$T/last" "$T/full"
	ok "long: $size: the tail of all" $?
done
rm -f "$T/full"
for f in cachesim callgraph bbv; do
	check "$f takes it" "$B/$f" -o /dev/null "$T/last.ev"
done

# a crash: what ran last, by name
status 139 "a crash" sh -c '"$1" --last 64k -o "$2" "$3" fault' - "$B/trace" "$T/crash.ev" "$T/p"
same "a crash: the end" "E signal 11" "$(tail -n 1 "$T/crash.ev" | cut -d' ' -f1-3)"
check "a crash: as lines" "$B/plain" -s -o "$T/crash" "$T/crash.ev"
line=$(grep -n 'the line of the fault' "$T/p.c" | cut -d: -f1)
same "a crash: what came last" "$T/p.c:$line: fault" "$(tail -n 1 "$T/crash" | sed 's/.* at [0-9a-f]* //')"
same "a crash: which signal" "signal 11 (Segmentation fault)" "$(tail -n 1 "$T/crash" | sed 's/ at .*//')"
same "a crash: who came before" main "$(tail -n 2 "$T/crash" | sed -n '1s/.*: //p')"
same "a crash: and before" fill "$(sed 's/.*: //' "$T/crash" | uniq | tail -n 3 | head -n 1)"

# the calls before it, as a log
"$B/callgraph" --calls -o "$T/calls" "$T/crash.ev"
check "a crash: its calls as a log" "$B/fmt-xray" -m "$T/names" -o "$T/crash.xray" "$T/calls"
# fault itself has not executed anything
same "a crash: the calls by name" "fill main" \
    "$(echo $(sed -n 's/^G [0-9a-f]* [0-9a-f]* \([a-z]*\)$/\1/p' "$T/calls" | sort))"
if command -v llvm-xray >/dev/null; then
	check "a crash: llvm-xray verifies it" llvm-xray fdr-dump -verify "$T/crash.xray"
else
	skip "a crash: llvm-xray verifies it" "no llvm-xray"
fi

# wait_for FILE: at most 20 s
wait_for() {
	n=0
	while [ ! -e "$1" ] && [ $n -lt 400 ]; do
		sleep 0.05
		n=$((n + 1))
	done
	[ -e "$1" ]
}

# who traces the process whose number is in FILE
tracer_of() {
	sed -n 's/^PPid:[^0-9]*//p' "/proc/$(cat "$1")/status"
}

# SIGKILL; and a dump of a thread that never enters the kernel
timeout -k 5 60 "$B/trace" --last 64k -o "$T/kill.ev" "$T/p" spin "$T" 2>/dev/null &
wait_for "$T/spins"
ok "a program that spins" $?
kill -USR1 "$(tracer_of "$T/spins")"
wait_for "$T/kill.ev.1"
ok "SIGUSR1: a dump" $?
kill -KILL "$(cat "$T/spins")"
wait $! 2>/dev/null
check "SIGUSR1: is a whole stream" "$B/plain" -s -o "$T/d1" "$T/kill.ev.1"
[ "$(tail -n 1 "$T/kill.ev.1" | cut -d' ' -f4)" -gt 1000 ]
ok "SIGUSR1: what runs is told" $?
same "SIGUSR1: the end" "E exit 0" "$(tail -n 1 "$T/kill.ev.1" | cut -d' ' -f1-3)"
check "SIGKILL: is a whole stream" "$B/plain" -s -o "$T/d2" "$T/kill.ev"
same "SIGKILL: where it was" spin "$(sed -n '$s/.*: //p' "$T/d2")"
same "SIGKILL: the end" "E signal 9" "$(tail -n 1 "$T/kill.ev" | cut -d' ' -f1-3)"

# the same of a process that runs already
rm -f "$T/spins"
"$T/p" spin "$T" 2>/dev/null &
spinner=$!
wait_for "$T/spins"
timeout -k 5 60 "$B/trace" -p $spinner --last 64k -o "$T/attached.ev" 2>/dev/null &
n=0
while ! ls "$T"/attached.ev.tmp.* >/dev/null 2>&1 && [ $n -lt 400 ]; do
	sleep 0.05
	n=$((n + 1))
done
tracer=$(ls "$T"/attached.ev.tmp.* | sed 's/.*[.]//')
# until it has run under trace: some ticks of its time
ticks() { cut -d' ' -f14 "/proc/$spinner/stat"; }
before=$(ticks) n=0
while [ "$(ticks)" -lt $((before + 2)) ] && [ $n -lt 400 ]; do
	sleep 0.05
	n=$((n + 1))
done
kill -USR1 "$tracer"
wait_for "$T/attached.ev.1"
ok "-p: a dump" $?
kill -TERM "$tracer"
wait $!
ok "-p: ends when told to" $?
kill -KILL $spinner
wait $spinner 2>/dev/null
for f in "$T/attached.ev.1" "$T/attached.ev"; do
	check "-p: ${f##*/} is a whole stream" "$B/plain" -s -o "$T/attached" "$f"
done
same "-p: where it spins" spin "$(sed -n '$s/.*: //p' "$T/attached")"

# functions FILE: those of ours that ran
functions() {
	sed -n 's/.*: \(one\|two\|end_.\|there\)$/\1/p' "$1" | sort -u
}

# dumps in between, each a stream of its own
timeout -k 5 60 "$B/trace" --last 64k -o "$T/run.%n.ev" "$T/p" phases "$T" &
wait_for "$T/first"
tracer=$(tracer_of "$T/first")
kill -USR1 "$tracer"
wait_for "$T/run.1.ev"
ok "SIGUSR1: the first" $?
: >"$T/go"
wait_for "$T/second"
kill -USR1 "$tracer"
wait_for "$T/run.2.ev"
ok "SIGUSR1: the second" $?
: >"$T/stop"
wait $!
ok "the program ends as ever" $?
for n in 1 2 3; do
	check "run.$n: is a whole stream" "$B/plain" -s -o "$T/run.$n" "$T/run.$n.ev"
done
same "run.1: nothing of the second phase" "" "$(functions "$T/run.1" | grep two)"
same "run.3: what came last" 1 "$(functions "$T/run.3" | grep -c two)"

# one file, and the end at standard output
rm -f "$T/first" "$T/second" "$T/go" "$T/stop"
timeout -k 5 60 "$B/trace" --last 64k "$T/p" phases "$T" >"$T/stdout.ev" 2>"$T/stderr" &
wait_for "$T/first"
kill -USR1 "$(tracer_of "$T/first")"
n=0
while [ ! -s "$T/stderr" ] && [ $n -lt 400 ]; do
	sleep 0.05
	n=$((n + 1))
done
: >"$T/go"
: >"$T/stop"
wait $!
same "standard output is for the end: so it says" \
    "trace: SIGUSR1: standard output is for the end; see -o" "$(cat "$T/stderr")"
check "standard output: a whole stream" "$B/plain" -s -o /dev/null "$T/stdout.ev"

# threads: the last of each, whenever it was
check "threads" "$B/trace" --last 8k -o "$T/threads.ev" "$T/p" threads
check "threads: a whole stream" "$B/plain" -s -o "$T/threads" "$T/threads.ev"
same "threads: the end of each" "end_a end_b end_c" "$(echo $(functions "$T/threads"))"

# mappings are known whatever came and went
check "mappings" "$B/trace" --last 8k -o "$T/maps.ev" "$T/p" maps
check "mappings: a whole stream" "$B/plain" -s -o "$T/maps" "$T/maps.ev"
same "mappings: names" one "$(functions "$T/maps")"
[ "$(grep -c '^[MU]' "$T/maps.ev")" -lt 28000 ]
ok "mappings: old ones are not told" $?

# each process with its own
check "-f" "$B/trace" -f --last 8k -o "$T/f.%p.ev" sh -c '"$0" threads; "$0" x' "$T/p"
same "-f: three streams" 3 "$(ls "$T"/f.*.ev | wc -l)"
for f in "$T"/f.*.ev; do
	"$B/plain" -s -o "$T/f.lines" "$f" && grep -q '^H last 8192' "$f"
	ok "-f: whole, and short" $?
done

# SIGUSR1 goes on to the children's
rm -f "$T/first" "$T/second" "$T/go" "$T/stop"
timeout -k 5 60 "$B/trace" -f --last 64k -o "$T/ff.%p.ev" sh -c '"$0" phases "$1"; :' "$T/p" "$T" &
wait_for "$T/first"
guest=$(cat "$T/first")
shell=$(tracer_of "$T/first")
echo "$shell" >"$T/shell"
kill -USR1 "$(tracer_of "$T/shell")"
for p in "$guest" "$shell"; do
	wait_for "$T/ff.$p.ev.1"
	ok "-f: SIGUSR1: a dump" $?
	check "-f: SIGUSR1: whole" "$B/plain" -s -o "$T/f.lines" "$T/ff.$p.ev.1"
done
: >"$T/go"
: >"$T/stop"
wait $!
ok "-f: goes on to the end" $?

# memory does not grow with the run, whose records have a gigabyte; how many of
# the shared buffers were in use, 6 MB at most, is a matter of luck
for n in 20000000 100000000; do
	"$B/trace" --last 64k -o /dev/null "$T/p" memory . $n | awk '{ print $2 }'
done >"$T/memory"
awk 'NR == 1 { a = $1 } { b = $1 } END { print NR, (b - a < 8192) }' "$T/memory" >"$T/got"
same "five times as long: the same memory" "2 1" "$(cat "$T/got")"

# what does not go
status 125 "kind counts" "$B/trace" -e counts --last 1M -o "$T/no.ev" "$T/p" x
same "kind counts: says so" "trace: --last: only kinds all and blocks have records in order" "$(cat "$T/err")"
status 125 "kind cache" "$B/trace" -e cache --last 1M -o "$T/no.ev" "$T/p" x
status 125 "too small" "$B/trace" --last 100 -o "$T/no.ev" "$T/p" x
status 125 "no such folder" "$B/trace" --last 1M -o "$T/none/run.%n.ev" "$T/p" x

done_testing
