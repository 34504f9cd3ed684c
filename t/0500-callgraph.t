#!/bin/sh
# callgraph: calls, returns and jumps, in streams made by hand

. t/lib.sh

G=$B/callgraph
cd "$T" || exit 99

# main at 401000, f at 401100, g at 401200, handler at 401300, f.cold at 401400;
# 100 bytes each. What is before them has no name.
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
	fun f.cold
E
${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x400f00 -Wl,-e,0x400f00 \
    -Wl,--build-id=none -o prog prog.s 2>err ||
    { cat err; exit 99; }
map=$(readelf -lW prog | awk '/LOAD.*R E/ { print $3, $2 }' |
    sed 's/0x00*//g; s/ / 402000 /')

# stream KIND LINE...: with the program mapped where it is linked
stream() {
	printf '%s\n' "H quern-events 1" "H cmd ./prog" "H kind $1"
	[ -z "$outcomes" ] || echo "H outcomes $outcomes"
	echo "M 1 $map $T/prog"
	shift
	printf '%s\n' "$@"
}
outcomes=

# What was found, as a list: "f 3" own cost, "f>g 2 10" two calls, 10 in all.
cat >list.awk <<'E'
function num(n) { return sprintf("%.0f", n) }	# some awks: 1e+10
function name(s,	id) {
	id = s
	sub(/\).*/, "", id)
	if (s ~ /\) /) {
		sub(/^[^)]*\) /, "", s)
		n[id] = s
	}
	return n[id]
}
/^part:/ { part = $2 > 1 ? "part " $2 " " : "" }
/^thread:/ { part = "thread " $2 " " }
/^fn=/ { fn = part name(substr($0, 4)) }
/^cfn=/ { cfn = name(substr($0, 5)) }
/^calls=/ {
	split(substr($0, 7), c, " ")
	getline
	if (!((fn, cfn) in calls))
		arc[++narc] = fn SUBSEP cfn
	calls[fn, cfn] += c[1]
	for (i = 2; i <= NF; i++)
		incl[fn, cfn, i] += $i
	if (NF > nf)
		nf = NF
	next
}
/^jump=|^jcnd=/ { sub(/ .*/, ""); print fn " " $0; getline; next }
/^[0-9+*-]/ {
	if (!(fn in seen))
		fns[++nfn] = fn
	seen[fn] = 1
	for (i = 2; i <= NF; i++)
		self[fn, i] += $i
	if (NF > nf)
		nf = NF
}
END {
	for (k = 1; k <= nfn; k++) {
		s = fns[k]
		for (i = 2; i <= nf; i++)
			s = s " " num(self[fns[k], i])
		print s
	}
	for (k = 1; k <= narc; k++) {
		split(arc[k], a, SUBSEP)
		s = a[1] ">" a[2] " " num(calls[a[1], a[2]])
		for (i = 2; i <= nf; i++)
			s = s " " num(incl[a[1], a[2], i])
		print s
	}
}
E
# finds TEXT "expected" OPTION... : in the stream ./ev
finds() {
	text=$1 want=$2
	shift 2
	run "$G" "$@" ev
	st=$?
	same "$text" "$want 0" "$(awk -f list.awk out | sort | tr '\n' ';') $st"
	[ $st = 0 ] || sed 's/^/# /' err
}

# --- a call: main runs 2 instructions, the second calls f, which runs 2
call='B 1 >401000 3 5w8.0-8L401100'
f='B 2 >401100 3 1r8.0R'
after='B 3 >401008 2 2S'
stream blocks "$call" 1+7ffe1000 "$f" 2+7ffe0ff8 "$after" 3 "Y 231" \
    "E exit 0 3" >ev
check "a call" "$G" ev
cat >want <<E
# callgrind format
version: 1
creator: quern 0.1 callgraph
cmd: ./prog
part: 1
desc: Trigger: Program termination
positions: instr
events: Ir

ob=(1) $T/prog
fl=(1) ???
fn=(1) main
0x401000 1
+3 1
cob=(1)
cfi=(1)
cfn=(2) f
calls=1 +253
* 2
+5 1
+2 1

fl=(1)
fn=(2)
0x401100 1
+3 1

