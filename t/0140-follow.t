#!/bin/sh
# trace -f: each process has a stream of its own, which is whole and ends as
# the process did.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

# streams NAME: "status-line-count" of all streams, sorted; each must be read
streams() {
	for f in "$T/$1".*; do
		"$B/plain" "$f" >/dev/null || echo "not read: $f"
		pid=${f##*.}
		pid=${pid%-*}
		[ "$(grep -ac "^H pid $pid\$" "$f")" = 1 ] || echo "no H pid: $f"
		tail -n 1 "$f" | cut -d' ' -f1-3
	done | sort | uniq -c | sed 's/^ *//'
}

status 125 "-f needs a name for each" "$B/trace" -f -o "$T/run.ev" true
check "the message says so" grep -q %p "$T/err"
status 4 "kind none needs none" "$B/trace" -f --exec=new -e none \
    sh -c '/bin/echo a; exec sh -c "(exit 3); exit \$((\$? + 1))"'
same "and leaves the program its output" a "$(cat "$T/out")"
same "with no word of its own" "" "$(cat "$T/err")"

check "a pipeline" "$B/trace" -f -o "$T/pipe.%p" sh -c 'ls / | wc -l'
same "its output" "$(ls / | wc -l)" "$(cat "$T/out")"
same "three streams" "3 E exit 0" "$(streams pipe)"

check "a parent that sleeps until its child execs or ends" \
    "$B/trace" -f -o "$T/sleep.%p" "$TB/victim/prc-clonevfork"
same "children that exec have streams" "1 E exit 0
10 E exit 7" "$(streams sleep)"

# no descriptor for the memory file: they run natively, where none can be had
few() {
	"$B/trace" -f -e none sh -c 'ulimit -n 3; (exit 3); echo $?
	    "$0"; echo $?' "$TB/victim/exact-loop"
	true
}
check "children without a descriptor" few
same "are as they are" "3
ok
0" "$(cat "$T/out")"

# short displacements reach from the code of each generation to the libraries
cat >"$T/far.c" <<'EOF'
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(void)
{
	char line[512];
	unsigned long from, to, libs = -1ul, code = 0;
	FILE *f;

	for (int i = 0; i < 3; i++) {
		if (fork() != 0)
			return wait(NULL) < 0;
		f = fopen("/proc/self/maps", "r");
		while (fgets(line, sizeof line, f) != NULL) {
			sscanf(line, "%lx-%lx", &from, &to);
			if (strstr(line, "/libc") != NULL && from < libs)
				libs = from;
			if (strstr(line, "quern") != NULL &&
			    strstr(line, " r-xs") != NULL && to > code)
				code = to;
		}
		fclose(f);
		printf("%d\n", code != 0 && libs - code < 1ul << 31);
		fflush(stdout);
	}
	return 0;
}
EOF
if ${CC:-gcc} -o "$T/far" "$T/far.c" 2>/dev/null; then
	check "three generations" "$B/trace" -f -e counts -o "$T/far.%p" \
	    "$T/far"
	same "all have their code near" "1
1
1" "$(cat "$T/out")"
else
	skip "three generations" "no compiler"
	skip "all have their code near" "no compiler"
fi

cat >"$T/tree.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int got;

static void
on(int sig)
{
	got = sig;
}

static void
child(int i)
{
	if (i % 4 == 3 && fork() == 0)
		_exit(30);
	if (i % 5 == 0) {
		raise(SIGUSR1);		/* its parent's handler is there */
		if (got != SIGUSR1)
			_exit(99);
	}
	if (i == 6)
		raise(SIGTERM);
	if (i == 7)
		*(volatile int *)8 = 1;
	while (i == 8)
		pause();
	while (wait(NULL) > 0)
		;
	_exit(i);
}

int
main(void)
{
	int i, st, n = 0;
	pid_t p;

	signal(SIGUSR1, on);
	for (i = 0; i < 20; i++) {
		p = fork();
		if (p == 0)
			child(i);
		if (i == 8)
			kill(p, SIGKILL);
	}
	while (wait(&st) > 0)
		n += WIFEXITED(st) ? WEXITSTATUS(st) : 1000 * WTERMSIG(st);
	printf("%d\n", n);
	return 40;
}
EOF
gcc -O1 -w -o "$T/tree" "$T/tree.c"
status 40 "20 children and their children" "$B/trace" -f -o "$T/kids.%p" \
	"$T/tree"
same "their statuses" "$((190 - 6 - 7 - 8 + 1000 * (15 + 11 + 9)))" \
	"$(cat "$T/out")"
{
	for i in 0 1 2 3 4 5 9 10 11 12 13 14 15 16 17 18 19 40; do
		echo "1 E exit $i"
	done
	echo "5 E exit 30"
	for i in 9 11 15; do
		echo "1 E signal $i"
	done
} | sort >"$T/expected"
streams kids | sort >"$T/actual"
samefile "each stream ends as its process" "$T/expected" "$T/actual"

check "streams that nobody keeps" "$B/trace" -f -e counts -o /dev/null \
	sh -c 'sh -c "exit 0"; sh -c "exit 0"'

echo 'int main(void) { return 0; }' >"$T/small.c"
check "a compiler, which uses vfork" "$B/trace" -f -e counts \
	-o "$T/gcc.%p" gcc -c -o "$T/small.o" "$T/small.c"
check "its output is there" test -s "$T/small.o"
same "driver, compiler and assembler" "3 E exit 0" "$(for f in "$T"/gcc.*; do
	tail -n 1 "$f" | cut -d' ' -f1-3; done | sort | uniq -c | sed 's/^ *//')"
