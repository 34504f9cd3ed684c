#!/bin/sh
# trace --contexts: callgraph finds in counts with contexts what it finds in the
# order of all executions of the same run; in kind cache, with cachesim's misses
# too. Large programs are in t/long.

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
SRC=$PWD/t/src MODELS=$PWD/t/models
LIMIT=${LIMIT:-240}
cd "$T" || exit 99
# hashes and addresses that are the same in each run
export PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0 HOME="$T"

# record KIND FILE PROGRAM...: a stream
record() {
	kind=$1 to=$2
	shift 2
	rm -f "$to"
	timeout -k 5 "$LIMIT" "$B/trace" $kind -o "$to" -- "$@" \
	    </dev/null >record.out 2>record.err
	status=$?
	[ -e "$to" ] && grep -q '^E [es]' "$to" && return
	echo "# trace $kind: status $status, $(ls -l "$to" 2>&1)"
	sed 's/^/# /' record.err
	return 2
}
# Costs without descriptions, and stacks with all contexts.
graph() { # STREAM COSTS OPTION...
	in=$1 to=$2
	shift 2
	"$B/callgraph" "$@" "$in" >costs && grep -v '^desc:' costs >"$to"
}
stacks() { # STREAM STACKS
	"$B/callgraph" --contexts "$1" | "$B/fmt-folded" -o "$2"
}
# Some programs do not do quite the same in each run: until a run in counts was
# like one in order, each of TRIES runs is compared with all before it.
TRIES=${TRIES:-1}
# meet KINDS FUNCTION PROGRAM...: got and want are results of the function
meet() {
	a=${1%%,*} b=${1#*,} result=$2
	shift 2
	for try in $(seq "$TRIES"); do
		record "$a" order "$@" && record "$b" other "$@" || return 2
		$result order want.$try && $result other got.$try || {
			echo "# $result failed"
			return 2
		}
		for i in $(seq "$try"); do
			for want in want.$i want.$try; do
				got=got.$try
				[ $want = want.$try ] && got=got.$i
				cmp -s $want $got && return
			done
		done
	done
	diff want.1 got.1 | sed 's/^/# /; 20q'
	return 1
}
costs_and_stacks() {
	graph "$1" "$2" && stacks "$1" stacks && cat stacks >>"$2"
}
# alike TEXT PROGRAM...: the same costs and stacks, to the last byte
alike() {
	text=$1
	shift
	meet "-e blocks,-e counts --contexts" costs_and_stacks "$@"
	ok "$text: the same" $?
}
# cached TEXT PROGRAM...: with misses, in kind cache
caches="--I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64"
cached() {
	text=$1
	shift
	meet "-e all,-e cache --contexts" missed "$@"
	ok "$text: the same with misses" $?
}
missed() {
	"$B/cachesim" -t $caches -o told "$1" && graph told "$2"
}
# each TEXT PROGRAM...: the same with each round of repeated instructions, and
# as Callgrind has modifications
each() {
	text=$1
	shift
	meet "-e blocks --rep=each,-e counts --contexts --rep=each" rounds "$@"
	ok "$text: the same with rounds" $?
	meet "-e all --rep=each,-e cache --contexts --rep=each --modify=write" \
	    as_callgrind "$@"
	ok "$text: the same with misses and rounds" $?
}
rounds() {
	graph "$1" "$2" --rep=each
}
as_callgrind() {
	"$B/cachesim" -t --rep=each --modify=write $caches -o told "$1" &&
	    graph told "$2" --rep=each --modify=write
}
# whole TEXT OPTION... -- PROGRAM...: what began without a caller costs all
whole() {
	text=$1
	shift
	"$B/trace" --contexts --rep=each -o some "$@" >/dev/null &&
	    "$B/callgraph" --rep=each some >costs
	ok "$text" $?
	same "$text: the costs of roots" \
	    "$(sed -n 's/^totals: //p' costs)" "$(awk '
	    $1 == "A" && $3 == 0 { root[$2] = 1 }
	    $1 == "V" && root[$2] { print $4 }' some | perl -ne '
	    $n += hex; END { print $n }')"
}
# some TEXT PATTERN PROGRAM...: the same of functions whose name fits
cat >list.awk <<'E'
function name(s,	id) {
	id = s
	sub(/\).*/, "", id)
	if (s ~ /\) /) {
		sub(/^[^)]*\) /, "", s)
		n[id] = s
	}
	return n[id]
}
/^fn=/ { fn = name(substr($0, 4)) }
/^cfn=/ { cfn = name(substr($0, 5)) }
/^calls=/ {
	split(substr($0, 7), c, " ")
	getline
	if (fn ~ only && cfn ~ only) {
		calls[fn ">" cfn] += c[1]
		cost[fn ">" cfn] += $2
	}
	next
}
/^[0-9+*-]/ { if (fn ~ only) own[fn] += $2 }
END {
	for (a in calls)
		print a, calls[a], cost[a]
	for (fn in own)
		print fn, own[fn]
}
E
some() {
	text=$1 only=$2
	shift 2
	record "-e blocks" order "$@" &&
	    record "-e counts --contexts" other "$@"
	ok "$text: both kinds" $?
	graph order a && graph other b
	ok "$text: functions and calls" $?
	awk -v only="$only" -f list.awk a | sort >want
	awk -v only="$only" -f list.awk b | sort >got
	[ -s want ]
	ok "$text: $(wc -l <want | tr -d ' ') of them" $?
	samefile "$text: the same costs" want got
}
# most TEXT LEAST PROGRAM...: of a program that never does the same twice, the
# own costs from LEAST on that are the same in each run in order: a run in counts
# has each of them. Four runs of both kinds, and more where chance has a part.
most() {
	text=$1 least=$2
	shift 2
	rm -f want all
	for runs in $(seq 20); do
		record "-e blocks" order "$@" &&
		    record "-e counts --contexts" other "$@" &&
		    graph order a && graph other b || break
		awk -v only=. -f list.awk b >>all
		sort -u -o all all
		awk -v only=. -f list.awk a | awk -v least="$least" \
		    '!/>/ && $NF >= least' | sort >new
		[ -e want ] || cp new want
		comm -12 want new >both && mv both want
		[ "$runs" -lt 4 ] && continue
		comm -12 want all >got
		cmp -s want got && break
	done
	echo "# of $(wc -l <new) costs $(wc -l <want) are the same in $runs runs"
	[ "$(wc -l <want)" -gt 10 ]
	ok "$text: more than 10 are the same" $?
	samefile "$text: the same in counts" want got
}

