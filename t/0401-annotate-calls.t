#!/bin/sh
# annotate: inclusive costs, callers and callees, the old tables, assembler

. t/lib.sh

A=$B/annotate M=$B/merge
cd "$T" || exit 99

# main -> a <-> b -> leaf: a cycle is not counted twice
cat >cycle <<'EOF'
# callgrind format
events: Ir
ob=(1) /bin/x
fl=(1) x.c
fn=(1) main
1 10
cob=(1)
cfi=(1)
cfn=(2) a
calls=1 5
2 100
fn=(2)
5 40
cob=(1)
cfi=(1)
cfn=(3) b
calls=3 6
6 90
fn=(3)
7 50
cob=(1)
cfi=(1)
cfn=(2)
calls=2 5
8 70
cob=(1)
cfi=(1)
cfn=(4) leaf
calls=1 20
9 10
fn=(4)
20 10
totals: 110
EOF
check "inclusive costs" "$A" --no-annotate --inclusive --show-percs=no cycle
same "inclusive costs: a cycle" "110 main 100 a 90 b 10 leaf" \
    "$(sed -n '/^-- Inclusive/,$p' out | sed -n 's/^ *\([0-9]*\)  x.c:\([a-z]*\) \[.*/\1 \2/p' | xargs)"
check "callers and callees" "$A" --no-annotate --inclusive --tree=both --show-percs=no cycle
cat >want <<'EOF'
100  < x.c:main (1x) [/bin/x]
 70  < x.c:b (2x) [/bin/x]
100  *  x.c:a [/bin/x]
 90  >   x.c:b (3x) [/bin/x]
EOF
grep -B2 -A1 ' \*  x.c:a ' out >got
samefile "callers and callees: of one" want got
check "callers only" "$A" --no-annotate --tree=caller cycle
same "callers only: no callees" 0 "$(grep -c ' >   ' out)"
check "calls below their lines" sh -c 'seq 30 >x.c; "$0" --show-percs=no cycle' "$A"
same "calls below their lines: those of a cycle cost nothing more" \
    "100 => x.c:a (1x) 0 => x.c:b (3x) 0 => x.c:a (2x) 10 => x.c:leaf (1x)" \
    "$(grep ' => ' out | xargs)"

if command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null; then
	cat >p.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
static int cmp(const void *a, const void *b) { return *(int *)a - *(int *)b; }
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{
	int v[100];

	for (int i = 0; i < 100; i++)
		v[i] = i * 7919 % 101;
	qsort(v, 100, sizeof v[0], cmp);
	return printf("%d %d\n", fib(12), v[5]) < 0;
}
EOF
	${CC:-gcc} -g -O1 -o p p.c
	valgrind -q --tool=callgrind --callgrind-out-file=line ./p >/dev/null 2>&1
	valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes \
	    --callgrind-out-file=instr ./p >/dev/null 2>&1
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=lines ./p >/dev/null 2>&1

	# the order of equal ones, and of sources, is hash order in the judges
	for o in "" --auto=no --show-percs=no "--sort=D1mr,Dr --show=Dr,D1mr,Ir"; do
		case $(cg_annotate --version 2>&1) in
		*-3.1?.*) ;;
		*)
			skip "the table of cg_annotate 3.19, $o" "a later one"
			continue ;;
		esac
		cg_annotate $o lines | sort >want
		"$A" --layout=old $o lines | sort >got
		samefile "the table of cg_annotate 3.19, $o" want got
	done
	# in / no source name is cut short; one object of several is told; of two
	# functions on a line the judge shows the calls of one only
	for f in line instr; do
		for o in "" --tree=both --inclusive=yes \
		    "--inclusive=yes --tree=both --threshold=100" --threshold=50; do
			(cd / && callgrind_annotate $o "$T/$f") |
			    sed "s/ \[[^]]*\]\$//; /=> .*fib'2/d" | sort >want
			(cd / && "$A" --layout=old $o "$T/$f") |
			    sed "s/ \[[^]]*\]\$//; /=> .*fib'2/d" | sort >got
			samefile "callgrind_annotate's of $f, $o" want got
		done
	done

	same "calls on the line of a recursion: told once" "464x" \
	    "$("$A" --show-percs=no line | sed -n "s/^ *[0-9,]* *=> .*fib'2 (\(.*\))/\1/p")"

	# laws: the root has all; our files are read by the judges with equal sums
	total=$(sed -n 's/^totals: //p' line)
	root=$("$A" --no-annotate --inclusive --show-percs=no line |
	    sed -n '/^-- Incl/,$s/^ *\([0-9,]*\)  .*/\1/p' | head -n 1 | tr -d ,)
	same "the root's inclusive cost is the total" "$total" "$root"
	"$M" line >ours
	callgrind_annotate --threshold=100 --show-percs=no line |
	    sed -n 's/^ *\([0-9,]*\)  \([^ ]*:.*\)/\1 \2/p' | sed 's/ \[.*//' | sort >want
	callgrind_annotate --threshold=100 --show-percs=no ours |
	    sed -n 's/^ *\([0-9,]*\)  \([^ ]*:.*\)/\1 \2/p' | sed 's/ \[.*//' | sort >got
	check "callgrind_annotate: functions" test -s want
	samefile "callgrind_annotate reads merge's file alike" want got
	"$M" lines >ours
	cg_annotate lines | sed '/Data file/d; s/lines//' | sort >want
	cg_annotate ours | sed '/Data file/d; s/ours//' | sort >got
	samefile "cg_annotate reads merge's file alike" want got

	# assembler: fib's instructions, each where objdump has it
	check "--asm" "$A" --no-annotate --asm --show-percs=no --threshold=0 instr
	sed -n "/^-- Annotated assembler: fib \[/,/^-- Annotated assembler: [^f]/p" out >fib
	# the name may have been told with a call
	self=$(awk '/^c?fn=[^ ]* fib(.2)?$/ { own[substr($1, index($1, "("))] = 1 }
	    /^fn=/ { on = substr($1, 4) in own }
	    on && /^[0-9+*-]/ { n++ }
	    END { print n + 0 }' "$T/instr")
	check "--asm: fib is there" test "$self" -gt 0 -a -s fib
	same "--asm: fib's costs" "$("$A" --no-annotate --threshold=0 --show-percs=no instr |
	    sed -n '/^-- Function:file/,$s/^> *\([0-9,]*\)  fib.*/\1/p' | tr -d , |
	    awk '{ s += $1 } END { print s }')" \
	    "$(sed -n 's/^ *\([0-9,]*\)   *[0-9a-f]*:  .*/\1/p' fib | tr -d , |
	    awk '{ s += $1 } END { print s }')"
	objdump -d --no-show-raw-insn p | sed -n '/<fib>:/,/^$/p' |
	    sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >want
	sed -n 's/^.* \([0-9a-f]*\):  .*/\1/p' fib | grep -v '[g-z]' >got
	samefile "--asm: fib's addresses are objdump's" want got
	check "--asm: the recursive call" grep -q 'call 0x[0-9a-f]* <fib>' fib
	check "--asm: what it called" grep -q ' => .*p.c:fib' fib
	check "--asm: a jump" grep -q ' -> [0-9a-f]*, [0-9,]* of [0-9,]* times' fib
	check "--asm: a source line" grep -q 'p.c:4:  int fib(int n)' fib
	check "--asm=intel" "$A" --no-annotate --asm=intel instr
	check "--asm=intel: no percent signs of registers" sh -c \
	    'sed -n "/fib \[/,\$p" out | grep -q "mov [a-z]*, [a-z]*"'
	status 2 "--asm without addresses" "$A" --asm line
	same "--asm without addresses: message" \
	    "annotate: --asm: the profile has no addresses (positions: instr)" "$(cat err)"
