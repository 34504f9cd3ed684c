#!/bin/sh
# dataprof: whose data the misses are on

. t/lib.sh

D=$B/dataprof
[ -x "$B/trace" ] || skip_all "no trace"
c++ -O1 -g -fno-builtin -fno-stack-protector -pthread -o "$T/layout" \
    t/src/layout.cc 2>"$T/err" || skip_all "no C++ compiler with threads"
caches="--D1=1024,1,64 --LL=16384,4,64"

# calls FILE: what which function refers to: costs, function, object
calls() {
	awk 'function name(s,  k) {
		k = s
		sub(/\).*/, ")", k)
		if (index(s, ") ") > 0) {
			sub(/^\([0-9]+\) /, "", s)
			names[k] = s
		}
		return names[k]
	}
	/^fn=/ { fn = name(substr($0, 4)); next }
	/^cfn=/ { cfn = name(substr($0, 5)); next }
	/^calls=/ { call = 1; next }
	call {
		call = 0
		for (i = 2; i <= NF; i++)
			n[fn "\t" cfn] += $i
	}
	END { for (k in n) print n[k] "\t" k }' "$1"
}

# only FUNCTION OBJECT LEAST: besides code and its own frame, the function has
# misses on this object alone
only() {
	awk -F'\t' -v f="$1" -v o="$2" -v least="$3" '
	$2 == f && $3 != "code of " f && $3 != "stack of " f &&
	    $3 !~ /^[(]stack/ {
		if (index($3, o) == 1) n += $1
		else if ($1 > 12) { print; bad = 1 }
	}
	END { if (n < least) print "only", n + 0
	    exit bad || n < least }' "$T/calls" >"$T/why"
	ok "$kind: $1: $2" $? || sed 's/^/# /' "$T/why"
}

# sums CACHESIM-COSTS DATAPROF-COSTS: misses of the second are the first's
sums() {
	for f in "$1" "$2"; do
		awk '/^events:/ { for (i = 2; i <= NF; i++) name[i] = $i }
		/^totals:/ { for (i = 2; i <= NF; i++)
		    if (name[i] ~ /m[rw]$/) print name[i], $i }' "$f" | sort \
		    >"$f.sums"
	done
	cmp "$1.sums" "$2.sums" && [ -s "$1.sums" ]
}

for kind in all "cache=16,64,1 --contexts"; do
	"$B/trace" -e $kind --alloc-fn=arena_take:1 -o "$T/run.ev" "$T/layout"
	"$B/cachesim" $caches -t -o "$T/told.ev" "$T/run.ev"
	"$B/cachesim" $caches -o "$T/costs" "$T/run.ev"
	check "$kind: dataprof" "$D" --depth=12 -o "$T/data" "$T/told.ev"
	check "$kind: all misses are told" sums "$T/costs" "$T/data"
	calls "$T/data" >"$T/calls"
	only touch_table "table[]" 700
	only touch_recs "recs[].range[].high" 6000
	only touch_local "touch_local::here[]" 3000
	only touch_own "own[]" 1400
	only touch_vector "operator new(unsigned long) < " 300
	only touch_tree "operator new(unsigned long) < make_tree" 150
	only touch_grown "realloc < make_grown" 3900
	only touch_parts "arena_take < make_parts" 5000
	only touch_list "malloc < make_node" 20000
	only drop_list "malloc < make_node" 10000
	only touch_caller "stack of caller" 1800
	only touch_stack "" 0
	[ "$kind" = all ] || continue
	for maker in make_list make_reused make_hash worker; do
		n=$(awk -F'\t' -v o="malloc < make_node < $maker" \
		    '$2 == "touch_list" && index($3, o) == 1 { s += $1 }
		    END { print s + 0 }' "$T/calls")
		check "memory of $maker, freed or not" test "$n" -ge 3000
	done
	n=$(awk -F'\t' '$3 == "calloc < make_zeros < main" { s += $1 }
	    END { print s + 0 }' "$T/calls")
	check "what calloc() clears is the new memory's" test "$n" -ge 1500
	check "--by=type" "$D" --by=type --text "$T/told.ev"
	check "a member of a type" grep -q 'struct rec.range\[\].high' "$T/out"
	check "--by=page" "$D" --by=page -o "$T/pages" "$T/told.ev"
	check "the same sums" sums "$T/costs" "$T/pages"
	check "--text" "$D" --text "$T/told.ev"
	cp "$T/out" "$T/table"
	row() { # object
		awk -v o="$1" 'NR == 1 {
			for (i = 1; $i != "number"; i++)
				;
		}
		index($0, "[heap]   " o) { print $i, $(i + 1), $(i + 2), $(i + 3) }' \
		    "$T/table"
	}
	same "a list that was freed: number, bytes, peak, live" \
	    "3000 336000 336000 0" "$(row "malloc < make_node < make_list")"
	same "one that lives" "3000 336000 336000 336000" \
	    "$(row "malloc < make_node < make_reused")"
	same "memory that grows is one at a time" "8 255000 128000 128000" \
	    "$(row "realloc < make_grown")"
	same "an arena's parts" "3000 300000 300000 300000" \
	    "$(row "arena_take < make_parts")"
	check "glibc's words about a block" grep -q \
	    '[[]heap[]] *header of malloc < make_node < make_list' "$T/table"
	same "the columns" "D1mr DLmr D1mw DLmw number bytes peak live life object" \
	    "$(head -n 1 "$T/table" | xargs)"
	check "--events" "$D" --events=ILmr,D1mw --text "$T/told.ev"
	same "are the columns" "ILmr D1mw number bytes peak live life object" \
	    "$(head -n 1 "$T/out" | xargs)"
	same "in this order, with these sums" "$(awk 'NR == 1 {
		    for (i = 1; i <= NF; i++)
			    if ($i == "D1mw")
				    c = i
	    }
	    /total; life/ { print $c }' "$T/table")" \
	    "$(awk '/total; life/ { print $2 }' "$T/out")"
	status 2 "--events with another" "$D" --events=D1mr,D3mr --text \
	    "$T/told.ev"
	same "says so" "dataprof: --events: the stream has no event D3mr" \
	    "$(cat "$T/err")"
	"$D" --depth=1 "$T/told.ev" | calls - >"$T/calls"
	kind="--depth=1" only touch_list "malloc < make_node" 20000
	kind=all
done

# every viewer takes it
"$D" -o "$T/data" "$T/told.ev"
for fmt in fmt-callgrind fmt-cachegrind fmt-folded; do
	check "$fmt" "$B/$fmt" -o "$T/view" "$T/data"
	check "$fmt: an object" grep -q 'recs\[\].range\[\].high' "$T/view"
done
# the last one's outcomes stand; the same, told each time
grep -q '^O @' "$T/told.ev" && "$TB/ev" copy "$T/told.ev" >"$T/each.ev" &&
    "$D" -o "$T/each" "$T/each.ev" && "$D" -o "$T/data" "$T/told.ev"
ok "outcomes told each time" $?
samefile "are the same" "$T/data" "$T/each"
"$B/fmt-callgrind" -o "$T/view" "$T/data"
check "annotate" "$B/annotate" "$T/view"
check "annotate: an object" grep -q 'recs\[\].range\[\].high' "$T/out"
check "merge" "$B/merge" -o "$T/merged" "$T/view" "$T/view"

# kind cache without contexts
"$B/trace" -e cache -o "$T/run.ev" true
"$B/cachesim" -t -o "$T/told.ev" "$T/run.ev"
check "without contexts" "$D" --text "$T/told.ev"
check "what stacks need is told" grep -q 'stack: which function.s needs' \
    "$T/out"

# all references, without a simulator
"$B/trace" --allocs -o "$T/run.ev" "$T/layout"
"$B/cachesim" "$T/run.ev" >"$T/costs"
check "without a simulator" "$D" -o "$T/data" "$T/run.ev"
same "all references are told" \
    "$(awk '/^totals/ { print $5 + $8 }' "$T/costs")" \
    "$(awk '/^totals/ { print $2 + $3 }' "$T/data")"

# allocations alone
"$B/trace" -e counts --contexts --allocs -o "$T/counts.ev" "$T/layout"
check "kind counts" "$D" --text "$T/counts.ev"
check "has the allocations" grep -q \
    '^ *3000 *336000 *336000 *336000 .*malloc < make_node < make_hash' "$T/out"
check "as costs" "$D" "$T/counts.ev"

# threads' own variables, also of those that allocate nothing, or do at the end
cat >"$T/tls.c" <<'EOF2'
#include <pthread.h>
#include <stdlib.h>

static __thread volatile long counter;

static void *
count(void *late)
{
	for (int i = 0; i < 1000; i++)
		counter++;
	if (late != NULL)
		free(malloc(100));
	return NULL;
}

int
main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, count, i == 0 ? t : NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
EOF2
${CC:-gcc} -g -O1 -fno-builtin -pthread -o "$T/tls" "$T/tls.c" || exit 99
for kind in all cache counts; do
	"$B/trace" -e $kind --allocs -o "$T/tls.ev" "$T/tls"
	same "$kind: each thread tells where its own data is, first" \
	    "main @ @ @" "$(awk '$1 == "T" { t = $2 }
	    /^(D|[0-9a-f])/ && t > 1 && !(t in seen) {
		    seen[t] = 1
		    s = s " " $3
	    }
	    $1 == "D" && t < 2 && $3 == "@" { main = "main" }
	    END { print main s }' "$T/tls.ev")"
	[ "$kind" != all ] || cp "$T/tls.ev" "$T/threads.ev"
done
check "variables of threads" "$D" --text "$T/threads.ev"
same "are these from a thread's beginning" "3000" \
    "$(awk '/thread[]] +counter/ { print $1 }' "$T/out")"
cat >"$T/gone.ev" <<EOF2
H quern-events 2
H allocs
M 1 401000 402000 1000 $T/tls
B 1 >401000 4r8@7f00ff8 4r8@7f01010
D 1 @ 7f01000
1
T 2
D 2 @ 7f01000
1
D 3 - 7f00000 2000
1
E exit 0 3
EOF2
cat >"$T/zero.ev" <<EOF2
H quern-events 2
H kind all
H allocs
M 1 401000 402000 1000 /nonexistent/p
B 1 >401000 1r8@500010
D 1 + 401100 0 401010
1
D 2 = 500010
1
D 3 + 401100 0 401010
D 4 = 500020
D 5 - 500020
E exit 0 2
EOF2
check "memory of no bytes" "$D" --text --refs "$T/zero.ev"
same "is found, and counts none" "2 0 1 0 0 0;0 0 1 0 0 0;" \
    "$(awk '/heap/ { print $1, $2, $3, $4, $5, $6 }' "$T/out" | tr '\n' ';')"
# what no call allocated is allocated, freed and allocated again between two
# references, on its page and behind it; then a stack comes near
cat >"$T/turns.ev" <<EOF2
H quern-events 2
H kind all
H allocs
M 1 401000 402000 1000 /nonexistent/p
B 1 >401000 1r8@500010 1r8@500ff8 1r8@600010
B 2 >401100 5w8.0-8L401000
1
2+7000000
1
1
D 1 + 401200 10 401010
1
D 2 = 500010
1
D 3 - 500010
1
D 4 + 401300 10 401020
D 5 = 501000
1
D 6 + 401400 10 401010
D 7 = 500010
1
2-6700000
1
E exit 0 11
EOF2
check "memory that changes between references" "$D" --text --refs \
    "$T/turns.ev"
same "is found" "16 allocated);7 objects);2 0x0000000000001000;2 0x0000000000001000;1 /nonexistent/p;1 /nonexistent/p;0 0x0000000000001000;" \
    "$(awk '/\[/ { print $1 + $2, $NF }' "$T/out" | tr '\n' ';')"
cat >"$T/far.ev" <<EOF2
H quern-events 2
H kind all
H allocs
H outcomes D1mr
B 1 >401000 1r8@500010
D 1 + 401100 10 401010
1
O 1 D1mr*7fffffffffffffff
1
O 1 D1mr*7fffffffffffffff
D 2 = 500010
E exit 0 2
EOF2
far() { # TEXT FILE
	status 2 "a sum beyond 64 bits $1" "$D" "$2"
	same "a sum beyond 64 bits $1: is told" \
	    "dataprof: the sum of the costs is beyond 64 bits" "$(cat "$T/err")"
}
far "of what is being allocated" "$T/far.ev"
most='D1mr*7fffffffffffffff'
lines() { # LINE...: of one execution
	printf '%s\n' 'H quern-events 2' 'H kind all' 'H outcomes D1mr' \
	    'B 1 >401000 1r8@500010 1r8@600010' 1 "$@" 'E exit 0 1'
}
lines "O 1 $most $most" >"$T/far-line.ev"
far "of an event that a line tells twice" "$T/far-line.ev"
lines "O 1 $most" "O 2 $most" >"$T/far-total.ev"
far "in the total" "$T/far-total.ev"
cat >"$T/standing.ev" <<EOF2
H quern-events 2
H kind cache 64 64 8
H allocs
H outcomes D1mr
B 1 >401000 4r8@500010
Q 2 1 1 1 s
D 1 + 401100 10 401010
D 2 = 500010
O @2 D1mr*4000000000000000
2+5000100
2+0
2+0
2+0
2+0
E exit 0 5
EOF2
far "of a standing event" "$T/standing.ev"
printf '%s\n' 'H quern-events 2' 'B 1 >401000 4r1.0*1' \
    1+500010+8000000000000000 'E exit 0 1' >"$T/times.ev"
far "of a repeat" "$T/times.ev"
printf '%s\n' 'H quern-events 2' 'B 1 >401000 4r1@500010*0' \
    1+200000000 '1+0*80000001' 'E exit 0 2147483651' >"$T/times.ev"
far "of a repeat's rounds" "$T/times.ev"
cat >"$T/block.ev" <<EOF2
H quern-events 2
H kind cache 64 64 8
H outcomes D1mr
B 1 >401000 4r8.0
1+10000
O 1 D1mr
E exit 0 1
EOF2
status 2 "kind cache: an event of a block's execution" "$D" "$T/block.ev"
same "is told" "dataprof: $T/block.ev:6: O: not behind a single reference" \
    "$(cat "$T/err")"
{
	printf 'H quern-events 2\nH kind all\nH outcomes'
	for i in $(seq 50); do printf " %0100d" "$i"; done
	printf '\nB 1 >401000 1\n1\nE exit 0 1\n'
} >"$T/names.ev"
status 2 "long names of events" "$D" "$T/names.ev"
same "are told" "dataprof: $T/names.ev:3: H outcomes: an event's name has \
more than 31 bytes" "$(cat "$T/err")"

# code made at run time, whose name is told at the end, with its blocks
cat >"$T/made.ev" <<EOF2
H quern-events 2
H kind all
H outcomes D1mr
B 1 >401000 1=90r8@500010
B 2 >401001 1=91r8@500010
B 3 >401002 1=92r8@500010
1
O 1 D1mr
2
O 1 D1mr
3
O 1 D1mr
G 1 401000 2 made
G 1 = 1 2
E exit 0 3
EOF2
check "code made at run time" "$D" "$T/made.ev"
same "its blocks are the named function's, others are not" \
    "made 0x401000 1
made 0x401001 1
0x0000000000401002 0x401002 1" "$(awk '/^fn=/ { fn = $2 }
    /^0x401/ { print fn, $0 }' "$T/out" | sort -k 2)"
# many small blocks while there are many large ones
awk 'function add(at, size) {
	printf "D %x + 401100 %s 401010\nD %x = %s\n", n + 1, size, n + 2, at
	n += 2
}
BEGIN {
	print "H quern-events 2\nH kind counts\nH allocs"
	for (i = 0; i < 40000; i++)
		add(sprintf("%x00000", 512 + i), "50000")
	for (i = 0; i < 800000; i++) {
		add("10000000", "40")
		printf "D %x - 10000000\n", ++n
	}
	print "E exit 0 0"
}' >"$T/many.ev"
LIMIT=25
check "many allocations among large ones, in time" "$D" --text "$T/many.ev"
LIMIT=60
same "are all counted" "840000 13158400000" \
    "$(awk '/heap/ { print $1, $2 }' "$T/out")"

# a function of a name that takes all of a chain's room, called by another one
name=$(printf '%05000d' 0 | tr 0 a)
printf 'int %s(void) { return 1; }\nint b%s(void) { return %s(); }\n%s\n' \
    "$name" "$name" "$name" 'int main(void) { return 0; }' >"$T/long.c"
${CC:-gcc} -no-pie -o "$T/long" "$T/long.c" || exit 99
at=$(nm "$T/long" | sed -n 's/^0*\([^ ]*\) T a*$/\1/p')
from=$(nm "$T/long" | sed -n 's/^0*\([^ ]*\) T ba*$/\1/p')
cat >"$T/long.ev" <<EOF2
H quern-events 2
H allocs
M 1 401000 402000 1000 $T/long
B 1 >$from 5w8.0L$at
B 2 >$at 3 1r8.0R
1+7ffe1000
D 1 + $at 1000 $from
2+7ffe1000
D 2 = 10000
E exit 0 2
EOF2
check "memory of a function with a long name" "$D" --text "$T/long.ev"
same "is of the first bytes of it, and a hash" "3978 ... 16" \
    "$(awk '/heap/ { print length($(NF - 2)), $(NF - 1), length($NF) }' "$T/out")"
check "a thread's data, used by the next one, and unmapped" "$D" --text \
    "$T/gone.ev"
same "is then no longer that" "2 control 2 other" \
    "$(awk '/thread control block/ { c = $1 } / .other. / { o += $1 }
    END { print c, "control", o, "other" }' "$T/out")"

# rounds of a repeat: all at once where they find the same, and right elsewhere
{
	echo 'H quern-events 2'
	echo 'H allocs'
	echo 'B 1 >401000 4r8.0 4w8@2000 4r4.1 4w4.2+5000 4m8.0+8'
	echo 'B 2 >402000 4r8.0 4r1.0*1'
	n=1
	for at in 5000 5040 50c0 5100; do
		printf 'D %x + 40110%x 40 401010\nD %x = %s\n' $n $n \
		    $((n + 1)) $at
		n=$((n + 2))
	done
	printf 'D %x + 401200 300000 401010\nD %x = 1000000\n' $n $((n + 1))
} >"$T/head.ev"
for step in +8 +18 -8 -10 +0; do
	cp "$T/head.ev" "$T/once.ev"
	cp "$T/head.ev" "$T/each.ev"
	printf '%s\n' 1+1000000+5080-40 "1$step+8$step*40" 2+4ffe+8 \
	    2+8+0*30 2+0-1*7 >>"$T/once.ev"
	{
		echo 1+1000000+5080-40
		for i in $(seq 65); do echo "1$step+8$step"; done
		echo 2+4ffe+8
		for i in $(seq 49); do echo 2+8+0; done
		for i in $(seq 8); do echo 2+0-1; done
	} >>"$T/each.ev"
	for how in once each; do
		echo "E exit 0 124" >>"$T/$how.ev"
		"$D" --text "$T/$how.ev" | sort >"$T/$how"
		"$D" "$T/$how.ev" >"$T/$how.costs" || echo failed >>"$T/$how"
	done
	samefile "rounds by $step are as if told each" "$T/each" "$T/once"
	samefile "rounds by $step: the same costs" "$T/each.costs" \
	    "$T/once.costs"
done
{
	cat "$T/head.ev"
	echo 1+1000000+2000+3000
	echo '1+0+0+0*fffffffe'
	echo 'E exit 0 4294967296'
} >"$T/once.ev"
check "four billion rounds" "$D" --text "$T/once.ev"
same "count" "12884901888 8589934592" \
    "$(awk '/total; life/ { print $1, $2 }' "$T/out")"

# members of a union: those that have the size of the reference
cat >"$T/union.c" <<'EOF2'
static volatile struct {
	int kind;
	union {
		int i;
		double d;
		struct {
			short lo, hi;
			enum { ONE } one;
		} pair;
		char text[24];
		long v[3];
	} u;
} all[100];

int
main(void)
{
	for (int i = 0; i < 100; i++) {
		all[i].u.d = i;
		all[i].u.i = i;
		all[i].u.pair.hi = 1;
		all[i].u.pair.one = ONE;
		all[i].u.text[9] = 1;
		all[i].u.v[2] = i;
	}
	return 0;
}
EOF2
${CC:-gcc} -g -O1 -o "$T/union" "$T/union.c" || exit 99
"$B/trace" -o "$T/union.ev" "$T/union"
check "a union" "$D" --text "$T/union.ev"
same "has members by size and place" "d i pair.hi pair.one text[] v[]" \
    "$(sed -n 's/^ *0 *100 .* all\[\][.]u[.]\([^ ]*\) .*/\1/p' "$T/out" |
    sort | xargs)"