summary: 6
totals: 6
E
samefile "is told with its cost" want out
gzip -c ev >ev.gz
check "compressed" "$G" ev.gz
samefile "is the same" want out
stdin() { "$G" -o costs - <ev; }
check "from standard input, -o" stdin
samefile "is the same" want costs

# --- three calls by the same blocks; loops
stream blocks "$call" "$f" "B 4 >401008 2J401004" "B 5 >401004 5w8.0-8L401100" \
    "$after" 1+7ffe1000 2+7ffe0ff8 4 5+7ffe1000 2. 4 5. 2. 3 "Y 231" \
    "E exit 0 9" >ev
finds "three calls" "f 6;main 8;main>f 3 6;"
stream blocks "B 1 >401000 3 2C401000 2S" "P 2 1 2" "2*3e" 2 1 "Y 231" \
    "E exit 0 65" >ev
finds "a jump to a function's start calls it" "main 2;main'2 129;\
main'2>main'2 63 4095;main>main'2 1 129;"
stream blocks "B 1 >401004 3 2C401004 2S" "P 2 1 2" "2*3e" 2 1 "Y 231" \
    "E exit 0 65" >ev
finds "elsewhere it is a loop" "main 131;"
finds "parts of 20 basic blocks" "main 40;part 2 main 40;part 3 main 40;\
part 4 main 11;" --dump-every-bb=20
finds "parts that end with the run" "main 64;part 2 main 64;part 3 main 3;" \
    --dump-every-bb=32

stream blocks "B 1 >401000 4 2C401010" "B 2 >401010 4 2C401000" 1 2 1 2 \
    "E exit 0 4" >ev
check "jumps whose part ends before they lead on" "$B/callgraph" \
    --collect-jumps=yes --dump-every-bb=1 ev
same "their counts" "jcnd=1/1 jcnd=1/1" \
    "$(sed -n 's/^\(jcnd=[^ ]*\).*/\1/p' "$T/out" | tr '\n' ' ' |
	sed 's/ $//')"

# --- recursion: main calls f, which calls itself twice more
rec='B 5 >401100 3 5w8.0-8L401100'
back='B 6 >401108 1r8.0R'
stream blocks "$call" "$rec" "$f" "$back" "$after" 1+7ffe1000 5+7ffe0f00 \
    5-100 2+7ffe0df8 6+7ffe0ef8 6+100 3 "Y 231" "E exit 0 7" >ev
finds "recursion" "f 3;f'2 5;f'2>f'2 1 2;f>f'2 1 5;main 4;main>f 1 8;"
finds "one level" "f 8;f>f 2 7;main 4;main>f 1 8;" --separate-recs=1
finds "three levels" "f 3;f'2 3;f'2>f'3 1 2;f'3 2;f>f'2 1 5;main 4;\
main>f 1 8;" --separate-recs=3
finds "three levels of f alone" "f 3;f'2 3;f'2>f'3 1 2;f'3 2;f>f'2 1 5;main 4;\
main>f 1 8;" --separate-recs=1 --separate-recs=3=f
finds "a caller" "f'2'main 5;f'2'main>f'2'main 1 2;f'main 3;\
f'main>f'2'main 1 5;main 4;main>f'main 1 8;" --separate-callers=1
finds "of g only" "f 3;f'2 5;f'2>f'2 1 2;f>f'2 1 5;main 4;main>f 1 8;" \
    --separate-callers=1=g
finds "skipped" "main 12;" --fn-skip=f
finds "wild cards" "main 12;" --fn-skip='?*' --fn-skip=nothing
finds "none match" "f 3;f'2 5;f'2>f'2 1 2;f>f'2 1 5;main 4;main>f 1 8;" \
    --fn-skip='f?' --fn-skip='*ff'
finds "direct recursion without levels" "f 8;f>f 2 7;main 4;main>f 1 8;" \
    --skip-direct-rec=yes
