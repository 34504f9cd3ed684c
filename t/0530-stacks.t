#!/bin/sh
# fmt-folded and fmt-pprof: stacks of costs with calls

. t/lib.sh

F=$B/fmt-folded
P=$B/fmt-pprof
TOP=$PWD
cd "$T" || exit 99

# costs LINE...: by line, with functions by number
costs() {
	printf '%s\n' '# callgrind format' 'version: 1' 'creator: quern' \
	    'cmd: ./prog 3' 'positions: line' 'events: Ir Dr' '' "$@"
}

# f is called by main and by g; each is a context
costs 'ob=(1) /no/prog' 'fl=(1) a.c' 'fn=(1) main' '1 10 1' 'cob=(1)' \
    'cfi=(1)' 'cfn=(2) f' 'calls=2 20' '2 30 3' 'cob=(1)' 'cfi=(1)' \
    'cfn=(3) g' 'calls=1 30' '3 100 9' 'fl=(1)' 'fn=(2)' '20 30 3' 'fl=(1)' \
    'fn=(3)' '30 20 2' 'cob=(1)' 'cfi=(1)' 'cfn=(4) f' 'calls=1 20' \
    '31 80 7' 'fl=(1)' 'fn=(4)' '20 70 6' '21 10 1' 'totals: 140 13' >contexts
check "contexts" "$F" contexts
same "have stacks of their own" "main 10;main:f 30;main:g 20;main:g:f 80;" \
    "$(tr ';\n' ':;' <out)"
same "and nothing to say" "" "$(cat err)"
check "another event" "$F" -e Dr contexts
same "is counted" "main 1;main:f 3;main:g 2;main:g:f 7;" \
    "$(tr ';\n' ':;' <out)"
status 2 "an event that is not there" "$F" --event=Bim contexts
check "is told" grep -q '^fmt-folded: contexts: no event Bim$' err

# the same by name: f's 110 are of two callers, 30 to 80
sed 's/(4) f/(2)/; s/(4)/(2)/' contexts >arcs
check "one function with two callers" "$F" arcs
same "is shared out as its inclusive costs are" \
    "main 10;main:f 30;main:g 20;main:g:f 80;" "$(tr ';\n' ':;' <out)"
check "which is told" grep -q 'arcs: 1 functions have several callers' err

# recursion: levels are one name, and a call back to a context above no stack
costs 'fn=(1) f' '1 1 0' "cfn=(2) f'2" 'calls=1 1' '1 9 0' 'fn=(2)' '1 3 0' \
    "cfn=(3) g" 'calls=1 1' '1 6 0' 'fn=(3)' '1 4 0' 'cfn=(2)' 'calls=3 1' \
    '1 5 0' 'totals: 8 0' >recursion
check "recursion" "$F" recursion
same "levels" "f 1;f:f 3;f:f:g 4;" "$(tr ';\n' ':;' <out)"
costs 'fn=a' '1 1' 'cfn=b' 'calls=1 1' '1 5' 'fn=b' '1 2' 'cfn=a' 'calls=1 1' \
    '1 3' 'totals: 3 0' >cycle
check "nothing but a cycle" "$F" cycle
same "begins somewhere" "a 1;a:b 2;" "$(tr ';\n' ':;' <out)"
# names
costs 'fn=f(int;char) 12' '1 7' 'fn=' '1 1' 'totals: 8 0' >names
check "names" "$F" names
same "without semicolons, none empty, no number at the end" \
    "??? 1,f(int:char)_12 7," "$(tr '\n' ',' <out)"
costs 'fn=# f' '1 7' 'cfn=py::g:/a 2' 'calls=1 1' '1 8' 'fn=py::g:/a 2' '1 8' \
    'totals: 15 0' >numbers