"$B/trace" -e cache=16,64,1 --contexts "$T/union" |
    "$B/cachesim" $caches -t -o "$T/union.ev"
check "kind cache: a union" "$D" --text "$T/union.ev"
check "has the member that misses" grep -q 'all\[\][.]u[.]d ' "$T/out"

# split DWARF: types are in another file
types() { # PROGRAM: of data that is not allocated
	"$B/trace" --allocs "$T/$1" | "$D" --by=type --text | sed -n \
	    's/.*\[\(static\|thread\)\] *\([a-z].*\)  .*/\1 \2/p' | sort
}
cat "$T/union.c" - >"$T/typed.c" <<'EOF2'
struct mine {
	long first, second;
};
static __thread volatile struct mine mine;
__attribute__((constructor)) static void
own(void)
{
	for (int i = 0; i < 100; i++)
		mine.second++;
}
EOF2
# gcc writes another number than a thread's offset into split DWARF
for cc in "${CC:-gcc} -gdwarf-4" "${CC:-gcc} -gdwarf-5" "clang -gdwarf-5"; do
	thread=static
	[ "${cc%% *}" != clang ] || thread=thread
	if (cd "$T" && $cc -O1 -o whole typed.c && rm -f typed.dwo &&
	    $cc -gsplit-dwarf -O1 -c typed.c && [ -e typed.dwo ] &&
	    $cc -o split typed.o) 2>"$T/err"; then
		types whole | grep "static\|^$thread" >"$T/want"
		types split | grep "static\|^$thread" >"$T/got"
		check "$cc: types" grep -q 'struct mine[.]second\|union' \
		    "$T/want"
		samefile "split: all are the same" "$T/want" "$T/got"
		rm "$T/typed.dwo"
		"$B/trace" -o "$T/split.ev" "$T/split"
		check "without that file" "$D" --by=type --text "$T/split.ev"
		same "is said" "dataprof: $T/split: cannot read typed.dwo: \
inlined calls and types of data are not told" "$(cat "$T/err")"
	else
		skip "split DWARF, $cc" "no compiler for it"
	fi
