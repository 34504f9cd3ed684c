#!/bin/sh
# bbv: exp-bbv's vectors on programs without a C library, block by block; sums
# of rows; threads; what it refuses.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
plan 67

# rows as "address:count" in order of address: vectors, blocks
rows() {
	awk -F: 'NR == FNR { addr[$2] = $3; next }
	/^T/ {
		n = split($0, a, ":")
		row = ""
		for (i = 2; i < n; i += 2)
			row = row " " addr[a[i]] "=" a[i + 1] + 0
		print row
	}' "$2" "$1" | while read -r row; do
		printf '%s\n' "$row" | tr ' ' '\n' | sort | tr '\n' ' '
		echo
	done
}

for v in alias big calls flow loop rep; do
	p=$TB/victim/exact-$v
	if ! command -v valgrind >/dev/null; then
		skip "$v: intervals" "no valgrind"
		skip "$v: vectors" "no valgrind"
		continue
	fi
	timeout 60 valgrind --tool=exp-bbv --interval-size=1000 \
	    --bb-out-file="$T/v.bb" --pc-out-file="$T/v.pc" "$p" \
	    >/dev/null 2>&1
	timeout 60 "$B/trace" -o "$T/run.ev" "$p" >/dev/null
	"$B/bbv" -i 1000 --format=exp-bbv -o "$T/o.bb" \
	    --pc-out-file="$T/o.pc" "$T/run.ev"
	same "$v: intervals" "$(grep -c '^T' "$T/v.bb")" \
	    "$(grep -c '^T' "$T/o.bb")"
	if [ "$v" != rep ]; then
		samefile "$v: vectors and sums" "$T/v.bb" "$T/o.bb"
		continue
	fi
	# a comparison that its count ends has one round more in Valgrind, and
	# so may have a block of its own, with an id
	rows "$T/v.bb" "$T/v.pc" >"$T/v.rows"
	rows "$T/o.bb" "$T/o.pc" >"$T/o.rows"
	samefile "$v: vectors" "$T/v.rows" "$T/o.rows"
done

sums() {
	awk -F: '/^T/ { s = 0; for (i = 3; i <= NF; i += 2) s += $i; print s }' \
	    "$@"
}
total() { sums "$1" | awk '{ s += $1 } END { print s + 0 }'; }

p=$TB/victim/exact-calls
for kind in all blocks counts; do
	"$B/trace" -e $kind -o "$T/$kind.ev" "$p" >/dev/null
	"$B/bbv" --tail=keep "$T/$kind.ev" >"$T/$kind.bb"
done
"$B/bbv" --tail=keep -i 500 "$T/all.ev" >"$T/small.bb"
same "all rows together are the run" "$(total "$T/all.bb")" \
    "$(total "$T/small.bb")"
samefile "kind blocks has the same vectors" "$T/all.bb" "$T/blocks.bb"
same "kind counts too, whatever their ids" \
    "$(tr ' ' '\n' <"$T/all.bb" | sed 's/.*://' | sort)" \
    "$(tr ' ' '\n' <"$T/counts.bb" | sed 's/.*://' | sort)"
same "an interval is full by less than a block" "" \
    "$(sums "$T/small.bb" | sed '$d' | awk '$1 < 470 || $1 > 530')"
"$B/trace" -e counts -i 500 -o "$T/i.ev" "$p" >/dev/null
"$B/bbv" "$T/i.ev" >"$T/i.bb"
same "the stream's intervals are taken" "$(grep -c '^I' "$T/i.ev")" \
    "$(($(grep -c '^T' "$T/i.bb") + 1))"
