#!/bin/sh
# dataprof of allocations alone: in their order, at the peak, over time; the
# figures are Massif's

. t/lib.sh

D=$B/dataprof
cd "$T" || exit 99

# lines of two threads, whose events are 1 to 11 in time: at 8 there is the most
head() {
	printf '%s\n' "H quern-events 2" "H kind counts" "H cmd ./a b" \
	    "H allocs" "M 1 401000 403000 1000 /nonexistent/a"
}
{
	head
	cat <<-'END'
	T 1
	D 1 + 401100 64 401010
	D 2 = 5000
	D 9 - 5000
	D a + 401100 10 401010
	D b = 5000
	T 2
	D 3 + 401100 1f4 402010
	D 4 = 6000
	D 5 + 401100 3e8 402020
	D 6 = 7000
	D 7 * 6000 401200 258 402030
	D 8 = 8000
	E exit 0 0
	END
} >two.ev
# the figures of a snapshot, or of several
snapshots() { # kind of tree, file
	awk -F= -v tree="$1" '/^time=/ { t = $2 } /^mem_heap_B=/ { b = $2 }
	    /^mem_heap_extra_B=/ { x = $2 }
	    /^heap_tree=/ && $2 == tree { print t, b, x }' "$2"
}
counts() {
	awk '{ print $NF }' | sort -n | tr '\n' ' '
}
check "what two threads have at the peak" "$D" --stacks=peak two.ev
same "is by the order of time" "100 600 1000 " "$(counts <out)"
check "what they never free" "$D" --stacks=left two.ev
same "is this" "16 600 1000 " "$(counts <out)"
check "all bytes" "$D" --stacks=bytes two.ev
same "are these" "116 500 600 1000 " "$(counts <out)"
check "how often" "$D" --stacks=number two.ev
same "is this" "1 1 1 2 " "$(counts <out)"
check "a file of Massif's" "$D" --massif two.ev
same "has the peak, in time" "2792 1700 52" "$(snapshots peak out)"
same "and its tree" "n3: 1700
 n0: 1000
 n0: 600
 n0: 100" "$(awk '/^heap_tree=peak/ { on = 1; next } /^#/ { on = 0 }
    on { match($0, /n[0-9]+: [0-9]+/)
	print substr($0, 1, RSTART + RLENGTH - 1) }' out)"
same "each time is told once" "" "$(sed -n 's/^time=//p' out | uniq -d)"
small() { # threshold: the line of what is below that
	"$D" --massif --threshold="$1" two.ev |
	    sed -n '/=peak/,/^#/s/^ *n0: \(.*threshold.*\)/\1/p'
}
same "a threshold" "100 in 1 place, below massif's threshold (6.25%)" \
    "$(small 6.25)"
same "a larger one" "700 in 2 places, all below massif's threshold (40.00%)" \
    "$(small 40)"
same "all but the whole" \
    "1700 in 3 places, all below massif's threshold (100.00%)" "$(small 100)"
same "a part that is as large as that is shown" "" "$(small 5.7)"
same "and all are with 0" "" "$(small 0)"
status 2 "more than all" "$D" --massif --threshold=101 two.ev
# 2000 points in time
{
	head
	awk 'BEGIN {
		for (i = 1; i <= 2000; i++) {
			printf "D %x + 401100 64 401010\n", 2 * i - 1
			printf "D %x = %x\n", 2 * i, 65536 + i * 256
		}
	}'
	echo "E exit 0 0"
} >points.ev
for n in 10 11 50 200 1000; do
	for d in 1 7 10; do
		check "at most $n points in time" "$D" --massif \
		    --max-snapshots=$n --detailed-freq=$d -o points points.ev
		many=$(grep -c ^snapshot= points)
		check "are $many" test "$many" -le "$n" -a "$many" -gt $((n / 3))
		same "the last one is the end" 200000 \
		    "$(sed -n 's/^mem_heap_B=//p' points | tail -n 1)"
		# all but the first and the peak, which is the last
		same "one of $d has a tree" $(((many - 3) / d + 1)) \
		    "$(grep -c =detailed points)"
	done
done
status 2 "too many" "$D" --massif --max-snapshots=1001 points.ev
status 2 "no tree at all" "$D" --massif --detailed-freq=0 points.ev
status 2 "a threshold of a table" "$D" --text --threshold=5 two.ev
same "is refused" "dataprof: --threshold: only with --massif" "$(cat err)"
check "costs" "$D" two.ev
same "have all of it" "events: Allocs Bytes Peak Left
totals: 5 2216 1700 1616" "$(grep '^events\|^totals' out)"
check "the table" "$D" --text two.ev
same "has the same" "1616" "$(awk '/total; life/ { print $2 }' out)"

