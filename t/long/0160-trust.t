#!/bin/sh
# Random bytes over all that trace has in a program, and lies that are only
# found by waiting.
. t/lib.sh
. t/trust.sh

LIMIT=120
[ -x "$B/trace" ] || skip_all "no trace"
check "programs that lie" build_lies
line="trace: the program has written over memory that is trace's"

lies "-e all" "$T/hostile" stall
same "a place in the queue that is never filled" "status 125, 1" \
    "status $?, $(grep -c "^$line" "$T/err")"
lies "--after=1000000000" "$T/hostile" incache
same "a thread that never leaves the cache" "status 125, 1" \
    "status $?, $(grep -c "^$line" "$T/err")"

for how in "-e all" "-e counts" "-e counts --contexts" "-e cache" "-e blocks" "--last=64k" \
    "-e counts -i 10000" "--for=1000000" "--from=work"; do
	bad=
	for seed in $(seq 1 "${SEEDS:-25}"); do
		lies "$how" "$T/scribble" "$seed"
		more=$(is_sane $?)
		[ -z "$more" ] || bad="$bad$seed: $more
"
	done
	same "random bytes ($how)" "" "$bad"
done
done_testing