same "as whom they were executed" "as cc1 gcc" \
	"$(sed -n 's/^H cmd \([^ ]*\).*/\1/p' "$T"/gcc.* | sed 's/.*\///; s/.*-as$/as/' |
	sort | tr '\n' ' ' | sed 's/ $//')"

cat >"$T/Makefile" <<'EOF'
all: a b c
a b c:
	@echo $@ | cat >$(D)/$@.out
EOF
check "make with two jobs" "$B/trace" -f -e counts -o "$T/make.%p" \
	make -s -j2 -f "$T/Makefile" D="$T"
same "what it made" "a b c" "$(cat "$T/a.out" "$T/b.out" "$T/c.out" |
	tr '\n' ' ' | sed 's/ $//')"
same "every stream of it" "10 E exit 0" "$(for f in "$T"/make.*; do
	tail -n 1 "$f" | cut -d' ' -f1-3; done | sort | uniq -c | sed 's/^ *//')"

check "children that die, or end, while a handler is taken back" "$B/trace" \
	-f -o "$T/late.%p" "$TB/victim/sig-die-late"

# A child that leaves its parent behind is followed to its end.
check "a process in the background" "$B/trace" -f -o "$T/back.%p" \
	sh -c '(sleep 0.2; exit 5) & exit 0'
same "its stream" "2 E exit 0
1 E exit 5" "$(streams back)"

# Those that have ended are not kept as zombies until the program ends.
cat >"$T/zombies.c" <<'EOF'
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Is it one of the processes of whoever made us? */
static int
is_zombie(const char *pid)
{
	char name[300], text[512], *p;
	FILE *f;
	int n;

	snprintf(name, sizeof name, "/proc/%s/stat", pid);
	f = fopen(name, "r");
	if (f == NULL)
		return 0;
	n = (int)fread(text, 1, sizeof text - 1, f);
	fclose(f);
	text[n < 0 ? 0 : n] = 0;
	p = strrchr(text, ')');
	return p != NULL && p[2] == 'Z' && atoi(p + 4) == (int)getppid();
}

int
main(void)
{
	DIR *d;
	struct dirent *e;
	int i, n = 0;

	for (i = 0; i < 300; i++) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
	d = opendir("/proc");
	while (d != NULL && (e = readdir(d)) != NULL)
		n += isdigit(e->d_name[0]) && is_zombie(e->d_name);
	printf("%s\n", n < 200 ? "few" : "many");
	return 0;
}
EOF
gcc -O1 -w -o "$T/zombies" "$T/zombies.c"
check "300 children, one after another" "$B/trace" -f -e counts \
	-o "$T/z.%p" "$T/zombies"
