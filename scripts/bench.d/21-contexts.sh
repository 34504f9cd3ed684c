# contexts: call graphs from counts, against Callgrind
#
# The calls that trace counts in the program, as a Callgrind file and as a flame
# graph, beside Callgrind, the order of all executions (-e blocks), and counting
# alone. The marks: 0.10 of Callgrind's wall time, 0.30 for start; twice that of
# counting alone, 1.15 times on bzip2; of native 4.2 on sqlite3, 3.5 on lua, 1.8
# on bzip2. And with misses, of kind cache: 0.20 of Callgrind's --cache-sim=yes.
# Then with mispredictions, too, which only the order of all executions tells.

for w in $WORKLOADS; do
	workload "$w" || continue
	title "$w: calls"
	lane native "$run"
	has valgrind && lane callgrind "valgrind --tool=callgrind \
	    --callgrind-out-file=cg.out $run"
	lane "with contexts" "$B/trace -e counts --contexts \
	    --stdout=/dev/null $run | $B/callgraph |
	    $B/fmt-callgrind -o our.out"
	lane "a flame graph" "$B/trace -e counts --contexts \
	    --stdout=/dev/null $run | $B/callgraph --contexts |
	    $B/fmt-folded | $B/fmt-svg -o our.svg"
	lane "with blocks" "$B/trace -e blocks --stdout=/dev/null $run |
	    $B/callgraph | $B/fmt-callgrind -o our.out"
	lane "trace --contexts" "$B/trace -e counts --contexts \
	    -o /dev/null $run"
	lane "trace -e counts" "$B/trace -e counts -o /dev/null $run"
	go native callgrind
	title "$w: calls and misses"
	lane native "$run"
	has valgrind && lane callgrind "valgrind --tool=callgrind \
	    --cache-sim=yes $caches --callgrind-out-file=cg.out $run"
	lane "with contexts" "$B/trace -e cache --contexts \
	    --stdout=/dev/null $run | $B/cachesim -t $caches |
	    $B/callgraph |
	    $B/fmt-callgrind -o our.out"
	lane "with all" "$B/trace --stdout=/dev/null $run | $B/cachesim -t $caches |
	    $B/callgraph | $B/fmt-callgrind -o our.out"
	lane "trace --contexts" "$B/trace -e cache --contexts \
	    -o /dev/null $run"
	lane "trace -e cache" "$B/trace -e cache -o /dev/null $run"
	go native callgrind
	title "$w: calls, misses and mispredictions"
	lane native "$run"
	has valgrind && lane callgrind "valgrind --tool=callgrind \
	    --cache-sim=yes --branch-sim=yes $caches \
	    --callgrind-out-file=cg.out $run"
	lane "with all" "$B/trace --stdout=/dev/null $run | $B/branchsim -t |
	    $B/cachesim -t $caches | $B/callgraph |
	    $B/fmt-callgrind -o our.out"
	go native callgrind
done