finds "callers apart: auto" "f 3;f'2 5;f'2>f'2 1 2;f>f'2 1 5;main 4;\
main>f 1 8;" --separate-callers=auto
finds "nothing counts" "" --collect-atstart=no
finds "nothing is followed" "" --instr-atstart=no
sed '1s/1/2/; s/^2+7ffe0df8/J cold\n&/' ev >mark.ev
mv ev ev.was; cp mark.ev ev
finds "until a mark" "f 4;f>f 2 5;main 2;main>f 1 4;" --instr-atstart=no
sed 's/^J cold/J toggle/' mark.ev >ev
finds "nothing counts until one toggles that" \
    "f 1;f'2 3;f'2>f'2 1 2;f>f'2 0 3;main 2;main>f 0 4;" --collect-atstart=no
mv ev.was ev

# --- marks in the midst of a function, and the basic block that each ends
stream blocks "B 1 >401000 3 2C401010 2 f" "B 2 >401016 3 3 f" \
    "B 3 >40102b 2C401016" "B 4 >40102d 2S" 1 "J toggle" 2 \
    "J toggle" 2 "J dump" 2 "J zero" 2 "J off" "J on" 3 4 "Y 231" \
    "E exit 0 7" >ev
sed '1s/1/2/' ev >mark.ev
mv mark.ev ev
finds "marks" "main 7;part 2 main 5;"
finds "for the whole block" "main 5;part 2 main 5;" --requests=block
finds "and without a count before" "main 2;" --requests=block \
    --collect-atstart=no
sed '/^J [dzo]/d' ev >mark.ev
mv mark.ev ev
finds "toggles" "main 15;"
finds "for the whole block" "main 16;" --requests=block
finds "toggles, and off at first" "main 3;" --collect-atstart=no
finds "for the whole block" "main 2;" --collect-atstart=no --requests=block
status 2 "an unknown place of requests" "$G" --requests=line ev

# --- a tail call: f jumps to g, which returns to main; on a condition, too
stream blocks "$call" "B 7 >401100 3 2J401200" "B 8 >401200 4 1r8.0R" "$after" \
    1+7ffe1000 7 8+7ffe0ff8 3 "Y 231" "E exit 0 4" >ev
finds "tail call" "f 2;f>g 1 2;g 2;main 4;main>f 1 4;"
finds "of one that has returned then" "f 2;g 2;main 4;main>f 1 2;main>g 1 2;" \
    --pop-on-jump=f
stream blocks "$call" "B 7 >401100 3 2C401200 1S" "P 9 7 2" \
    "B 8 >401200 4 1r8.0R" "$after" 1+7ffe1000 9 8+7ffe0ff8 3 "Y 231" \
    "E exit 0 4" >ev
finds "on a condition" "f 2;f>g 1 2;g 2;main 4;main>f 1 4;"
stream blocks "B 1 >4010fe 2C401000 2S" "P 2 1 1" "B 3 >401100 2S" 2 3 \
    "Y 231" "E exit 0 2" >ev
finds "falling into a function" "f 1;main 1;main>f 1 1;"
stream blocks "B 1 >4010fc 2 2C401000 2 2S" 1 "Y 231" "E exit 0 1" >ev
finds "in the midst of a block" "f 2;main 2;main>f 1 2;"
stream blocks "B 1 >4010fc 2 2 2 2S" 1 "Y 231" "E exit 0 1" >ev
finds "in straight code" "f 2;main 2;main>f 1 2;"
stream blocks "B 1 >4010fc 2 2 2 2C4010fe 2S" 1 "Y 231" "E exit 0 1" >ev
finds "behind which a branch is" "f 3;main 2;main>f 1 3;"
stream blocks "B 1 >400ffc 2 2 2 2C401004 2S" 1 "Y 231" "E exit 0 1" >ev
finds "from where there are no symbols" "0x0000000000400ffc 2;\
0x0000000000400ffc>main 1 3;main 3;"

# --- longjmp: main calls f calls g, which jumps into the midst of main
stream blocks "$call" "B 10 >401100 3 5w8.0-8L401200" \
    "B 11 >401200 3 2I" "$after" 1+7ffe1000 10+7ffe0ff0 11 3 "Y 231" \
    "E exit 0 4" >ev