else
	skip "Valgrind's tools" "no valgrind here"
fi

# code without a symbol: the functions are those of the profile
cat >bare.s <<'E'
	.globl _start
_start:	nop
	mov %eax,%ebx
	jmp far
	.org 16
	.byte 0x90, 0xc3
	.org 32
far:	nop
	ret
E
${CC:-gcc} -nostdlib -static -no-pie -s -Wl,-Ttext=0x401000 -o bare bare.s
cat >bare.cg <<E
# callgrind format
positions: instr
events: Ir
ob=$T/bare
fl=???
fn=0x401000
0x401000 50
0x401001 50
0x401003 7
0x401020 50
fn=0x401000'2
0x401001 10
0x401021 20
fn=0x401010
0x401010 30
0x401011 3
ob=/no/such/few
fn=one
0x5 1
ob=/no/such/many
fn=one
0x5 90
E
bare() { # threshold: listings, without context
	"$A" --no-annotate --asm --show-percs=no --context=0 --threshold="$1" \
	    bare.cg 2>err | sed -n '/^-- Annotated assembler/,$p' |
	    grep -v '^---\|^$\|^Ir\|???:0'
}
cat >bare.want <<E
-- Annotated assembler: 0x401000 [$T/bare]
50    401000:  nop
60    401001:  mov %eax, %ebx
 7    401003:  jmp 0x401020
-- 401020 ----------------------------------------
50    401020:  nop
20    401021:  ret
-- Annotated assembler: 0x401010 [$T/bare]
30    401010:  nop
 3    401011:  ret
E
if [ -f bare ]; then
	bare 10 >got
	samefile "code without a symbol by the profile's functions" bare.want got
	same "an object that cannot be read" "annotate: /no/such/many: cannot \
be read for its instructions" "$(cat err)"
	bare 40 >got
	sed '/401010 /,$d' bare.want >want
	samefile "their costs are those of all their instructions" want got
	check "--asm --function" "$A" --asm --no-annotate --function=0x401010 \
	    bare.cg
	same "shows one, however small" "-- Annotated assembler: 0x401010 \
[$T/bare]" "$(grep '^-- Annotated' out)"
	bare 70 >got
	same "nothing is said of what is below the threshold" "" "$(cat got err)"
else
	skip "code without a symbol" "it cannot be linked"
fi

# so they are in the tables, by object
check "functions without a file" "$A" --no-annotate --show-percs=no bare.cg
same "have their object" "0x401000 [$T/bare];0x401000'2 [$T/bare];\
0x401010 [$T/bare];one [/no/such/few];one [/no/such/many];" "$(sed -n \
    '/^-- File:function/,/^-- Function:file/s/^ *[0-9][0-9]*  *\(.*\]\)$/\1/p' \
    out | sort | tr '\n' ';')"
check "in both tables" grep -q '^> *90  one \[/no/such/many\]:???$' out

for bad in --layout=x --tree=x --inclusive=x --asm=x --threshold=101 --context=x; do
	status 2 "bad option $bad" "$A" $bad cycle
done

done_testing
