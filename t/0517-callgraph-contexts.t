#!/bin/sh
# callgraph: streams of kinds counts and cache with contexts give what the same
# run gives in order

. t/lib.sh

G=$B/callgraph
MODEL=$PWD/t/models/contexts.py
command -v python3 >/dev/null || skip_all "no python3"
cd "$T" || exit 99

# as in 0500: main at 401000, f at 401100, g at 401200, handler at 401300
cat >prog.s <<'E'
	.text
	.macro fun name
	.globl	\name
	.type	\name, @function
	.size	\name, 256
\name:	.skip 256
	.endm
	.skip 0x100
	fun main
	fun f
	fun g
	fun handler
	.section .plt, "ax"
	.skip 64
E
${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x400f00 -Wl,-e,0x400f00 \
    -Wl,--section-start=.plt=0x402000 -Wl,--build-id=none -o prog prog.s \
    2>err || { cat err; exit 99; }
map=$(readelf -lW prog | awk '/LOAD.*R E/ { print $3, $2; exit }' |
    sed 's/0x00*//g; s/ / 403000 /')

# told SEED KIND THREADS: the run, in KIND.ev
told() {
	timeout 60 python3 "$MODEL" "$1" "$2" "$map $T/prog" "$3" >"$2.ev"
}
# costs IN OUT OPTION...: without what may differ
costs() {
	in=$1 to=$2
	shift 2
	timeout 60 "$G" "$@" "$in.ev" >"$in.costs" || return
	grep -v '^desc:' "$in.costs" >"$to"
}
# alike TEXT ORDERED CONTEXTS OPTION...
alike() {
	text=$1 a=$2 b=$3
	shift 3
	costs "$a" want "$@" && costs "$b" got "$@"
	ok "$text" $?
	cmp want got
	ok "$text: the same bytes" $?
}
folded() {
	text=$1 a=$2 b=$3
	shift 3
	costs "$a" want --contexts "$@" && costs "$b" got --contexts "$@" &&
	    "$B/fmt-folded" $event "$a.costs" >want &&
	    "$B/fmt-folded" $event "$b.costs" >got
	ok "$text" $?
	samefile "$text: the same stacks" want got
}

for seed in 1 2 3; do
	told $seed blocks 1 && told $seed counts 1 && told $seed all 1 &&
	    told $seed cache 1
	ok "run $seed" $?
	alike "run $seed: counts" blocks counts
	alike "run $seed: cache" all cache
	event=
	folded "run $seed: contexts of counts" blocks counts
	for event in Ir Dr Dw D1mr I1mr; do
		event="--event=$event"
		folded "run $seed: contexts of cache, $event" all cache
	done
done

# --- threads, in sum and apart
told 4 blocks 3 && told 4 counts 3 && told 4 all 3 && told 4 cache 3
ok "three threads" $?
alike "in sum" blocks counts
alike "apart" blocks counts --separate-threads
event=
folded "apart, contexts" blocks counts --separate-threads
# W lines of all threads stand behind the last T line
status 2 "apart, of kind cache" "$G" --separate-threads cache.ev
same "is refused" "callgraph: cache.ev:$(($(grep -c ^H cache.ev) + 1)): a \
stream of kind cache does not tell how often each thread executed a block: \
--separate-threads needs kind all, blocks or counts" "$(cat err)"
event=--event=D1mr

# --- by hand: stream KIND LINE..., then FILE.costs without what may differ
stream() {
	printf '%s\n' "H quern-events 2" "H cmd ./prog" "H kind $1"
	case $1 in counts|cache*) [ -z "$max" ] || echo "H contexts $max" ;; esac
	[ -z "$costs" ] || echo "H $costs"
	[ -z "$outcomes" ] || echo "H outcomes $outcomes"
	echo "M 1 $map $T/prog"
	shift
	printf '%s\n' "$@"
}
max=1000000 outcomes='' costs=
main="S 1 0 1 401000" mains="A 1 0 0 401000 1"

# main calls f by a stub twice, once resolved in a block of its own
first="B 1 >401004 3 5w8.0-8L402010"
stub="B 2 >402010 4 6r8I"
f="B 3 >401100 3 1r8.0R"
rest="B 4 >40100c 2 2S"
stream blocks "$first" "$stub" "$f" "$rest" 1+7ffe1000 2 3+7ffe0ff8 4 1+0 2 3+0 4 \
    "Y 231" "E exit 0 8" >blocks.ev
