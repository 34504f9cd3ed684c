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
# drift FILE G F...: of each run in turn, by the digit in FILE, f costs another
# F, three digits; with 000 it fails.  Three more are what h costs
cat >drift.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline))
NI void f(int n) { for (volatile int i = 0; i < n; i++) ; }
NI void g(int n) { for (volatile int i = 0; i < n; i++) ; }
NI void h(int n) { for (volatile int i = 0; i < n; i++) ; }
int number(const char *s)	/* atoi takes longer for some digits */
{
	return (s[0] - '0') * 100 + (s[1] - '0') * 10 + s[2] - '0';
}
int main(int argc, char **argv)
{
	FILE *s = fopen(argv[1], "r+");
	int run = fgetc(s) - '0';
	char *a = argv[3 + run];

	rewind(s);
	fputc('0' + (run + 1) % (argc - 3), s);
	fclose(s);
	g(number(argv[2]));
	f(number(a));
	h(a[3] ? number(a + 3) : 0);
	return number(a) ? 0 : 3;
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
for p in burn drift meet sure stay; do
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
# whole FOLDER: all that lies there; a tree of git's has another name each time
whole() {
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
# SIGNAL FIFO,... COMMAND...: it gets the signal when all have said that they
# are there.  What holds a FIFO open then has not ended.  Not by the shell: what
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

# --- many runs of each
# drift OUT ARGUMENTS OPTION...: ci of one drift, from its first run on
drift() {
	echo 0 >s
	echo "p counts ./drift s $2" >drifts
	out=$1
	shift 2
	"$C" -d "$out" "$@" drifts
}
total() {
	sed -n 's/^\(summary\|totals\): *//p' "$1"
}
# what the least costs, and one round of a loop
drift r200 "100 200 200 200" -q
drift r300 "100 300 300 300" -q
least=$(total r200/p.out)
round=$((($(total r300/p.out) - least) / 100))
# table: report.md's, without commas and percent
table() {
	sed -n '/^| p/{s/,\([0-9]\)/\1/g;s/ ([^)]* %)//g;p;}' "$1/report.md"
}

check "three runs" drift old "100 250 210 260" --runs=3
same "the least is told, and the spread" \
    "| p | Ir |  | $((least + 10 * round)) | no baseline \
| $((50 * round)) |  |" "$(table old)"
same "its profile is that of a run" $((least + 10 * round)) \
    "$(total old/p.out)"
same "what differs, and where, is kept" "runs	3
Ir	0	$((50 * round))
Ir	0	$((50 * round))	drift.c:f" "$(cat old/p.spread)"
check "the report hints at causes" grep -q \
    '^`p`: identical runs differ.*PYTHONHASHSEED=0.*CAVEATS' old/report.md
check "equal runs" drift same "100 200 200 200" --runs=3
same "have no spread" "| p | Ir |  | $least | no baseline | 0 |  |" \
    "$(table same)"
same "and nothing is hinted at" 0 "$(grep -c differ same/report.md)"
check "the least of the first event is what counts" \
    drift now "100 220 290 230" --runs=3 -b old

# judged F LIMITS STATUS STATE TEXT: against 210 to 260
judged() {
	status "$3" "$5" drift now "$1" --runs=3 -b old $2
	same "$5: $4" "$4" "$(sed -n 's/.*"state":"\([a-z]*\)".*/\1/p' \
	    now/report.json)"
}
judged "100 230 260 250" -lIr=0 0 noisy "a change within the spread"
same "that the limit is below the spread is said" \
    "ci: p: --limit=Ir=0 is below the spread of its runs" "$(cat "$T/err")"
same "it is marked" "| p | Ir | $((least + 10 * round)) \
| $((least + 30 * round)) | +$((20 * round)), noisy | $((50 * round)) \
| \`Ir=0\` noisy |" "$(table now)"
same "in JUnit it is skipped" '<skipped message="Ir=0 noisy: ' \
    "$(grep -o '<skipped message="Ir=0 noisy: ' now/report.xml)"
check "in JSON it is listed" grep -q '"noisy":true}},"noisy":\["Ir=0"\]' \
    now/report.json
judged "100 260 270 265" -lIr=0 0 noisy "a change as large as the spread"
judged "100 261 270 265" -lIr=0 1 exceeded "one that is larger"
same "is not marked" "| p | Ir | $((least + 10 * round)) \
| $((least + 61 * round)) | +$((51 * round)) | $((50 * round)) \
| \`Ir=0\` **exceeded** |" "$(table now)"
judged "100 300 351 300" -lIr=0 1 exceeded "one larger than both spreads"
judged "100 300 391 300" -lIr=0 0 noisy "one within the spread of the new side"
judged "100 230 260 250" -lIr=90% 0 ok "a limit that is kept"
same "and above the spread" "" "$(cat "$T/err")"
judged "100 230 260 250" '-lIr=90% -lIr=0' 0 noisy "one of two limits"
judged "100 150 150 150" -lIr=0 0 ok "a gain"
judged "300 230 260 250" '-lIr:f=0 -lIr:g=0' 1 exceeded "limits of functions"
same "each is judged by its own function's spread" \
    '`Ir:f=0` noisy,`Ir:g=0` **exceeded**' \
    "$(sed -n 's/^| p .*| \(`Ir:.*\) |$/\1/p' now/report.md | paste -s -d ,)"
same "so are functions that moved" "g f:noisy" \
    "$(sed -n '/functions that moved; noisy/,$s/^ *+.*drift.c:\([fg]\)/\1/p' \
    now/report.md | sed 's/  /:/' | paste -s -d ' ')"
judged "300 230 260 250" -lIr:f=0 0 noisy "a function whose change is noisy"

drift swap "100 100100 200300" --runs=2 -q
status 0 "a change larger than both spreads, where runs of both overlap" \
    drift now "100 210000 190200" --runs=2 -b swap -lIr:f=0
check "is noisy, too" grep -q '`Ir:f=0` noisy' now/report.md
status 1 "where they do not" \
    drift now "100 230000 210200" --runs=2 -b swap -lIr:f=0

status 0 "a baseline without --runs" drift now "100 230 260 250" --runs=3 \
    -b r200 -lIr=0
same "is told" "ci: $T/repo/r200 was measured without --runs: only the spread \
of the present runs is known
ci: p: --limit=Ir=0 is below the spread of its runs" "$(cat "$T/err")"
status 2 "a run that fails" drift now "100 230 000 250" --runs=3
same "is told" "ci: p: run 2: status 3: ./drift s 100 230 000 250" \
    "$(cat "$T/err")"
check "once is as ever" drift now "100 200 200 200" --runs=1
samefile "in its report" r200/report.md now/report.md
same "and keeps no spread" "p.log p.out" "$(cd now && echo p.*)"
for j in 1 3; do
	rm -rf now
	run "$C" -d now --runs=2 -b base -j $j list2
	{ cat "$T/out" "$T/err"; whole now; } >$j.said
done
samefile "with others at once it is the same" 1.said 3.said
for bad in 0 x; do
	status 2 "no number of runs: $bad" "$C" --runs=$bad list
	same "is told" "ci: --runs $bad: not a number from 1 to 999999999" \
	    "$(cat "$T/err")"
done

# events of which the least run has not the least: 2 * 64 KB are read, then 1
cat >other.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
static char table[2 << 16];
int main(int argc, char **argv)
{
	FILE *s = fopen(argv[1], "r+");
	int run = fgetc(s) - '0', sum = 0;
	long step = run ? 8 : 64;

	rewind(s);
	fputc('0' + !run, s);
	fclose(s);
	for (long i = 0; i < 1000; i++)
		sum += ((volatile char *)table)[i * step];
	for (volatile int i = 0; i < 100 * run; i++)
		;
	return sum;
}
EOF
$CC -O1 -g -o other other.c || exit 99
echo 0 >s
echo "p cache ./other s" >others
check "runs of a cache" "$C" -q -d cache.out --runs=2 others
less=$(sed -n 's/^D1mr	\(-[0-9]*\)	0$/\1/p' cache.out/p.spread)
check "the others may have less" test "$less" -lt -800

# --- both sides of a commit
if command -v git >/dev/null; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	g() {
		git -c user.name=t -c user.email=t@localhost "$@"
	} >/dev/null 2>&1
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
	cp ../drift .
	echo 0 >s
	echo 'p counts ./drift s 100 200 210' >list2
	mkfifo ../here
	echo "x counts sh -c './stay $PWD/../here; :'" >list3
	cp ../stay .
	git add s drift list2 >/dev/null 2>&1
	g commit -m two
	check "many runs on both sides" \
	    "$C" -q -d many -b HEAD --runs=2 list2
	same "have a spread each" "$((10 * round)) $((10 * round))" \
	    "$(sed -n 's/^Ir	0	\([0-9]*\)$/\1/p' many/p.spread \
	    many/base/p.spread | paste -s -d ' ')"
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