same "few zombies" few "$(cat "$T/out")"
same "a stream each" "301 E exit 0" "$(tail -qn 1 "$T"/z.* |
	cut -d' ' -f1-3 | sort | uniq -c | sed 's/^ *//')"

# The kernel gives numbers of processes again; in a whole run of tests that can
# happen among the 300. Here each child has the number of the one before.
cat >"$T/again.c" <<'EOF'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(void)
{
	for (int i = 0; i < 3; i++) {
		pid_t p = fork();
		FILE *f;

		if (p == 0)
			_exit(i);
		waitpid(p, NULL, 0);
		f = fopen("/proc/sys/kernel/ns_last_pid", "w");
		if (f == NULL)
			return 9;
		fprintf(f, "%d", p - 1);
		fclose(f);
	}
	return 0;
}
EOF
gcc -O1 -w -o "$T/again" "$T/again.c"
if unshare -Urpf --mount-proc "$T/again" 2>"$T/err"; then
	check "children with one number" unshare -Urpf --mount-proc \
		"$B/trace" -f -e all -o "$T/reused.%p" "$T/again"
	same "a stream for each" "2 E exit 0;1 E exit 1;1 E exit 2;" \
		"$(streams reused | tr '\n' ';')"
	same "their names say so" 2 "$(ls "$T" | grep -c '^reused[.][0-9]*-[23]$')"
else
	skip "children with one number" "no new name space of processes"
	skip "a stream for each" "no new name space of processes"
	skip "their names say so" "no new name space of processes"
fi

# Processes that know themselves by other numbers: children and execs of those.
if unshare -Urpf true 2>"$T/err"; then
	check "a namespace of processes" "$B/trace" -f -e all \
		-o "$T/inside.%p" unshare -Urpf sh -c \
		'exec sh -c "env true; (exit 3); /bin/echo \$\$; :"'
	same "its output" 1 "$(cat "$T/out")"
	same "nothing is said" "" "$(cat "$T/err")"
	same "a stream for each" "4 E exit 0;1 E exit 3;" \
		"$(streams inside | tr '\n' ';')"
	same "the last image is told" 1 "$(grep -l '/bin/true$\|/true$' \
		"$T"/inside.* | wc -l)"
	# its children are elsewhere, and know themselves by another number; dash
	# makes them by vfork
	check "children in a namespace of their own" "$B/trace" -f -e all \
		-o "$T/other.%p" unshare -Urp dash -c '/bin/echo a'
	same "a stream for each" "2 E exit 0;" \
		"$(streams other | tr '\n' ';')"
else
	skip "children in a namespace of their own" "no new name space"
	skip "a stream for each" "no new name space"
	skip "a namespace of processes" "no new name space of processes"
	skip "its output" "no new name space of processes"
	skip "nothing is said" "no new name space of processes"
	skip "a stream for each" "no new name space of processes"
	skip "the last image is told" "no new name space of processes"
fi

# Under its parent's ptrace the engine would be seen: natively, and it is said.
for v in prc-ptrace prc-traceme; do
	check "a child that is traced by its parent: $v" "$B/trace" -f \
		-o "$T/pt.%p" "$TB/victim/$v"
	same "its output" "ok $v" "$(cat "$T/out")"
	check "is said to be native" grep -q "asks to be traced.*natively" \
		"$T/err"
