#!/bin/sh
# trace -o '|COMMAND', for each process with -f; --exec=

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
count="$B/icount | $B/fmt-cachegrind -o $T/cg.%p"

check "a command" "$B/trace" -o "|$B/icount -o $T/costs.%p" echo hello
same "the program's output is left alone" hello "$(cat "$T/out")"
same "its costs" 1 "$(cat "$T"/costs.* | grep -c '^totals: [0-9]')"
rm "$T"/costs.*
check "its output is trace's" "$B/trace" -o "|tail -n 1" true
same "the end mark" "E exit 0" "$(cut -d' ' -f1-3 "$T/out")"
status 3 "the program's status" "$B/trace" -o '|cat >/dev/null' sh -c 'exit 3'
status 0 "a command that has seen enough" "$B/trace" -o '|head -n 1' true
same "got it" "H quern-events 2" "$(cat "$T/out")"

status 125 "a command that fails" "$B/trace" -o '|cat >/dev/null; exit 3' true
same "is told with the process" \
    "trace: process N: \`cat >/dev/null; exit 3' ended with status 3" \
    "$(sed 's/process [0-9]*/process N/' "$T/err")"
status 125 "a long command that fails" "$B/trace" \
    -o "|cat >/dev/null; $(seq 99 | sed 's/.*/: &;/' | tr '\n' ' ') exit 3" true
same "is told by its beginning" "trace: process N: \`cat >/dev/null; : 1; \
: 2; : 3; : 4; : 5; : 6; : 7; : 8; : 9;...' ended with status 3" \
    "$(sed 's/process [0-9]*/process N/' "$T/err")"
status 125 "one that dies" "$B/trace" -o '|cat >/dev/null; kill -9 $$' true
check "is told as well" grep -q 'died of signal 9$' "$T/err"
status 125 "in a child" "$B/trace" -f -e counts \
    -o '|if grep -q "^H cmd ls"; then exit 5; fi' --exec=new sh -c 'ls; :'
same "one of them" 1 "$(grep -c 'ended with status 5$' "$T/err")"
status 125 "of a child" "$B/trace" -f -e counts --exec=new \
    -o '|if grep -q "^H cmd ls"; then exit 5; fi' sh -c "sh -c 'ls; :'; :"
same "once" 1 "$(grep -c 'ended with status 5$' "$T/err")"
check "arguments" "$B/trace" -f --exec=new \
    -o "|cat >/dev/null; echo \"\$TRACE_COMMAND\" >$T/args.%p" \
    sh -c '/bin/echo "a b" x
/bin/true; exit'
same "are in the environment" "/bin/echo;a b;x;/bin/true;sh;-c;/bin/echo \"a b\" \
x /bin/true; exit;" "$(for w in /bin/echo /bin/true sh; do
    f=$(grep -lx -e "$w" "$T"/args.* | head -n 1)
    cat "$f"; rm "$f"
done | tr '\n' ';')"
status 125 "--last has no command" "$B/trace" --last=64k -o '|cat' true

cat >"$T/Makefile" <<'EOF'
all: a b c
a b c:
	@echo $@ | cat >$(D)/$@.out
EOF
check "make with two jobs" "$B/trace" -f -e counts -o "|$count" \
    make -s -j2 -f "$T/Makefile" D="$T"
same "what it made" "a b c" "$(cat "$T/a.out" "$T/b.out" "$T/c.out" |
    tr '\n' ' ' | sed 's/ $//')"
same "a profile for each process" 10 "$(grep -l '^summary: [0-9]' "$T"/cg.* |
    wc -l)"
check "their sum" "$B/merge" -o "$T/sum" "$T"/cg.*
same "has all instructions" \
    "$(sed -n 's/^summary: //p' "$T"/cg.* | awk '{ n += $1 } END { print n }')" \
    "$(sed -n 's/^summary: //p' "$T/sum")"
rm "$T"/cg.*

echo 'int main(void) { return 0; }' >"$T/small.c"
check "a compiler, each image for itself" "$B/trace" -f --exec=new -e counts \
    -o "|$count" $CC -c -o "$T/small.o" "$T/small.c"
same "driver, compiler and assembler" 3 \
    "$(grep -l '^summary: [0-9]' "$T"/cg.* | wc -l)"
rm "$T"/cg.*

# exec: the same stream, another one, none
cat >"$T/twice.c" <<'EOF'
#include <unistd.h>
int main(int argc, char **argv)
{
	execv("/nowhere", argv);	/* fails, and changes nothing */
	if (argc == 1)
		execl(argv[0], argv[0], "again", (char *)0);
	return argc + 40;
}
EOF
$CC -O1 -static -o "$T/twice" "$T/twice.c" 2>/dev/null ||
    $CC -O1 -o "$T/twice" "$T/twice.c"
