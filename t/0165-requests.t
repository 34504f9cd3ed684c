#!/bin/sh
# trace --client-requests: valgrind.h's requests, written by hand; marks in the
# stream, and what its readers do at them

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

cat >"$T/request.h" <<'EOF'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The sequence of valgrind.h for amd64. */
static inline unsigned long
request(unsigned long what, unsigned long a, unsigned long b, unsigned long c,
    unsigned long d, unsigned long otherwise)
{
	volatile unsigned long v[6] = { what, a, b, c, d, 0 };
	unsigned long r = otherwise;

	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi;"
	    "rolq $51, %%rdi; xchgq %%rbx, %%rbx"
	    : "=d"(r) : "a"(v), "0"(otherwise) : "cc", "memory");
	return r;
}
#define CT 0x43540000ul
#define CG 0x43470000ul

/* 2n + 1 instructions, or 2n + 2 with the call's */
__attribute__((noinline)) static void
loop(unsigned long n)
{
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}
EOF

cat >"$T/prog.c" <<'EOF'
#include "request.h"
/* in order: d dump, D dump with a text, z zero, t toggle, c cold, o on, x off,
 * a number: that many rounds */
int
main(int argc, char **argv)
{
	static unsigned long n[100];

	for (int i = 1; i < argc; i++)
		n[i] = strtoul(argv[i], NULL, 10);
	for (int i = 1; i < argc; i++)
		switch (argv[i][0]) {
		case 'd': request(CT, 0, 0, 0, 0, 0); break;
		case 'D': request(CT + 3, (unsigned long)"a text \1", 0, 0, 0,
			    0); break;
		case 'z': request(CT + 1, 0, 0, 0, 0, 0); break;
		case 't': request(CT + 2, 0, 0, 0, 0, 0); break;
		case 'c': request(CT + 4, 0, 0, 0, 0, 0); break;
		case 'x': request(CT + 5, 0, 0, 0, 0, 0); break;
		case 'o': request(CG, 0, 0, 0, 0, 0); break;
		case 'X': request(CG + 1, 0, 0, 0, 0, 0); break;
		default: loop(n[i]); break;
		}
	return 0;
}
EOF
$CC -O1 -static -o "$T/prog" "$T/prog.c" 2>/dev/null ||
    $CC -O1 -o "$T/prog" "$T/prog.c" || skip_all "no compiler"

kinds="all blocks counts cache counts+--contexts"
# told KIND ARGUMENT...: a stream, "$T/ev"
told() {
	k=$1
	shift
	"$B/trace" --client-requests=$start -e ${k%+*} $(echo "$k" |
	    sed -n 's/.*+//p') -o "$T/ev" "$T/prog" "$@" >"$T/out" 2>"$T/err"
}
# totals of all parts, in one line
totals() {
	"$B/${1:-icount}" "$T/ev" | sed -n 's/^totals: \([0-9]*\).*/\1/p' |
	    tr '\n' ' ' | sed 's/ $//'
}

# exact: rounds inside are counted, rounds outside are not
for k in $kinds; do
	start=off
	told $k 1000 c 1000 x 1000
	one=$(totals)
	told $k 7 c 3000 x 50000
	same "$k: inside, and nothing else" $((one + 4000)) "$(totals)"
	same "$k: marks" "J cold J off" "$(grep '^J' "$T/ev" | tr '\n' ' ' |
	    sed 's/ $//')"
	told $k 9 o 1000 X 77
	same "$k: Cachegrind's" "$one J on J off" \
	    "$(totals) $(grep '^J' "$T/ev" | tr '\n' ' ' | sed 's/ $//')"
	told $k c c 1000 x x 5 c 1000 x
	two=$(totals)
	told $k c c 1000 x x 50000 c 11000 x
	same "$k: switched on twice" $((two + 20000)) "$(totals)"
	told $k 1000
	same "$k: never switched on" "" "$(totals | sed 's/^0$//')"
	start=on
	told $k 1500 x 100000 c 500
	some=$(totals)
	told $k 2500 x 555555 c 500
	same "$k: from the start on" $((some + 2000)) "$(totals)"
done

# parts: the same in all kinds
start=off
told all c 100 d 2000 D 30000 z 10 t 555 t 20 x
parts=$(totals)
same "three parts" 3 "$(echo "$parts" | wc -w)"
set -- $parts
told all c 200 d 3000 D 40000 z 20 t 9999 t 30 x
same "each with its rounds" "$(($1 + 200)) $(($2 + 2000)) $(($3 + 40))" \
    "$(totals)"
