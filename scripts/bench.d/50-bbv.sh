# bbv: vectors of basic blocks against Valgrind's exp-bbv
#
# The intervals are of ten million instructions, so that each workload has
# several.

for w in bzip2 sqlite3; do
	workload "$w" || continue
	title "$w: vectors of basic blocks"
	lane native "$run"
	has valgrind && lane exp-bbv "valgrind --tool=exp-bbv \
	    --interval-size=10000000 --bb-out-file=v.bb --pc-out-file=v.pc $run"
	lane "trace | bbv" "$B/trace -e counts -i 10M --stdout=/dev/null $run |
	    $B/bbv >o.bb"
	lane "trace alone" "$B/trace -e counts -i 10M -o /dev/null $run"
	go native exp-bbv
done
