#!/bin/sh
# ci: a list of programs against a folder and a commit; limits; reports

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
C=$B/ci
export TMPDIR=$T/tmp
mkdir "$T/tmp" "$T/repo"
cd "$T/repo" || exit 99

cat >a.cc <<'EOF'
#include <cstdio>
#include <cstdlib>
#define NI __attribute__((noinline))
namespace ns {
NI void parse_one(int n) { for (volatile int i = 0; i < n; i++) ; }
NI void parse_two(int n) { for (volatile int i = 0; i < n; i++) ; }
}
int main(int argc, char **argv)
{
	if (argc > 1 && argv[1][0] == 'x')
		return atoi(argv[1] + 1);
	ns::parse_one(5000);
	ns::parse_two(5000);
	std::printf("%s %s\n", argc > 1 ? argv[1] : "-",
	    getenv("WORD") ? getenv("WORD") : "-");
}
EOF
cat >list <<'EOF'
# two programs
--moved=3
one    counts   ./a "a | b" >said

	two cache	./a <list
EOF
build="$CC -O1 -g -o a a.cc"
eval "$build" || skip_all "no compiler"

# --- without a baseline
check "without a baseline" "$C" list
check "a row for each program" grep -q '^| one | Ir |  | [0-9,]* | no baseline |' \
    "$T/out"
same "the command's redirection is the program's, and its environment clean" \
    "a | b -" "$(cat said)"