for k in $kinds; do
	told $k c 100 d 2000 D 30000 z 10 t 555 t 20 x
	same "$k: the same parts" "$parts" "$(totals)"
	case $k in
	all|cache) same "$k: cachesim" "$parts" "$(totals cachesim)" ;;
	esac
	case $k in
	all|blocks) same "$k: branchsim" "$parts" "$(totals branchsim)" ;;
	esac
	case $k in
	all|blocks|counts+*)
		same "$k: callgraph" "$parts" "$(totals callgraph)"
		same "$k: why" "Client Request;Client Request: a text \\001;Program termination" \
		    "$("$B/callgraph" "$T/ev" | sed -n 's/^desc: Trigger: //p' |
		    paste -sd ';')" ;;
	esac
	check "$k: a file for each part" sh -c \
	    "'$B/icount' '$T/ev' | '$B/fmt-callgrind' --parts=split -o '$T/cg'"
	same "$k: names what asked for it" \
	    "1 Client Request;2 Client Request: a text \\001;3 Program termination" \
	    "$(for i in 1 2 3; do
	    sed -n "s/^desc: Trigger:/$i/p" "$T/cg.$i"; done | paste -sd ';')"
done
told all c 100 d 2000 D 30000 z 10 t 555 t 20 x
"$B/cachesim" -t "$T/ev" | "$B/branchsim" -t >"$T/through"
same "-t passes marks" "$(grep -c '^J' "$T/ev")" "$(grep -c '^J' "$T/through")"
"$B/cachesim" "$T/ev" | "$B/fmt-callgrind" --parts=split -o "$T/cs"
"$B/callgraph" "$T/through" | "$B/fmt-callgrind" --parts=split -o "$T/th"
same "the misses of each part come through" \
    "$(cat "$T"/cs.* | sed -n 's/^totals: [0-9]* \([0-9]*\) .*/\1/p' | paste -sd ' ')" \
    "$(for f in "$T"/th.*; do "$B/annotate" --show=I1mr "$f" |
    sed -n 's/^ *\([0-9,]*\).*PROGRAM TOTALS.*/\1/p;' | tr -d ,; done | paste -sd ' ')"

# cold caches, or not
start=off
told all c 100 d x c 100 x
"$B/cachesim" "$T/ev" | sed -n 's/^totals: //p' >"$T/cold"
told all c 100 d X o 100 x
"$B/cachesim" "$T/ev" | sed -n 's/^totals: //p' >"$T/warm"
check "CALLGRIND_START empties the caches, CACHEGRIND_START does not" \
    test "$(sed -n 2p "$T/cold" | cut -d' ' -f2)" -gt \
    "$(sed -n 2p "$T/warm" | cut -d' ' -f2)"

# without the option they are five instructions that do nothing
"$B/trace" -e counts -o "$T/ev" "$T/prog" 1000 x 1000
a=$(totals)
"$B/trace" -e counts -o "$T/ev" "$T/prog" 1000 1000
same "no marks without the option" 0 "$(grep -c '^J' "$T/ev")"
"$B/trace" --client-requests -e counts -o "$T/ev" "$T/prog" z z 5
a=$(totals)
"$B/trace" -e counts -o "$T/ev" "$T/prog" z z 5
check "a request counts as one instruction, without it as five" \
    test "$(totals)" -gt "$a"

# answers
cat >"$T/answers.c" <<'EOF'
#include "request.h"
static long
sum(unsigned long tid, long a, long b, long c)
{
	return tid == 0 ? -1 : a + 10 * b + 100 * c;
}
static unsigned long
print(unsigned long what, const char *fmt, ...)
{
	unsigned long r;
	va_list v;

	va_start(v, fmt);
	r = request(what, (unsigned long)fmt, (unsigned long)&v, 0, 0, 0);
	va_end(v);
	return r;
}
int
main(int argc, char **argv)
{
	double x = 2.5;
	(void)argv;
	printf("%lu %lu %lu %lu\n", request(0x1001, 0, 0, 0, 0, 0),
	    request(0x1201, 0, 0, 0, 0, 7), request(0x1002, 0, 0, 0, 0, 7),
	    request(0x4d430000, 0, 0, 0, 0, 77));
	printf("%lu\n", print(0x1403, "%d|%5s|%-4u|%lx|%.2f|%c|%%|%*d|%s\nnext",
	    -argc, "abc", 7u, 0x123456789abul, x, 'q', 3, 4, (char *)0));
	print(0x1403, "%d %d %d %d %d %d %d %g %g", 1, 2, 3, 4, 5, 6, 7, x, 1.5);
	print(0x1404, "here");
	print(0x1403, "%s", (char *)16);
	request(0x1403, 16, 16, 0, 0, 0);
	if (request(0x1501, 0, 1, 0, 0, 0) != 0)	/* stacks */
		puts("registered");
	printf("%ld\n", (long)request(0x1104, (unsigned long)sum, 1, 2, 3, 0));
	printf("%g\n", x);
	print(0x1403, "last");
	return 0;
}
EOF
$CC -O1 -g -o "$T/answers" "$T/answers.c"
check "answers without the option" "$B/trace" -e none "$T/answers"
same "nobody is there" "0 7 7 77;0;0;2.5" "$(paste -sd ';' "$T/out")"
for kind in all counts none; do
	check "answers, kind $kind" "$B/trace" --client-requests -e $kind \
	    --log="$T/log" -o "$T/ev" "$T/answers"
	same "are given" "1 0 0 77;44;registered;321;2.5" \
	    "$(paste -sd ';' "$T/out")"
	same "and printed" "-1|  abc|7   |123456789ab|2.50|q|%|  4|;next1 2 3 4 5 6 7 2.5 1.5here   at 0xN: request (request.h:N);last" \
	    "$(sed 's/^[*=]*[0-9]*[*=]* //; s/0x[0-9A-F]*/0xN/; / by /d
	    s/h:[0-9]*/h:N/' "$T/log" | paste -sd ';')"
	rm "$T/log"
