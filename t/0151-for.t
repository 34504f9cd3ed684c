#!/bin/sh
# trace --for: each kind tells the same instructions, up to the block that
# reaches the number, and the program goes on

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
${CC:-gcc} -O1 -g -no-pie -o "$T/rounds" t/fix/rounds.c || exit 99
"$T/rounds" closed >"$T/native"

# the same addresses in each run
FIXED=
! setarch -R true 2>/dev/null || FIXED="setarch -R"

# told N KIND OPTION...: the instructions of the stream, by address; in $T/costs
# With --for blocks are not made anew along what runs most often, so all kinds
# have the same superblocks; and the same blocks without
SUPER=
told() {
	n=$1 kind=$2
	shift 2
	timeout -k 5 "$LIMIT" $FIXED "$B/trace" -e "$kind" --for="$n" \
	    --clear-env $SUPER "$@" -o "$T/ev" "$T/rounds" closed >"$T/o" ||
	    return 1
	cmp "$T/o" "$T/native" || return 1
	"$B/icount" "$T/ev" >"$T/costs" || return 1
	# not what was mapped while the program was being let go
	awk '/^ob=/ { if (NF > 1) name[$1] = $2; ob = name[$1] }
	    /^[0-9+*-]/ { if (ob != "") print ob; ob = ""; print }
	    /^totals/' "$T/costs" >"$T/costs.new" &&
	    mv "$T/costs.new" "$T/costs" || return 1
	sed -n 's/^totals: //p' "$T/costs"
}

for n in 1 1000 54321 130000; do
	for SUPER in "" --debug=nosuper; do
		with="$n${SUPER:+ $SUPER}"
		all=$(told $n all)
		cp "$T/costs" "$T/all"
		ok "$with: kind all tells $all" "$([ "$all" -ge $n ] &&
		    [ "$all" -lt $((n + 100)) ]; echo $?)"
		for kind in all blocks counts cache branches; do
			same "$with: kind $kind" "$all" "$(told $n $kind)"
			samefile "$with: kind $kind, by address" "$T/all" \
			    "$T/costs"
		done
	done
done
# code that runs long enough to be made anew along its path without --for
cat >"$T/hot.c" <<'E'
static volatile int odd;
__attribute__((noinline)) static int add(int x) { return x + odd; }
int
main(void)
{
	int sum = 0;

	for (int i = 0; i < 1000000; i++)
		sum = add(sum) ^ (i % 7 == 3 ? 1 : 2);
	return sum < 0;
}
E
${CC:-gcc} -O1 -o "$T/hot" "$T/hot.c" || exit 99
for n in 9000003 9000010 9000017; do
	for kind in all counts; do
		check "$n, hot: $kind" env -i "$B/trace" -e $kind --for=$n \
		    -o "$T/ev" "$T/hot"
		"$B/icount" "$T/ev" | sed -n 's/^totals: //p' >"$T/hot.$kind"
	done
	same "$n, hot: kind all" "$(cat "$T/hot.counts")" "$(cat "$T/hot.all")"
done
# a block's end that is the number itself: no block more
for n in 54321 130000; do
	n=$(told $n all)
	for kind in all blocks counts cache branches; do
		same "exactly $n: kind $kind" "$n" "$(told "$n" $kind)"
	done
	same "exactly $n: an interval" "I $n" "$(told 200000 counts -i"$n" \
	    >"$T/n"; sed -n '/^I/{p;q;}' "$T/ev")"
done
all=$(told 60000 all)
for o in -i7000 --debug=tinycache --debug=fewcounts --debug=nolink; do
	same "kind counts, $o" "$all" "$(told 60000 counts $o)"
done
same "kind counts, -i7000: intervals" 9 "$(told 60000 counts -i7000 >"$T/n"
    grep -c '^I' "$T/ev")"
for o in --debug=tinycache --debug=fewcounts --debug=nolink; do
	same "kind cache, $o" "$all" "$(told 60000 cache $o)"
	same "kind branches, $o" "$all" "$(told 60000 branches $o)"
done
for o in --after=20000 --from=main; do
	all=$(told 30000 all $o)
	same "$o: kind counts" "$all" "$(told 30000 counts $o)"
	same "$o: kind cache" "$all" "$(told 30000 cache $o)"
	same "$o: kind branches" "$all" "$(told 30000 branches $o)"
done
same "less than that runs" "$(told 1G all)" "$(told 1G counts)"

# several threads: what each has left of its part may be too much
cat >"$T/threads.c" <<'END'
#include <pthread.h>
#include <stddef.h>
static void *work(void *n)
{
	for (volatile long i = 0; i < (long)n; i++)
		;
	return NULL;
}
int main(void)
{
	pthread_t t[4];
	work((void *)100000);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)1500000);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 7;
}
END
${CC:-gcc} -O1 -pthread -o "$T/threads" "$T/threads.c" || exit 99
for kind in all counts cache branches; do
	status 7 "threads, kind $kind" "$B/trace" -e $kind --for=8M \
	    -o "$T/ev" "$T/threads"
	n=$("$B/icount" "$T/ev" | sed -n 's/^totals: //p')
	ok "threads, kind $kind: $n" "$([ "$n" -ge 8000000 ] &&
	    [ "$n" -lt 13000000 ]; echo $?)"
done
# and each part's misses are told: here nearly every read misses
cat >"$T/lines.c" <<'END'
#include <pthread.h>
static volatile long array[4][1 << 16];
static void *work(void *n)
{
	for (int round = 0; round < 40; round++)
		for (long i = 0; i < 1 << 16; i += 8)
			array[(long)n][i];
	return NULL;
}
int main(void)
{
	pthread_t t[4];
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
${CC:-gcc} -O1 -pthread -o "$T/lines" "$T/lines.c" || exit 99
for kind in all cache; do
	for n in 1M 3M; do
		"$B/trace" -e $kind --for=$n -o "$T/ev" "$T/lines"
		set -- $("$B/cachesim" --D1=32768,8,64 <"$T/ev" |
		    "$B/fmt-cachegrind" | sed -n 's/^summary: //p')
		check "threads, $n, kind $kind: $5 of $4 reads miss" \
		    test $(($5 * 10)) -gt $(($4 * 8))
	done
done
status 125 "kind none" "$B/trace" -e none --for=1 "$T/rounds"

done_testing