# both TEXT PROGRAM...
both() {
	alike "$@"
	cached "$@"
}
# moves FIRST LAST: programs of random moves on random stacks, by their seeds
moves() {
	if ! command -v python3 >/dev/null; then
		skip "random moves" "no python3"
		return
	fi
	for seed in $(seq "$1" "$2"); do
		python3 "$MODELS/stacks.py" "$seed" >moves.s &&
		    ${CC:-gcc} -o moves moves.s && ./moves
		ok "random moves, seed $seed: a program" $?
		both "random moves, seed $seed" ./moves
	done
}

if [ -n "${LARGE:-}" ]; then
	. "$LARGE"
	done_testing
	exit
fi

V=$TB/victim
for v in exact-calls exact-fall exact-fall-pie exact-flow exact-flow-pie \
    exact-rep exact-loop exact-signal; do
	alike "$v" "$V/$v"
	# returns that no call came before, to the same function
	[ $v = exact-calls ] || cached "$v" "$V/$v"
done
both "recursion" "$V/ins-recursion"
both "flow" "$V/ins-flow"
both "returns by jumps" "$V/ins-popreturn"
both "flags across returns" "$V/ins-flagsreturn"
${CC:-gcc} -O1 -o taken "$SRC/stacks.c"
both "return addresses that are taken" ./taken
${CC:-gcc} -O1 -o jumping "$SRC/jumping.c"
both "a handler that ends in a jump" ./jumping
moves 6 8
alike "C++" "$V/ins-cxx"
# libraries that come to the place of others: each has its own costs
both "libraries at one place" "$V/smc-dlopen"
# misses depend on the order in which threads run
cached "C++" "$V/ins-cxx" alone
${CC:-gcc} -O2 -fno-inline -o tails "$SRC/tails.c" &&
    ${CC:-gcc} -O2 -fno-inline -static -o static "$SRC/tails.c" &&
    ${CC:-gcc} -O2 -fno-inline -o handlers "$SRC/handlers.c" &&
    ${CC:-gcc} -O1 -pthread -Wl,-z,now -o workers "$SRC/workers.c" &&
    ${CC:-gcc} -O1 -o reps "$SRC/reps.c" &&
    ${CXX:-g++} -O1 -o unwind "$SRC/unwind.cc"