done

# mappings: pages that one loses, to munmap() or to another one, are free
cat >"$T/maps.c" <<'EOF2'
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE	4096
#define ALONE	((char *)(1ul << 40))
#define FN	__attribute__((noinline)) static void

static inline __attribute__((always_inline)) char *
map(char *at, size_t pages)
{
	return mmap(at, pages * PAGE - 96, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | (at == NULL ? 0 : MAP_FIXED), -1, 0);
}

FN
tail(void)
{
	char *p = map(NULL, 256);

	munmap(p + 128 * PAGE, 128 * PAGE);
}

FN
middle(void)
{
	char *p = map(ALONE, 8);	/* nothing is behind it */

	munmap(p + 2 * PAGE, PAGE - 1);
	munmap(p + 5 * PAGE, 8 * PAGE);
	munmap(p, 2 * PAGE);
}

FN
all_parts(void)
{
	char *p = map(NULL, 300);

	munmap(p + 2 * PAGE, PAGE);
	munmap(p, 300 * PAGE);
}

FN
inside(void)
{
	char *p = map(NULL, 256);

	map(p + 16 * PAGE, 128);
}

FN
over(void)
{
	char *p = map(NULL, 16);

	map(p + 4 * PAGE, 2);
	map(p + 8 * PAGE, 2);
	map(p + 2 * PAGE, 10);
}