# a mark, or a lack of counters, ends an interval early: it is a row as others
# are, unless it is the last one
cat >"$T/cut.ev" <<'E'
H quern-events 2
H kind counts
H interval 4
B 1 >401000 4 2J401000
1*1
I 4
1
I 2
J dump
1*1
I 4
1
I 2
E exit 0 6
E
for tail in " 4 2 4" "keep 4 2 4 2" "drop 4 2 4"; do
	option=${tail%% *}
	"$B/bbv" ${option:+--tail=$option} "$T/cut.ev" >"$T/cut.bb"
	same "intervals cut short: ${option:-by default}" "${tail#* }" \
	    "$(sums "$T/cut.bb" | paste -sd' ')"
done
sed '/^1.1/,/^1.1/d' "$T/cut.ev" | sed '/^I 4/d; s/0 6/0 1/' >"$T/only.ev"
for tail in "" keep drop; do
	[ "$tail" = drop ] && want=0 || want=1
	for kind in only all; do
		same "one interval of $kind: ${tail:-by default}" "$want" \
		    "$("$B/bbv" ${tail:+--tail=$tail} "$T/$kind.ev" |
		    grep -c '^T')"
	done
done
for o in "-o $T/a --mav=$T/a" "-o $T/a --pc-out-file=$T/a" "--mav=-" \
    "-o $T/b --mav=$T/a --pc-out-file=$T/a"; do
	status 2 "one file for two: $o" "$B/bbv" $o "$T/all.ev"
done
status 2 "kind counts has its own intervals" "$B/bbv" -i 500 "$T/i.ev"
status 2 "pinpoints needs an order" "$B/bbv" --format=pinpoints "$T/i.ev"
"$B/bbv" -i 500 --format=pinpoints "$T/all.ev" >"$T/pin"
same "a mark before each row, and one more" "$(grep -c '^M' "$T/pin")" \
    "$(($(grep -c '^T' "$T/pin") + 1))"
"$B/bbv" -i 500 --tail=keep --mav="$T/mav" -o "$T/with" "$T/all.ev"
samefile "the same vectors beside those of memory" "$T/small.bb" "$T/with"
same "memory: every reference once" \
    "$("$B/plain" -d "$T/all.ev" | grep -c .)" "$(total "$T/mav")"
printf '%s\n' 'H quern-events 2' 'H kind all' \
    'B 1 >1000 4r8@10000 1R >2000 4w8@20000 1R' '1*2' 'E exit 0 3' >"$T/two.ev"
"$B/bbv" -i 2 --mav="$T/mav" -o "$T/two" "$T/two.ev"
same "each block's memory is in the block's interval" \
    "T:1:1 T:2:1 T:1:1 T:2:1 T:1:1 T:2:1" "$(echo $(cat "$T/mav"))"
# exp-bbv's intervals end within a block: here behind instructions 8, 15 and 22
# of executions of five, of which the first four have a reference each; in the
# second stream the block goes on from one superblock to the next
printf '%s\n' 'H quern-events 2' 'H kind all' 'B 1 >1000 4r8@10000 4r8@20000 4r8@30000 '\
'4r8@40000 1R' '1*4' 'E exit 0 5' >"$T/five.ev"
printf '%s\n' 'H quern-events 2' 'H kind all' 'B 1 >1000 4r8@10000 4r8@20000' \
    'B 2 >1008 4r8@30000 4r8@40000 1R' 1 2 1 2 1 2 1 2 1 2 'E exit 0 10' \
    >"$T/parts.ev"
for s in five parts; do
	"$B/bbv" -i 7 --format=exp-bbv --mav="$T/mav" -o "$T/bb" "$T/$s.ev"
	same "exp-bbv: memory of the instructions that are counted, $s" \
	    "T:1:2 :2:2 :3:2 :4:1 T:1:1 :2:1 :3:1 :4:2 T:1:2 :2:2 :3:1 :4:1" \
	    "$(echo $(cat "$T/mav"))"
