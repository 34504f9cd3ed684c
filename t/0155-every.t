#!/bin/sh
# trace --every: each thread tells --for's instructions of every so many. All
# kinds tell the same ones, where they begin and how many follows from the
# numbers, and the program does not notice.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
${CC:-gcc} -O1 -g -no-pie -o "$T/rounds" t/fix/rounds.c || exit 99
"$T/rounds" closed >"$T/native"

# the same addresses in each run
FIXED=
! setarch -R true 2>/dev/null || FIXED="setarch -R"

# sampled EVERY FOR KIND OPTION...: instructions told, by address in $T/costs
sampled() {
	every=$1 for=$2 kind=$3
	shift 3
	timeout -k 5 120 $FIXED "$B/trace" -e "$kind" --every="$every" \
	    --for="$for" --clear-env "$@" -o "$T/ev" "$T/rounds" closed \
	    >"$T/o" && cmp "$T/o" "$T/native" &&
	    "$B/icount" "$T/ev" >"$T/costs" &&
	    sed -n 's/^totals: //p' "$T/costs"
}
whole=$($FIXED "$B/trace" -e counts --clear-env -o "$T/ev" "$T/rounds" closed \
    >/dev/null && "$B/icount" "$T/ev" | sed -n 's/^totals: //p')

for numbers in "1000 100" "5000 4999" "97 31" "2 1" "300000 1"; do
	set -- $numbers
	all=$(sampled $1 $2 all)
	cp "$T/costs" "$T/all"
	for kind in blocks counts cache branches; do
		same "every $1, $2: kind $kind" "$all" "$(sampled $1 $2 $kind)"
		samefile "every $1, $2: kind $kind, by address" "$T/all" \
		    "$T/costs"
	done
done
# windows are in the middle of their parts of the run, or behind --after
n=$(sampled 10000 2500 all)
echo "# $n of $whole"
ok "a quarter is told" "$([ $((n * 4)) -gt $((whole - 12000)) ] &&
    [ $((n * 4)) -lt $((whole + 12000)) ]; echo $?)"
same "a window each" $(((whole - 3750) / 10000 + 1)) "$(grep -c '^J window' "$T/ev")"
# windows that are shorter than blocks
n=$(sampled 100 1 counts)
ok "one instruction of 100 is told, $n" "$([ $((n * 50)) -lt "$whole" ] &&
    [ $((n * 200)) -gt "$whole" ]; echo $?)"
# the last instructions, in a program whose repeated ones never fault
at_end() {
	$FIXED "$B/trace" -e counts --clear-env -o "$T/ev" "$@" "$T/rounds" \
	    >/dev/null && "$B/icount" "$T/ev" | sed -n 's/^totals: //p'
}
open=$(at_end)
n=$(at_end --every=1G --for=500M --after=$((open - 5000)))
ok "--after: the last 5000, $n" "$([ "$n" -gt 4900 ] && [ "$n" -le 5000 ]
    echo $?)"
same "--after=0: from the first instruction on" "$open" \
    "$(at_end --every=1G --for=500M --after=0)"
same "no window before the end" 0 "$(sampled $((whole * 4)) 10 counts \
    2>"$T/err")"
same "a message says so" "trace: --every: the program ended before the first \
window; --after=0 begins with one" "$(cat "$T/err")"
n=$(sampled $((whole * 4)) 1000 counts --after=0 2>"$T/err")
ok "a window at the start: $n" "$([ "$n" -ge 1000 ] && [ "$n" -lt 1100 ]
    echo $?)"
same "no message then" "" "$(cat "$T/err")"

same "the profile says so" \
    "desc: Sampled:          2500 instructions of each 10000" \
    "$(sampled 10000 2500 counts >"$T/n"; grep Sampled "$T/costs")"

# where the cache is flushed, exits are not linked, ids run out
all=$(sampled 1000 300 all)
for o in tinycache nolink fewids; do
	same "--debug=$o" "$all" "$(sampled 1000 300 all --debug=$o)"
	same "--debug=$o, counts" "$all" "$(sampled 1000 300 counts \
	    --debug=$o)"