in_one="B 1 >401004 3 5w8L402010 >402010 4 6r8I"
stream counts "$main" "$mains" "$in_one" "F 1 1" "S 2 1 1 401100" \
    "A 2 1 401007 401100 2" "B 2 >401100 3 1r8R" "F 2 2" "B 3 >40100c 2 2S" \
    "F 3 1" "1*1" "2*1" "3*1" "V 1 0 10" "V 2 2 4" "I 16" "E exit 0 6" \
    >counts.ev
alike "a stub behind its call" blocks counts
alike "and contexts" blocks counts --contexts
stream counts "$main" "$mains" "B 1 >401004 3 5w8L402010" "F 1 1" \
    "B 4 >402010 4 6r8I" "F 4 1 401007" "S 2 1 1 401100" \
    "A 2 1 401007 401100 2" "B 2 >401100 3 1r8R" "F 2 2" "B 3 >40100c 2 2S" \
    "F 3 1" "1*1" "2*1" "3*1" "4*1" "V 1 0 10" "V 2 2 4" "I 16" "E exit 0 8" \
    >counts.ev
alike "a stub that names its call" blocks counts

# f jumps back into main: what runs there is no cost of the stub
stream blocks "$first" "$stub" "B 3 >401100 3 2I" "B 4 >40100c 2 2 2S" \
    1+7ffe1000 2 3 4 "Y 231" "E exit 0 4" >blocks.ev
check "a jump out of what a stub led to" "$G" blocks.ev
same "leaves the stub" "0x401004 1
+3 3
calls=1 +249
* 2
+5 1
+2 1
+2 1
0x401100 1
+3 1" "$(grep '^[0+*]\|^calls' out)"

# f jumps to it at its end
stream blocks "B 1 >401004 3 5w8.0-8L401100" "B 3 >401100 3 5J402010" \
    "$stub" "B 4 >401200 3 1r8.0R" "B 5 >40100c 2 2S" 1+7ffe1000 3 2 \
    4+7ffe0ff8 5 "Y 231" "E exit 0 5" >blocks.ev
stream counts "$main" "$mains" "B 1 >401004 3 5w8L401100" "F 1 1" \
    "S 2 1 1 401100" "A 2 1 401007 401100 2" "S 3 2 1 401200" \
    "A 3 2 401103 401200 3" "B 2 >401100 3 5J402010 >402010 4 6r8I" "F 2 2" \
    "B 4 >401200 3 1r8R" "F 4 3" "B 5 >40100c 2 2S" "F 5 1" 1 2 4 5 \
    "V 1 0 a" "V 2 1 6" "V 3 1 2" "I 10" "E exit 0 4" >counts.ev
alike "a stub at a function's end" blocks counts

# the stub's read misses: that is the call's, too
outcomes=D1mr
stream all "$first" "B 2 >402010 4 6r8@403000I" "$f" "$rest" 1+7ffe1000 2 \
    "O 2 D1mr" 3+7ffe0ff8 4 1+0 2 3+0 4 "Y 231" "E exit 0 8" >all.ev
cat >list <<E
$main
$mains
B 1 >401004 3 5w8.0-8L402010 >402010 4 6r8@403000I
F 1 1
S 2 1 1 401100
A 2 1 401007 401100 2
B 2 >401100 3 1r8.0R
F 2 2
B 3 >40100c 2 2S
F 3 1
Q 4 1 4 1 s
N 1 7ffe1000
4+4030000
O 4 D1mr
W 1 2
W 2 2
W 3 2
V 1 0 10 4 2
V 2 2 4 2 0
E exit 0 7
E
stream "cache 64 64 8" "$(cat list)" >cache.ev
alike "a stub's miss" all cache

# references that happen otherwise than once: rep movs of 5 and of no words,
# and a gather of two of four elements
stream all "B 1 >401004 2r8.0*1w8.2*1 6r4.3r4.4r4.5r4.6 2S" \
    1+1000+5+2000+3000+0+4000+0 1+0-5+0+0+0+0+0 "Y 231" "E exit 0 2" >all.ev
stream "cache 64 64 8" "$main" "$mains" \
    "B 1 >401004 2r8.0*1w8.2*1 6r4.3r4.4r4.5r4.6 2S" "F 1 1" "Q 2 1 1 1" \
    "Q 3 1 2 2" "Q 4 1 2 4" "N 1 7ffe1000" 2+1000+5+2000 3+0 4+0 2+0-5+0 \
    3+0 4+0 "W 1 2" "V 1 0 6 9 5" "E exit 0 8" >cache.ev
alike "repeated and masked references" all cache
outcomes=

