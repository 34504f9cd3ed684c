# others: branchsim and callgraph against Cachegrind's branches and Callgrind
#
# Branches need sums only, which kind branches has; its mark is 0.25 of
# Cachegrind's time. Other predictors, and callgraph, need the order of
# executions, but no data: kind blocks. Their stages
# alone: trace with its text thrown away, and each of them on that text in a
# file.

for w in $WORKLOADS; do
	has valgrind || break
	workload "$w" || continue
	title "$w: branches and calls"
	lane "cachegrind, branches" "valgrind --tool=cachegrind --cache-sim=no \
	    --branch-sim=yes --cachegrind-out-file=cg.out $run"
	lane callgrind "valgrind --tool=callgrind --callgrind-out-file=cg.out \
	    $run"
	lane "with -e branches" "$B/trace -e branches --stdout=/dev/null $run |
	    $B/branchsim | $B/fmt-cachegrind -o our.out"
	lane "with branchsim" "$B/trace -e blocks --stdout=/dev/null $run |
	    $B/branchsim | $B/fmt-cachegrind -o our.out"
	lane "with callgraph" "$B/trace -e blocks --stdout=/dev/null $run |
	    $B/callgraph | $B/fmt-callgrind -o our.out"
	lane "trace -e branches" "$B/trace -e branches -o /dev/null $run"
	lane "trace -e blocks" "$B/trace -e blocks -o /dev/null $run"
	if untimed "$B/trace -e blocks -o blocks.ev $run"; then
		lane "branchsim alone" "$B/branchsim -o /dev/null blocks.ev"
		lane "callgraph alone" "$B/callgraph -o /dev/null blocks.ev"
	fi
	go "cachegrind, branches" callgrind
	rm -f "$W/blocks.ev"
done
