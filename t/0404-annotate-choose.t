#!/bin/sh
# annotate --function, --file: only some functions and files

. t/lib.sh

A=$B/annotate
cd "$T" || exit 99

mkdir src
seq 1 9 | sed 's/^/a /' >src/a.c
seq 1 9 | sed 's/^/b /' >src/b.h
cat >prof <<'E'
# callgrind format
positions: line
events: Ir
ob=(1) /nowhere/prog
fl=(1) src/a.c
fn=(1) main
1 5000
2 300
fi=(2) src/b.h
3 400
fe=(1)
cfn=(2) work
calls=1 5
2 9000
fn=(2)
4 1
fi=(2)
5 20
fe=(1)
fn=(3) work'2
4 2
fn=(4) worker
6 4000
fl=(3) gone.c
fn=(5) rest
7 277
totals: 10000
E
# option...: what is in the tables, of functions and of lines, and in the sources
show() {
	check "$*" "$A" --show-percs=no --context=0 "$@" prof
	sed -n '/^-- Function:file/,$p' out | grep -v '^-\|^Ir\|^  Ir\|^$' |
	    sed 's/^> */> /; s/^ *//; s/  */ /g' >got
}
cat >want <<'E'
> 21 work:
20 src/b.h
1 src/a.c
> 2 work'2:src/a.c
3 a 4
20 b 5
E
show --function=work
samefile "a function, however small, at all depths" want got
cat >want <<'E'
> 4,000 worker:src/a.c
> 2 work'2:src/a.c
> 1 work:src/a.c
3 a 4
4,000 a 6
E
show --function='work*' --file=a.c
samefile "its part in a file" want got
cat >want <<'E'
> 400 main:src/b.h
> 20 work:src/b.h
400 src/b.h:3 main | b 3
20 src/b.h:5 work | b 5
400 b 3
20 b 5
E
show --file='*.h' --lines
samefile "a file, with all functions" want got
cat >want <<'E'
> 4,000 worker:src/a.c
> 277 rest:gone.c
4,000 src/a.c:worker [/nowhere/prog]
277 gone.c:rest [/nowhere/prog]
4,000 a 6
Unannotated because these original files are unreadable:
E
show --function=worker --function=r?st --inclusive
samefile "two patterns, and inclusive costs" want got
check "with a threshold" "$A" --function='work*' --threshold=10 prof
same "only what reaches it" "  4,000 (40.0%)           worker" \
    "$(grep '^<.*work\|^ .*   work' out)"
same "shares are those of all" 1 "$(grep -c '10,000 (100.0%)  PROGRAM' out)"
"$A" --function=nosuch --function=main --file=none prof >out 2>err
same "a pattern without a match is told" "annotate: --function: no function \
nosuch has costs
annotate: --file: no file none has costs" "$(cat err)"
status 2 "not in a page" "$A" --html=x --function=main prof
status 2 "not in the old tables" "$A" --layout=old --file=a.c prof
done_testing