FN
moved(void)
{
	char *p = map(NULL, 64);

	munmap(p + 32 * PAGE, 32 * PAGE);
	mremap(p, 32 * PAGE, 512 * PAGE, MREMAP_MAYMOVE);
}

FN
part(void)
{
	char *p = map(NULL, 64);

	mremap(p + 16 * PAGE, 8 * PAGE, 24 * PAGE, MREMAP_MAYMOVE);
}

FN
stays(void)
{
	char *p = map(NULL, 64);

	mremap(p, 64 * PAGE, 64 * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
	    NULL);
}

FN
broken(void)
{
	for (int i = 0; i < 5; i++)
		sbrk(0);
	sbrk(3 * PAGE);
	sbrk(-PAGE);
}

int
main(void)
{
	void *block = malloc(100);

	tail();
	middle();
	all_parts();
	inside();
	over();
	moved();
	part();
	stays();
	broken();
	free(block);
	return 0;
}
EOF2
${CC:-gcc} -O1 -g -fno-builtin -fno-optimize-sibling-calls -o "$T/maps" \
    "$T/maps.c" || exit 99
cat >"$T/want" <<EOF2
tail mmap 1 $((256 * 4096 - 96)) $((256 * 4096 - 96)) $((128 * 4096)) 0
middle mmap 1 $((8 * 4096 - 96)) $((8 * 4096 - 96)) $((2 * 4096)) 0
all_parts mmap 1 $((300 * 4096 - 96)) $((300 * 4096 - 96)) 0 1
inside mmap 2 $((384 * 4096 - 192)) $((256 * 4096 - 96)) $((256 * 4096 - 192)) 0
over mmap 4 $((30 * 4096 - 384)) $((16 * 4096 - 96)) $((16 * 4096 - 192)) 1
moved mmap 1 $((64 * 4096 - 96)) $((64 * 4096 - 96)) 0 1
moved mremap 1 $((512 * 4096)) $((512 * 4096)) $((512 * 4096)) 0
part mmap 1 $((64 * 4096 - 96)) $((64 * 4096 - 96)) $((56 * 4096 - 96)) 0
part mremap 1 $((24 * 4096)) $((24 * 4096)) $((24 * 4096)) 0
stays mmap 1 $((64 * 4096 - 96)) $((64 * 4096 - 96)) $((64 * 4096 - 96)) 0
stays mremap 1 $((64 * 4096)) $((64 * 4096)) $((64 * 4096)) 0
broken sbrk 1 $((3 * 4096)) $((3 * 4096)) $((2 * 4096)) 0
main malloc 1 100 100 0 1
EOF2
for kind in all counts; do
	"$B/trace" -e $kind --allocs -o "$T/maps.ev" "$T/maps"
	check "$kind: mappings" "$D" --depth=1 --text "$T/maps.ev"
	awk 'NR == 1 {
		for (i = 1; $i != "number"; i++)
			;
	}
	/(heap|map)[]] +[a-z]+ < (tail|middle|all_parts|inside|over|moved|part|stays|broken|main)$/ {
		print $NF, $(NF - 2), $i, $(i + 1), $(i + 2), $(i + 3),
		    $(i + 4) != "-"
	}' "$T/out" | sort >"$T/got"
	sort "$T/want" | diff - "$T/got" >"$T/difference"
	ok "$kind: number, bytes, peak, live, and whether any was freed" $? ||
	    sed 's/^/# /' "$T/difference"
	if grep -q 'mmap < _dl_map_object_from_fd' "$T/out"; then
		check "$kind: the loader's are no more than the library" awk '
		    NR == 1 {
			    for (i = 1; $i != "number"; i++)
				    ;
		    }
		    /mmap < _dl_map_object_from_fd/ { n = $(i + 1); peak = $(i + 2) }
		    END { exit peak * 3 > n * 2 }' "$T/out"
	else
		skip "$kind: the loader's" "its functions have no names"
	fi
