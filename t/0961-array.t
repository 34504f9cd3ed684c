#!/bin/sh
# array: tasks here and by GNU parallel, what fails, resuming

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
A=$B/array
export TMPDIR=$T/tmp
mkdir "$T/tmp" "$T/d"
cd "$T/d" || exit 99

cat >a.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void count(int n) { for (volatile int i = 0; i < n; i++) ; }
int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "fail"))
		return atoi(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "need") && !fopen(argv[2], "r"))
		return 1;
	count(1000 * argc);
	puts(getenv("WORD") ? getenv("WORD") : argv[argc - 1]);
	return 0;
}
EOF
$CC -O1 -g -o a a.c || skip_all "no compiler"
cat >list <<'EOF'
# five tasks
--pipe=counts
./a one
./a "two  words" x

./a need there >said
./a x y z <list
./a 5
EOF
total() { sed -n 's/^summary: //p; s/^totals: //p' "$1" | tail -n 1; }

# --- one fails: nothing is added up, or what there is
status 1 "a task that fails" "$A" list
same "is named with its line, status and log" \
    "array: task 0003 (list:6): status 1: ./a need there >said: see $T/d/array.out/0003.log
array: 4 of 5 tasks are done" "$(cat "$T/err")"
check "nothing is added up" test ! -e array.out/merged.out
status 1 "-k" "$A" -k list
check "adds up what there is" grep -q '^desc: Tasks: 4 of 5$' array.out/merged.out
same "exactly" "$("$B/merge" array.out/000[1245].out | sed -n 's/^summary: //p')" \
    "$(total array.out/merged.out)"
same "the count" "4 of 5" "$(cat array.out/status)"

# bytes that a terminal would obey, and bytes that are not UTF-8
printf './n\033o \302\205\303\251\377\n' >ctl
status 1 "a command that a terminal would obey" "$A" -d ctl.out ctl
same "is shown" "array: task 0001 (ctl:1): status 127: \
./n\\033o \\302\\205é\\377: see $T/d/ctl.out/0001.log" "$(head -n 1 "$T/err")"

# --- resuming
touch there
find array.out -name '000[1245].out' -exec touch -d 2001-01-01 {} +
check "again, with what it lacked" "$A" list
same "only that has run" 4 \
    "$(find array.out -name '000*.out' ! -newermt 2002-01-01 | wc -l)"
check "all are added up" grep -q '^desc: Tasks: 5 of 5$' array.out/merged.out
same "exactly, too" "$(total array.out/merged.out)" \
    "$("$B/merge" array.out/000?.out | sed -n 's/^summary: //p')"
same "a redirection is the command's own" there "$(cat said)"
same "an argument with blanks arrives" "x" "$(cat array.out/0002.log)"
check "annotate reads the sum" "$B/annotate" --auto=no array.out/merged.out
cp array.out/merged.out first
check "again, with nothing to do" "$A" list
samefile "makes the same" first array.out/merged.out
same "nothing else is left" "" "$(ls "$TMPDIR"; find array.out -name tmp)"
status 2 "the folder of another list" "$A" -p calls list
check "is told" grep -q -e '--fresh' "$T/err"
check "--fresh" "$A" --fresh -p calls list
check "takes another pipeline" grep -q '^calls=' array.out/merged.out

# --- the environment is the same wherever it runs
(unset LANG; WORD=no X=$(seq 500 | tr '\n' :) "$A" -j1 -d env1 list) 2>"$T/err"
same "our environment makes no difference" 0 $?
cmp -s first env1/merged.out
ok "to the byte" $?
"$A" -d env2 --env=WORD=yes list 2>"$T/err"
same "what was asked for arrives" yes "$(cat env2/0001.log)"

# --- pipelines
sed -i 2d list
for p in cache calls branches counts; do
	check "pipeline $p" "$A" -d "p.$p" -p $p list
	same "counts the same instructions" "$(total first)" \
	    "$(total "p.$p/merged.out" | sed 's/ .*//')"
done
check "pipeline bbv" "$A" -d p.bbv -p bbv --interval=10k list
check "its vectors" grep -q '^T:' p.bbv/0001.out
check "which are not added up" test ! -e p.bbv/merged.out
sed 's/>said//' list >list2
check "one of our own" "$A" -d p.own -p '%t -e counts %s | icount | fmt-cachegrind' list2
same "has the same total" "$(total first)" "$(total p.own/merged.out)"
check "of others' programs" "$A" -d p.words --no-merge -p 'echo %s | wc -w' list2
same "is not added up" "3 -" "$(cat p.words/0003.out) $(ls p.words/merged.out 2>/dev/null || echo -)"

