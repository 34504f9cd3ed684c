# pipeline: the main job against Cachegrind, and its stages alone
#
# cachegrind counts the caches' misses of the same caches. Our stages alone:
# trace with its text thrown away, cachesim on that text in a file.

for w in $WORKLOADS; do
	workload "$w" || continue
	title "$w"
	lane native "$run"
	has valgrind && lane cachegrind "valgrind --tool=cachegrind \
	    --cache-sim=yes $caches --cachegrind-out-file=cg.out $run"
	lane pipeline "$B/trace --stdout=/dev/null $run |
	    $B/cachesim $caches | $B/fmt-cachegrind -o our.out"
	lane "trace alone" "$B/trace -o /dev/null $run"
	if untimed "$B/trace -o stream.ev $run"; then
		lane "cachesim alone" "$B/cachesim $caches -o /dev/null \
		    stream.ev"
	fi
	go native cachegrind
	rm -f "$W/stream.ev"
done