"$F" numbers >out
same "no comment" "_ f 7,_ f:py::g:/a_2 8," "$(tr ';\n' ':,' <out)"
check "compared" "$B/fmt-svg" --diff out out
check "each stack is there" grep -q '<title>all: 15 counts' out
# what reads no stacks from a pipe says nothing itself
costs 'fn=a' '1 5' 'totals: 5 0' >never
check "an event that never happened" "$F" -e Dr never
same "has no stacks, and that is told" "fmt-folded: never: no costs of Dr: no \
stacks" "$(cat out err)"
# three stacks for one odd count: nothing is lost
costs 'fn=a' '1 1' 'cfn=x' 'calls=1 1' '1 1' 'fn=b' '1 1' 'cfn=x' 'calls=1 1' \
    '1 1' 'fn=c' '1 1' 'cfn=x' 'calls=1 1' '1 1' 'fn=x' '1 1000000' \
    'totals: 1000003 0' >odd
check "an odd number shared out" "$F" odd
same "adds up" 1000003 "$(awk '{ n += $NF } END { print n }' out)"
# more stacks than there can be: 40 functions, each called twice by the one
# before
{
	costs
	for i in $(seq 40); do
		echo "fn=f$i"
		echo "1 5"
		for k in 1 2; do
			echo "cfn=g$i.$k"
			echo "calls=1 1"
			echo "1 $(((40 - i) * 10 + 5))"
		done
		for k in 1 2; do
			printf '%s\n' "fn=g$i.$k" "1 1" "cfn=f$((i + 1))" \
			    "calls=1 1" "1 $(((40 - i) * 10))"
		done
	done
	printf '%s\n' fn=f41 '1 5' "totals: $((40 * 7 + 5)) 0"
} >many
check "too many stacks" "$F" many
same "add up, too" 285 "$(awk '{ n += $NF } END { print n }' out)"

# --- small stacks are their callers' own cost
small() {
	"$F" --threshold="$1" contexts | tr '\n;' ';:'
}
same "a threshold" "main 40;main:g 20;main:g:f 80;" "$(small 25)"
same "of what callees cost, too" "main 40;main:g 100;" "$(small 60)"
same "leaves what has no caller" "main 140;" "$(small 100)"
same "of 0" "main 10;main:f 30;main:g 20;main:g:f 80;" "$(small 0)"

# --- pprof
if command -v python3 >/dev/null; then
	check "a profile for pprof" "$P" -o prog.pb.gz contexts
	check "read by another program" python3 "$TOP/t/models/pprof.py" \
	    prog.pb.gz lines
	same "has the stacks" "main 10;main:f 30;main:g 20;main:g:f 80;" \
	    "$(tr ';\n' ':;' <out)"
	same "and lines" "f a.c:20 100;f a.c:21 10;g a.c:30 20;main a.c:1 10;" \
	    "$(tr '\n' ';' <lines)"
	"$P" contexts >again.pb.gz
	samefile "is the same each time" prog.pb.gz again.pb.gz
	same "with no time in it" "00000000" \
	    "$(od -An -tx1 -j4 -N4 prog.pb.gz | tr -d ' ')"
else
	skip "a profile for pprof" "no python3"
fi

# --- the first mapping is the program
# program TEXT PATH LINE...: of these costs
program() {
	text=$1 want=$2
	shift 2
	costs "$@" >program.costs
	"$P" -o program.pb.gz program.costs
	same "$text" "$want" \
	    "$(python3 "$TOP/t/models/pprof.py" program.pb.gz --program)"
}
if command -v python3 >/dev/null; then
	program "the command's name" /no/prog 'ob=(1) /no/lib' 'fn=(1) main' \
	    '1 1 1' 'ob=(2) /no/prog' 'fn=(2) f' '1 1 1' 'totals: 2 2'
	# the command is a link: the loader calls all others
	program "a link: the object that has main" /no/other \
	    'ob=(1) /no/ld.so' 'fn=(1) start' '1 1 1' 'cob=(2) /no/other' \
	    'cfn=(2) main' 'calls=1 1' '1 2 2' 'ob=(2)' 'fn=(2)' '1 1 1' \
	    'cob=(3) /no/late' 'cfn=(3) main' 'calls=1 1' '1 1 1' 'ob=(3)' \
	    'fn=(3)' '1 1 1' 'totals: 3 3'
	program "a link without main: the first object" /no/other \
	    'ob=(1) ???' 'fn=(1) main' '1 1 1' 'ob=(2) /no/other' 'fn=(2) f' \
	    '1 1 1' 'ob=(3) /no/ld.so' 'fn=(3) start' '1 1 1' 'cob=(2)' \
	    'cfn=(2)' 'calls=1 1' '1 1 1' 'totals: 3 3'
	# bytes that are not UTF-8, which protobuf refuses in strings
	program "names of any bytes" '/no/\377 ü' \
	    "$(printf 'ob=/no/\377 ü')" "$(printf 'fl=\303(')" \
	    "$(printf 'fn=f\300\257')" '1 1 1' 'totals: 1 1'
	check "are read" python3 "$TOP/t/models/pprof.py" program.pb.gz
	same "as what they are" 'f\300\257 1' "$(cat out)"