done
same "--debug=fewcounts" "$all" "$(sampled 1000 300 cache --debug=fewcounts)"
# the misses of kind all
for kind in all cache; do
	sampled 20000 5000 $kind >"$T/n"
	"$B/cachesim" --D1=32768,8,64 --I1=32768,8,64 --LL=262144,8,64 \
	    "$T/ev" 2>"$T/err" | sed /^creator/d >"$T/misses.$kind"
done
samefile "the misses of kind all" "$T/misses.all" "$T/misses.cache"

# A new thread is as far as the one that made it: threads that are shorter than
# the way to a window are told as often as the others.
cat >"$T/threads.c" <<'END'
#include <pthread.h>
#include <stddef.h>
static void *work(void *n)
{
	for (volatile long i = 0; i < (long)n; i++)
		;
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	for (int i = 0; i < 400; i++) {
		pthread_create(&t, NULL, work, (void *)2000);
		pthread_join(t, NULL);
		work((void *)2000);
	}
	return argc;
}
END
${CC:-gcc} -O1 -pthread -o "$T/threads" "$T/threads.c" || exit 99
for kind in all counts; do
	status 1 "threads, kind $kind" "$B/trace" -e $kind --every=50000 \
	    --for=10000 -o "$T/ev" "$T/threads"
	n=$("$B/icount" "$T/ev" | sed -n 's/^totals: //p')
	"$B/trace" -e counts -o "$T/ev" "$T/threads"
	w=$("$B/icount" "$T/ev" | sed -n 's/^totals: //p')
	ok "threads, kind $kind: a fifth, $n of $w" "$([ $((n * 5)) -gt \
	    $((w * 8 / 10)) ] && [ $((n * 5)) -lt $((w * 12 / 10)) ]; echo $?)"
done
# so is a process that is followed, and its image after an exec begins anew
check "processes" "$B/trace" -f -e counts --every=1000 --for=100 \
    -o "$T/f.%p.ev" sh -c '"$1" closed; "$1" closed' - "$T/rounds"
for f in "$T"/f.*.ev; do
	n=$("$B/icount" "$f" | sed -n 's/^totals: //p')
	ok "a process: $n" "$([ "${n:-0}" -gt 1000 ]; echo $?)"
done

# An allocation that a window ends within is over: the results of those of later
# windows are not its own.
cat >"$T/allocs.c" <<'END'
#include <stdlib.h>
int main(void)
{
	for (int i = 0; i < 3000; i++) {
		void *volatile p = malloc(1000 + i % 1000 * 16);
		(void)p;
	}
	return 0;
}
END
${CC:-gcc} -O1 -o "$T/allocs" "$T/allocs.c" || exit 99
# allocations FILE: address and size of each that has both; main's alone, for a
# window may begin within malloc and see what it calls
allocations() {
	awk '$1 == "D" && $3 == "+" { size = $5; main = $6 ~ /^5555555/ }
	$1 == "D" && $3 == "=" && main { print $4, size }' "$1" | sort
}
$FIXED "$B/trace" -e blocks --allocs --clear-env -o "$T/whole" "$T/allocs"
$FIXED "$B/trace" -e blocks --allocs --every=2000 --for=1000 --clear-env \
    -o "$T/ev" "$T/allocs"
allocations "$T/whole" >"$T/want"
allocations "$T/ev" >"$T/got"
ok "some allocations: $(wc -l <"$T/got")" "$([ -s "$T/got" ]; echo $?)"
[ -z "$FIXED" ] || same "no size is another one's" "" \
    "$(comm -13 "$T/want" "$T/got" | head -n 3)"

says() {
	saying=$1
	shift
	status 125 "$*" "$B/trace" "$@" -o "$T/none" true
	cp "$T/err" "$T/message"
	check "$*: the message" grep -q -- "$saying" "$T/message"
}
says "needs --for" --every=10
says "needs --for" --every=10 --for=10
# so many that fragments' comparison would always fail
for o in after for every; do
	says "--$o" --$o=1152921504606846976
done
says "begins and ends windows itself" --every=10 --for=1 --from=main
says "begins and ends windows itself" --every=10 --for=1 -e counts -i5
says "begins and ends windows itself" --every=10 --for=1 --client-requests
says "begins and ends windows itself" --every=10 --for=1 --last=64k
says "no --contexts" --every=10 --for=1 -e counts --contexts
says "kind none tells nothing" --every=10 --for=1 -e none

done_testing