finds "longjmp" "f 2;f>g 1 2;g 2;main 4;main>f 1 4;"
# the same into a function that is skipped
stream blocks "$call" "B 5 >401100 3 5w8.0-8L401200" \
    "B 16 >401200 3 5w8.0-8L401300" "B 11 >401300 3 2I" "$back" "$after" \
    1+7ffe1000 5+7ffe0ff0 16+7ffe0fe0 11 6+7ffe0ff8 3 "Y 231" "E exit 0 6" >ev
finds "past two" "f 3;f>g 1 4;g 2;g>handler 1 2;handler 2;main 4;main>f 1 7;"
finds "into a skipped function" "g 2;g>handler 1 2;handler 2;main 7;\
main>g 1 4;" --fn-skip=f
# g jumps back not to the inner f but to the outer one, which returns
stream blocks "$call" "$rec" "B 12 >401100 3 5w8.0-8L401200" \
    "B 11 >401200 3 2I" "$back" "$after" 1+7ffe1000 5+7ffe0ff0 12+7ffe0fe0 11 \
    6+7ffe0ff8 3 "Y 231" "E exit 0 6" >ev
finds "its return tells that" "f 3;f'2 2;f'2>g 1 2;f>f'2 1 4;g 2;main 4;\
main>f 1 7;"
# the same with a setjmp (g) in the outer one: that tells
sed 's/fun g/fun _setjmp/' prog.s >setjmp.s
${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x400f00 -Wl,-e,0x400f00 \
    -Wl,--build-id=none -o prog2 setjmp.s || exit 99
stream blocks "$call" "B 5 >401100 3 5w8.0-8L401200" "B 14 >401200 3 1r8.0R" \
    "B 16 >401108 5w8.0-8L401110" "B 17 >401110 5w8.0-8L401300" \
    "B 11 >401300 3 2I" "B 18 >401108 2J401140" "B 19 >401140 1r8.0R" "$after" \
    1+7ffe1000 5+7ffe0ff0 14+7ffe0fe8 16+7ffe0ff0 17+7ffe0fe0 11 18 \
    19+7ffe0ff8 3 "Y 231" "E exit 0 9" | sed "s|$T/prog|&2|" >ev
finds "setjmp tells where to" "_setjmp 2;f 5;f'2 1;f'2>handler 1 2;f>_setjmp 1 2;\
f>f'2 1 3;handler 2;main 4;main>f 1 10;"
# an exception's landing pad in the part of f that is elsewhere
stream blocks "$call" "B 10 >401100 3 5w8.0-8L401200" "B 11 >401200 3 2I" \
    "B 20 >401410 3 2J401108" "$back" "$after" 1+7ffe1000 10+7ffe0ff0 11 20 \
    6+7ffe0ff8 3 "Y 231" "E exit 0 6" >ev
finds "landing pad in f.cold" "f 5;f>g 1 2;g 2;main 4;main>f 1 7;"

# and one that f jumps to, and back from
stream blocks "$call" "B 10 >401100 3 2J401400" "B 20 >401400 3 2J401108" \
    "$back" "$after" 1+7ffe1000 10 20 6+7ffe0ff8 3 "Y 231" "E exit 0 5" >ev
finds "f.cold is called" "f 2;f.cold 3;f>f.cold 1 3;main 4;main>f 1 5;"
finds "f.cold is f" "f 5;main 4;main>f 1 5;" --join-cold=yes

# --- a return whose call was not seen; one that is a jump
stream blocks "B 1 >401108 3 1r8.0R" "B 2 >401010 3 2S" 1+7ffe0000 2 "Y 231" \
    "E exit 0 2" >ev
finds "a return without a call" "f 2;main 2;main>f 1 2;"
stream blocks "$call" "B 7 >401100 3 1r8.0R" "B 8 >401200 4 1r8.0R" "$after" \
    1+7ffe1000 7+7ffe0fe0 8+7ffe0ff8 3 "Y 231" "E exit 0 4" >ev
finds "a return that is a jump" "f 2;f>g 1 2;g 2;main 4;main>f 1 4;"

# --- a signal in f: its handler calls g
stream blocks "$call" "B 2 >401100 3 3 1r8.0R" "P 9 2 1" "$after" \
    "B 21 >401300 5w8.0-8L401200" "B 14 >401200 1r8.0R" "B 22 >401305 1r8.0R" \
    "B 23 >400f00 5 2S" "B 24 >401103 3 1r8.0R" \
    1+7ffe1000 9 "K 14 401103" 21+7ffd0000 14+7ffcfff8 22+7ffd0008 23 "Y 15" \
    24+7ffe0ff8 3 "Y 231" "E exit 0 8" >ev
finds "a signal" "0x0000000000400f00 2;0x0000000000400f00>handler 1 3;f 3;g 1;\
handler 2;handler>g 1 1;main 4;main>f 1 3;"
# one right behind the return of f, which the handler calls again
stream blocks "$call" "$f" "$after" "B 21 >401300 5w8.0-8L401100" \
    "B 22 >401305 1r8.0R" "B 23 >400f00 5 2S" 1+7ffe1000 2+7ffe0ff8 \
    "K 14 401008" 21+7ffd0000 2-11000 22+7ffd0008 23 "Y 15" 3 "Y 231" \
    "E exit 0 7" >ev
finds "a signal behind a return" "0x0000000000400f00 2;\
0x0000000000400f00>handler 1 4;f 4;handler 2;handler>f 1 2;main 4;main>f 1 2;"
# one whose handler jumps out
stream blocks "$call" "B 2 >401100 3 3 1r8.0R" "P 9 2 1" "$after" \
    "B 21 >401300 5 2I" 1+7ffe1000 9 "K 14 401103" 21 3 "Y 231" \
    "E exit 0 4" >ev
finds "a handler that jumps out" "f 1;handler 2;main 4;main>f 1 1;"

# --- f on a stack far below main's calls the handler on main's, and returns
stream blocks "B 1 >401000 3 2I" "B 5 >401200 3 5w8.0-8L401100" \
    "B 6 >401100 3 5w8.0-8L401300" "B 7 >401300 1r8.0R" \
    "B 8 >401108 3 1r8.0R" "B 9 >401208 3 2S" 1 5+c0001000 6+7fffe0f00 \
    7+7fffe0ef8 8+c0000ff8 9 "Y 231" "E exit 0 6" >ev
finds "another stack" "f 4;f>handler 1 1;g 4;g>f 1 5;handler 1;main 2;\
main>g 1 9;"
# so twice, and the handler jumps back
stream blocks "B 1 >401000 3 2I" "B 5 >401200 3 5w8.0-8L401100" \
    "B 6 >401100 3 5w8.0-8L401300" "B 7 >401300 3 2I" \
    "B 8 >401108 3 5w8.0-8L401300" "B 10 >401110 3 1r8.0R" \
    "B 9 >401208 3 2S" 1 5+c0001000 6+7fffe0f00 7 8+7fffe0f00 7 \
    10+c0000ff8 9 "Y 231" "E exit 0 8" >ev
finds "another stack, left by jumps" "f 6;f>handler 2 4;g 4;g>f 1 10;handler 4;\
main 2;main>g 1 14;"

# --- threads: two in f at once
stream blocks "T 1" "$call" "$f" "$after" 1+7ffe1000 "T 2" 1+7f000000 "T 1" \
    2+7ffe0ff8 "T 2" 2+7f000000 3 "Y 60" "T 1" 3 "Y 231" "E exit 0 6" >ev
finds "threads" "f 4;main 8;main>f 2 4;"
finds "apart" "thread 1 f 2;thread 1 main 4;thread 1 main>f 1 2;thread 2 f 2;\
thread 2 main 4;thread 2 main>f 1 2;" --separate-threads
check "one part each" "$G" --separate-threads -o costs ev
same "and no more" "thread: 1
thread: 2" "$(grep ^thread: costs)"
stream blocks "$call" 1+7ffe1000 "$f" 2+7ffe0ff8 "$after" 3 "Y 231" \
    "E exit 0 3" >ev1
check "one thread" "$G" --separate-threads -o costs ev1
same "one part" "thread: 1" "$(grep ^thread: costs)"
# 5,000 threads, each in f when the next one begins
{
	stream blocks "$call" "$f" "$after"
	seq 5000 | sed 's/.*/T &\n1+7ffe1000/'
	seq 5000 | sed 's/.*/T &\n2+7ffe0ff8\n3\nY 60/'
	echo "E exit 0 15000"
} >ev1
check "5,000 threads" "$G" --separate-threads -o costs ev1
same "each has its part" "5000 5000" \
    "$(grep -c ^thread: costs) $(grep -c '^summary: 6$' costs)"
# an exec ends all calls
stream blocks "$call" 1+7ffe1000 "$f" "U 0 ffffffffffffffff" \
    "M 2 400000 402000 0 $T/none" "B 30 >401000 2S" 30 "Y 231" "E exit 0 2" >ev
finds "exec" "0x0000000000001000 1;main 2;"

# --- jumps
stream blocks "$call" "B 40 >401100 3 2C401110 3 2C401102 2J401120" \
    "P 41 40 2" "B 43 >401110 2J401105" "B 44 >401105 3 2C401102 2J401120" \
    "B 45 >401120 1r8.0R" "$after" 1+7ffe1000 41 43 44 45+7ffe0ff8 \
    3 "Y 231" "E exit 0 6" >ev
finds "jumps are not told" "f 7;main 4;main>f 1 7;"
finds "jumps" "f 7;f jcnd=1/1;f jump=1;f jump=1;main 4;main>f 1 7;" \
    --collect-jumps=yes
awk 'BEGIN {
	print "H quern-events 2\nH kind blocks\nM 1 1000000 3000000 0 /nonexistent/p"
	for (i = 1; i < 400000; i++)
		printf "B %x >%x 3 2C%x\n%x\n", i, 16777216 + i * 16,
		    16777232 + i * 16, i
	print "E exit 0 399999"
}' >many.ev
LIMIT=25
check "very many jumps of a function, in time" "$G" --collect-jumps=yes many.ev
LIMIT=60
same "are all told" 399998 "$(grep -c '^jcnd=1/1 ' "$T/out")"

