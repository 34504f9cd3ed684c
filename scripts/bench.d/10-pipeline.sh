# pipeline: the main job against Cachegrind, and its stages alone
#
# cachegrind counts the caches' misses of the same caches. Our stages alone:
# trace with its text thrown away, cachesim on that text in a file. The same
# caches with the references that a small table does not absorb (-e cache); and
# the translation with nothing recorded. Instructions by line, with icount,
# against Cachegrind without caches, which writes its profile, too.
#
# The marks, of Cachegrind's wall time: 0.35 for the pipeline; 0.20 with -e cache,
# 0.15 for bzip2, gzip and xz, and 0.30 of its CPU time; with icount 0.12, for
# start 0.15. The translation alone: 1.3 of native.

for w in $WORKLOADS; do
	workload "$w" || continue
	title "$w"
	lane native "$run"
	has valgrind && lane cachegrind "valgrind --tool=cachegrind \
	    --cache-sim=yes $caches --cachegrind-out-file=cg.out $run"
	lane pipeline "$B/trace --stdout=/dev/null $run |
	    $B/cachesim $caches | $B/fmt-cachegrind -o our.out"
	lane "with -e cache" "$B/trace -e cache --stdout=/dev/null $run |
	    $B/cachesim $caches | $B/fmt-cachegrind -o our.out"
	lane "translation only" "$B/trace -e none -o /dev/null $run"
	lane "trace alone" "$B/trace -o /dev/null $run"
	if untimed "$B/trace -o stream.ev $run"; then
		lane "cachesim alone" "$B/cachesim $caches -o /dev/null \
		    stream.ev"
	fi
	go native cachegrind
	rm -f "$W/stream.ev"

	has valgrind || continue
	title "$w: instructions"
	lane native "$run"
	lane "cachegrind, no caches" "valgrind --tool=cachegrind \
	    --cache-sim=no --cachegrind-out-file=cg.out $run"
	lane "with icount" "$B/trace -e counts --stdout=/dev/null $run |
	    $B/icount | $B/fmt-cachegrind -o our.out"
	lane "trace -e counts" "$B/trace -e counts -o /dev/null $run"
	go native "cachegrind, no caches"
done
