#!/bin/sh
# lib/cost.h: the cost text read, written and summed up

. t/lib.sh

C=$TB/cost

dump() { # FILE: its records, sorted, without the headers
	"$C" dump "$1" | grep -v '^part ' | sort
}

# the grammar, one of each
cat >"$T/all" <<'EOF'
# callgrind format
version: 1
creator: me
unknown-not: x
pid: 7
cmd: prog arg

desc: one
desc: two
positions: instr line
event: Ir : Instructions
event: CEst = Ir + 10 Dr : Cycles
events: Ir Dr
summary: 16 4

ob=(1) /bin/prog
fl=(1) a.c
fn=(1) main
0x10 5 1 2
+3 +1 1
# a comment
fi=(2) inc.h
* 40 2 0
fe=(1)
0x20 -38 1
cob=(2) /lib/c.so
cfi=(3) lib.c
cfn=(2) work
calls=2 0x400 9
0x20 * 100 20
cfn=(1)
calls=1 +4 +2
* * 11
jfi=(2)
jfn=(2)
jcnd=3/4 0x99 7
* *
jcnd=4 3 +1 *
* *
jump=5 -1 -1
* *
ob=(2)
fl=(3)
fn=(2)
1024 9	11  2	

totals: 16 4
EOF
cat >"$T/want" <<'EOF'
part callgrind positions 5 events Ir Dr (CEst = Ir + 10 Dr) cmd [prog arg] desc 2
self fn[/bin/prog|a.c|main] at[a.c|10|0|5] 1 2
self fn[/bin/prog|a.c|main] at[a.c|13|0|6] 1 0
self fn[/bin/prog|a.c|main] at[inc.h|13|0|40] 2 0
self fn[/bin/prog|a.c|main] at[a.c|20|0|2] 1 0
call fn[/bin/prog|a.c|main] at[a.c|20|0|2] to[/lib/c.so|lib.c|work] at[|400|0|9] 2/0 100 20
call fn[/bin/prog|a.c|main] at[a.c|20|0|2] to[/bin/prog|a.c|main] at[|24|0|4] 1/0 11 0
jcnd fn[/bin/prog|a.c|main] at[a.c|20|0|2] to[/bin/prog|inc.h|work] at[inc.h|99|0|7] 4/3
jcnd fn[/bin/prog|a.c|main] at[a.c|20|0|2] to[/bin/prog|a.c|main] at[a.c|21|0|2] 4/3
jump fn[/bin/prog|a.c|main] at[a.c|20|0|2] to[/bin/prog|a.c|main] at[a.c|1f|0|1] 5/5
self fn[/lib/c.so|lib.c|work] at[lib.c|400|0|9] 11 2
EOF
check "reads the grammar" "$C" dump "$T/all"
samefile "reads the grammar: records" "$T/want" "$T/out"

for f in - p r s prs; do
	"$C" copy $f "$T/all" >"$T/copy"
	"$C" dump "$T/copy" >"$T/copy.dump"
	samefile "read(write(x)) = x, flags $f" "$T/want" "$T/copy.dump"
done

"$C" sum "$T/all" "$T/all" >"$T/two"
check "canonical order" "$C" order "$T/two"
check "the sum of two" "$C" dump "$T/two"
same "own costs are doubled" "32 8" \
    "$(awk '$1 == "self" { a += $(NF-1); b += $NF } END { print a, b }' "$T/out")"

# functions of one name, told apart by their numbers
cat >"$T/apart" <<'EOF'
# callgrind format
version: 1
events: Ir

ob=(1) x
fl=(1) ???
fn=(1) f
1 1

fl=(1)
fn=(2) g
2 2
cob=(1)
cfi=(1)
cfn=(3) f
calls=1 7
2 30

fl=(1)
fn=(3)
7 30

totals: 33
EOF
"$C" copy - "$T/apart" | grep -a '^[a-z]*fn=' | tr '\n' ' ' >"$T/by-name"
same "by name" "fn=(1) f fn=(2) g cfn=(1) fn=(1) " "$(cat "$T/by-name")"
"$C" copy i "$T/apart" | grep -a '^[a-z]*fn=' | tr '\n' ' ' >"$T/by-id"
same "by number" "fn=(1) f fn=(2) g cfn=(3) f fn=(3) " "$(cat "$T/by-id")"

# the page's examples are read
page() { # SECTION: the example in costs(5) that begins with this line
	sed -n "/^$1/,/^\.Ed/p" man/costs.5 | sed '$d'
}
page '# callgrind format' >"$T/example"
check "the example of costs(5)" "$C" dump "$T/example"
same "the example of costs(5): records" 5 "$(wc -l <"$T/out")"
sed -n '/^\.Sh CACHE/,$p' man/costs.5 | sed -n '/^desc:/,/^\.Ed/p' | sed '$d' >"$T/example"
check "Cachegrind's example of costs(5)" "$C" dump "$T/example"
same "Cachegrind's example of costs(5): records" 3 "$(wc -l <"$T/out")"

"$C" push >"$T/raw"
check "what a simulator writes" "$C" dump "$T/raw"
same "what a simulator writes: records" \
    "self fn[/lib/libc.so.6|???|???] at[???|1004|0|0] 1 7" "$(tail -n 1 "$T/out")"

done_testing
