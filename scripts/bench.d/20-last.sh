# flight recorder: the newest records of each thread alone, against all of them
# as text that is thrown away, and against the program itself

for w in bzip2 sqlite3; do
	workload "$w" || continue
	title "$w: the flight recorder"
	lane native "$run"
	for kind in all blocks; do
		lane "$kind: all records" "$B/trace -e $kind -o /dev/null $run"
		lane "$kind: --last 1M" "$B/trace -e $kind --last 1M -o last.ev $run"
	done
	go native "all: all records"
	rm -f "$W/last.ev"
done