# intervals add up; states that are alike
stream blocks "B 1 >401004 3 2J401004" "1*4" "Y 231" "E exit 0 5" >blocks.ev
stream counts "$main" "$mains" "S 2 1" "B 1 >401004 3 2J401004" "F 1 2" "1*1" \
    "V 1 0 4" "I 4" "1*2" "V 1 0 6" "I 6" "E exit 0 5" >counts.ev
alike "intervals" blocks counts

# rounds: a copy, a scan, a store in f; once with rounds, once with none
stream blocks "B 1 >401004 2r8*0w8*0 2r1*1 5w8.2-8L401100" \
    "B 2 >401100 2w1*0 1r8.1R" "B 3 >40100d 2C401004" "B 4 >40100f 2S" \
    1+5+3+7ffe1000 2+4+7ffe0ff8 3 1-5-3+0 2-4+0 3 4 "Y 231" "E exit 0 7" \
    >blocks.ev
each="B 1 >401004 2r8w8 2r1 5w8L401100"
costs="rep each"
stream counts "$main" "$mains" "S 2 1 1 401100" "A 2 1 401008 401100 2" \
    "$each" "F 1 1" "P 5 1 2" "B 2 >401100 2w1 1r8R" "F 2 2" \
    "B 3 >40100d 2C401004" "F 3 1" "B 4 >40100f 2S" "F 4 1" 1 2 "R 1 1 0 1" \
    "R 1 2 3 0" "R 2 1 4 0" "V 1 0 b" "V 2 1 6" "I 5" 1 2 3*1 4 "R 1 1 5 0" \
    "R 1 2 0 1" "R 2 1 0 1" "V 1 0 d" "V 2 1 2" "I 8" "E exit 0 7" \
    >counts.ev
alike "rounds" blocks counts --rep=each
alike "rounds, apart" blocks counts --rep=each --separate-threads
same "their sum" "totals: 24" "$(grep ^totals: got)"
same "calls of f cost" "* 8" "$(sed -n '/^calls=2/{n;p;}' got)"
# those of a prefix are those of its block
sed 's/^1$/5/' counts.ev >prefix.ev
check "a prefix" "$G" --rep=each prefix.ev
same "has fewer instructions" "totals: 22" "$(grep ^totals: out)"
line=6
status 2 "rounds that are not asked for" "$G" counts.ev
same "are told" "callgraph: counts.ev:$line: calls cost each round of a\
 repeated instruction: --rep=once needs trace --rep=once" "$(cat err)"
costs="modify write" outcomes="D1mr D1mw"
stream "cache 64 64 8" "$main" "$mains" "B 1 >401004 3m8.0 2S" "F 1 1" \
    "Q 2 1 1 1 s" "N 1 0" 2+70000 "O 1 D1mw" "W 1 1" "V 1 0 2 0 1" \
    "E exit 0 2" >cache.ev
check "what is modified" "$G" --modify=write cache.ev
same "is written" "totals: 2 0 1 0 1" "$(grep ^totals: out)"
status 2 "if so asked for" "$G" cache.ev
same "only" "callgraph: cache.ev:7: calls write what they modify:\
 --modify=read needs trace --modify=read" "$(cat err)"
costs='' outcomes=
stream counts "$main" "$mains" "S 2 1" "B 1 >401004 3 2J401004" "F 1 2" "1*1" \
    "V 1 0 4" "I 4" "1*2" "V 1 0 6" "I 6" "E exit 0 5" >counts.ev

# --- what cannot be told is refused by name
refused() { # MESSAGE OPTION...
	message=$1
	shift
	status 2 "refused: $*" "$G" "$@" counts.ev
	same "refused: $*: message" "callgraph: counts.ev:$line: $message" \
	    "$(cat err)"
}
line=5
for o in --calls --collect-bus=yes --collect-systime=usec --collect-jumps=yes --dump-after=f --dump-before=f \
    --dump-every-bb=9 --skip-direct-rec=yes --fn-skip=f --join-cold=yes --pop-on-jump=f --separate-callers=1 \
    --separate-callers=2=f --separate-recs=1 --separate-recs=3=f \
    --separate-sites=yes --skip-plt=no --toggle-collect=f --zero-before=f; do
	case $o in --skip-plt*) name=$o ;; *) name=${o%%=*} ;; esac
	refused "a stream of kind counts does not tell what $name needs, the\
 order of executions: needs trace -e blocks" $o
done
for o in --collect-atstart=no --instr-atstart=no; do
	refused "a stream of kind counts does not tell what $o needs, the\
 order of executions: needs trace -e blocks" $o
done
refused "calls cost one round of a repeated instruction: --rep=each needs\
 trace --rep=each" --rep=each