# --- parts
stream blocks "$call" "B 10 >401100 3 5w8.0-8L401200" "B 14 >401200 1r8.0R" \
    "$back" "$after" 1+7ffe1000 10+7ffe0ff0 14+7ffe0fe8 6+7ffe0ff8 3 "Y 231" \
    "E exit 0 5" >ev
finds "one part" "f 3;f>g 1 1;g 1;main 4;main>f 1 4;"
finds "before g" "f 2;main 2;main>f 1 2;part 2 f 1;part 2 f>g 1 1;part 2 g 1;\
part 2 main 2;part 2 main>f 0 2;" --dump-before=g
finds "after g" "f 2;f>g 1 1;g 1;main 2;main>f 1 3;part 2 f 1;part 2 main 2;\
part 2 main>f 0 1;" --dump-after=g
same "says why" "desc: Trigger: --dump-after=g
desc: Trigger: Program termination" "$(grep Trigger out)"
finds "forgetting before g" "f 1;f>g 1 1;g 1;main 2;main>f 0 2;" \
    --zero-before=g
finds "in f only" "f 3;f>g 1 1;g 1;main>f 1 4;" --toggle-collect=f
finds "in g only" "f>g 1 1;g 1;main>f 0 1;" --toggle-collect=g
finds "all but g" "f 3;main 4;main>f 1 3;" --toggle-collect=g \
    --collect-atstart=yes
