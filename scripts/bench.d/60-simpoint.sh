# simpoint on generated vectors: 20000 intervals of 50000 blocks, 94 MB
# SimPoint 3.2 itself, if somebody has it, is the program "simpoint" in PATH.

if [ -x "$W/../t/mkbbv" ] && { [ -s "$W/phases.bb" ] || untimed \
    '../t/mkbbv 20000 50000 425 30 7 >phases.tmp && mv phases.tmp phases.bb'; }
then
	o="-loadFVFile phases.bb -maxK 30 -numInitSeeds 5 -saveSimpoints"
	title "simpoint: 20000 intervals, 50000 blocks, 8.3 M pairs, -maxK 30"
	lane "one thread" "$B/simpoint -j 1 $o points"
	lane "all threads" "$B/simpoint $o points"
	lane "reading alone" "$B/simpoint -loadFVFile phases.bb -k 1 \
	    -numInitSeeds 1"
	command -v simpoint >/dev/null &&
	    lane "SimPoint 3.2" "simpoint $o points.their"
	go "one thread"
	if has /usr/bin/time; then
		say "peak memory: $(cd "$W" && /usr/bin/time -f %M \
		    "$B/simpoint" $o points 2>&1 >/dev/null | tail -n 1) KB"
	fi
	if [ -s "$W/points.their" ] && ! cmp -s "$W/points" "$W/points.their"; then
		echo "bench: not the simpoints of SimPoint 3.2" >&2
		failed=1
	fi
fi