for o in --collect-jumps=no --join-cold=no --separate-callers=0 \
    --separate-recs=2 --separate-sites=no --skip-plt=yes --rep=once \
    --demangle=no --collect-atstart=yes --instr-atstart=yes \
    --skip-direct-rec=no --dump-every-bb=0; do
	check "not refused: $o" "$G" $o counts.ev
done
max=
stream counts "B 1 >401004 3 2J401004" "1*4" "I 10" "E exit 0 5" >counts.ev
line=4
refused "a stream of kind counts without calling contexts: needs trace -e\
 counts --contexts"
line=6 max=5
stream counts "B 1 >401004 3 2J401004" "1*4" "I 10" "E exit 0 5" >counts.ev
line=7
refused "an execution of id 1, but no F line says whose"

# --- a part that ends before anything is told
max=5
stream counts "J dump" "J zero" "$main" "E exit 0 0" >counts.ev
status 0 "a dump before any call" "$G" counts.ev
same "both parts have no cost" "summary: 0 totals: 0 summary: 0 totals: 0" \
    "$(grep -E '^(summary|totals)' out | tr '\n' ' ' | sed 's/ $//')"

# --- a part's calls: those before the mark are no part of it, and each call
# --- keeps its own numbers
later() {
	max=5
	stream counts "S 1 0 1 401000" "A 1 0 0 401000 1" \
	    "B 1 >401000 5L401100" "F 1 1" "S 2 1 1 401100" \
	    "A 2 1 401000 401100 2" "B 2 >401100 3 1R" "F 2 2" \
	    "B 3 >401005 2J401000" "F 3 1" 1 2 3 "V 1 1 4" "V 2 1 2" "I 4" \
	    "J $1" "B 6 >401300 1R" "S 4 1 1 401300" "A 4 1 401005 401300 4" \
	    "F 6 4" "3*9" "6*9" "1*4" "2*4" "V 4 a a" "V 2 5 a" "I 35" \
	    "E exit 0 33"
}
for mark in dump zero; do
	later $mark >counts.ev
	status 0 "calls before and after $mark" "$G" counts.ev
	same "each call after $mark has its own numbers" \
	    "f 5 10 handler 10 10" "$(awk '/^part: /{ s = "" }
	    /^cfn=/ { sub(/.* /, ""); s = s " " $0 }
	    /^calls=/ { sub(/calls=/, ""); s = s " " $1
		getline; s = s " " $NF } END { print substr(s, 2) }' out)"
done

# --- damage: half a stream gives what it told, without an end mark
told 5 counts 1
sed '/^V/,$d' counts.ev >half.ev
status 2 "half a stream" "$G" -o half half.ev
grep -q ^fn= half && ! grep -q ^totals half
ok "is told as far as it goes" $?
# ids and costs far out: bounded memory
stream counts "$main" "$mains" "S ffffffff 1 2 ffffffffffffffff" \
    "A ffffffff ffffffff ffffffffffffffff 0 ffffffff" "B 1 >401004 2S" \
    "F 1 ffffffff" 1 "V ffffffff ffffffffffffffff ffffffffffffffff" \
    "V 1 0 7fffffffffffffff" "I 1" "E exit 0 1" >counts.ev
([ -n "${SAN:-}" ] || ulimit -v 2000000
	exec "$G" --contexts counts.ev) >out
ok "ids and costs far out" $?
sed '/^V 1 0/p' counts.ev >beyond.ev
status 2 "costs beyond 2^63" "$G" beyond.ev
same "are told" "callgraph: the sum of the costs is beyond 64 bits" \
    "$(cat err)"
beyond() { # TEXT OPTION KIND LINE...: main's block of one instruction
	what=$1 option=$2
	shift 2
	kind=$1
	shift
	stream "$kind" "$main" "$mains" "A 2 1 401000 401000 1" \
	    "B 1 >401004 4r8@500000r8@500008r8@500010r8@500018" \
	    "B 2 >401008 4r1" "F 1 1" "F 2 1" "$@" >beyond.ev
	status 2 "beyond 2^63: $what" "$G" "$option" beyond.ev
	same "beyond 2^63: $what: is told" \
	    "callgraph: the sum of the costs is beyond 64 bits" "$(cat err)"
}
outcomes=D1mr
beyond "four reads of an instruction" --rep=once "cache 64 64 8" \
    "W 1 4000000000000000" "E exit 0 4611686018427387904"
outcomes='' costs="rep each"
beyond "rounds" --rep=each counts 2 "R 2 1 8000000000000000 0" "E exit 0 1"
beyond "rounds, summed" --rep=each counts 2 "R 2 1 7fffffffffffffff 0" \
    "R 2 1 7fffffffffffffff 1" "E exit 0 1"
done_testing