else
	skip "the first mapping" "no python3"
fi

# --- a real program
cp "$TOP/t/src/tree.c" "$TOP/t/src/tree.h" .
${CC:-gcc} -O2 -g -o prog tree.c || exit 99
"$B/trace" -e blocks --cpu=v3 -o ev ./prog 200 >/dev/null || exit 99
"$B/callgraph" --separate-sites -o all ev
total=$(sed -n 's/^totals: //p' all)
check "of a program" "$F" -o folded all
same "all is there" "$total" "$(awk '{ n += $NF } END { print n }' folded)"
same "sorted, none twice" "$(sort -u folded | wc -l)" "$(wc -l <folded)"
check "main calls insert calls calloc" \
    grep -q ';main;insert;calloc [0-9]*$' folded
"$B/callgraph" --contexts ev | "$F" >out
samefile "places of calls change nothing" folded out
"$B/callgraph" ev | "$F" >out 2>err
same "estimated it is as much" "$total" \
    "$(awk '{ n += $NF } END { print n }' out)"
check "with inlined functions" "$F" --inline=yes -o inlined all
same "it is as much" "$total" "$(awk '{ n += $NF } END { print n }' inlined)"
check "there they are" grep -q ';main;mix;third [0-9]*$' inlined
# a link to a program without symbols
if command -v python3 >/dev/null; then
	strip -o bare prog && ln -s bare name || exit 99
	"$B/trace" -e blocks -o name.ev ./name 9 >/dev/null || exit 99
	"$B/callgraph" --contexts name.ev | "$P" -o name.pb.gz
	same "a real link: its object" "$(pwd -P)/bare" \
	    "$(python3 "$TOP/t/models/pprof.py" name.pb.gz --program)"
else
	skip "a real link" "no python3"
fi
# from a file by line: the same stacks
"$B/callgraph" --contexts ev | "$B/fmt-callgrind" | "$F" >out 2>err
same "of a Callgrind file" "$total" "$(awk '{ n += $NF } END { print n }' out)"
if command -v python3 >/dev/null; then
	check "pprof" "$P" --inline=no -o prog.pb.gz all
	check "read" python3 "$TOP/t/models/pprof.py" prog.pb.gz lines
	samefile "the same stacks" folded out
	"$B/callgraph" ev | "$B/fmt-callgrind" --compress-strings=no >cg
	# own costs of main by line, as fmt-callgrind finds them
	awk '/^f[nlie]=/ { if (/^fn/) { fn = substr($0, 4); file = fl }
		else file = substr($0, 4); if (/^fl/) fl = file }
	/^calls=/ { getline; next }
	/^[0-9]/ && fn == "insert" { n[file ":" $1] += $2 }
	END { for (i in n) print "insert " i, n[i] }' cg | sort >want
	grep '^insert ' lines | sort >got
	samefile "and lines as fmt-callgrind has them" want got
	check "with inlined functions" "$P" -o prog.pb.gz all
	check "read" python3 "$TOP/t/models/pprof.py" prog.pb.gz
	samefile "the same stacks again" inlined out
	check "by address" "$P" --dump-instr=yes -o instr.pb.gz all
	check "read" python3 "$TOP/t/models/pprof.py" instr.pb.gz
	samefile "the same stacks as well" inlined out
