#!/bin/sh
# fmt-cachegrind: names to costs, a file that Valgrind's tools take

. t/lib.sh

F=$B/fmt-cachegrind
SRC=$PWD/t/src
cd "$T" || exit 99
${CC:-gcc} -O2 -g -o prog "$SRC/tree.c" || exit 99
main=$(nm prog | sed -n 's/^0*\([0-9a-f]*\) T main$/0x\1/p')

# costs EVENTS LINE...: a cost file of main's first instruction
costs() {
	cat <<E
# callgrind format
version: 1
creator: quern
cmd: ./prog 1000
part: 1
desc: I1 cache: 32768 B, 64 B, 8-way associative
positions: instr
events: $1

ob=(1) $T/prog
fl=(1) ???
fn=(1) ???
E
	shift
	printf '%s\n' "$@"
}

costs "Ir Dr D1mr" "$main 5 3 1" "" "totals: 5 3 1" >one
check "one address" "$F" one
line=$(echo "$main" | addr2line -e prog | sed 's/.*://; s/ .*//')
same "is main's, by file and line" "desc: I1 cache: 32768 B, 64 B, 8-way associative
cmd: ./prog 1000
events: Ir Dr D1mr
fl=$SRC/tree.c
fn=main
$line 5 3 1
summary: 5 3 1" "$(cat out)"
gzip -c one >one.gz
cp out want
check "compressed" "$F" one.gz
samefile "gives the same" want out
stdin() { "$F" - <one; }
check "standard input" stdin
samefile "gives the same" want out
check "-o" "$F" -o cg one
samefile "gives the same" want cg
check "its own output as input" "$F" cg
samefile "gives the same" want out

costs "Ir Bc Bcm Own" "$main 1 2 3 4" "$main 1 0 0" "totals: 2 2 3 4" >other
check "any events" "$F" other
same "pass through" "events: Ir Bc Bcm Own;$line 2 2 3 4;summary: 2 2 3 4;" \
    "$(grep -e ^events -e ^[0-9] -e ^summary out | tr '\n' ';')"
costs "Ir" "0x3 7" "" "ob=(2) /no/such" "fl=(1)" "fn=(1)" "0x10 1" \
    "ob=(3) [vdso]" "fn=(1)" "0x20 2" "" "totals: 10" >unknown
check "unknown addresses and objects" "$F" unknown
same "are ???, added up" "fl=???;fn=???;0 10;summary: 10;" \
    "$(grep -v : out | tr '\n' ';'; grep ^summary out | tr '\n' ';')"
costs "Ir Dr D1mr" "" "ob=(2) /no/such" "fl=(1)" "fn=(1)" "" \
    "ob=(3) $T/prog" "fl=(1)" "fn=(1)" "" "ob=(1)" "fl=(1)" "fn=(1)" \
    "$main 5 3 1" "totals: 5 3 1" >announced
check "objects announced before there are costs" "$F" announced
samefile "change nothing" want out
parts() { # events of the second part, its costs
	costs "Ir Dr" "$main 5 3" "totals: 5 3"
	printf '%s\n' "" "part: 2" "positions: instr" "events: $1" "" \
	    "ob=$T/prog" "fn=(1) ???" "$main $2" "totals: $2"
}
parts "Dr Ir" "10 20" >two
check "two parts" "$F" -v two
same "are added up, by the events' names" "$line 25 13" "$(grep ^[0-9] out)"
same "their sums, too" "totals: 25 13" "$(grep ^totals err)"
parts "Ir Dw" "10 20" >two
status 2 "two parts of other events" "$F" two
costs "Ir" "calls=1" "$main 1" "totals: 1" >bad
status 2 "malformed" "$F" bad
same "no output" "" "$(cat out)"
costs "Ir Dr" "$main 5 3" >cut
status 2 "cut: no totals" "$F" cut
same "the body without a summary" "$line 5 3" "$(tail -n 1 out)"
check "a message with the file" grep -q '^fmt-cachegrind: cut:[0-9]*: trunc' err
status 2 "cut, -o" "$F" -o cutout cut
same "the body is there" "$line 5 3" "$(tail -n 1 cutout)"
printf '%s\n' 'H quern-events 1' 'H kind all' 'M 1 1000 2000 0 [vdso]' \
    'B 1 >1000 3r8.0 2S' '1+5000' 'Y 231' 'E exit 0 1' >events