done
check "to standard error" "$B/trace" --client-requests -e none "$T/answers"
check "with the process's number" grep -q '^\*\*[0-9]*\*\* next1.*here' "$T/err"

# callers
cat >"$T/calls.c" <<'EOF'
#include "request.h"
static char twice;
__attribute__((noinline)) static int
inner(int n)
{
	if (n > 0)
		return inner(n - 1) + 1;
	return (int)request(0x1404, (unsigned long)"why?", (unsigned long)&twice,
	    0, 0, 0);
}
int
main(void)
{
	return inner(1) + inner(15) < 20;
}
EOF
$CC -O1 -g -fno-optimize-sibling-calls -o "$T/calls" "$T/calls.c"
check "a backtrace" "$B/trace" --client-requests -e none "$T/calls"
same "has the callers, up to main" \
    "**N** why?   at inner;==N==    by inner;==N==    by main;" \
    "$(sed 's/[0-9][0-9]*\([*=]\)/N\1/; s/0x.*: \([a-z]*\) .*/\1/; /main/q' \
    "$T/err" | tr '\n' ';')"
same "lines" "calls.c:7 calls.c:14" "$(sed -n \
    's/.*by.*(\(calls.c:[0-9]*\)).*/\1/p' "$T/err" | head -n 2 | paste -sd ' ')"
same "and twelve at most" 12 "$(sed 1,3d "$T/err" | grep -c 'inner (')"

# all threads are switched
cat >"$T/threads.c" <<'EOF'
#include "request.h"
#include <pthread.h>
static volatile int turn;
static void *
work(void *arg)
{
	(void)arg;
	while (turn != 1)
		sched_yield();
	loop(1000000);
	turn = 2;
	while (turn != 3)
		sched_yield();
	loop(5000000);
	return NULL;
}
int
main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, work, NULL);
	request(CT + 4, 0, 0, 0, 0, 0);
	turn = 1;
	while (turn != 2)
		sched_yield();
	request(CT + 5, 0, 0, 0, 0, 0);
	turn = 3;
	pthread_join(t, NULL);
	return 0;
}
EOF
$CC -O1 -pthread -o "$T/threads" "$T/threads.c"
for k in $kinds; do
	check "$k: two threads" "$B/trace" --client-requests=off -e ${k%+*} \
	    $(echo "$k" | sed -n 's/.*+//p') -o "$T/ev" "$T/threads"
	same "$k: what the other one did inside" yes "$("$B/icount" "$T/ev" |
	    "$B/fmt-cachegrind" | "$B/annotate" --threshold=0 --show=Ir |
	    sed -n '/loop/{s/^[^0-9]*\([0-9,]*\) .*/\1/;s/,//g;p;q;}' |
	    awk '{ print ($1 >= 2000000 && $1 < 2000010 ? "yes" : $0) }')"
done

# an equal program under Valgrind
if [ -x /usr/bin/valgrind ] && valgrind --version >/dev/null 2>&1; then
	valgrind -q --tool=callgrind --vex-iropt-level=0 --instr-atstart=no \
	    --cache-sim=yes --LL=8388608,16,64 \
	    --callgrind-out-file="$T/vg" "$T/prog" 5 c 1000 d 200 D 30 x 9 \
	    2>/dev/null
	"$B/trace" --client-requests=off --cpu=v3 -o "$T/ev" "$T/prog" 5 c \
	    1000 d 200 D 30 x 9
	same "Callgrind's summaries" "$(cat "$T/vg.1" "$T/vg.2" |
	    sed -n 's/^summary: \([0-9]*\).*/\1/p' |
	    paste -sd ' ')" "$(totals | cut -d' ' -f1-2)"
else
	skip "Callgrind's summaries" "no valgrind"
fi

status 125 "not with --from" "$B/trace" --client-requests --from=main "$T/prog"
status 125 "not with --after" "$B/trace" --client-requests --after=9 "$T/prog"
status 125 "on or off" "$B/trace" --client-requests=no "$T/prog"

done_testing