ok "programs" $?
both "tail calls" ./tails
both "tail calls, static" ./static
# jumps by stubs of linkage to code without symbols
strip -o stripped static
both "tail calls, stripped" ./stripped
both "handlers" ./handlers
# where a recursion is deep, what it has costs nothing for each handler
${CC:-gcc} -O1 -fno-optimize-sibling-calls -o deephandlers \
    "$SRC/deephandlers.c"
both "handlers in a deep recursion" ./deephandlers 20000 50
check "3000 of them above 100,000 calls" sh -c 'ulimit -t 10; "$@"' - \
    "$B/trace" -e counts --contexts -o other ./deephandlers 100000 3000
# and little where intervals, or --for, have the handlers count
for o in -i100000000 --for=900000000; do
	check "1000 of them, $o" sh -c 'ulimit -t 10; "$@"' - "$B/trace" \
	    -e counts --contexts $o -o other ./deephandlers 100000 1000
done
for m in "plain 1" "plain 4" "guarded 1" "pong 3" "jumps 3" return jump \
    alt-below-jump alt-above-return once coroutines; do
	both "unwind $m" ./unwind $m
done
# calls like others are made without a request: that is most of 1,500
${CC:-gcc} -O1 -o sites "$SRC/sites.c"
ok "many sites" $?
both "many sites" ./sites
requests() { # PROGRAM OPTION...
	p=$1
	shift
	"$B/trace" -v -o other "$@" "$p" 2>&1 >/dev/null |
	    sed -n 's/.* \([0-9]*\) requests.*/\1/p'
}
# what is made ahead, while trace has time, needs no request: the most without
# contexts, and the least with them
three() { # PROGRAM OPTION...
	for i in 1 2 3; do
		requests "$@"
	done | sort -n
}
without=$(three ./sites -e counts | tail -n 1)
with=$(three ./sites -e counts --contexts | head -n 1)
calls=$(grep -c '^A' other)
[ $((with - without)) -lt $((calls / 3)) ]
ok "$((with - without)) requests more for $calls calls" $?
# what leaves frames whose places are written over, or jumps by a return, is
# made in the program; only the jump back into main is a request, 20,000 times
with=$(requests ./taken -e counts --contexts)
[ "$with" -lt 40000 ]
ok "$with requests for 200,000 odd moves" $?
# setjmp is noted in the program, and told when it next asks
${CC:-gcc} -O1 -o landings "$SRC/landings.c"
both "setjmp" ./landings 200
with=$("$B/trace" -v -e counts --contexts -o other ./landings 20000 2>&1 |
    sed -n 's/.* \([0-9]*\) requests.*/\1/p')
jumps=$(./landings 20000 | cut -d' ' -f2)
[ "$with" -lt $((jumps * 2 + 40000)) ]
ok "$with requests for $jumps jumps and 800,000 calls of setjmp" $?
# so are jumps into the midst of functions, once they were made
${CC:-gcc} -O1 -o within "$SRC/within.c"
both "jumps within" ./within 300
with=$("$B/trace" -v -e counts --contexts -o other ./within 3000 2>&1 |
    sed -n 's/.* \([0-9]*\) requests.*/\1/p')
[ "$with" -lt 8000 ]
ok "$with requests for some 16,000 jumps" $?
# indirect jumps that call look for their arcs, by themselves
${CC:-gcc} -O2 -fno-inline -o pointers "$SRC/pointers.c"
both "jumps by pointers, and within" ./pointers
for kind in counts cache; do
	long=$("$B/trace" -v -e $kind --contexts -o other ./pointers 200000 2>&1 |
	    sed -n 's/.* \([0-9]*\) indirect transfers took the long way.*/\1/p')
	[ "$long" -lt 10000 ]
	ok "$kind: the runtime made $long of 200,000 jumps" $?
done
# handlers that return to a function's first instruction: one call, not two
${CC:-gcc} -O1 -fno-inline -o first "$SRC/first.c"
for how in 0 1 2 3; do
	alike "faults at first instructions, $how" ./first $how 2