"$B/cachesim" --LL=262144,8,64 events >simulated
check "what cachesim writes" "$F" simulated
grep -v ^totals: simulated >cut
status 2 "and cut" "$F" cut
costs "Ir Dr" "$main 5 3" "totals: 5 4" >wrong
status 2 "totals that are not the sum" "$F" wrong
status 2 "empty input" "$F" /dev/null
status 2 "not yes nor no" "$F" --demangle=maybe one
status 2 "two files" "$F" one one

# names: demangling, below main, order of bytes
cat >names.s <<'E'
	.text
	.macro fun name
	.globl	\name
	.type	\name, @function
	.size	\name, 8
\name:	.skip 8
	.endm
	fun _ZN3foo3barEi
	fun zebra
	fun Zebra
	fun _start
E
${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x401000 -o prog names.s || exit 99
costs Ir "0x401000 1" "0x401008 2" "0x401010 3" "0x401018 4" "totals: 10" >n
fns() { grep -A 1 ^fn= out | grep -v ^-- | sed 's/^fn=//; s/^0 //' |
    tr '\n' ';'; }
check "names" "$F" n
same "demangled, below main, in byte order" \
    "(below main);4;Zebra;3;foo::bar(int);1;zebra;2;summary: 10;" \
    "$(fns)$(tail -n 1 out);"
check "raw names" "$F" --demangle=no --show-below-main=yes n
same "as the file has them" "Zebra;3;_ZN3foo3barEi;1;_start;4;zebra;2;" "$(fns)"

# A whole run. Callgrind tells names itself: taken away and put back, they
# are the same, but for two things of the C library's code: a function that
# is jumped into is no new one to Callgrind, and Valgrind takes two rows of one
# line number for one row, also where the second is of another file. So there
# line numbers alone are compared.
if command -v valgrind >/dev/null; then
	${CC:-gcc} -O2 -g -o prog "$SRC/tree.c"
	check "callgrind" valgrind -q --tool=callgrind --dump-instr=yes \
	    --dump-line=yes --compress-strings=no --compress-pos=no \
	    --callgrind-out-file=callgrind.out ./prog 1000
	cat >sum.awk <<'E'
BEGIN { split("main insert depth", f); for (i in f) own[f[i]] = 1 }
# f'2 is f, called by itself
/^fn=/ { fn = substr($0, 4); sub(/\0472$/, "", fn) }
/^f[lie]=/ { file = substr($0, 4) }
/^calls=/ { getline; next }
/^0x/ { n[(own[fn] ? file " " fn : "others") " " $2] += $3 }
/^[0-9]+ / { n[(own[fn] ? file " " fn : "others") " " $1] += $2 }
END { for (i in n) print i, n[i] }
E
	sed -E -e 's/^creator:.*/creator: quern/' \
	    -e '/^(fi|fe|cfi|cob|cfl)=/d' -e '/^calls=/{N;d;}' -e '/^cfn=/d' \
	    -e 's/^(fl|fn)=.*/\1=???/' \
	    -e 's/^positions:.*/positions: instr/' \
	    -e 's/^(0x[0-9a-f]+) [0-9]+ /\1 /' callgrind.out >nameless
	check "names put back" "$F" nameless
	cp out cg
	check "among them, main's" grep -q '^fn=main$' cg
	awk -f sum.awk callgrind.out | sort >expected
	awk -f sum.awk cg | sort >ours
	samefile "are Callgrind's" expected ours
	awk '/^fl=/ { fl = $0 } /^fn=/ { print fl "\t" $0 }' cg >order
	check "in byte order" sort -c order
	same "and none twice" "" "$(uniq -d order)"
else
	skip "callgrind" "no valgrind"
fi

# Valgrind's readers
if command -v cg_annotate >/dev/null && [ -f cg ]; then
	check "cg_annotate" cg_annotate --auto=no "$T/cg"
	total=$(sed -n 's/^summary: //p' cg)
	same "has the total" "$total" "$(tr -d , <out |
	    sed -n 's/^ *\([0-9]*\) .*PROGRAM TOTALS.*/\1/p')"
	check "and main" grep -Eq '(tree[.]c:|[0-9)] +)main$' out
	check "cg_annotate, sources" cg_annotate --auto=yes "$T/cg"
	check "shows them" grep -q 'r = depth(n->right);' out
	check "cg_merge" cg_merge -o merged cg cg
	same "adds up" "summary: $((2 * total))" "$(tail -n 1 merged)"
	check "cg_diff" cg_diff cg merged
	same "is the first again" "summary: $total" "$(tail -n 1 out)"
