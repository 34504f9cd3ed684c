#!/bin/sh
# memsim against the slow one: many machines, long streams and a real one

. t/lib.sh

M=$B/memsim
command -v python3 >/dev/null || skip_all "no python3"
LIMIT=900

judge() { # machine stream laws
	"$M" --machine="$1" --describe >"$T/machine" &&
	"$M" --machine="$1" -o "$T/cost" "$2" &&
	python3 t/models/costs.py "$T/cost" >"$T/fast" &&
	python3 t/models/memsim.py "$T/machine" laws="$3" "$2" >"$T/slow" &&
	cmp "$T/fast" "$T/slow"
}
for seed in $(seq 1 40); do
	"$TB/caches" gen $seed 2000 >"$T/in.ev"
	python3 t/models/machines.py $seed >"$T/m"
	check "stream and machine $seed" judge "$T/m" "$T/in.ev" 0
	python3 t/models/machines.py threads $seed <"$T/in.ev" >"$T/th.ev"
	python3 t/models/machines.py $seed many >"$T/m"
	check "stream and machine $seed, many cores" judge "$T/m" "$T/th.ev" 0
done
for seed in 41 42 43 44; do
	"$TB/caches" gen $seed 1500 >"$T/in.ev"
	python3 t/models/machines.py $seed >"$T/m"
	check "laws, machine $seed" judge "$T/m" "$T/in.ev" 1
done

# a real one: totals, since its addresses lie in several objects
"$B/trace" -o "$T/real.ev" /bin/true
for m in zen4 server2023 drcachesim; do
	"$M" --machine=$m --cores=1 --huge=2M,30% --describe >"$T/m"
	"$M" --machine="$T/m" -o "$T/cost" "$T/real.ev"
	python3 t/models/costs.py "$T/cost" | grep ^totals >"$T/fast"
	check "a real stream, $m" python3 t/models/memsim.py "$T/m" \
	    "$T/real.ev"
	grep ^totals "$T/out" >"$T/slow"
	samefile "$m counts the same" "$T/slow" "$T/fast"
done
done_testing