for how in same new no; do
	for kind in all counts cache; do
		rm -f "$T"/run.*
		status 42 "--exec=$how, kind $kind" "$B/trace" -e $kind \
		    --exec=$how -o "$T/run.%p" "$T/twice"
		same "one file" 1 "$(ls "$T"/run.* | wc -l)"
		same "its end mark" "E exit 42" \
		    "$(tail -n 1 "$T"/run.* | cut -d' ' -f1-3)"
		check "it is read" "$B/icount" "$T"/run.*
		case $how in
		same) same "both images" 1 "$(grep -c '^U 0 f*$' "$T"/run.*)" ;;
		new) same "the last one" "$T/twice again" \
		    "$(sed -n 's/^H cmd //p' "$T"/run.*)" ;;
		no) same "the first one" "$T/twice" \
		    "$(sed -n 's/^H cmd //p' "$T"/run.*)" ;;
		esac
	done
done
status 42 "a stream for each" "$B/trace" --exec=new \
    -o "|cat >>$T/both" "$T/twice"
same "each whole, in their order" "$T/twice E exit 0 $T/twice again E exit 42" \
    "$(sed -n 's/^H cmd //p; s/^\(E [a-z]* [0-9]*\) .*/\1/p' "$T/both" |
    tr '\n' ' ' | sed 's/ $//')"
check "a child that execs, let go" "$B/trace" -f --exec=no -e counts \
    -o "$T/let.%p" sh -c '(ls; :) | (exec cat)'
same "the shells only" 3 "$(ls "$T"/let.* | wc -l)"
same "whole" 3 "$(tail -qn 1 "$T"/let.* | grep -c '^E exit 0')"
status 125 "--exec=new, attached" "$B/trace" --exec=new -o x -p 1
status 125 "--exec=new without -o" "$B/trace" --exec=new true
status 125 "--exec=never" "$B/trace" --exec=never true

# --- variables in names
check "a variable in a file's name" env R=3 "$B/trace" -e counts \
    -o "$T/run.%q{R}.%q{R}x" --stdout="$T/said.%q{R}" echo hello
check "the file has its value" test -s "$T/run.3.3x"
same "and so has the program's output" hello "$(cat "$T/said.3")"
check "any value" env R='a b%p' "$B/trace" -e counts -o "$T/any.%q{R}" true
check "is taken as it is" test -s "$T/any.a b%p"
check "an empty one" env R= "$B/trace" -e counts -o "$T/run.%q{R}" true
check "is nothing" test -s "$T/run."
check "in a command" env R=4 "$B/trace" -e counts \
    -o "|cat >'$T/cat.%q{R}'; date +%q >'$T/quarter'" true
check "the shell has its value" test -s "$T/cat.4"
check "what is no variable stays" grep -qx '[1-4]' "$T/quarter"
check "children" env R=5 "$B/trace" -f -e counts --clear-env="PATH=$PATH" \
    -o "$T/kids.%q{R}.%p" sh -c 'true | cat; /bin/true'
same "have it, too" 4 "$(ls "$T" | grep -c '^kids\.5\.[0-9]*$')"
refused() { # TEXT MESSAGE ARGUMENT...
	text=$1 said=$2
	shift 2
	status 125 "$text" "$B/trace" -e counts "$@" touch "$T/started"
	same "$text: one line" "trace: $said" "$(cat "$T/err")"
}
for o in -o --log --control --stdout; do
	case $o in
	-o) set -- -o "$T/%q{NONE_SUCH}" ;;
	*) set -- "$o=$T/%q{NONE_SUCH}" ;;
	esac
	refused "$o: a variable that is not there" \
	    "$o $T/%q{NONE_SUCH}: NONE_SUCH is not in the environment" \
	    --client-requests "$@"
done
refused "a command: a variable that is not there" \
    "-o |cat %q{NONE_SUCH}: NONE_SUCH is not in the environment" \
    -o '|cat %q{NONE_SUCH}'
refused "a variable without its end" "-o a.%q{R: %q{VAR} without its end" \
    -o 'a.%q{R'
refused "no variable" "-o a.%qR: %q wants a variable, as in %q{VAR}" -o 'a.%qR'
export R='x; rm -f y'
refused "a command: a value that the shell would obey" "-o |cat >%q{R}: R has \
a character that the shell would take for its own: write \"\$R\"" -o '|cat >%q{R}'
refused "%n without --last" "-o a.%n: %n is the number of a dump of --last" \
    -o 'a.%n'
check "nothing was started" test ! -e "$T/started"

done_testing