cat >env.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) { return puts(getenv(argv[1])) < 0; }
EOF
$CC -o env env.c || exit 99
echo './env W' >asks
echo "sh -c 'echo \$PATH'" >asks_path
for e in PATH PATH=/x:$PATH; do
	(PATH=/x:$PATH exec "$A" -d p.path --fresh -p counts -e "$e" asks_path) \
	    2>"$T/err"
	same "-e $e" "/x:$PATH" "$(cat p.path/0001.log)"
done
for w in %s %w %t; do
	check "a variable that is $w" "$A" -d p.var --fresh -e "W=$w" \
	    --no-merge -p '%t -o /dev/null -e blocks %s' asks
	same "is no mark" "$w" "$(cat p.var/0001.out)"
done

# --- killed in the midst: what is there is whole, the rest is made later
for i in $(seq 12); do echo "./a $i x"; done >list3
cat >slow <<'EOF'
#!/bin/sh
echo half
echo >>"$0.started"
while [ ! -e "$0.go" ]; do sleep 0.1; done
echo whole
EOF
chmod +x slow
for i in 1 2 3; do echo "$i"; done >list4
setsid "$A" -j2 --no-merge -d killed -p "$PWD/slow; : %s" list4 2>/dev/null &
n=0
while [ "$(wc -l 2>/dev/null <slow.started || echo 0)" -lt 2 ] && [ $n -lt 300 ]
do
	sleep 0.1
	n=$((n + 1))
done
kill -9 -$! 2>/dev/null || kill -9 $!
wait $! 2>/dev/null
same "killed: no half result" "" "$(ls killed | grep out)"
: >slow.go
check "then made" "$A" -j2 --no-merge -d killed -p "$PWD/slow; : %s" list4
same "whole" "3" "$(grep -l whole killed/000?.out | wc -l)"

# --- twice at once
"$A" -d both -p counts list3 2>err1 &
"$A" -d both -p counts list3 2>err2
s2=$?
wait $!
same "twice at once" "0 0" "$? $s2" || cat err1 err2 | sed 's/^/# /'
"$A" -d once -p counts list3 2>"$T/err"
"$A" -d both -p counts list3 2>"$T/err"
samefile "gives one sum" once/merged.out both/merged.out

# --- GNU parallel, here
if parallel --version 2>/dev/null | grep -q '^GNU parallel'; then
	export HOME=$T
	check "GNU parallel" "$A" --parallel -j2 -d par -p counts list3
	samefile "gives the same" once/merged.out par/merged.out
	same "and its log" 12 "$(sed 1d par/joblog | wc -l)"
	mv there away
	status 1 "with a task that fails" "$A" --parallel -k -d par2 -p counts list
	check "named" grep -q '^array: task 0003 (list:5): status 1' "$T/err"
	mv away there
	check "and run later" "$A" --parallel -d par2 -p counts list
	same "with all" "5 of 5" "$(cat par2/status)"
else
	nogp() { PATH=$T/none:$PATH "$A" --parallel -d par -p counts list3; }
	status 2 "without GNU parallel" nogp
	skip "GNU parallel" "not installed"
fi
mkdir bare
for p in sh mktemp rm cat sed awk cut wc cmp dirname readlink grep tr; do
	ln -s "$(command -v $p)" bare
done
for e in parallel slurm; do
	status 2 "without what --$e needs" env PATH="$T/bare" "$A" --$e \
	    --fresh -d once -p counts list3
	check "is told in a line" test "$(wc -l <"$T/err")" -eq 1
	check "and nothing is forgotten" test -f once/merged.out
done
# --- a signal ends the tasks, also one that takes no notice of it
cat >stays <<'END'
./a one
sh -c 'echo $$ >one.pid; exec sleep 60'
sh -c 'trap "" TERM; echo $$ >two.pid; sleep 60; :'
END
mkdir "$T/signal"
TMPDIR=$T/signal "$A" -j3 -d stays.d -p counts stays 2>said &
array=$!
n=0
until { [ -s one.pid ] && [ -s two.pid ] && [ -f stays.d/0001.out ]; } ||
    [ $n -ge 300 ]; do
	sleep 0.1
	n=$((n + 1))
