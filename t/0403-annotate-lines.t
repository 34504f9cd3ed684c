#!/bin/sh
# annotate --lines: the lines that cost most, over all files

. t/lib.sh

A=$B/annotate
cd "$T" || exit 99

cat >a.c <<'E'
int one;
	int two;
E
cat >prof <<'E'
# callgrind format
cmd: prog
positions: line
events: Ir D1mr
ob=(1) /nowhere/prog
fl=(1) a.c
fn=(1) main
1 10 1
2 300 2
fi=(2) b.h
7 400 0
fe=(1)
cfn=(2) work
calls=1 5
2 9000 900
fn=(2)
2 40 5
fi=(2)
7 450 80
fe=(1)
0 5000 5000
fn=(3) more
fi=(2)
7 1 1
E
lines() { # the lines of the section, without the columns of counts
	sed -n '/^-- Line summary/,$p' out | grep -E '(\.c|\.h):[0-9]' |
	    sed 's/([0-9.]*%)//g; s/  */ /g; s/^ //'
}
check "the lines that cost most" "$A" --no-annotate --lines prof
same "are summed over functions, with the costliest" \
    "851 81 b.h:7 work and 2 more
340 7 a.c:2 main and 1 more | int two;
10 1 a.c:1 main | int one;" "$(lines)"
same "a line that is not known is no line" 0 "$(grep -c ':0 ' out)"
check "sorted by another event" "$A" --no-annotate --sort=D1mr --lines=2 prof
same "the function is that event's, too" \
    "851 81 b.h:7 work and 2 more
340 7 a.c:2 work and 1 more | int two;" "$(lines)"
check "the rest is told" grep -qx '1 more line, of less than 0.1 % of D1mr' out
check "the threshold" "$A" --no-annotate --threshold=10 --lines prof
same "leaves lines out" "851 81 b.h:7 work and 2 more" "$(lines)"
same "and tells how many" "2 more lines, each of less than 10 % of Ir" \
    "$(grep ' more line' out)"
check "one is left out" "$A" --no-annotate --threshold=1 --lines prof
same "and told" "1 more line, of less than 1 % of Ir" "$(grep ' more line' out)"
check "two thresholds" "$A" --no-annotate --sort=Ir:3,D1mr:0.1 --lines=1 prof
same "the rest, and what is below both" \
    "2 more lines have costs, 1 of them less than 3 % of Ir and 0.1 % of D1mr" \
    "$(grep ' more line' out)"
check "sources follow" "$A" --lines prof
same "after the lines" "Line summary,Annotated source file: a.c" "$(sed -n \
    's/^-- \(Line.*\|Anno.*a\.c\)$/\1/p' out | paste -s -d ,)"
status 2 "--lines=0" "$A" --lines=0 prof
status 2 "--lines=x" "$A" --lines=x prof
status 2 "not in the old tables" "$A" --layout=old --lines prof
check "is told" grep -q '^annotate: --lines and --layout=old do not' err

# a law: the costs of one line over all functions, by another way
${CC:-gcc} -O1 -g -o rec "$OLDPWD/t/src/recurse.c" || exit 99
"$B/trace" --cpu=v3 --stdout=/dev/null ./rec | "$B/cachesim" |
    "$B/fmt-cachegrind" >real
awk '/^fl=/ { f = substr($0, 4) }
    /^[1-9][0-9]* / { n[f ":" $1] += $2 }
    END { for (k in n) print n[k], k }' real | sort -k1,1nr -k2,2 |
    head -n 1 >most
check "of a program" "$A" --no-annotate --show=Ir --lines=1 real
same "the first is the largest" "$(cat most)" "$(lines | tr -d , |
    cut -d ' ' -f 1,2)"

done_testing