done

# an exec: what was allocated before is gone, and never freed
cat >"$T/exec.c" <<'EOF2'
#include <stdlib.h>
#include <unistd.h>

static void *
make(size_t n)
{
	return malloc(n);
}

int
main(int argc, char **argv)
{
	void *volatile p = make(100000);

	if (argc == 1)
		execl(argv[0], argv[0], "again", (char *)0);
	for (int i = 0; i < 50; i++)
		free(make(1000));
	return p == NULL;
}
EOF2
${CC:-gcc} -O0 -fno-builtin -o "$T/exec" "$T/exec.c" || exit 99
for kind in all counts; do
	"$B/trace" -e $kind --allocs -o "$T/exec.ev" "$T/exec"
	check "$kind: an exec" "$D" --text "$T/exec.ev"
	same "$kind: number, bytes, peak and what was never freed" \
	    "52 250000 101000 200000" "$(awk 'NR == 1 {
		    for (i = 1; $i != "number"; i++)
			    ;
	    }
	    /heap[]] +malloc < make/ { print $i, $(i + 1), $(i + 2), $(i + 3) }' \
	    "$T/out")"
	same "$kind: no life is longer than the run" "" "$(awk '
	    NR == 1 {
		    for (i = 1; $i != "life"; i++)
			    ;
	    }
	    /heap[]] +[a-z_]+ < / && $i > 4000000' "$T/out")"
