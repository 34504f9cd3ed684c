# memory: reuse distances, and the mix of instructions
#
# reuse and mix alone, on streams in files. Reading is the least that any
# reader does: evcount sums up instructions, and looks at no reference.

for w in $WORKLOADS; do
	has "../t/evcount" || break
	workload "$w" || continue
	untimed "$B/trace -o stream.ev $run" || continue
	title "$w: reuse distances"
	lane reading "$B/../t/evcount stream.ev"
	lane "reuse" "$B/reuse stream.ev"
	lane "reuse --sample=1%" "$B/reuse --sample=1% stream.ev"
	lane "cachesim" "$B/cachesim $caches stream.ev"
	go reading
	refs=$("$B/reuse" --sample=1% --functions=0 "$W/stream.ev" |
	    sed -n 's/^refs //p')
	say "$refs references"
	rm -f "$W/stream.ev"
	untimed "$B/trace -e counts -o counts.ev $run" || continue
	title "$w: mix of instructions, kind counts"
	lane "trace -e counts" "$B/trace -e counts -o /dev/null $run"
	lane "with mix" "$B/trace -e counts --stdout=/dev/null $run | $B/mix"
	lane "mix alone" "$B/mix counts.ev"
	lane "mix --functions=0" "$B/mix --functions=0 counts.ev"
	go "trace -e counts"
	rm -f "$W/counts.ev"
done
