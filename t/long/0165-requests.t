#!/bin/sh
# trace --client-requests: threads that run while another one switches

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

sed -n '/^cat >"$T\/request.h"/,/^EOF/p' t/0165-requests.t | sed '1d;$d' \
    >"$T/request.h"
cat >"$T/storm.c" <<'EOF'
#include "request.h"
#include <pthread.h>
static volatile int stop;
static void *
work(void *arg)
{
	while (!stop)
		loop(300);
	return arg;
}
int
main(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 60; i++) {
		request(CT + 4, 0, 0, 0, 0, 0);
		loop(2000);
		if (i % 7 == 0)
			request(CT, 0, 0, 0, 0, 0);
		if (i % 5 == 0)
			request(CT + 2, 0, 0, 0, 0, 0);
		request(CT + 5, 0, 0, 0, 0, 0);
	}
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
EOF
$CC -O1 -pthread -o "$T/storm" "$T/storm.c" || skip_all "no compiler"
for k in all blocks counts cache "counts --contexts"; do
	check "kind $k" "$B/trace" --client-requests=off -e $k -o "$T/ev" \
	    "$T/storm"
	check "a whole stream" "$B/icount" "$T/ev"
	same "a part for each dump" 10 "$(grep -c '^totals' "$T/out")"
done

# many times: trace's own entries come between those of the threads
bad=0
for i in $(seq 20); do
	run "$B/trace" --client-requests=off -e counts -o "$T/ev" \
	    "$T/storm" || bad=$((bad + 1))
done
same "kind counts: 20 times to the end" 0 $bad

# many times, with a stop that the other thread must not miss
sed -n '/^cat >"$T\/threads.c"/,/^EOF/p' t/0165-requests.t | sed '1d;$d' \
    >"$T/threads.c"
$CC -O1 -pthread -o "$T/threads" "$T/threads.c"
for k in all counts cache; do
	bad=0
	for i in $(seq 30); do
		run "$B/trace" --client-requests=off -e $k -o "$T/ev" \
		    "$T/threads"
		# its loop alone: how long each waits for the other is chance
		n=$("$B/icount" "$T/ev" | "$B/fmt-cachegrind" |
		    awk '/^fn=/ { on = $0 == "fn=loop" }
			/^[0-9]/ && on { n += $2 } END { print n + 0 }')
		[ "$n" -ge 2000000 ] && [ "$n" -lt 2000010 ] || bad=$n
	done
	same "kind $k: 30 times only what was inside" 0 $bad
done

done_testing
