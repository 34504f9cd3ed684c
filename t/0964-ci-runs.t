#!/bin/sh
# ci: many programs at once, and each of them many times

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
C=$B/ci
export TMPDIR=$T/tmp
mkdir "$T/tmp" "$T/repo"
cd "$T/repo" || exit 99

# burn F G [STATUS]: what f and g cost, in loops
cat >burn.c <<'EOF'
#include <stdlib.h>
#define NI __attribute__((noinline))
NI void f(int n) { for (volatile int i = 0; i < n; i++) ; }
NI void g(int n) { for (volatile int i = 0; i < n; i++) ; }
int main(int argc, char **argv)
{
	f(atoi(argv[1]));
	g(atoi(argv[2]));
	return argc > 3 ? atoi(argv[3]) : 0;
}
EOF
# meet MINE THEIRS: comes to its end only while the other one runs, too
cat >meet.c <<'EOF'
#include <fcntl.h>
#include <string.h>
int main(int argc, char **argv)
{
	int order = strcmp(argv[1], argv[2]) < 0;

	return argc != 3 ||
	    open(argv[order ? 1 : 2], order ? O_WRONLY : O_RDONLY) < 0 ||
	    open(argv[order ? 2 : 1], order ? O_RDONLY : O_WRONLY) < 0;
}
EOF
# sure: is any signal ignored or blocked?
cat >sure.c <<'EOF'
#include <signal.h>
#include <stddef.h>
int main(void)
{
	sigset_t blocked;
	struct sigaction a;

	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int i = 1; i < 32; i++)
		if (sigismember(&blocked, i) ||
		    (!sigaction(i, NULL, &a) && a.sa_handler != SIG_DFL))
			return i;
	return 0;
}
EOF
# stay FIFO: says that it is there, and stays
cat >stay.c <<'EOF'
#include <fcntl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	if (write(open(argv[argc - 1], O_WRONLY), "here\n", 5) == 5)
		for (;;)
			pause();
	return 1;
}
EOF
for p in burn meet sure stay; do
	$CC -O1 -g -o $p $p.c || skip_all "no compiler"
done

# --- many at once: the same as one after the other
cat >list <<'EOF'
--limit=Ir=100
--limit=Zz=1
a     counts    ./burn 500 100
bad   counts    ./burn 1 1 3
b     cache     ./burn 100 100
dead  counts    sh -c 'kill -KILL $$'
c     calls     ./burn 100 300
gone  counts    ./none
d     branches  ./burn 100 100
EOF
whole() { # FOLDER: all that lies there; a tree of git's has another name each time
	(cd "$1" && find . -type f | sort | while read -r f; do
		echo "$f $(sed 's/quern-ci\.[^/]*/quern-ci/g' "$f" | cksum)"
	done)
}
"$C" -q -d base list 2>/dev/null
sed 's/burn 500/burn 900/' list >list2
for j in 1 2 7 50; do
	run "$C" -d now -b base -j $j list2
	echo "status $?" >$j.said
	cat "$T/out" "$T/err" >>$j.said
	whole now >>$j.said
done
same "with -j 1 the status is" "status 2" "$(head -n 1 1.said)"
check "a limit is exceeded" grep -q '^| a .* \*\*exceeded\*\*' 1.said
same "messages are in the list's order" "ci: bad: status 3: ./burn 1 1 3
ci: dead: status 137: sh -c 'kill -KILL \$\$'
ci: gone: status 127: ./none
ci: --limit=Zz=1: no program has this event" "$(grep ^ci 1.said)"
for j in 2 7 50; do
	samefile "with -j $j there is the same" 1.said $j.said
done
same "and nothing else is left" "" "$(ls "$TMPDIR")"

mkfifo one two
printf '%s\n' 'x counts ./meet one two' 'y counts ./meet two one' >pair
status 0 "two run at the same time" "$C" -d pair.out --jobs=2 pair
echo --jobs=2 | cat - pair >pair2
status 0 "the option may be in the list" "$C" -q -d pair.out pair2
for bad in 0 x -1 01 '' 1234567890; do
	status 2 "no number of programs: '$bad'" "$C" --jobs="$bad" list
	same "is told" "ci: --jobs $bad: not a number from 1 to 999999999" \
	    "$(cat "$T/err")"
