#!/bin/sh
# laws of merge and diff, on random profiles and on real ones

. t/lib.sh

M=$B/merge D=$B/diff A=$B/annotate C=$TB/cost
cd "$T" || exit 99

costs() { # FILE: without the header, which merge and diff make anew
	sed -n '/^positions:/,$p; /^fl=/,$p' "$1"
}

laws() { # NAME a b c: three profiles of one kind
	bad=
	"$M" "$2" "$3" >ab && "$M" "$3" "$2" >ba
	cmp -s ab ba || bad="$bad a+b=b+a"
	"$M" ab "$4" >ab_c && "$M" "$3" "$4" >bc && "$M" "$2" bc >a_bc
	cmp -s ab_c a_bc || bad="$bad (a+b)+c=a+(b+c)"
	"$M" "$4" "$2" "$3" >cab
	cmp -s ab_c cab || bad="$bad c+a+b"
	"$M" "$2" >ma && "$M" ma >mma
	cmp -s ma mma || bad="$bad merge(merge(a))"
	"$C" order ab_c || bad="$bad order"
	"$C" dump ab_c >d1
	for flags in - p r s prs; do
		"$C" copy $flags ab_c >copy && "$C" dump copy >d2 && cmp -s d1 d2 ||
		    bad="$bad read(write)-$flags"
	done
	"$D" "$2" ma >none || bad="$bad diff(a,a)"
	[ -s none ] && bad="$bad diff(a,a)-silent"
	"$D" -p "$2" "$3" >change
	[ $? -eq 1 ] || bad="$bad diff(a,b)-status"
	"$M" "$2" change >sum && "$M" "$3" >mb
	"$D" -q sum mb || bad="$bad a+(b-a)=b"
	costs sum >d1 && costs mb >d2
	cmp -s d1 d2 || bad="$bad a+(b-a)=b-text"
	"$D" -p "$3" "$2" >back
	"$M" change back >zero && "$C" dump zero >d1 &&
	    [ "$(grep -vc ^part d1)" = 0 ] || bad="$bad (b-a)+(a-b)=0"
	same "$1" "" "${bad# }"
}

for kind in cachegrind line instr all; do
	for i in 1 2 3; do
		"$C" random $i $kind >$kind.$i
	done
	laws "random, $kind" $kind.1 $kind.2 $kind.3
done
laws "random, of all kinds" cachegrind.1 instr.2 line.3

# lines, functions and the end mark: shell arithmetic is exact
total=0
for n in $("$C" dump ab_c | awk '$1 == "self" { print $(NF - 2) }'); do
	total=$((total + n))
done
same "lines add up to the end mark" "$total" \
    "$(sed -n 's/^totals: \([0-9]*\) .*/\1/p' ab_c)"
total=0
for n in $("$A" --threshold=0 --show-percs=no --no-annotate --show=Ir ab_c |
    sed -n '/^-- Function:file/,$s/^> *\([0-9,]*\) .*/\1/p' | tr -d ,); do
	total=$((total + n))
done
same "functions add up to the end mark" "$total" \
    "$(sed -n 's/^totals: \([0-9]*\) .*/\1/p' ab_c)"

if command -v valgrind >/dev/null; then
	for i in 1 2 3; do
		valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=cg.$i \
		    seq $i$i$i >/dev/null 2>&1
		valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes \
		    --cache-sim=yes --callgrind-out-file=cl.$i \
		    seq $i$i$i >/dev/null 2>&1
	done
	laws "Cachegrind's files" cg.1 cg.2 cg.3
	laws "Callgrind's files" cl.1 cl.2 cl.3
	"$M" cg.1 >m && "$C" dump cg.1 | grep -v '^part ' | sort >want
	"$C" dump m | grep -v '^part ' | sort >got
	samefile "a file of Cachegrind's is its own sum" want got
else
	skip "Valgrind's files" "no valgrind here"
fi

done_testing
