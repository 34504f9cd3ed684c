# limits: start-up, cost by length of the run, threads, memory
#
# The shortest program there is, through the whole pipeline. One program that
# runs ten times as long each time: its time should, too, and nobody should need
# more memory; once up to 10 G instructions, if not -q. Work of four threads, and
# by one after the other: the record of one must not wait for another's. And the
# most memory that each stage takes, by workload.

pipeline="$B/cachesim $caches | $B/fmt-cachegrind -o our.out"

title "start-up: /bin/true"
lane native /bin/true
has valgrind && lane cachegrind "valgrind --tool=cachegrind \
    --cache-sim=yes --cachegrind-out-file=cg.out /bin/true"
lane pipeline "$B/trace --stdout=/dev/null /bin/true | $pipeline"
lane "trace alone" "$B/trace -o /dev/null /bin/true"
go native

cat >"$W/long.c" <<'E'
#include <stdint.h>
#include <stdlib.h>

static uint32_t table[1 << 14];

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint32_t x = 1;

	while (n-- > 0) {
		x = x * 1664525 + 1013904223;
		table[x >> 18] += x;
		if (x & 0x1000000)
			table[x & 16383] ^= (uint32_t)n;
	}
	return table[1] == 42;
}
E
cat >"$W/four.c" <<'E'
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static void *
work(void *arg)
{
	uint32_t t[4096], x = (uint32_t)(uintptr_t)arg;

	memset(t, 0, sizeof t);
	for (unsigned i = 0; i < 2000000; i++) {
		x = x * 1664525 + 1013904223;
		t[x >> 20] += i;
	}
	return (void *)(uintptr_t)t[7];
}

int
main(int argc, char **argv)
{
	pthread_t t[4];

	(void)argv;
	for (uintptr_t i = 0; i < 4; i++) {
		if (argc > 1)
			work((void *)i);
		else if (pthread_create(&t[i], NULL, work, (void *)i) != 0)
			return 1;
	}
	for (unsigned i = 0; i < 4 && argc == 1; i++)
		pthread_join(t[i], NULL);
	return 0;
}
E
# A command with its time and memory in a file: wall user system, KB
noted() {
	printf "/usr/bin/time -f '%%e %%U %%S %%M' -o len.%s %s" "$1" "$2"
}

# one row: M turns
one_length() {
	local p
	untimed "$(noted trace "$B/trace --stdout=/dev/null ./long ${1}000000") |
	    $(noted cachesim "$B/cachesim $caches") |
	    $(noted fmt "$B/fmt-cachegrind -o our.out")" || failed=1
	for p in callgraph branchsim; do
		untimed "$B/trace -e blocks --stdout=/dev/null ./long ${1}000000 |
		    $(noted $p "$B/$p -o $p.out")" || failed=1
	done
	say "$(cd "$W" && awk -v turns="$1" '
		FILENAME == "our.out" && /^summary:/ { n = $2; next }
		FILENAME == "our.out" { next }
		{ mb[FILENAME] = $4 / 1024 }
		FILENAME ~ /trace|cachesim|fmt/ {
			cpu += $2 + $3
			if ($1 > wall)
				wall = $1
		}
		END {
			if (n == 0)
				exit 1
			printf "%9.1f %8.1f %8.2f %8.2f %8.1f %8.1f %8.1f %8.1f %8.1f",
			    n / 1e6, wall, 1e9 * wall / n, 1e9 * cpu / n,
			    mb["len.trace"], mb["len.cachesim"], mb["len.fmt"],
			    mb["len.callgraph"], mb["len.branchsim"] }
		' our.out len.* || echo "$1 M turns failed")"
	rm -f "$W"/len.*
}

by_length() {
	[ -x /usr/bin/time ] || return
	title "cost and memory by length, one run each; the last takes minutes"
	say "$(printf '%9s %8s %8s %8s %8s %8s %8s %8s %8s' "M insns" \
	    "wall s" "ns/insn" "CPU ns" trace cachesim fmt-cg. callgr. \
	    "branchsim MB")"
	for n in 1 10 100 1000; do
		one_length $n
	done
}

if untimed "$CC -O1 -o long long.c && $CC -O1 -pthread -o four four.c"; then
	title "cost by length: about 10 instructions a turn"
	for n in 1 10 100; do
		lane "$n M turns" "$B/trace --stdout=/dev/null ./long ${n}000000 |
		    $pipeline"
	done
	go "10 M turns"
	[ -z "$quick" ] && by_length
	title "the same work by four threads, and by one"
	lane "native, one" "./four one"
	lane "native, four" "./four"
	lane "trace, one" "$B/trace -o /dev/null ./four one"
	lane "trace, four" "$B/trace -o /dev/null ./four"
	go "trace, one"
fi

# most MB of a command's processes
most() {
	(cd "$W" && eval "/usr/bin/time -f %M -o mem.out $1" >/dev/null \
	    2>"$W/err") && awk 'END { printf "%8.0f", $1 / 1024 }' "$W/mem.out"
}

# a row for each workload: trace, then the readers of its stream
most_all() {
	local w=$1 kind=$2 reader
	shift 2
	printf '%-14s' "$w"
	most "$B/trace -e $kind -o stream.ev $run"
	for reader; do
		most "$B/$reader -o ${reader%% *}.out stream.ev"
	done
}

if [ -x /usr/bin/time ]; then
	title "memory: the most that each stage takes, MB;" \
	    "marks, of cc1: trace 90, in kind cache 150, readers 48"
	say "$(printf '%-14s %7s %8s %8s %8s %8s' "" trace cachesim \
	    branchsim callgr. fmt-cg.)"
	for w in $WORKLOADS; do
		workload "$w" || continue
		say "$(most_all "$w" all "cachesim $caches" branchsim \
		    callgraph)$(most "$B/fmt-cachegrind cachesim.out")"
		say "$(most_all "$w, cache" cache "cachesim $caches")"
	done
	rm -f "$W/stream.ev"
fi
