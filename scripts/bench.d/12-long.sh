# long: instructions counted in runs of some seconds, where translation is little
#
# The workloads of these names, with more to do. Cachegrind, without caches,
# counts the same; -q leaves it out. The marks: nothing recorded at most 1.3
# times native; -e counts less than 1.5.

# longer FILE SCRIPT: a copy of the workload's file, changed by sed
longer() {
	sed "$2" "$W/$1" >"$W/long.$1" && run=${run/$1/long.$1}
}

for w in bzip2 gzip sqlite3 lua perl python3; do
	workload "$w" || continue
	case $w in
	bzip2) longer s.txt 'p;p;p;p;p;p;p' ;;
	gzip) longer words.txt 'p;p;p;p;p;p;p' ;;
	sqlite3) longer w.sql 's/60000)/600000)/; s/9999/19999/' ;;
	lua) longer w.lua 's/0000 do/00000 do/; s/27/34/' ;;
	perl) longer w.pl 's/90000/1800000/' ;;
	python3) longer w.py 's/0000/00000/' ;;
	esac || continue
	title "$w, longer"
	lane native "$run"
	[ -z "$quick" ] && has valgrind && lane "cachegrind, no caches" \
	    "valgrind --tool=cachegrind --cache-sim=no \
	    --cachegrind-out-file=cg.out $run"
	lane "translation only" "$B/trace -e none -o /dev/null $run"
	lane "trace -e counts" "$B/trace -e counts -o /dev/null $run"
	lane "with icount" "$B/trace -e counts --stdout=/dev/null $run |
	    $B/icount | $B/fmt-cachegrind -o our.out"
	go native
done