# numbers that never come: of calls that did not return, or are not told
{
	head
	cat <<-'END'
	T 1
	D 1 * 5000 401200 64 401010
	D 2 + 401100 64 401010
	D 3 = 6000
	D 9 + 401100 20 401010
	D a = 7000
	D 8 - 6000
	D b = 8000
	E exit 0 0
	END
} >gaps.ev
check "gaps" "$D" --stacks=peak gaps.ev
same "hold up nothing for good" "100 " "$(counts <out)"
check "left" "$D" --stacks=left gaps.ev
same "at the end" "32 " "$(counts <out)"
# a realloc to no bytes frees; one that fails does not
{
	head
	cat <<-'END'
	T 1
	D 1 + 401100 64 401010
	D 2 = 5000
	D 3 + 401100 32 401010
	D 4 = 6000
	D 5 * 5000 401200 0 401010
	D 6 = 0
	D 7 * 6000 401200 1000000000000 401010
	D 8 = 0
	E exit 0 0
	END
} >none.ev
check "realloc that returns nothing" "$D" --stacks=left none.ev
same "frees if no bytes were wanted" "50 " "$(counts <out)"
# so many that they cannot all wait
{
	head
	echo "T 1"
	awk 'BEGIN { for (i = 3; i < 700000; i += 2)
		printf "D %x - %x\n", i, i }'
	printf '%s\n' "D f0000 + 401100 64 401010" "D f0001 = 6000" \
	    "E exit 0 0"
} >many.ev
check "very many" "$D" --stacks=left many.ev
same "wait no longer" "100 " "$(counts <out)"
# sizes that nothing has
{
	head
	cat <<-'END'
	D 1 + 401100 ffffffffffffff00 401010
	D 2 = 10
	D 3 + 401100 8000000000000000 401010
	D 4 = 20
	D 5 + 401100 7fffffffffffffff 401010
	D 6 = 8000000000000030
	D 7 - 20 ffffffffffffffff
	E exit 0 0
	END
} >huge.ev
for how in --massif --stacks=peak --stacks=bytes --text; do
	check "impossible sizes: $how" "$D" $how huge.ev
done
status 2 "their sum" "$D" huge.ev

grep -v ^E two.ev >cut.ev
status 2 "a cut stream" "$D" --stacks=left cut.ev
same "writes what there was" "16 600 1000 " "$(counts <out)"
status 2 "a cut stream, as Massif's" "$D" --massif cut.ev
check "has its peak" grep -q heap_tree=peak out
status 2 "two forms" "$D" --massif --text two.ev
same "are refused" "dataprof: --text, --stacks and --massif exclude each \
other" "$(cat err)"
status 2 "what is no figure" "$D" --stacks=most two.ev
sed 's/^H kind.*/H kind all/' two.ev >all.ev
status 2 "kind all" "$D" --massif all.ev
same "is refused" "dataprof: all.ev:5: --stacks and --massif want allocations \
of all threads in their order: needs trace -e counts --allocs" "$(cat err)"

# callers that only the end of a very long chain tells apart
awk 'BEGIN {
	long = "f_"
	for (i = 0; i < 300; i++)
		long = long "x"
	print "#include <stdlib.h>\nvoid *volatile s;"
	print "#define F(name) __attribute__((noinline)) void name(void)"
	printf "F(%s_0) { s = malloc(1000); }\n", long
	for (i = 1; i < 20; i++)
		printf "F(%s_%d) { %s_%d(); __asm__ volatile(\"\"); }\n", long, i,
		    long, i - 1
	printf "F(outer_a) { %s_19(); __asm__ volatile(\"\"); }\n", long
	printf "F(outer_b) { %s_19(); %s_19(); __asm__ volatile(\"\"); }\n",
	    long, long
	print "int main(void) { outer_a(); outer_b(); return 0; }"
}' >long.c
${CC:-gcc} -O1 -fno-builtin -o long long.c || exit 99
check "long names" "$B/trace" -e counts --contexts --allocs -o long.ev ./long
check "their stacks" "$D" --stacks=bytes long.ev
same "are of each caller" "main;outer_a 1000;main;outer_b 2000;" \
    "$(sed -n 's/^\(main;outer_.\);.* /\1 /p' out | sort | tr '\n' ';')"

# real programs, against Massif: what is allocated, and the peak
cat >own.c <<'END'
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; char text[40]; };

__attribute__((noinline)) static struct node *
grow(struct node *n, int k)
{
	struct node *new = malloc(sizeof *new + (size_t)k);

	new->next = n;
	return new;
}

int
main(void)
{
	struct node *list = NULL, *next;
	char *array = calloc(10, 333), *moved;

	for (int i = 0; i < 500; i++)
		list = grow(list, i % 50);
	moved = malloc(7000);
	free(array);
	for (; list != NULL; list = next) {
		next = list->next;
		free(list);
	}
	array = aligned_alloc(64, 640);
	free(moved);
	return array == NULL;
}
END
${CC:-gcc} -O1 -g -fno-builtin -o own own.c || exit 99
# of many small blocks the allocator adds more than they are
cat >small.c <<'END'
#include <stdlib.h>
static char *v[1000];

