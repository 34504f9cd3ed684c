# valgrind: the command line that people have, against Valgrind itself
#
# Cachegrind's and Callgrind's files by both, without caches and with them: the
# same options, the same output. First what the command adds to its pipelines:
# 10 ms at most are the mark.

start="$B/trace --rep=each --cpu=v3 --vdso=no --client-requests=on"
title "valgrind --tool=cachegrind /bin/true: its pipeline, and the command"
lane pipeline "$start -e counts /bin/true | $B/icount --rep=each | \
    $B/fmt-cachegrind -v -o our.out"
lane command "$B/valgrind --tool=cachegrind --cachegrind-out-file=our.out \
    /bin/true"
go pipeline
title "valgrind --tool=callgrind /bin/true: its pipeline, and the command"
lane pipeline "$start -e counts --contexts --modify=write /bin/true | \
    $B/callgraph --rep=each --modify=write | \
    $B/fmt-callgrind -v --compress-pos=yes --jumps=no -o our.out"
lane command "$B/valgrind --tool=callgrind --callgrind-out-file=our.out \
    /bin/true"
go pipeline

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