check "a pattern that no function matches" "$G" --toggle-collect=worl \
    --fn-skip='f*' ev
same "is warned of" "callgraph: --toggle-collect: no function worl was executed" \
    "$(cat err)"

# --- what stages before have found
outcomes="D1mr D1mw Bcm"
stream all "B 1 >401000 3r8.0 5w8.1-8L401100" 1+5000+7ffe1000 "O 1 D1mr" \
    "B 2 >401100 3m4.0 2C401110 1r8.1R" 2+6000+7ffe0ff8 "O 1 D1mr" \
    "O 2 Bcm" "B 3 >401008 2r8.0*1w8.2*1 2S" 3+5000+a+9000 \
    "O 1 D1mr*5 D1mw*a" "Y 231" "E exit 0 3" >ev
check "outcomes" "$G" ev
same "are columns in Callgrind's order" "events: Ir Dr Dw D1mr D1mw Bc Bcm" \
    "$(grep ^events out)"
finds "own and inclusive" "f 3 2 0 1 0 1 1;main 4 11 11 6 10 0 0;\
main>f 1 3 2 0 1 0 1 1;"
same "sums" "totals: 7 13 11 7 10 1 1" "$(grep ^totals out)"
finds "rounds counted as Valgrind does" "f 3 2 0 1 0 1 1;\
main 14 11 11 6 10 0 0;main>f 1 3 2 0 1 0 1 1;" --rep=each
finds "modifications are writes" "f 3 1 1 1 0 1 1;main 4 11 11 6 10 0 0;\
main>f 1 3 1 1 1 0 1 1;" --modify=write
finds "of a skipped function" "main 7 13 11 7 10 1 1;" --fn-skip=f
stream all "B 1 >401000 2S" 1 "O 1 Own" "Y 231" "E exit 0 1" >ev
status 2 "one that was not announced" "$G" ev
outcomes=

