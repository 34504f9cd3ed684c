#!/bin/sh
# array --regions: an estimate of the whole run from a few regions

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
A=$B/array
export TMPDIR=$T/tmp
LIMIT=300
mkdir "$T/tmp" "$T/d"
cd "$T/d" || exit 99
total() { sed -n 's/^summary: //p; s/^totals: //p' "$1" | tail -n 1; }

cat >phases.c <<'EOF'
#include <stdlib.h>
static int small[1024], large[1 << 20];
static void fill(int *v, int n, int times)
{
	while (times--)
		for (int i = 0; i < n; i += 16)
			v[i] += times;
}
static void think(int n) { for (volatile int i = 0; i < n; i++) ; }
int main(void)
{
	for (int i = 0; i < 3; i++) {
		fill(small, 1024, 4000);
		think(300000);
		fill(large, 1 << 20, 4);
	}
	return 0;
}
EOF
$CC -O1 -g -o phases phases.c
echo ./phases >whole.list
check "the whole run" "$A" -d whole whole.list
check "its regions" "$A" -d regions --regions=100k -- ./phases
near() { # COLUMN PERCENT: is the estimate so near?
	echo "$(total whole/merged.out) $(total regions/merged.out)" | awk -v c="$1" \
	    -v p="$2" '{ d = $(c + NF / 2) - $c; if (d < 0) d = -d
		exit !(d * 100 <= p * $c) }'
}
near 1 1
ok "instructions, within 1 %" $?
near 4 2
ok "reads, within 2 %" $?
near 5 5
ok "their misses, within 5 %" $?
echo "# whole: $(total whole/merged.out); regions: $(total regions/merged.out)"
check "a few regions only" test "$(wc -l <regions/list)" -lt 31
check "which the sum says" grep -q '^desc: Estimate: from [0-9]* regions$' regions/merged.out
same "they begin where the I lines say" "" "$(awk '
	FILENAME ~ /ev$/ && /^I / { sum[n++] = all; all += $2; next }
	FILENAME ~ /list$/ && $4 + $5 != sum[$2]' regions/run.ev regions/list)"
check "the same from files" "$A" -d files \
    --regions=regions/run.simpts,regions/run.weights,regions/run.ev -- ./phases
samefile "give the same" regions/merged.out files/merged.out
caches='--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64'
check "a pipeline of one's own, which knows the warm-up" "$A" -d own \
    --regions=100k -p "%t -e all %s | cachesim $caches --warm=%w |
	fmt-cachegrind" -- ./phases
same "costs the same" "$(total regions/merged.out)" "$(total own/merged.out)"
for p in counts branches calls; do
	check "regions of $p" "$A" -d "$p" -p $p --regions=100k -- ./phases
	echo "$(total whole/merged.out) $(total $p/merged.out)" | awk '
		{ d = $1 / $10 - 1; exit !(d < 0.001 && d > -0.001) }'
	ok "regions of $p: instructions, within 0.1 %" $?
done
rm regions/0001.out
check "a region alone again" "$A" -d regions --regions=100k -- ./phases
samefile "gives the same, too" files/merged.out regions/merged.out
check "a region that is the whole run" "$A" -d long --regions=1G -- ./phases
same "is no estimate" "$(total whole/merged.out)" "$(total long/merged.out)"

done_testing