else
	skip "cg_annotate" "not here"
fi

"$F" -v -o v nameless 2>err
samefile "-v: the same file" cg v
same "-v: the events and their sums" "events: Ir
totals: $(sed -n 's/^summary: //p' cg)" "$(cat err)"

check "inlined code by itself" "$F" --inline=yes "${T}/nameless"
check "has mix of tree.h" grep -A 1 "^fl=$SRC/tree.h" out
check "as a function" grep -q '^fn=mix$' out
same "and the same sum" "$(tail -n 1 cg)" "$("$F" --inline=yes nameless |
    tail -n 1)"
"$F" --inline=yes nameless >inlined
check "--inline is --inline=yes" "$F" --inline nameless
samefile "as in the other formatters" inlined out

# debugging information that an older libdw cannot read
if objcopy --compress-debug-sections=zstd prog packed 2>err; then
	sed "s,/prog$,/packed," one >one.packed
	check "compressed by zstd" "$F" one.packed
	lines=$(grep -c "^fl=$SRC/tree.c" out)
	said=$(grep -cx "fmt-cachegrind: $T/packed: libdw cannot read how its \
debugging information is compressed: there are no lines" err)
	same "has lines, or that is said" 1 $((lines + said))
	check "the function" grep -q '^fn=main$' out
else
	skip "debugging information by zstd" "objcopy has no zstd"
fi

# the lines of functions that callgraph(1) has named
if "$B/trace" -e blocks -o ev ./prog >out; then
	"$B/icount" ev >nameless
	"$B/callgraph" --skip-plt=no ev >named
	by_line() { # the costs of each line, in whatever function
		"$F" "$1" | awk '/^fl=/ { f = $0 } /^[0-9]/ { n[f " " $1] += $2 }
		    END { for (l in n) print l, n[l] }' | sort
	}
	by_line nameless >want
	by_line named >got
	check "the lines of named functions" grep -q "^fl=$SRC/tree.c [1-9]" got
	samefile "are those of their addresses" want got
	inlined() { # the lines of the function mix, which is inlined
		"$F" --inline=yes "$1" | awk '/^fl=/ { f = $0 }
		    /^fn=/ { own = $0 == "fn=mix" } /^[0-9]/ && own { print f, $0 }'
	}
	inlined nameless >want
	inlined named >got
	check "inlined code of named functions" grep -q "tree.h [1-9]" got
	samefile "is the inlined function's, too" want got
	sed 's/^fn=([0-9]*) main$/&_of_mine/' named >renamed
	check "with a name of the input" "$F" --inline=yes renamed
	check "other code keeps it" grep -qx fn=main_of_mine out
	check "a name of the input" "$F" renamed
	same "stays, with the object's lines" "fl=$SRC/tree.c" "$(awk '/^fl=/ {
	    f = $0 } /^fn=/ { mine = $0 == "fn=main_of_mine" }
	    /^[1-9]/ && mine { print f }' out | sort -u | head -n 1)"
else
	skip "the lines of named functions" "trace fails"
fi

done_testing