done
# a child's stream that is lost, as on a full disk, and one of a trace killed
lost() {
	(ulimit -S -f 2000; exec "$B/trace" -f -e all -o "$T/lost.%p" sh -c \
	    'i=0; /bin/true; (while [ $i -lt 30000 ]; do i=$((i + 1)); done)
	    exit 3' 9>/dev/null)
}
status 125 "a child's stream that cannot be written" lost
check "is told" \
    grep -q '^trace: .*/lost\.[0-9]*: write: File too large$' "$T/err"
killed() {
	"$B/trace" -f -e counts -o "$T/killed.%p" sh -c \
	    '(sleep 9; :) &
	    until set -- "$0".*; [ $# -gt 1 ] || [ ${n:=0} -ge 500 ]; do
		sleep 0.02
		n=$((n + 1))
	    done
	    kill -9 $(pgrep -P $PPID | grep -vx $$); wait
	    exit 3' "$T/killed" 9>/dev/null
}
if command -v pgrep >/dev/null; then
	status 125 "a child's trace that is killed" killed
else
	skip "a child's trace that is killed" "no pgrep"
fi

if command -v gdb >/dev/null; then
	echo 'int main(void) { return *(volatile int *)8; }' >"$T/crash.c"
	gcc -g -o "$T/crash" "$T/crash.c"
	check "a debugger with its program" "$B/trace" -f -e counts \
		-o "$T/gdb.%p" gdb -nx -batch -ex run -ex bt "$T/crash"
	same "where it crashed" 1 "$(grep -c '^#0 .*main () at .*crash.c:1' \
		"$T/out")"
else
	skip "a debugger with its program" "no gdb"
	skip "where it crashed" "no gdb"
fi

# a child that its parent traces: what it executes is not followed
cat >"$T/seize.c" <<'EOF'
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int
main(int argc, char *argv[])
{
	int go[2], st;
	pid_t child;

	if (pipe(go) < 0)
		return 1;
	child = fork();
	if (child == 0) {
		if (read(go[0], &st, 1) == 1)
			execvp(argv[1], argv + 1);
		_exit(9);
	}
	if (ptrace(PTRACE_SEIZE, child, 0L, 0L) < 0 || write(go[1], "", 1) != 1)
		return 1;
	while (waitpid(child, &st, 0) == child && WIFSTOPPED(st))
		ptrace(PTRACE_CONT, child, 0L, 0L);
	return WEXITSTATUS(st);
}
EOF
gcc -O1 -o "$T/seize" "$T/seize.c"
status 9 "an exec that fails, traced by the parent" env PATH=/no:/not:/never \
    "$B/trace" -f -o "$T/seized.%p" "$T/seize" nothing
same "both streams are whole" "2 E exit 9" "$(streams seized)"
same "one word of it" 1 "$(grep -c 'another process traces it' "$T/err")"
"$B/trace" -f -o "$T/native.%p" "$T/seize" true 2>"$T/err"
same "one that does not: its stream ends" "1 E exit 0" "$(streams native)"

# behind a filter an exec is not followed, either; one that fails changes nothing
cat >"$T/filter.c" <<'EOF'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <unistd.h>
int
main(int argc, char *argv[])
{
	struct sock_filter allow[] = { { 6, 0, 0, SECCOMP_RET_ALLOW } };
	struct sock_fprog all = { 1, allow };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
		return 1;
	execvp(argv[1], argv + 1);
	return 9;
}
EOF
gcc -O1 -w -o "$T/filter" "$T/filter.c"
status 9 "an exec that fails, behind a filter" env PATH=/no:/not:/never \
    "$B/trace" -o "$T/filtered.1" "$T/filter" nothing
same "a whole stream" "E exit 9" "$(tail -n 1 "$T/filtered.1" |
    cut -d" " -f1-3)"
same "one word of it there" 1 "$(grep -c 'behind a seccomp filter' "$T/err")"
status 125 "one that does not" "$B/trace" -o "$T/behind.1" "$T/filter" true

# a set-id program would not get its rights: it runs natively
cat >"$T/setid.c" <<'EOF'
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
int
main(int argc, char *argv[])
{
	char *env[] = { NULL };
	int fd = open(argv[1], O_RDONLY | O_CLOEXEC);

	if (argc > 2)
		fexecve(fd, argv + 1, env);
	else
		execve(argv[1], argv + 1, env);
	return 9;
}
EOF
gcc -O1 -w -o "$T/setid" "$T/setid.c"
if cp /bin/true "$T/id" && chown 65534 "$T/id" && chmod 4755 "$T/id"
then
	for arg in "" by-descriptor; do
		status 125 "a set-id program${arg:+ }$arg" "$B/trace" \
		    -o "$T/id.1" "$T/setid" "$T/id" $arg
		check "is told" grep -q 'exec of a set-id program: it runs' \
		    "$T/err"
	done
else
	for i in 1 2 3 4; do
		skip "a set-id program" "no right to make one"
	done
fi 2>/dev/null
as_other() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
if chmod 755 "$T" && cp "$T/id" "$T/suid" 2>/dev/null &&
    chown 0 "$T/suid" 2>/dev/null && chmod 4755 "$T/suid" &&
    as_other test -x "$B/trace" -a -x "$T/suid" 2>/dev/null; then
	check "one that trace starts" as_other "$B/trace" -e none "$T/suid"
	same "lacks its rights, and that is told" "trace: $T/suid: a set-id \
program: it runs without these rights, because it is traced" "$(cat "$T/err")"
	check "where it would get none it is followed" as_other --no-new-privs \
	    "$B/trace" -e none "$T/setid" "$T/suid"
	same "without a word" "" "$(cat "$T/err")"
	cp /bin/true "$T/caps"
	if setcap cap_net_raw+ep "$T/caps" 2>/dev/null; then
		status 125 "capabilities" as_other "$B/trace" -e none \
		    "$T/setid" "$T/caps"
		check "are told" grep -q 'exec of a program with capabilities: it' \
		    "$T/err"
	else
		skip "capabilities" "no setcap"
		skip "are told" "no setcap"
	fi
	rm -f "$T/suid" "$T/caps"
else
	for i in 1 2 3 4 5 6; do
		skip "a set-id program, by another user" "setpriv cannot"
	done
fi

# each child has a stream, or trace says which has not, and its status shows it
lost=
for n in $(seq 12 30); do
	rm -f "$T"/few.*
	(ulimit -n "$n"; exec "$B/trace" -f -e counts -o "$T/few.%p" sh -c \
	    '(:); (:); exit 3' 2>"$T/err")
	s=$?
	w=$(grep -c 'runs natively' "$T/err")
	e=$(cat "$T"/few.* 2>/dev/null | grep -c '^E ')
	case $s/$e/$w in
	3/3/0 | 125/*/[1-9]* | 125/0/0) ;;
	*) lost="$lost $n:$s/$e/$w" ;;
	esac
done
same "few descriptors: no child is lost in silence" "" "$lost"

# a child that is told to go on, stopped, or killed as it begins
cat >"$T/begin.c" <<'EOF'
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int
main(int argc, char **argv)
{
	int sig = atoi(argv[1]), st, i, bad = 0;
	char *args[] = { "true", NULL };
	pid_t p;

	for (i = 0; i < 60; i++) {
		if (posix_spawn(&p, "/bin/true", NULL, NULL, args, environ))
			return 1;
		usleep(i * 30);
		kill(p, sig);
		if (sig == SIGSTOP)
			kill(p, SIGCONT);
		if (waitpid(p, &st, 0) != p || (st != 0 && st != sig))
			bad++;
	}
	printf("%d bad\n", bad);
	return argc - 2;
}
EOF
check "a program that signals its children" gcc -o "$T/begin" "$T/begin.c"
for sig in 18 19 15 9; do
	status 0 "children that get signal $sig as they begin" "$B/trace" -f \
	    -e none "$T/begin" $sig
	same "end as they would" "0 bad" "$(cat "$T/out" "$T/err")"
done

# one that shares memory with a process of which another thread execs
cat >"$T/race.c" <<'EOF'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static void *
children(void *arg)
{
	pid_t p;

	for (;;) {
		p = vfork();
		if (p == 0)
			_exit(0);
		waitpid(p, NULL, 0);
	}
	return arg;
}

int
main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, children, NULL);
	usleep(20000 + getpid() % 10 * 1000);
	execl("/bin/true", "true", NULL);
	return 1;
}
EOF
check "a program with a race" gcc -pthread -o "$T/race" "$T/race.c"
race() {	# a child that stays would keep the pipe open
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$B/trace" -f -e none "$T/race" || return
	done | cat
}
check "leaves no child behind" race

done_testing