done
for f in plain exp-bbv pinpoints; do
	"$B/bbv" -i 24 --format=$f --tail=keep --mav="$T/mav" -o "$T/bb" \
	    "$T/five.ev"
	same "$f: no row for an interval in which nothing ran" "1 1" \
	    "$(grep -c '^T' "$T/bb") $(grep -c '^T' "$T/mav")"
	"$B/bbv" -i 23 --format=$f --tail=keep -o "$T/bb" "$T/five.ev"
	same "$f: and one where something did" $(echo "$f" |
	    sed 's/exp-bbv/2/; s/[a-z].*/1/') "$(grep -c '^T' "$T/bb")"
done
head -n 20 "$T/all.ev" >"$T/cut.ev"
status 2 "a cut stream" "$B/bbv" "$T/cut.ev"
"$B/trace" -o "$T/thr.ev" "$TB/victim/thr-tls" >/dev/null
check "threads: a file each" sh -c "'$B/bbv' -i 1000 --tail=keep \
    -o '$T/thr' '$T/thr.ev' && [ -s '$T/thr.2' ]"

# --- names: those of symbols, and in exp-bbv's format as Valgrind shows them
names() {
	"$B/bbv" --format=$1 -o /dev/null --pc-out-file="$T/names" "$T/cxx.ev"
	cut -d: -f4- "$T/names" | grep -o "^$2" | sort -u
}
"$B/trace" -e blocks -o "$T/cxx.ev" "$TB/victim/ins-cxx" >/dev/null
same "exp-bbv: as in the source" "(anonymous namespace)::catcher::go(int)
(below main)" "$(names exp-bbv '\((anon.*catcher::go.*\|_start$\|(below.*\)')"
same "plain: the symbols, which have no colons" \
    "_ZN12_GLOBAL__N_17catcher2goEi
_start" "$(names plain '\(_Z.*catcher2goEi\|_start\|(below.*\)')"

# --- more threads than files may be open: all live, in turn, three times; then
# half of them end
many() {
	printf '%s\n' "H quern-events 1" "H cmd many" "H kind blocks" \
	    "B 1 >401000 3 2S" "B 2 >401010 3 2S"
	for k in 1 2 3; do
		seq "$1" | sed 's/.*/T &\n1\n2/'
	done
	seq $(($1 / 2)) | sed 's/.*/T &\n1\nY 60/'
	echo "E exit 0 $(($1 * 6 + $1 / 2))"
}
threads=${THREADS:-500}
many "$threads" >"$T/many.ev"
few_files() {
	(ulimit -n 16 && "$B/bbv" "$@" "$T/many.ev")
}
for f in plain exp-bbv pinpoints; do
	mkdir "$T/m"
	check "$f: $threads threads, 16 files" few_files -i 4 --tail=keep \
	    --format=$f -o "$T/m/bb"
	same "$f: a file each, none aside" "$threads 0" \
	    "$(ls "$T/m" | wc -l) $(ls "$T/m" | grep -c tmp)"
	same "$f: three rows each, four where it went on" "$((threads / 2)) 3
$((threads / 2)) 4" "$(grep -c '^T' -r "$T/m" | sed 's/.*://' | sort | uniq -c |
	    sed 's/^ *//')"
	rm -r "$T/m"
done
many 12 >"$T/many.ev"
"$B/bbv" -i 3 --tail=keep -o "$T/bb" "$T/many.ev"
same "rows are in their order" "T:1:2 :2:2
T:1:2
T:1:2 :2:2
T:2:2
T:1:2" "$(sed 's/ $//' "$T/bb.6")"

# a stream without an execution, as of a program that is let go at once; who
# reads the empty pipe leaves it to us to say so
printf 'H quern-events 2\nH kind all\nE exit 0 0\n' >"$T/none.ev"
check "no execution" "$B/bbv" "$T/none.ev"
same "no vector" "" "$(cat "$T/out")"
same "is told" "bbv: no instruction was executed: there is no vector" \
    "$(cat "$T/err")"
for f in exp-bbv pinpoints plain; do
	check "some, $f" "$B/bbv" --format=$f "$T/all.ev"
	same "nothing is told" "" "$(cat "$T/err")"
done
