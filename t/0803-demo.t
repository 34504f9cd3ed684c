#!/bin/sh
# make demo's script: the whole pipeline, from a program to its sources

. t/lib.sh

for p in trace cachesim fmt-cachegrind annotate; do
	[ -x "$B/$p" ] || skip_all "no $p"
done
LIMIT=300
export B
check "demo" sh scripts/demo "$T/demo"
cp "$T/out" "$T/demo.out"
check "shows a function of perl" grep -q 'Perl_' "$T/demo.out"
check "and of the small program" grep -q 'by_columns' "$T/demo.out"
same "and its two sums in the source" 2 \
    "$(grep -c 'sum += cell\[row\]\[col\];$' "$T/demo.out")"
# 600 * 600 loads each: by columns all miss a cache of 32k, by rows one in 8
misses=$(grep 'sum += cell' "$T/demo.out" | sed 's/([^)]*)//g' |
    awk '{ print $3 }' | tr -d ,)
same "with their misses" "45000 360000" "$(echo $misses)"

done_testing
