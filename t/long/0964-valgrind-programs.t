#!/bin/sh
# valgrind: sums of real programs as Valgrind's in exact mode, with what Valgrind
# puts into the environment; and their files open in Valgrind's own readers

. t/lib.sh

LIMIT=600
[ -x "$B/trace" ] || skip_all "no trace"
preload=/usr/libexec/valgrind/vgpreload_core-amd64-linux.so
[ -f $preload ] && command -v valgrind >/dev/null ||
    skip_all "no Valgrind with its library"
exact="--vex-guest-chase=no --vex-iropt-level=0"
caches="--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64"
theirs=$(command -v valgrind)
cd "$T" || exit 99

# The environment of the program is the same for both; perl hashes the same in
# each run.
seed="PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0"
run_theirs() {
	env -i PATH="$PATH" HOME="$T" $seed LD_BIND_NOW=1 \
	    timeout -k 5 "$LIMIT" "$theirs" $exact "$@"
}
run_ours() {
	env -i PATH="$PATH" HOME="$T" $seed LD_BIND_NOW=1 \
	    GLIBCPP_FORCE_NEW=1 GLIBCXX_FORCE_NEW=1 LD_PRELOAD=$preload \
	    LD_LIBRARY_PATH=/usr/lib/debug timeout -k 5 "$LIMIT" \
	    "$B/valgrind" "$@"
}
run_theirs --tool=none /bin/true 2>log || skip_all "no Valgrind here"

# sums FILE...: of Ir, Dr and Dw
sums() {
	awk '/^events:/ { for (i = 2; i <= NF; i++) n[$i] = i }
	/^summary:/ { last[FILENAME] = $0 }
	/^totals:/ { last[FILENAME] = $0 }
	END {
		for (f in last) {
			split(last[f], v, " ")
			ir += v[n["Ir"]]
			dr += v[n["Dr"]]
			dw += v[n["Dw"]]
		}
		printf "%.0f %.0f %.0f\n", ir, dr, dw
	}' "$@"
}

# near MOST "IR DR DW" "IR DR DW": are instructions within MOST, a number or a
# share, and references within a share?
near() {
	echo "$2 $3" | awk -v most="$1" -v data="$data" '
	function limit(most, of) {
		return most ~ /%/ ? most / 100 * of : most
	}
	{
		for (i = 1; i <= 3; i++) {
			d = $i > $(i + 3) ? $i - $(i + 3) : $(i + 3) - $i
			bad += $i == 0 || d > limit(i == 1 ? most : data, $i)
		}
	}
	END { exit bad != 0 }' && return
	printf '# %s\n' "Valgrind: $2" "here:     $3"
	return 1
}

# opens READER FILE
opens() {
	check "$name: $1 opens the file" "$1" "$2"
	same "$name: and has its sum" "$(sums "$2" | sed 's/ .*//')" "$(sed -n \
	    's/^ *\([0-9,]*\).*PROGRAM TOTALS.*/\1/p' out | tr -d ,)"
}

# both MOST PROGRAM ARGUMENT...
both() {
	most=$1
	shift
	name=$1
	if ! command -v "$1" >/dev/null; then
		skip "$name" "not installed"
		return
	fi
	for tool in cachegrind callgrind; do
		rm -f theirs.$tool.* ours.$tool.*
		set -- --tool=$tool --cache-sim=yes $children \
		    --log-file=/dev/null $caches "$@"
		run_theirs --$tool-out-file=theirs.$tool.%p "$@" <input \
		    >theirs 2>theirs.err
		want=$?
		run_ours --$tool-out-file=ours.$tool.%p "$@" <input >got 2>err
		same "$name: $tool: status" $want $?
		samefile "$name: $tool: output" theirs got
		near "$most" "$(sums theirs.$tool.*)" "$(sums ours.$tool.*)"
		ok "$name: $tool: sums" $?
		while [ "$1" != "$name" ]; do
			shift
		done
	done
	opens cg_annotate "$(ls ours.cachegrind.* | head -n 1)"
	opens callgrind_annotate "$(ls ours.callgrind.* | head -n 1)"
}

# jq hashes by getrandom and lua by the time, xz has threads; gcc and sh have
# children, whose addresses are others; gcc has bts with registers, for which
# Valgrind counts references to the stack
children='' data=0.1%
seq 1 20000 >input
cat >prog.c <<'END'
#include <stdio.h>
int main(int argc, char **argv) { return printf("%s %d\n", *argv, argc) < 0; }
END
both 100 bzip2 -c
both 100 gzip -c
both 100 sqlite3 :memory: 'create table t(a, b); with recursive n(i) as
    (select 1 union all select i + 1 from n where i < 2000) insert into t
    select i, i * 7 % 100 from n; select b, sum(a) from t group by b limit 5'
both 1% perl -e '$n{$_ % 97} += $_ for 1 .. 20000; print $n{5}, "\n"'
data=1%
both 1% jq -n '[range(2000)] | map(. * 3 % 17) | add'
both 1% lua -e 'local s, t = 0, {} for i = 1, 300000 do
    s = (s * 31 + i) % 65537 t[s % 1000 + 1] = s end print(s, #t)'
# one that may not write any more is one whose Valgrind may not
run_theirs --tool=cachegrind --cachegrind-out-file=probe xz -c <input \
    >/dev/null 2>&1
if command -v xz >/dev/null && [ ! -e probe ]; then
	skip "xz" "Valgrind may write no file for it"
else
	both 1% xz -T2 -1 -c
fi
children=--trace-children=yes data=5%
both 1% gcc -O1 -c -o prog.o prog.c
data=1%
both 1% sh -c 'sort input | gzip -c | wc -c; expr 6 \* 7'

done_testing