else
	skip "pprof" "no python3"
fi
if command -v go >/dev/null; then
	pprof() {
		HOME=$T GOFLAGS=-mod=mod go tool pprof -top "$T/prog.pb.gz"
	}
	check "go tool pprof" pprof
	same "the same total" "$total total" \
	    "$(sed -n 's/^Showing .* of \([0-9]* total\)$/\1/p' out)"
	check "and program" grep -q '^File: prog$' out
	list() {
		HOME=$T go tool pprof -list '^insert$' "$T/prog.pb.gz"
	}
	check "pprof -list" list
	check "knows the source" grep -q 'n = calloc(1, sizeof \*\*n);' out
else
	skip "go tool pprof" "no go"
fi

# --- a log of entries and exits: own time by stack, told by another program
if command -v python3 >/dev/null; then
	cat >stacks.py <<'E'
import collections, sys
own, stack, last, name = collections.Counter(), {}, {}, {}
tid = 0
for l in sys.stdin:
    w = l.split()
    if w[0] == 'T':
        tid = tuple(w[1:])
    if w[0] not in 'NXV':
        continue
    s, t = stack.setdefault(tid, []), int(w[2], 16)
    own[';'.join(s)] += max(0, t - last.get(tid, t))
    last[tid] = max(t, last.get(tid, t))
    if w[0] == 'N':
        s.append('#%d' % int(w[1], 16))
    elif '#%d' % int(w[1], 16) in s:
        while s.pop() != '#%d' % int(w[1], 16):
            pass
del own['']
for k in sorted(own):
    if own[k]:
        print(k, own[k])
E
	for l in simple threads tail throw ring; do
		"$B/read-xray" "$TOP/t/fix/xray/$l.log.gz" >log.ev 2>err
		python3 stacks.py <log.ev | sort >want
		"$B/callgraph" --separate-recs=1000 log.ev | "$F" | sort >got
		samefile "log $l: own ticks of each stack" want got
	done
else
	skip "logs" "no python3"
fi

# --- trouble
large=9000000000000000000
costs 'fn=f' 'cfn=g' "calls=$large 1" '1 2' 'cfn=g' "calls=$large 1" '2 2' \
    'fn=g' '1 4' 'totals: 4 0' >calls
costs 'fn=f' 'cfn=g' 'calls=1 1' "1 $large" 'cfn=g' 'calls=1 1' "2 $large" \
    'fn=g' '1 4' 'totals: 4 0' >inclusive
costs 'fn=f' "1 $large" 'fn=g' "1 -$large" 'fn=f' "1 $large" \
    "totals: $large 0" | sed '3idesc: Files compared: a; b' >self
for f in calls inclusive; do
	for p in fmt-folded fmt-pprof; do
		status 2 "$p: $f beyond 64 bits" "$B/$p" $f
		same "$p: $f: are told" \
		    "$p: the sum of the costs is beyond 64 bits" "$(cat err)"
	done
done
status 2 "fmt-pprof: own costs beyond 64 bits" "$P" self
same "are told" "fmt-pprof: the sum of the costs is beyond 64 bits" "$(cat err)"
status 2 "fmt-folded: own costs beyond 64 bits" "$F" self
sed '/^totals/d' contexts >cut
for p in fmt-folded fmt-pprof; do
	status 2 "$p: costs that are cut" "$B/$p" cut
	check "$p: are told" grep -q "^$p: cut:[0-9]*: trunc" err
	status 2 "$p: nothing" "$B/$p" /dev/null
	status 2 "$p: not costs" "$B/$p" "$TOP/README"
	status 2 "$p: two files" "$B/$p" arcs arcs
	status 2 "$p: not yes nor no" "$B/$p" --inline=x arcs
done
"$P" cut >cut.pb.gz 2>err
status 1 "what was cut is no whole gzip file" gzip -t cut.pb.gz

done_testing