done

# an allocation that is told late: its memory is another's by then, but its
# number says that it came first
cat >"$T/late.ev" <<'EOF2'
H quern-events 2
H kind counts
H allocs
T 1
D 64 + 401100 18 401010
D 65 = 5000
T 2
D 1 + 402200 20 402010
D 2 = 5000
D 3 - 5000
E exit 0 0
EOF2
check "an allocation that is told late" "$D" --text "$T/late.ev"
same "leaves the later one" "1 32 32 0 1
1 24 24 24 -" "$(awk '/heap/ { print $1, $2, $3, $4, $5 }' "$T/out")"

# kind cache with contexts: frames are told
cat >"$T/frames.ev" <<'EOF2'
H quern-events 2
H kind cache 64 64 8
H contexts 10
H outcomes D1mr
S 1 0 1 401000
S 2 1 1 401100
A 1 0 0 401000 1
A 2 1 401007 401100 2
B 1 >401000 5r8.0 5L401100
B 2 >401100 5r8.0 1R
Q 3 2 1 1 s
Q 4 1 1 1 s
N 1 7ffe2008
N 2 7ffe2000
3+7ffe1ff00
O 1 D1mr
3+1200
O 1 D1mr
X 1
4+7ffe1ff00
O 1 D1mr
W 1 1
W 2 1
E exit 0 5
EOF2
check "frames of kind cache" "$D" -o "$T/data" "$T/frames.ev"
calls "$T/data" | sort >"$T/calls"
printf '1\t0x0000000000401000\tstack of 0x0000000000401000\n%s\n%s\n' \
    "1	0x0000000000401100	(arguments and environment)" \
    "1	0x0000000000401100	stack of 0x0000000000401100" | sort >"$T/want"