done
# stacks far apart that take turns: returns from one to the other are, too
${CC:-gcc} -O1 -fno-optimize-sibling-calls -o effects "$SRC/effects.c"
both "effects" ./effects 3 3 2000
alike "effects in deep recursions" ./effects 2000 1100 50
with=$("$B/trace" -v -e counts --contexts -o other ./effects 2 2 20000 2>&1 |
    sed -n 's/.* \([0-9]*\) requests.*/\1/p')
[ "$with" -lt 10000 ]
ok "$with requests for 40,000 switches" $?
# one place calls 100,000 functions three times: each is found again
with=$(requests "$V/smc-bigcode" -e counts --contexts)
[ "$with" -lt 150000 ]
ok "$with requests for 100,000 functions" $?
# intervals that end behind each kind of jump add up, and where it is not known
# yet where a jump led
${CC:-gcc} -O1 -o limbo "$SRC/limbo.c"
for p in ./tails ./handlers "./unwind plain 1" "./landings 100" ./limbo \
    "$V/ins-flow"; do
	meet "-e blocks,-e counts --contexts -i 777" costs_and_stacks $p
	ok "intervals of $p: the same" $?
done
each=--rep=each
meet "-e blocks $each,-e counts --contexts $each -i 777" rounds ./limbo
ok "intervals of ./limbo: the same with rounds" $?
# few numbers for calls: they begin anew again and again
for p in ./reps ./handlers "./unwind plain 1" "./landings 100"; do
	o="--contexts --debug=fewcounts"
	meet "-e blocks,-e counts $o" costs_and_stacks $p
	ok "few calls at a time, $p: the same" $?
	meet "-e all,-e cache $o" missed $p
	ok "few calls at a time, $p: the same with misses" $?
done
meet "-e blocks,-e counts --contexts --debug=fewcounts" costs_and_stacks ./limbo
ok "few calls at a time, ./limbo: the same" $?
# so they do for threads that come after others
${CC:-gcc} -O1 -pthread -o generations "$SRC/generations.c"
for n in 1 4; do
	whole "few calls at a time, $n threads after $n others" -e counts \
	    --contexts --debug=fewcounts -- ./generations $n
done
# and beside others, which rest while they do: what the functions of each thread
# called, where libc's waits differ from run to run
worked() {
	"$B/callgraph" --contexts "$1" | "$B/fmt-folded" >folded &&
	    grep ';run;f[0-7]' folded | sort >"$2"
	[ -s "$2" ]
}
for o in fewcounts fewcalls fewcalls,tinycache; do
	for n in 4 12; do
		meet "-e blocks,-e counts --contexts --debug=$o" worked \
		    ./generations $n
		ok "$n threads, $o: the same" $?
	done
done
# 5000 functions that call each other in turn, each for the first time: trace
# pushes frames where the thread has pushed none
awk 'BEGIN {
	n = 5000
	print "volatile int sink;"
	for (i = n; i >= 0; i--)
		printf("__attribute__((noinline)) int\nf%d(void)\n{\n" \
		    "\treturn %s;\n}\n", i,
		    i == n ? "sink" : "f" (i + 1) "() + sink + 1")
	print "int\nmain(void)\n{\n\treturn f0() + f0() != 10000;\n}"
}' >chain.c
${CC:-gcc} -O1 -o chain chain.c && ./chain
ok "5000 functions" $?
both "5000 functions" ./chain
# as deep, three times inside of itself; each of the functions calls one that is
# active nowhere, which the thread finds out itself
awk 'BEGIN {
	n = 5000
	print "static volatile int sink;"
	print "void f0(int);"
	print "__attribute__((noinline)) void\nleaf(void)\n{\n\tsink++;\n}"
	for (i = n; i >= 0; i--)
		printf("__attribute__((noinline)) void\nf%d(int again)\n{\n" \
		    "\tleaf();\n\t%s;\n\tsink++;\n}\n", i, i == n ?
		    "if (again > 0)\n\t\tf0(again - 1)" : "f" (i + 1) "(again)")
	print "int\nmain(void)\n{\n\tf0(2);\n\tf4980(1);\n" \
	    "\treturn sink != 40050;\n}"
}' >deep.c
${CC:-gcc} -O1 -o deep deep.c && ./deep
ok "functions that are active far out" $?
both "functions that are active far out" ./deep
"$B/trace" -v -e counts --contexts -o many ./deep 2>err
n=$(sed -n 's/^trace: \([0-9]*\) requests,.*/\1/p' err)
[ "$n" -gt 10000 ] && [ "$n" -lt 35000 ]
ok "are found there without a request" $?
echo "# $n requests"
# windows: each begins without a caller, and its calls end with it
for w in --from=recurse "--from=recurse --to=compare" "--from=cut --to=fault" \
    --from=scan --to=handler; do
	meet "-e blocks $w,-e counts --contexts $w" costs_and_stacks ./reps
	ok "windows, $w: the same" $?
	meet "-e all $w,-e cache --contexts $w" missed ./reps
	ok "windows, $w: the same with misses" $?