done

# --- the signals that a program has
echo 's counts ./sure' >sure.list
deaf() {
	sh -c 'trap "" INT QUIT PIPE HUP USR1; exec "$@"' sh "$@"
}
if setsid env --default-signal true 2>/dev/null; then
	status 0 "all signals are as by default" deaf "$C" -q -d s.out sure.list
	status 0 "with others at once, too" deaf "$C" -q -d s.out -j 2 sure.list
else
	skip "all signals are as by default" "env cannot"
	skip "with others at once, too" "env cannot"
fi

# --- a signal: all that was begun ends, and no file is left
cat >last <<'EOF'
kid   counts    sh -c './stay ready; :'
deaf  counts    sh -c 'trap "" TERM INT HUP; ./stay ready2; :'
more  counts    ./burn 1 1
EOF
mkfifo ready ready2
# SIGNAL FIFO,... COMMAND...: it gets the signal when all have said that they are
# there.  What holds a FIFO open then has not ended.  Not by the shell, since what
# that starts in the background ignores SIGINT.
cat >signal.pl <<'EOF'
my ($signal, $fifos, @command) = @ARGV;
my $pid = fork // die;
if (!$pid) {
	exec @command or die;
}
my @open;
for (split /,/, $fifos) {
	open my $fifo, '<', $_ or die;
	<$fifo>;
	push @open, $fifo;
}
kill $signal, $pid;
waitpid $pid, 0;
print $? & 127 ? "signal $?" : "status " . ($? >> 8);
for (@open) {
	$_->blocking(0);
	print sysread($_, my $more, 1) // ", one runs";
}
EOF
for s in INT TERM HUP; do
	rm -rf last.out
	same "SIG$s: the status is 2, and all have ended" "status 200" \
	    "$(timeout -k 5 30 perl -MIO::Handle signal.pl $s ready,ready2 \
	    "$C" -d last.out -j 3 last 2>err)"
	same "SIG$s: nothing is said" "" "$(cat err)"
	same "SIG$s: nothing is left" "conditions" \
	    "$(ls "$TMPDIR"; ls last.out | grep -v -e 'log$' -e '^more')"
	rm -rf last.out
	same "SIG$s: also of one after the other" "status 20" \
	    "$(timeout -k 5 30 perl -MIO::Handle signal.pl $s ready \
	    "$C" -d last.out last 2>&1)"
done

# --- both sides of a commit
if command -v git >/dev/null; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	g() { git -c user.name=t -c user.email=t@localhost "$@" >/dev/null 2>&1; }
	mkdir tree
	cd tree || exit 99
	cp ../burn.c ../meet.c .
	grep -v -e bad -e dead -e gone -e 'b  ' ../list >list
	g init
	g add burn.c meet.c list
	g commit -m one
	sed -i 's/f(atoi(argv\[1\]))/f(atoi(argv[1]) + 300)/' burn.c
	build="$CC -O1 -g -o burn burn.c && $CC -o meet meet.c"
	eval "$build"
	for j in 1 4; do
		run "$C" -d out -j $j -b HEAD --build="$build" list
		echo "status $?" >$j.said
		cat "$T/out" "$T/err" >>$j.said
		whole out >>$j.said
	done
	check "against a commit" \
	    grep -q '^+.*burn.c:f$' out/report.md
	samefile "it is the same with others at once" 1.said 4.said
	mkfifo ../here
	echo "x counts sh -c './stay $PWD/../here; :'" >list3
	cp ../stay .
	rm -rf last.out
	same "a signal, while one of the present tree runs" "status 20" \
	    "$(timeout -k 5 30 perl -MIO::Handle ../signal.pl TERM ../here \
	    "$C" -d last.out -b HEAD --build=true list3 2>&1)"
	same "leaves no tree" "1 0" \
	    "$(git worktree list | wc -l) $(ls "$TMPDIR" | wc -l)"
	cd ..
else
	skip "both sides of a commit" "no git"
fi

done_testing