# --- contexts: f is called by main and by g
stream blocks "$call" "$f" "B 50 >401008 5w8.0-8L401200" \
    "B 51 >401200 5w8.0-8L401100" "B 52 >401205 1r8.0R" "B 53 >40100d 2S" \
    1+7ffe1000 2+7ffe0ff8 50+7ffe1000 51+7ffe0ff8 2-8 52+7ffe0ff8 53 "Y 231" \
    "E exit 0 7" >ev
finds "contexts by name" "f 4;g 2;g>f 1 2;main 4;main>f 1 2;main>g 1 4;" \
    --contexts
same "f has two numbers" 2 "$(grep -c '^c*fn=([0-9]*) f$' out)"
finds "without them" "f 4;g 2;g>f 1 2;main 4;main>f 1 2;main>g 1 4;"
same "it has one" 1 "$(grep -c '^c*fn=([0-9]*) f$' out)"
finds "too many of them" "f 4;g 2;g>f 1 2;main 4;main>f 1 2;main>g 1 4;" \
    --contexts=3
check "are told" grep -q "^desc: 1 calls of more contexts than 3" out

# --- entries and exits: g is a tail call in f
cat >ev <<'E'
H quern-events 1
H kind calls
F 5 1 3 1000000000 16384 0 log
T 7 1
G 1 . main
G 2 . f
G 3 . g
X 3 90
N 1 100
N 2 110
N 3 118
V 3 120
N 3 120
X 2 150
N 2 160
N 2 170
X 2 180
T 8 1
N 3 1000
T 7 1
X 1 200
T 8 1
N 1 1010
E exit 0 13
E
# main 100-200: f 110-150 with g 118-120 and 120-150 (its exit is missing), then
# f 160-200 (missing, too) with f 170-180; hexadecimal
finds "ticks" "f 152;f'2 16;f>f'2 1 16;f>g 2 56;g 72;g>main 1 0;main 32;\
main>f 2 224;"
same "in all" "totals: 272" "$(tail -n 1 out)"
same "unit and what is missing" "desc: 1 exits of functions that were not entered
desc: 2 functions left by an exit of an outer one
desc: 2 functions not left until the end
event: Ticks : nanoseconds" "$(grep -E '^desc: [0-9]|^event:' out)"

# --- a loop of three instructions that calls its own function: each call costs
# itself and all later rounds; there is no frame for each
rounds=$((1 << 24))
stream blocks "B 1 >401010 5w8.0L401100" 1+7ffe00000000 \
    "B 2 >401100 1 2 2C401100" "2*ffffff" "B 3 >401105 1r8.0R" \
    3+7ffe00000000 "B 4 >401015 1" 4 "E exit 0 $((rounds + 3))" >ev
finds "a loop of calls" "f 3;f'2 $((3 * rounds - 2));\
f'2>f'2 $((rounds - 2)) $((3 * (rounds - 2) * (rounds - 1) / 2 + rounds - 2));\
f>f'2 1 $((3 * rounds - 2));main 2;main>f 1 $((3 * rounds + 1));"
# the same of a stream's first function, whose caller the return shows
rounds=$((1 << 21))
stream blocks "B 2 >401100 1 2 2C401100" "2*1fffff" "B 3 >401105 1r8.0R" \
    3+7ffe00000000 "B 4 >401015 1" 4 "E exit 0 $((rounds + 2))" >ev