samefile "name the function" "$T/want" "$T/calls"

# what is known of a line only later
"$B/cachesim" --help 2>&1 | grep -q cacheuse && {
	"$B/trace" -o "$T/true.ev" true
	"$B/cachesim" --cacheuse=yes -t -o "$T/told.ev" "$T/true.ev"
	check "cachesim --cacheuse" "$D" -o "$T/data" "$T/told.ev"
	check "its columns" grep -q '^events:.* AcCost1' "$T/data"
}
cat >"$T/labels.ev" <<'EOF2'
H quern-events 2
H outcomes D1mr AcCost1 SpLoss1
B 1 >1000 4r8.0 4w8.0 4m4.0+8 4w8@2000
1+10000
O 1=1 D1mr
O 2=2
T 7
1+40*3
O =1 AcCost1*3e8 SpLoss1*38
O 1=1
O =2 AcCost1
E exit 0 5
EOF2
check "labels" "$D" -o "$T/data" "$T/labels.ev"
same "count" "totals: 1 1001 56" "$(tail -n 1 "$T/data")"

# who stores beside whom
${CC:-gcc} -g -O1 -pthread -o "$T/sharing" t/src/sharing.c
"$B/trace" --allocs -o "$T/run.ev" "$T/sharing"
"$B/memsim" --machine=drcachesim --cores=each --with="cache L1D prefetch=none" \
    -t -o "$T/told.ev" "$T/run.ev"