done
kill $array
wait $array
same "SIGTERM: the status is 2" 2 $?
for t in one two; do
	n=0
	while kill -0 "$(cat $t.pid)" 2>/dev/null && [ $n -lt 50 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	check "task $t has ended" test $n -lt 50
done
same "nothing is said, and nothing left" "" "$(cat said; ls "$T/signal")"
check "what had ended is kept" test -f stays.d/0001.out

mkdir "$T/closed"
{ TMPDIR=$T/closed "$A" -d once -p counts list3 2>&1; } | head -c 0
same "a closed pipe leaves no folder" "" "$(ls "$T/closed")"

# --- the command line
for o in --pipe=none -jx -j0 --jobs=0 --interval=x --regions=x --env=A=1,2 --env==; do
	status 2 "$o" "$A" -d bad "$o" list
done
echo "printf '%s.' \"\$WORDS\" \"\$dir\$name\$W\$list\"" >vars
status 0 "variables in a command" "$A" -d vars.out -p counts \
    '--env=WORDS=two  of them' vars
same "are the program's" "two  of them.." "$(cat vars.out/0001.log)"
status 2 "a name that no variable has" "$A" -d bad '--env=a b' list
same "is told" "array: --env=a b: not a variable's name" "$(cat "$T/err")"
status 2 "a folder without a name" "$A" --dir= list
same "is told" "array: --dir=: No such file or directory" "$(cat "$T/err")"
status 2 "a folder that is a file" "$A" -d list list
same "is told" "array: --dir=list: File exists" "$(cat "$T/err")"
echo ./a >quick
for d in - -1 --; do
	check "a folder $d" "$A" -p counts --dir=$d quick
	same "has the results" "1 of 1" "$(cat ./$d/status)"
done
mkdir -p elsewhere/along
check "a folder, and one along CDPATH" env CDPATH="$PWD/elsewhere" \
    "$A" -p counts -d along quick
same "has the results, too" "1 of 1" "$(cat along/status)"
status 2 "no list" "$A"
status 2 "a list that is not there" "$A" none
printf '# nothing\n\n' >empty
status 2 "a list of nothing" "$A" empty
same "is told" "array: empty: no command" "$(cat "$T/err")"
printf '%s\n' './a 2>&1' './a one && ./a two' >wrong
status 2 "more than a program" "$A" wrong
same "is told with its line" "array: wrong:2: && without quotes: a command is \
one program, for no other would be counted: ./a one && ./a two" \
    "$(cat "$T/err")"
echo --what >wrong
status 2 "a wrong option in the list" "$A" wrong
same "is told with its line" "array: wrong:1: unknown option --what" "$(cat "$T/err")"
echo --what=3 >wrong
status 2 "one with a value" "$A" wrong
same "is told with its line, too" "array: wrong:1: unknown option --what" \
    "$(head -n 1 "$T/err")"
printf '# none\n--jobs=x\n' >wrong
status 2 "a wrong value in the list" "$A" wrong
same "is told with its line" "array: wrong:2: --jobs=x: not a number" \
    "$(cat "$T/err")"

# wrong TEXT MESSAGE OPTION...: before the program runs, with nothing in a folder
wrong() {
	text=$1 message=$2
	shift 2
	status 2 "$text" "$A" -d bad "$@" -- ./a
	same "$text: is told" "array: $message" "$(cat "$T/err")"
	same "$text: nothing has run" "" "$(ls bad 2>/dev/null)"
}
rm -rf bad
wrong "regions of nothing" "--regions=0k: not above 0" --regions=0k
wrong "regions beyond all" "--regions=1000000000000G: more than 15 digits" \
    --regions=1000000000000G
wrong "no processor" "--cpu=v9: none of v2, v3, v4, native" --regions=1k \
    --cpu=v9
cp list cat
for f in list ./cat; do
	status 2 "regions of a list, $f" "$A" -d bad --regions=1k $f
	same "is told" "array: --regions: $f is no program: a command is \
expected, not a list" "$(cat "$T/err")"
done
check "a command in PATH whose name a file has" "$A" -d cat.out -p counts \
    --regions=20k cat cat
same "nothing has run but that" "1" "$(ls -d bad cat.out 2>/dev/null | wc -l)"
status 2 "no caches" "$A" -d bad --caches='--I1=4096,2,64 --D1=1,2,3' list
same "is told once" "cachesim: --D1=1,2,3: the number of sets is not a power of \
two
array: --caches=--I1=4096,2,64 --D1=1,2,3: cachesim does not take that" \
    "$(cat "$T/err")"
status 2 "vectors of nothing" "$A" -d bad -p bbv -i 0 list
same "is told" "array: -i=0: not above 0" "$(cat "$T/err")"

# --- regions: the folder is looked at before the command runs
check "regions" "$A" -d regions -p counts --regions=20k -- ./a x x x x
same "no warning" "" "$(grep -v 'tasks are done' "$T/err")"
cold='desc: LL misses: an upper estimate, unless the warm-up covers the working set'
check "regions with caches" "$A" -d cold --regions=20k -- ./a x x x x
same "LL misses are an upper estimate, as the sum says" "$cold" \
    "$(grep 'LL misses' cold/merged.out)"
check "which annotate shows" sh -c '"$1" --auto=no cold/merged.out |
    grep -q "^LL misses: *an upper estimate"' sh "$B/annotate"
check "regions that are warmed up from the beginning" "$A" -d warm \
    --regions=20k --warm=1G -- ./a x x x x
same "say nothing of that, nor do counts" "" \
    "$(grep 'LL misses' warm/merged.out regions/merged.out)"
for z in gzip zstd; do
	mkdir $z
	cp regions/run.simpts regions/run.weights $z
	$z -qc regions/run.ev >$z/run.ev
	check "the run's events by $z" "$A" -d by-$z -p counts --regions=\
$z/run.simpts,$z/run.weights,$z/run.ev -- ./a x x x x
	same "the same regions" "$(cut -f 2- regions/list)" \
	    "$(cut -f 2- by-$z/list)"
done
for a in '>/dev/null' '2>/dev/null' '<in' '|' 'x>y'; do
	case $a in
	x*) hint= ;;
	*) hint="; behind -- there is no shell: $a is an argument" ;;
	esac
	status 2 "a run that fails, with $a" "$A" -d failed -p counts \
	    --regions=20k -- sh -c 'exit 3' sh "$a"
	same "is told" "array: status 3: 'sh' '-c' 'exit 3' 'sh' '$a': see \
$T/d/failed/run.log$hint" "$(cat "$T/err")"
done
check "regions of a command with backslashes" "$A" -d back -p counts \
    --regions=20k -- ./a 'a\nb' 'c\\d' '\q'