same "else its output is in the log" "- -" "$(cat ci.out/two.log)"
check "a profile of the caches" grep -q '^events: Ir I1mr' ci.out/two.out
same "nothing else is left" "" "$(ls "$TMPDIR")"
WORD=w X=$(seq 1000) "$C" -q --dir=again -e WORD=v list
same "a variable that was asked for" "a | b v" "$(cat said)"
check "another environment is told" grep -q 'environment.*,WORD=v$' again/conditions
mkdir 'tmp\nfolder'
(TMPDIR=$PWD/tmp\\nfolder "$C" -d odd -e 'WORD=\d\nx' list >"$T/out" 2>"$T/err")
same "backslashes, in the environment and of our own folder" 0 $?
same "are kept in reports" "yes yes $(printf 'a | b \\d\\nx')" \
    "$(grep -q 'environment: `.*,WORD=\\d\\nx`$' "$T/out" && echo yes) $(grep -q \
    '"environment":"[^"]*,WORD=\\\\d\\\\nx"' odd/report.json && echo yes) $(cat said)"
same "without a word" "" "$(cat "$T/err")"
(unset TZ; WORD=w LC_ALL=C.UTF-8 HOME=/ X=$(seq 1000 | tr '\n' :) \
    "$C" -q --dir=again --baseline=ci.out list)
same "ours makes no difference" 0 $?
check "none at all" cmp ci.out/one.out again/one.out

# --- a folder, limits
sed -i 's/parse_two(5000)/parse_two(5500)/' a.cc
eval "$build"
status 0 "without limits a difference is none to fail for" \
    "$C" -q -d new --baseline=ci.out list
status 1 "a limit of all" "$C" -d new -b ci.out --limit=Ir=0.1% list
check "said in the table" \
    grep -q '^| one | Ir | [0-9,]* | [0-9,]* | +[0-9,]* (+.* %) | `Ir=0.1%` \*\*exceeded\*\* |$' "$T/out"
check "with the function that moved" \
    grep -q '^+[0-9,]* (+10.0%)  a.cc:ns::parse_two(int)$' new/report.md
status 0 "a limit that is kept" "$C" -q -d new -b ci.out -l Ir=50% list
status 1 "a limit of a function" \
    "$C" -d new -b ci.out --limit='Ir:ns::parse_*(int)=2%' list
check "names which" grep -q '^+[0-9,]* (+10.0%)  a.cc:ns::parse_two(int)$' "$T/out"
status 0 "of another function" \
    "$C" -q -d new -b ci.out --limit='Ir:ns::parse_one(int)=0' list
status 2 "of another program" "$C" -q -d new -b ci.out -l 'thr*/Ir=0' list
same "which does not exist" "ci: --limit=thr*/Ir=0: no program has this name" \
    "$(cat "$T/err")"
status 2 "of another event" "$C" -q -d new -b ci.out -l Ir=90% -l Xx=0 \
    -l 'one/Yy:f=1' list
same "which does not exist" "ci: --limit=Xx=0: no program has this event
ci: --limit=one/Yy:f=1: no program has this event" "$(cat "$T/err")"
status 2 "of another function" "$C" -d new -b ci.out -l Ir:ns::parse_tow*=1% \
    -l 'one/Ir:ns::parse_two*=1%' list
same "which no program has" \
    "ci: --limit=Ir:ns::parse_tow*=1%: no program has this function" \
    "$(cat "$T/err")"
same "in the table" "| one | Ir |  |  |  | \`Ir:ns::parse_tow*=1%\` no function |
| one | Ir |  |  |  | \`Ir:ns::parse_two*=1%\` **exceeded** |" \
    "$(grep '^| one .*:ns' "$T/out")"
same "in JUnit" "1 1 2" "$(grep -c 'failures="1".* skipped="2"' new/report.xml) \
$(grep -c '<failure' new/report.xml) $(grep -c '<skipped' new/report.xml)"
other() { # NAME: a program with this function
	printf '__attribute__((noinline)) int %s(int n) { volatile int m = n;
return m; }\nint main(int c, char **v) { return %s(c - 1); }\n' "$1" "$1" >third.c
	$CC -O1 -g -o third third.c || exit 99
}
other work
{ cat list; echo 'three counts ./third'; } >three
"$C" -q -d three.out three
status 0 "a function that some programs have" "$C" -q -d new -b three.out \
    -l 'Ir:ns::parse_*=0' -l three/Ir:work=0 three
same "is nothing to tell" "" "$(cat "$T/err")"
other toil
status 2 "one that had it has it no more" "$C" -q -d new -b three.out \
    -l Ir:work=1% -l '*/Ir:ns::parse_*=0' three
same "is told" "ci: --limit=Ir:work=1%: no program has this function" \
    "$(cat "$T/err")"
status 0 "programs without a baseline" "$C" -q -d new -l Ir:work=1% three
mkdir empty
status 2 "a baseline that is none" "$C" -q -d new -b empty -l Ir=0 list
same "is refused" "ci: --baseline=empty: a folder without results of ci" \
    "$(cat "$T/err")"
status 1 "of a program" "$C" -q -d new -b ci.out -l 't*/Dr=0' -l 'one/Ir=50%' list
same "judged for it alone" "1 1" "$(grep -c '<failure' new/report.xml) \
$(grep -c 'testcase classname="one" name="Ir=50%"/>' new/report.xml)"
sed '2s/.*/--limit=Ir=0/' list >limited
status 1 "a limit in the list" "$C" -q -d new -b ci.out limited
status 2 "other caches than the baseline's" \
    "$C" -q -d new -b ci.out --caches='--I1=4096,2,64 --D1=4096,2,64 --LL=65536,4,64' list
cp "$T/err" told
check "are told" grep -q 'ci: two: .*another model' told
check "as other conditions" grep -q 'under other conditions' told

status 2 "no processor" "$C" -d bad --cpu=v9 list
same "is told once" "ci: --cpu=v9: none of v2, v3, v4, native" "$(cat "$T/err")"
for bad in x 1x 1.2.3 . ''; do
	status 2 "no threshold: '$bad'" "$C" -d bad --threshold="$bad" list
	same "is told" "ci: --threshold $bad: not a number" "$(cat "$T/err")"
done
status 2 "no caches" "$C" -d bad --caches=--D1=1,2,3 list
same "is told once" "cachesim: --D1=1,2,3: the number of sets is not a power of \
two
ci: --caches=--D1=1,2,3: cachesim does not take that" "$(cat "$T/err")"

# --- the reports
status 1 "reports" "$C" -q -d new -b ci.out -l Ir=1 -l 'Ir:*parse*=3' list
perl -MJSON::PP -e 'local $/; my $j = decode_json(<>);
    print join " ", $j->{schema}, $j->{status}, map { ($_->{name}, $_->{kind},
    $_->{command}, $_->{state}, $_->{totals}{Ir} - $_->{diff}{total}{Ir}{new},
    $_->{diff}{limits}[1]{functions}[0]{function}{name}) } @{$j->{programs}}' \
    new/report.json >json
same "JSON" 'quern/ci/1 1 one counts ./a "a | b" >said exceeded 0 ns::parse_two(int) two cache ./a <list exceeded 0 ns::parse_two(int)' \
    "$(cat json)"
if command -v python3 >/dev/null; then
	python3 - new/report.xml >junit <<'EOF'
import sys, xml.etree.ElementTree as e
s = e.parse(sys.argv[1]).getroot()[0]
print(s.get("tests"), s.get("failures"), s.get("errors"), len(s),
    [c.get("name") for c in s if len(c)])
EOF
	same "JUnit" "6 4 0 6 ['Ir=1', 'Ir:*parse*=3', 'Ir=1', 'Ir:*parse*=3']" \
	    "$(cat junit)"
else
	skip "JUnit" "no python3"
fi

# --- a program that fails does not stop the others
printf '%s\n' 'bad counts ./a x3' 'gone counts ./none' 'one counts ./a a' >some
status 2 "a program that fails" "$C" -d new some
same "is named with its status" "ci: bad: status 3: ./a x3
ci: gone: status 127: ./none" "$(cat "$T/err")"
check "the others have run" grep -q '^| one | Ir ' "$T/out"
check "an error in JUnit" grep -q '<error message="status 3: ./a x3">' new/report.xml

cat >bits.c <<'EOF'
int main(void) { __asm__ volatile("int $0x80" : : "a"(20) : "memory"); }
EOF
$CC -o bits bits.c || exit 99
echo 'bits counts ./bits' >some
status 2 "a program that trace cannot trace" "$C" -d bits.out some
check "is named with what trace says" \
    grep -q '^ci: bits: status 125: ./bits: trace: .*int 0x80' "$T/err"

printf "%s\n" "bits counts sh -c \"printf '\\377\\000\\n'; exec ./bits\"" >some
status 2 "one whose output is no text" "$C" -d bits.out some
check "is named with that, too" \
    grep -q '^ci: bits: status 125: .*: trace: .*int 0x80' "$T/err"

# --- bytes that a terminal would obey, and bytes that are not UTF-8
esc=$(printf '\033') x=$(printf '\377')
printf '%s\n' "x${esc}[31m$x counts true" >ctl
status 2 "a name that is none" "$C" -d ctl.out ctl
same "is shown" "ci: ctl:1: the name 'x\\033[31m\\377' has other characters \
than letters, digits and -._+" "$(cat "$T/err")"
printf '%s\n' "bad counts ./n${esc}o '\\033' é$x" >ctl
status 2 "a command that fails" "$C" -d ctl.out ctl
said="status 127: ./n\\033o '\\033' é\\377"
same "is shown" "ci: bad: $said" "$(cat "$T/err")"
same "in the table, too" "| bad |  |  |  | **failed** | \`$said\` |" \
    "$(grep '^| bad' "$T/out")"
perl -MJSON::PP -e 'local $/; my $j = decode_json(<>);
    print $j->{programs}[0]{command}' ctl.out/report.json >json
same "in JSON" "./n${esc}o '\\033' $(printf '\351')\\377" "$(cat json)"
if command -v python3 >/dev/null; then
	python3 - ctl.out/report.xml >junit <<'EOF'
import sys, xml.etree.ElementTree as e
s = e.parse(sys.argv[1]).getroot()[0]
sys.stdout.buffer.write(s[0][0].get("message").encode())
EOF
	same "and in JUnit" "$said" "$(cat junit)"
else
	skip "and in JUnit" "no python3"
fi

# --- a commit
if command -v git >/dev/null; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	mkdir sub
	mv a.cc list sub
	cd sub || exit 99
	g() { git -c user.name=t -c user.email=t@localhost "$@" >/dev/null 2>&1; }
	g init ..
	g add a.cc list
	g commit -m one
	sed -i 's/parse_two(5500)/parse_two(5600)/' a.cc
	eval "$build"
	status 1 "against a commit" \
	    "$C" -b HEAD --build="$build" -l 'Ir:*two*=1%' list
	check "names below its tree are the same" \
	    grep -q '^+[0-9,]* (+1.8%)  sub/a.cc:ns::parse_two(int)$' "$T/out"
	git -C .. worktree list >"$T/trees"
	same "its tree is gone" "1 0" "$(wc -l <"$T/trees") $(ls "$TMPDIR" | wc -l)"
	status 0 "against the same" sh -c 'git stash -q && '"$build"' &&
	    '"$C"' -b HEAD --build="'"$build"'" -l Ir=0 list'
	status 2 "a build that fails" "$C" -b HEAD --build=false list
	check "is told" grep -q '^ci: --build: status 1 in the tree of HEAD' "$T/err"
	same "and its tree is gone, too" 1 "$(git -C .. worktree list | wc -l)"
	status 2 "neither folder nor commit" "$C" -b nosuch list
	cd ..
	mv sub/list .
else
	skip "a commit" "no git"
fi

# --- where perf_event_open is forbidden, as on runners
cat >forbid.c <<'EOF'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data,
		    nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET, SECCOMP_RET_ALLOW) };
	struct sock_fprog p = { 4, f };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) ||
	    syscall(SYS_perf_event_open, 0, 0, 0, 0, 0) != -1 || errno != EPERM)
		return 77;
	return execvp(argv[1], argv + 1);
}
EOF
if $CC -o forbid forbid.c && ./forbid true; then
	cp sub/a . 2>/dev/null
	check "where perf is forbidden" ./forbid "$C" -q -d other list
else
	skip "where perf is forbidden" "no seccomp"
fi

# --- where addresses cannot be fixed: personality and prctl are forbidden
if "$TB/forbid" 135 "$TB/forbid" 157 true; then
	status 0 "where personality is forbidden" "$TB/forbid" 135 \
	    "$TB/forbid" 157 "$C" -q -d random list
	same "that counts differ then is said once" \
	    "ci: addresses are random here, so counts differ from run to run:" \
	    "$(sed 's/: see .*log$/:/' "$T/err")"
	"$C" -q -d fixed list 2>"$T/fixed"
	same "and only then" "" "$(cat "$T/fixed")"
else
	skip "where personality is forbidden" "no seccomp"
	skip "that counts differ then is said once" "no seccomp"
	skip "and only then" "no seccomp"
fi

# --- the command line, and the list
status 2 "no list" "$C"
status 2 "a list that is not there" "$C" none
same "is named" "ci: none: cannot be read" "$(cat "$T/err")"
bad() { # TEXT MESSAGE
	printf '%b\n' "$1" >badlist
	status 2 "list: $1" "$C" badlist
	same "list: $1: said" "ci: $2" "$(cat "$T/err")"
}
bad '#' "badlist: no program"
bad '\n one more ./a' "badlist:2: kind 'more' is none of counts, cache, branches, calls"
bad 'one counts' "badlist:1: no command"
bad 'o/ne counts x' "badlist:1: the name 'o/ne' has other characters than letters, digits and -._+"
bad 'one counts x\none counts y' "badlist:2: a second program one"
while read -r op command; do
	printf '%s\n' '' "one counts ./a $command" >badlist
	status 2 "more than a program: $command" "$C" badlist
	same "$command: said with its line" "ci: badlist:2: $op without quotes:\
 a command is one program, for no other would be counted: ./a $command" \
	    "$(cat "$T/err")"
done <<'END'
| | cat
|| "|" || true
&& x 2>&1 && ./a
; "x;\";" $(echo '|' ")" | (cat)) ; ./a
& 2>&1 &
& &>said
| '\' >|said|cat
; a#x; ./a
; "${none:-it's}" ; ./a
END
cat >quoted <<'END'
a counts ./a "a | b" 'c; "d' \& \| "`echo "|"; echo`" 2>&1 >|said <&-
c counts ./a `echo \`echo x | cat\``
b counts ./a $(echo "a)" | cat; echo ')|') ${none:-a;b} "$((1 | 2))" # x | y; z
END
check "operators in quotes, substitutions, redirections and comments" \
    "$C" -q -d quoted.out quoted
same "are the program's" "a | b" "$(sed 's/ -$//' said)"
printf '%s\n' '-x' >badlist
status 2 "a short option in the list" "$C" badlist
for o in --limit=Ir --limit== --env==x --env=A=1,2 --moved=x; do
	status 2 "$o" "$C" "$o" list
done
status 2 "a folder without a name" "$C" --dir= list
same "is told" "ci: --dir=: No such file or directory" "$(cat "$T/err")"
mkdir -p elsewhere/ci.out elsewhere/along
check "folders, and others along CDPATH" env CDPATH="$PWD/elsewhere" \
    "$C" -q -b ci.out -d along list
same "are told from them" "" "$(cat "$T/err"; ls elsewhere/along)"
status 2 "an option that there is not, without more" "$C" --nosuch
same "is said" "ci: unknown option --nosuch" "$(head -n 1 "$T/err")"
for o in '--nosuch=1=unknown option --nosuch' '--cpu=v9=--cpu=v9: none of v2, v3, v4, native'; do
	printf '\n%s\n' "$(expr "$o" : '\(--[^=]*=[^=]*\)')" >wrong
	status 2 "a wrong option in the list" "$C" -d bad wrong
	same "is said with its line" "ci: wrong:2: $(expr "$o" : '--[^=]*=[^=]*=\(.*\)')" \
	    "$(head -n 1 "$T/err")"
done
status 2 "the baseline in the same folder" "$C" -b ci.out list

# a command's shell has the variables of --env, and none of the script's
cat >vars <<'EOF'
--env=WORDS=two  of them
--env=GIVEN
vars counts printf '%s.' "$WORDS" "$GIVEN" "$dir$name$W$list"
EOF
GIVEN='as it is' status 0 "variables in a command" "$C" -q -d vars.out vars
same "are the program's" "two  of them.as it is.." "$(cat vars.out/vars.log)"

full_folder ci "$C" -d nothing list
without_null ci "$C" -d nothing list

done_testing
