# dataprof: what it takes to tell allocations, and whose data is missed
#
# The marks: 1.15 times the same without --allocs, for sqlite3 and python3; and
# dataprof adds less than 25 % to cachesim's time on bzip2's kind cache.

for w in sqlite3 python3; do
	workload "$w" || continue
	title "$w: allocations"
	lane cache "$B/trace -e cache -o /dev/null $run"
	lane "and --allocs" "$B/trace -e cache --allocs -o /dev/null $run"
	go cache
	title "$w: allocations, with contexts"
	lane contexts "$B/trace -e cache --contexts -o /dev/null $run"
	lane "and --allocs" "$B/trace -e cache --contexts --allocs \
	    -o /dev/null $run"
	go contexts
done
if workload bzip2 && untimed "$B/trace -e cache --allocs -o stream.ev $run"
then
	title "bzip2: whose data"
	lane "trace | cachesim" "$B/trace -e cache --stdout=/dev/null $run |
	    $B/cachesim -o /dev/null"
	lane "and dataprof" "$B/trace -e cache --allocs --stdout=/dev/null \
	    $run | $B/cachesim -t | $B/dataprof -o /dev/null"
	lane "cachesim" "$B/cachesim -o /dev/null stream.ev"
	lane "cachesim -t" "$B/cachesim -t -o /dev/null stream.ev"
	lane "cachesim -t | dataprof" "$B/cachesim -t stream.ev |
	    $B/dataprof -o /dev/null"
	go "trace | cachesim" "cachesim -t"
	rm -f "$W/stream.ev"
fi