check "false sharing by memsim" "$D" --text "$T/told.ev"
same "is the right variable's" "beside[]" "$(awk 'NR == 1 {
	for (i = 1; i <= NF; i++)
		if ($i == "Fsh")
			c = i
	next
}
$c > most && $1 ~ /^[0-9]/ && !/total; life/ {
	most = $c
	for (k = c; $k != "[static]" && k <= NF; k++)
		;
	what = $(k + 1)
}
END { print what }' "$T/out")"

# what it cannot tell
status 2 "kind blocks" "$D" /dev/stdin <<'EOF2'
H quern-events 2
H kind blocks
E exit 0 0
EOF2
same "is refused by name" "dataprof: /dev/stdin:1: a stream of kind blocks\
 does not tell the addresses of references: needs kind all, counts or\
 cache" "$(cat "$T/err")"
printf 'H quern-events 2\nH kind cache 64 64 8\nE exit 0 0\n' >"$T/x.ev"
status 2 "kind cache without outcomes" "$D" "$T/x.ev"
printf 'H quern-events 2\nH kind counts\nE exit 0 0\n' >"$T/x.ev"
status 2 "kind counts without allocations" "$D" "$T/x.ev"
printf 'H quern-events 2\nH outcomes D1mr\nB 1 >1000 4r8@10\n1\nO 1 D2mr\n%s\n' \
    "E exit 0 1" >"$T/x.ev"
status 2 "an event that no line announced" "$D" "$T/x.ev"
status 2 "--by" "$D" --by=colour "$T/x.ev"
head -c 100000 "$T/told.ev" >"$T/cut.ev"
status 2 "a stream that is cut" "$D" -o "$T/data" "$T/cut.ev"
check "what there was is written" grep -q '^fn=' "$T/data"
same "without an end mark" "" "$(grep '^totals' "$T/data")"

# lines that cannot be: nothing but the numbers is lost
{
	echo 'H quern-events 2'
	echo 'H allocs yes'
	for i in 1 2 3; do
		printf 'D %x = 1000\nD %x - 1000\nD 1 - 1000 5000\n' $i $i
		printf 'D %x + 1 %s 1\nD %x = %s\n' $i ffffffffffffffff $i \
		    fffffffffffff000
		printf 'D %x * 5 1 2 3\nD %x = 5\nD 1 = 5\n' $i $i
		printf 'D %x + 1 10000000 1\nD %x = 10000\n' $i $i
		printf 'D 1 - 20000 100\nD 1 - 10000 1000\nD 1 @ 0\n'
	done
	echo 'E exit 0 0'
} >"$T/odd.ev"
check "odd allocations" "$D" --text "$T/odd.ev"
# what lies between sections is not taken for all up to the next variable
cat >"$T/gap.c" <<'E'
extern volatile long __init_array_start[];
_Thread_local long own = 5;
volatile long behind[4] = { 1, 0, 3 };
int main(void)
{
	volatile long *p = __init_array_start - 2;
	long n = own + behind[1];

	for (int i = 0; i < behind[2]; i++)
		n += *p++;
	return n == 1;
}
E
if cc -O1 -g -o "$T/gap" "$T/gap.c" \
    2>/dev/null; then
	"$B/trace" -o "$T/run.ev" "$T/gap"
	"$D" -o "$T/data" "$T/run.ev"
	calls "$T/data" >"$T/calls"
	same "a section behind a gap" "1	main	(.init_array)" \
	    "$(grep '	main	(.init' "$T/calls")"
else
	skip "a section behind a gap" "no compiler"
fi

done_testing
