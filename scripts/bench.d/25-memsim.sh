# memsim: a hierarchy as described against cachesim's three caches
#
# Both read the same stream from a file: L1I, L1D, L2, L3 and TLBs for code and
# data, all LRU; with prefetchers as well; and what the machines that are ready
# take.

cat >"$W/machine" <<'E'
cache L1I size=32k ways=8
cache L1D size=32k ways=8
cache L2 size=1M ways=8
cache L3 size=32M ways=16
tlb T1I entries=64 ways=8
tlb T1D entries=64 ways=4
E
for w in bzip2 sqlite3; do
	workload "$w" || continue
	untimed "$B/trace -o stream.ev $run" || continue
	title "$w: memsim"
	lane cachesim "$B/cachesim $caches -o /dev/null stream.ev"
	lane memsim "$B/memsim --machine=machine -o /dev/null stream.ev"
	lane "with prefetchers" "$B/memsim --machine=machine \
	    --with='cache L1D prefetch=next' \
	    --with='cache L2 prefetch=streamer' -o /dev/null stream.ev"
	lane zen4 "$B/memsim --machine=zen4 --cores=1 -o /dev/null stream.ev"
	go cachesim
	rm -f "$W/stream.ev"
done