same "each runs with them" '\q' "$(cat back/0*.log | sort -u)"
same "and the list has them" "'./a' 'a\\nb' 'c\\\\d' '\\q'" \
    "$(cut -f 7 back/list | sort -u)"
status 2 "regions of a command with a line break" "$A" -d broken -p counts \
    --regions=20k -- ./a 'a
b'
same "is told" "array: --regions: an argument has a line break, but a line of \
the list is a task" "$(cat "$T/err")"
printf '%s\n' '-1 0' '0 1' >points
printf '%s\n' '0.5 0' '0.5 1' >weights
status 2 "a phase without an interval" "$A" -d bad -p counts \
    --regions=points,weights,regions/run.ev -- ./a x x x x
same "is told, too" "array: $T/d/bad/run.simpts: a phase has a weight, but no \
interval (-1)" "$(cat "$T/err")"
rm -rf bad
ls p.counts >files
status 2 "in the folder of a list" "$A" -d p.counts -p counts \
    --regions=20k -- ./a x x x x
same "is told" "array: $T/d/p.counts has results of another list or in another \
way: --fresh forgets them, --dir=DIR takes another folder" "$(cat "$T/err")"
ls p.counts >files2
samefile "without a run" files files2
status 2 "regions of another size" "$A" -d regions -p counts --regions=30k \
    -- ./a x x x x
check "is told, too" grep -q 'regions has results of another list' "$T/err"
cat >thr.c <<'EOF'
#include <pthread.h>
static void *count(void *p) { for (volatile int i = 0; i < 9000; i++) ; return p; }
int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], 0, count, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], 0);
	return 0;
}
EOF
$CC -O1 -g -pthread -o thr thr.c || exit 99
check "regions of threads" "$A" -d threads -p counts --regions=20k -- ./thr
same "a warning" "array: './thr': 4 threads ran, but regions are those of a \
program with one: the estimate may be wrong" "$(grep -v 'tasks are done' "$T/err")"

# --- a task is killed, as by the kernel for its memory: the others go on
printf '%s\n' 'sh -c "kill -9 $$"' './a 1 x' './a 2 x' >mortal
"$A" -j1 -d mortal.d -p counts mortal 2>err
same "a task is killed: the others have results" "1 2" \
    "$? $(ls mortal.d | grep -c '^000[23].out')"
rm -rf ended.d
(
	for i in 1 2 3; do echo 'sleep 5'; done >sleeps
	exec "$A" -j1 -d ended.d -p 'echo %s; sleep 1' sleeps
) 2>/dev/null &
n=0
while [ -z "$(ls ended.d 2>/dev/null | grep pending)" ] && [ $n -lt 300 ]; do
	sleep 0.1
	n=$((n + 1))
done
kill $!
wait $! 2>/dev/null
same "SIGTERM: its list of tasks is gone" "" "$(ls ended.d | grep pending)"

full_folder array "$A" -d nothing list
without_null array "$A" -d nothing list

done_testing