finds "a loop of calls without a caller" "f 3;f'2 $((3 * rounds - 2));\
f'2>f'2 $((rounds - 2)) $((3 * (rounds - 2) * (rounds - 1) / 2 + rounds - 2));\
f>f'2 1 $((3 * rounds - 2));main 1;main>f 1 $((3 * rounds + 1));"
# two functions that jump to each other, too, and a call of each round's own
stream blocks "B 1 >401010 5w8.0L401100" 1+7ffe00000000 \
    "B 2 >401100 2 2J401200 >401200 5w8.0L401300 >401300 1r8.0R >401205 2J401100" \
    2+7ffdfffffff8 "2.*1fffff" "B 3 >401100 1r8.0R" 3+7ffe00000000 \
    "B 4 >401015 1" 4 "E exit 0 $(((2 << 20) + 4))" >ev
check "two functions that jump to each other" "$G" ev
same "take part in all costs" "main>f 1 $((5 * ((2 << 20) + 1) + 1))
g>handler 1 1
g'2>handler $((2 << 20)) $((2 << 20))" \
    "$(awk -f list.awk out | grep -e '^main>' -e '>h')"

# and with an event of each round, before the last call of the round: of so many
# calls each has those of its own and all later rounds, or of all later ones
outcomes=D1mr n=20000
stream all "B 1 >401010 5w8.0L401100" 1+7ffe00000000 \
    "B 2 >401100 2J401200" 2 \
    "B 3 >401200 2r8.0 2J401100 >401100 2J401200" \
    "$(awk -v n=$n 'BEGIN { while (n-- > 0) print "3+0\nO 1 D1mr" }')" \
    "B 4 >401200 1r8.0R" 4+7ffe00000000 "B 5 >401015 1" 5 \
    "E exit 0 $((n + 4))" >ev
outcomes=
check "two functions that jump to each other, with events" "$G" ev
same "take part in those of their rounds" "f'2>g'2 $((n * (n - 1) / 2))
f>g $n
g'2>f'2 $(((n - 1) * (n - 2) / 2))
g>f'2 $((n - 1))
main>f $n" "$(awk -f list.awk out | awk '/>/ { print $1, $6 }' | sort)"

# --- trouble
stream blocks "$call" 1+7ffe1000 "$f" 2+7ffe0ff8 >ev
status 2 "a stream that is cut" "$G" ev
same "says so" "callgraph: ev: truncated after 2 executions" "$(cat err)"
same "costs so far, no end mark" "0x401100 1
+3 1" "$(tail -n 2 out)"
stream counts "$call" >ev
status 2 "kind counts" "$G" ev
check "is not enough" grep -q 'needs trace -e counts --contexts' err
stream blocks "B 1 >401000 3 5w8L401100" "E exit 0 0" >ev
status 2 "no place of a return address" "$G" ev
check "is told with its line" grep -q '^callgraph: ev:5: a call or' err
stream blocks "$call" 1+7ffe1000 "E exit 0 1" >ev
status 2 "rounds of kind blocks" "$G" --rep=each ev
for o in --rep=x --separate-callers=101 --separate-recs=0 --contexts=0 \
    --skip-plt=maybe --dump-instr=no; do
	status 2 "$o" "$G" "$o" ev
done
status 2 "two files" "$G" ev ev

# a prefix belongs to the object of its block, whatever was mapped since
for line in "M 2 401000 402000 1000 /b" "U 401000 402000"; do
	printf '%s\n' "H quern-events 2" "H kind all" \
	    "M 1 401000 402000 1000 /a" "B 1 >401000 3 3" 1 "$line" \
	    "P 2 1 1" 2 "E exit 0 2" >ev
	check "a prefix behind $line" "$G" -o costs ev
	same "is code of its block's object" "/a 0x1000 2 +3 1" \
	    "$(awk '/^ob=/ { print $2 } /^0x|^[+]/' costs | paste -sd' ')"
done

done_testing