done
# a loop that calls its own function in each round, however often
${CC:-gcc} -O1 -o headloop "$SRC/headloop.c"
alike "loops of calls" ./headloop 40000
cached "loops of calls" ./headloop 9000
record "-e counts --contexts" many ./headloop 20000000 only &&
    graph many much
same "many rounds of one: calls and costs" "1 39999999
1 40000001
19999998 $((19999998 * 20000000))" "$(awk '
    sub(/^c?fn=/, "") { if (match($0, /^\([0-9]*\) /)) {
	id = substr($0, 1, RLENGTH - 1); sub(/^[^ ]* /, ""); name[id] = $0 }
	to = $0 in name ? name[$0] : $0 }
    /^calls=/ { split(substr($0, 7), c, " "); getline
	if (to ~ /^spin/) print c[1], $2 }' much | LC_ALL=C sort -n)"
# operations that jump to each other, with calls, handlers and other such runs
# above them: of 2 million jumps in a row few have a frame
${CC:-gcc} -O1 -o tailops "$SRC/tailops.c"
alike "operations that jump to each other" ./tailops 20000
cached "operations that jump to each other" ./tailops 1000
# calls through null pointers, made good by a handler that jumps away
cat >null.c <<'E'
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf back;
static volatile int x;
static void handler(int sig) { siglongjmp(back, sig); }
__attribute__((noinline)) void work(void) { for (int i = 0; i < 100; i++) x += i; }
__attribute__((noinline)) void call(void (*f)(void)) { work(); f(); work(); }
int main(void)
{
	signal(SIGSEGV, handler);
	for (int i = 0; i < 30; i++)
		if (!sigsetjmp(back, 1))
			call(i % 3 == 0 ? work : 0);
	return 0;
}
E
${CC:-gcc} -O1 -w -o null null.c
alike "calls to where no code is" ./null
cached "calls to where no code is" ./null
check "their frames take no memory" "$B/trace" -e counts --contexts -o many \
    ./tailops 200000 more
${CC:-gcc} -O1 -o unseen "$SRC/unseen.c"
w="--from=inner --to=stop"
meet "-e blocks $w,-e counts --contexts $w" costs_and_stacks ./unseen
ok "returns to callers from before a window: the same" $?
meet "-e all $w,-e cache --contexts $w" missed ./unseen
ok "returns to callers from before a window: the same with misses" $?
"$B/trace" -e blocks --from=recurse -o order ./reps &&
    "$B/callgraph" --contexts order | "$B/fmt-folded" >stacks
same "nobody calls what begins one" recurse \
    "$(sed 's/[; ].*//' stacks | sort -u)"
some "threads" '^work_' ./workers 5
# the next image's first lines are not those of a thread that is gone
${CC:-gcc} -O1 -pthread -o again "$SRC/again.c"
check "an exec behind threads" "$B/trace" -e cache --contexts -o again.ev \
    ./again
check "its frames: whole" "$B/callgraph" -o costs again.ev
each "repeated instructions" ./reps
for v in exact-rep exact-repfault ins-repcmp; do
	each "$v" "$V/$v"
done
for o in -i777 --debug=fewcounts --for=99999 --from=recurse --after=90000; do
	whole "rounds, $o" -e counts $o -- ./reps
done
whole "rounds of threads" -e counts -- ./workers 5
status 125 "modifications without contexts" "$B/trace" -e counts \
    --modify=write ./reps
same "are not told" "trace: --modify=write: only with --contexts; no other \
stream has the costs of calls" "$(cat err)"
done_testing
