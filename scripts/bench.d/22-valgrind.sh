# valgrind: the command line that people have, against Valgrind itself
#
# Cachegrind's and Callgrind's files by both, without caches and with them: the
# same options, the same output.

for w in $WORKLOADS; do
	has valgrind || break
	workload "$w" || continue
	for t in cachegrind callgrind; do
		for o in "" " --cache-sim=yes $caches"; do
			title "$w: valgrind --tool=$t${o:+ --cache-sim=yes}"
			lane native "$run"
			lane Valgrind "valgrind --tool=$t$o \
			    --$t-out-file=vg.out $run"
			lane quern "$B/valgrind --tool=$t$o \
			    --$t-out-file=our.out $run"
			go Valgrind
		done
	done
done