int
main(void)
{
	for (int i = 0; i < 1000; i++)
		v[i] = malloc(1 + i % 3);
	for (int i = 0; i < 1000; i++)
		free(v[i]);
	free(malloc(5000));
	return 0;
}
END
${CC:-gcc} -O1 -fno-builtin -o small small.c
seq 20000 >numbers
cat >w.sql <<'END'
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO t SELECT i, 'row ' || (i * 7919 % 60013) FROM n;
CREATE INDEX tb ON t(b);
SELECT max(b), sum(a) FROM t;
END
# judge NAME COMMAND...: bytes at the peak, and what the allocator adds
judge() {
	name=$1
	shift
	check "$name" env -i PATH=/usr/bin:/bin "$B/trace" -e counts --contexts \
	    --allocs --stdout=said -o run.ev "$@"
	check "$name: the heap over time" "$D" --massif -o ours run.ev
	if ! valgrind=$(command -v valgrind); then
		skip "$name: the peak is Massif's" "no valgrind"
		return
	fi
	check "$name: Massif" env -i PATH=/usr/bin:/bin "$valgrind" -q \
	    --tool=massif --time-unit=B --peak-inaccuracy=0.0 \
	    --massif-out-file=theirs "$@"
	same "$name: the peak is Massif's" "$(snapshots peak theirs |
	    cut -d' ' -f2)" "$(snapshots peak ours | cut -d' ' -f2)"
	"$D" --stacks=peak run.ev >stacks
	same "$name: and the sum of all stacks" "$(snapshots peak ours |
	    cut -d' ' -f2)" "$(awk '{ n += $NF } END { print n }' stacks)"
	same "$name: as in costs" "$(snapshots peak ours | cut -d' ' -f2)" \
	    "$("$D" run.ev | awk '/^totals/ { print $4 }')"
	if command -v ms_print >/dev/null; then
		check "$name: ms_print" ms_print ours
		check "$name: shows the peak" grep -q '(peak)' out
	else
		skip "$name: ms_print" "there is none"
		skip "$name: shows the peak" "there is none"
	fi
}
# in_time NAME: of the last one
in_time() {
	if [ -e theirs ]; then
		same "$1: at the same time, with as much around" \
		    "$(snapshots peak theirs)" "$(snapshots peak ours)"
	else
		skip "$1: at the same time, with as much around" "no valgrind"
	fi
}
judge own ./own
in_time own
check "own: who had it" grep -q '^main;grow;malloc [0-9]*$' stacks
judge small ./small
in_time small
same "small: not when there are the most bytes" 1999 \
    "$(snapshots peak ours | cut -d ' ' -f 2)"
# The line of each call for memory, and what is inlined there
cat >at.c <<'END'
#include <stdlib.h>
char *volatile sink;
static inline __attribute__((always_inline)) char *within(size_t n)
{
	return malloc(n);
}
__attribute__((noinline)) static char *apart(size_t n)
{
	return sink = malloc(n);
}
int main(void)
{
	sink = malloc(100000);
	sink = within(5000);
	for (int i = 0; i < 50; i++)
		sink = apart(300);
	sink = within(64);
	free(sink);
	return 0;
}
END
${CC:-gcc} -O1 -g -fno-builtin -o at at.c || exit 99
judge at ./at
# bytes and the callers' names of the peak, at depth 1 and 2
tree() { # FILE
	sed -n '/^heap_tree=peak/,/^#/s/^\( *\)n[0-9]*: \([0-9]*\) 0x[^:]*: /\1\2 /p' \
	    "$1" | sed 's/ (in .*//' | sort
}
same "lines of calls for memory" "  15000 main
  5000 main (at.c:14)
  64 main (at.c:17)
 100000 main (at.c:13)
 15000 apart (at.c:9)
 5064 within (at.c:5)" "$("$D" --massif --threshold=0 run.ev >ours; tree ours)"
if [ -e theirs ]; then
	"$valgrind" -q --tool=massif --threshold=0 --massif-out-file=theirs ./at
	same "Massif has as much on each" "$(tree theirs | awk '/\(at/ {
	    n[$3 $2] += $1 } END { for (k in n) print k, n[k] }' | sort |
	    grep -v at.c:16)" "$(tree ours | awk '/\(at/ {
	    n[$3 $2] += $1 } END { for (k in n) print k, n[k] }' | sort)"
else
	skip "Massif has as much on each" "no valgrind"
fi
same "stacks with lines" "main (at.c:13);malloc 100000
main (at.c:14);within (at.c:5);malloc 5000
main (at.c:17);within (at.c:5);malloc 64
main;apart (at.c:9);malloc 15000" "$("$D" --stacks=peak --lines run.ev | sort)"
same "stacks without" "main;apart;malloc 15000
main;malloc 105064" "$("$D" --stacks=peak run.ev | sort)"
same "a tree without" "  15000 main
 105064 main
 15000 apart" "$("$D" --massif --lines=no --threshold=0 run.ev >ours; tree ours)"
if command -v bzip2 >/dev/null; then
	judge bzip2 bzip2 -kc numbers
	in_time bzip2
fi
if command -v sqlite3 >/dev/null; then
	judge sqlite3 sqlite3 -init w.sql :memory: .quit
fi

done_testing
