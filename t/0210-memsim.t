#!/bin/sh
# memsim: the fast simulator against the slow one; cachesim; descriptions; -t

. t/lib.sh

M=$B/memsim
C=$B/cachesim
J=$TB/caches
command -v python3 >/dev/null || skip_all "no python3"
LIMIT=300

# all counts by address as t/models/memsim.py has them, whose laws hold as well
judge() { # machine stream [option...]
	m=$1 s=$2
	shift 2
	"$M" --machine="$m" "$@" --describe >"$T/machine" &&
	"$M" --machine="$m" "$@" -o "$T/cost" "$s" &&
	python3 t/models/costs.py "$T/cost" >"$T/fast" &&
	python3 t/models/memsim.py "$T/machine" laws=1 "$s" >"$T/slow" &&
	cmp "$T/fast" "$T/slow"
}
for seed in 2 11 34; do
	"$J" gen $seed 600 >"$T/in.ev"
	python3 t/models/machines.py $seed >"$T/m"
	check "stream and machine $seed" judge "$T/m" "$T/in.ev"
	python3 t/models/machines.py threads $seed <"$T/in.ev" >"$T/th.ev"
	python3 t/models/machines.py $seed many >"$T/m"
	check "stream and machine $seed, many cores" judge "$T/m" "$T/th.ev"
done
# as on a processor without AVX-512
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F
check "stream and machine $seed, without AVX-512" judge "$T/m" "$T/th.ev"
unset GLIBC_TUNABLES

# LRU, with inclusive caches: a reference takes out code that is still to run
cat >"$T/incl" <<'END'
cache L1I size=2k ways=2
cache L1D size=2k ways=2
cache L2 size=4k ways=2 content=inclusive
cache L3 size=16k ways=4 content=inclusive
tlb T1I entries=4 ways=full
tlb T1D entries=6 ways=full
tlb T2 entries=16 ways=4
END
for seed in 3 4; do
	"$J" gen $seed 1000 >"$T/in.ev"
	check "inclusive caches, stream $seed" judge "$T/incl" "$T/in.ev"
	check "strides, stream $seed" judge "$T/incl" "$T/in.ev" \
	    --with="cache L1D prefetch=stride:2:16 policy=tree-plru"
done

# with two levels, LRU and no prefetch it is cachesim
as_cachesim() { # I1 D1 LL stream
	for c in "L1I $1" "L1D $2" "L2 $3"; do
		echo "$c" | sed 's/\(.*\) \(.*\),\(.*\),\(.*\)/cache \1 size=\2 ways=\3 line=\4/'
	done >"$T/m"
	"$C" --I1="$1" --D1="$2" --LL="$3" "$4" | grep '^totals' | {
		read -r _ ir i1 il dr d1r dlr dw d1w dlw
		echo "$ir $dr $dw $i1 $d1r $d1w $il $dlr $dlw"
	} >"$T/cachesim"
	"$M" --machine="$T/m" "$4" | sed -n 's/^totals: //p' |
	    cut -d' ' -f1-9 >"$T/memsim"
	cmp "$T/cachesim" "$T/memsim"
}
for seed in 1 2; do
	"$J" gen $seed 20000 >"$T/in.ev"
	check "as cachesim, stream $seed, usual caches" as_cachesim \
	    32768,8,64 32768,8,64 8388608,16,64 "$T/in.ev"
	check "as cachesim, stream $seed, lines of three sizes" as_cachesim \
	    1024,2,64 2048,1,32 8192,4,128 "$T/in.ev"
	check "as cachesim, stream $seed, one set" as_cachesim \
	    512,8,64 8192,128,64 24576,768,32 "$T/in.ev"
done
check "trace" "$B/trace" -o "$T/ls.ev" /bin/ls /
check "as cachesim, a real stream" as_cachesim 32768,8,64 32768,8,64 \
    262144,8,64 "$T/ls.ev"

# -t: nothing lost, and all that is summed up is told
cat >"$T/m" <<'END'
cache L1I size=1k ways=2
cache L1D size=2k ways=2 prefetch=next+stride
cache L2 size=8k ways=4 content=inclusive prefetch=streamer
tlb T1I entries=4 ways=full
tlb T1D entries=4 ways=full
END
"$J" gen 6 5000 >"$T/in.ev"
"$M" --machine="$T/m" -o "$T/costs" "$T/in.ev"
check "-t" "$M" --machine="$T/m" -t -o "$T/through.ev" "$T/in.ev"
grep -v '^O \|^H outcomes\|^H desc' "$T/through.ev" | "$TB/ev" copy >"$T/a.ev"
"$TB/ev" copy "$T/in.ev" >"$T/b.ev"
samefile "-t passes all on" "$T/b.ev" "$T/a.ev"
columns() { # costs: a line for each column from L1Imr on, without cachesim's
	perl -ne '@e = split if s/^events: //; @t = split if s/^totals: //;
	    END { print map "$e[$_] $t[$_]\n", sort { $e[$a] cmp $e[$b] }
	    grep { $e[$_] =~ /^[LT]\d|wk|Inv|Fsh/ && $t[$_] } 0..$#e }' "$1"
}
columns "$T/costs" >"$T/want"
"$C" -o "$T/costs2" "$T/through.ev"
columns "$T/costs2" >"$T/got"
samefile "-t tells all" "$T/want" "$T/got"
"$B/branchsim" -t "$T/ls.ev" | "$M" --machine="$T/m" -o "$T/costs2"
check "branchsim before it" grep -q '^events: Ir Dr Dw L1Imr.* Bcm' "$T/costs2"
status 2 "twice through memsim" "$M" --machine="$T/m" "$T/through.ev"

# with many cores what is passed on is in the order of turns, and a stream
python3 t/models/machines.py threads 6 <"$T/in.ev" >"$T/th.ev"
"$M" --machine="$T/m" --cores=each --with="cache L2 shared=yes" \
    -o "$T/costs" "$T/th.ev"
check "-t with many cores" "$M" --machine="$T/m" --cores=each \
    --with="cache L2 shared=yes" -t -o "$T/through.ev" "$T/th.ev"
columns "$T/costs" >"$T/want"
"$C" -o "$T/costs2" "$T/through.ev"
columns "$T/costs2" >"$T/got"
samefile "tells all" "$T/want" "$T/got"
refs() { # stream: what each address refers to, in no order
	"$B/plain" "$1" | sort | cksum
}
same "loses nothing" "$(refs "$T/th.ev")" "$(refs "$T/through.ev")"
# thread by thread: callgraph writes the parts, which add up
for cores in 1 each; do
	"$M" --cores=$cores "$T/th.ev" | awk '/^events:/ { n = split($0, e) }
	    /^totals:/ { for (i = 2; i <= n; i++) if (e[i] !~ /^D[rw]$/)
		print e[i], $i + 0 }' >"$T/want"
	"$M" --cores=$cores -t "$T/th.ev" |
	    "$B/callgraph" --separate-threads=yes >"$T/parts"
	awk '/^events:/ { n = split($0, e) }
	    /^totals:/ { for (i = 2; i <= n; i++) sum[i] += $i }
	    END { for (i = 2; i <= n; i++) print e[i], sum[i] }' \
	    "$T/parts" >"$T/got"
	samefile "the parts of threads add up, --cores=$cores" "$T/want" \
	    "$T/got"
done
same "each thread has one" "$(sed -n 's/^T //p' "$T/th.ev" | sort -u |
    wc -l)" "$(grep '^thread: ' "$T/parts" | wc -l)"
"$B/branchsim" -t "$T/ls.ev" >"$T/o.ev"
status 2 "-t with many cores comes first" "$M" --machine="$T/m" \
    --cores=each -t "$T/o.ev"

# viewers show the columns
"$B/fmt-cachegrind" -o "$T/cg.out" "$T/costs"
check "annotate" "$B/annotate" --show=Ir,L1Dmr,T1Dm,Inv,Fsh --sort=Inv \
    "$T/cg.out"
check "shows them" grep -q 'L1Dmr.*T1Dm.*Inv.*Fsh' "$T/out"
check "-v" "$M" -v --machine="$T/m" -o "$T/costs2" "$T/in.ev"
check "has the table" grep -q '^L2 .*%' "$T/err"

# kind cache
"$J" filter 64 64 4 "$T/in.ev" >"$T/cache.ev"
status 2 "kind cache" "$M" --machine=zen4 "$T/cache.ev"
same "is refused by name" "memsim: $T/cache.ev:1: a stream of kind cache does\
 not tell each reference with its address: needs kind all" "$(sed 's/:[0-9]*:/:1:/' "$T/err")"

# descriptions: those that are ready are complete; what is printed is the same
for m in zen4 server2023 drcachesim; do
	check "$m" "$M" --machine=$m --describe
	cp "$T/out" "$T/m"
	check "as printed" "$M" --machine="$T/m" --describe
	samefile "is the same" "$T/m" "$T/out"
done
bad() { # line message
	printf '%s\n' "cache L1I size=32k ways=8" "cache L1D size=32k ways=8" \
	    "cache L2 size=1M ways=8" "$1" >"$T/bad"
	status 2 "$1" "$M" --machine="$T/bad" --describe
	same "is said" "memsim: $T/bad:4: $2" "$(cat "$T/err")"
}
bad "cache L3" "L3: needs two of size, ways, sets"
bad "cache L3 size=1000 ways=2" "L3: the size is no multiple of the line"
bad "cache L3 size=1M ways=3" "L3: 16384 lines are not 5461 sets of 3 ways"
bad "cache L3 size=32k ways=8 sets=3" "L3: 512 lines are not 3 sets of 8 ways"
bad "cache L3 size=1M ways=0" "0 is not within 1 to 268435456"
bad "cache L3 size=x" "not a number: \`x'"
bad "cache L3 size" "no key=value: \`size'"
bad "cache L3 colour=red" "no key of a cache: \`colour'"
bad "cache L3 policy=mru" "no policy: \`mru'"
bad "cache L3 size=768k ways=12 policy=tree-plru" \
    "L3: tree-plru needs a power of two as ways"
bad "cache L3 size=1M ways=8 line=96" "L3: the line is no power of two"
bad "cache L3I size=1M ways=8" "L3I: behind L2, which is for both"
bad "cache L4 size=1M ways=8" "L4: there is no level 3"
bad "cache L9 size=1M ways=8" "no name of a level: \`L9'"
bad "cache X1 size=1M ways=8" "neither L nor T begins \`X1'"
bad "cache L1 size=1M ways=8" "L1: level 1 has L1D"
bad "cache L3 size=1M ways=8 content=exclusive line=128" \
    "L3: exclusive, with a line that differs from that of L2"
bad "cache L3 size=1M ways=8 content=inclusive line=32" \
    "L3: inclusive, with a line that is no multiple of that of L1I"
bad "cache L3 size=1M ways=8 content=inclusive allocate=no" \
    "L3: inclusive, and so it must allocate"
bad "cache L3 size=1M ways=8 prefetch=psychic" "no prefetcher: \`psychic'"
bad "cache L3 size=1M ways=8 prefetch=next:0" "0 is not within 1 to 64"
bad "tlb T1 entries=64" "T1: needs two of entries, ways"
bad "tlb T1 entries=64 ways=4 pages=8k" "no page size: \`8k'"
bad "tlb L4 entries=64 ways=4" "no TLB's name: \`L4'"
bad "huge 2M" "huge needs a size and where"
bad "huge 2M 101%" "101 is not within 0 to 100"
bad "huge 2M 20-10" "not all, a share or addresses: \`20-10'"
bad "cores 65" "65 is not within 1 to 64"
bad "no L7" "no such cache or TLB: \`L7'"
bad "cash L1" "a line of no kind: \`cash'"
# with BEFORE NAMES SIZE WAYS: a cache, and what a line makes of it
with() {
	printf '%s\n' "cache L1I size=32k ways=8" "cache L1D size=32k ways=8" \
	    "cache L2 $1" >"$T/with"
	check "$1, then $2" "$M" --machine="$T/with" --with="cache L2 $2" \
	    --describe
	same "is this" "size=$3 ways=$4" "$(sed -n \
	    's/^cache L2 \(size=[0-9]* ways=[0-9]*\).*/\1/p' "$T/out")"
}
for before in "sets=1024 ways=16" "size=1M ways=16" "size=1M sets=1024"; do
	with "$before" "size=512k" 524288 16
	with "$before" "ways=8" 1048576 8
	with "$before" "sets=64" 65536 16
	with "$before" "sets=64 ways=8" 32768 8
	with "$before" "size=64k ways=full" 65536 1024
	with "$before" "line=128" 1048576 16
	with "$before" "policy=fifo" 1048576 16
done
with "size=64k ways=full" "size=128k" 131072 2048
with "size=64k ways=full" "ways=4" 65536 4
with "size=64k" "ways=4" 65536 4
with "ways=4" "sets=256" 65536 4
with "sets=256" "size=64k" 65536 4
# the page's example
awk '/^[.]Bd -literal/ { on = 1; next } /^[.]Ed/ { exit } on' \
    man/memsim-machine.5 >"$T/page"
check "the page's first example" "$M" --machine="$T/page" --describe
same "is all of it" 8 "$(grep -c '^cache\|^tlb' "$T/out")"
# nocache TEXT PLACE OPTION...: of the file, which has no cache
nocache() {
	text=$1 place=$2
	shift 2
	status 2 "$text" "$M" "$@" --describe
	same "$text: is said" "memsim: $place: the machine has no cache" \
	    "$(cat "$T/err")"
}
: >"$T/bad"
nocache "an empty file" "$T/bad" --machine="$T/bad" --cores=2
printf '# no cache\ntlb T1 entries=64 ways=4\ncores 2\n' >"$T/bad"
nocache "a file without a cache" "$T/bad:3" --machine="$T/bad"
echo 'cache L1 size=32k ways=8' >"$T/bad"
nocache "no cache is left" --with --machine="$T/bad" --with="no L1"
status 2 "no such machine" "$M" --machine=server --describe
same "is told what there is" "memsim: --machine=server: neither a file nor this,\
 zen4, server2023 or drcachesim" "$(cat "$T/err")"
# --- repeats: many equal rounds are left out, and nothing is else
for seed in 1 2 3; do
	python3 t/models/repeats.py $seed 60 500 >"$T/many.ev"
	python3 t/models/repeats.py -x <"$T/many.ev" >"$T/each.ev"
	for how in --machine=drcachesim --machine=zen4 --machine=server2023 \
	    --huge=2M,50% --warm=3000 --with="cache L1D policy=lru" \
	    --with="cache L1D policy=tree-plru" \
	    --with="cache L1D policy=bit-plru" \
	    --with="cache L1D policy=srrip" --with="cache L1D policy=random"
	do
		"$M" --with="cache L1D size=8k ways=8 sets=16" "$how" \
		    "$T/many.ev" | grep '^[0-9t+-]' >"$T/a"
		"$M" --with="cache L1D size=8k ways=8 sets=16" "$how" \
		    "$T/each.ev" | grep '^[0-9t+-]' >"$T/b"
		check "rounds left out, stream $seed $how" \
		    grep -q ^totals "$T/a"
		samefile "give the same" "$T/b" "$T/a"
	done
	"$M" -t "$T/many.ev" | "$B/icount" | grep '^[0-9t+-]' >"$T/a"
	"$M" -t "$T/each.ev" | "$B/icount" | grep '^[0-9t+-]' >"$T/b"
	samefile "and with -t" "$T/b" "$T/a"
	python3 t/models/machines.py threads $seed <"$T/many.ev" >"$T/th.ev"
	python3 t/models/repeats.py -x <"$T/th.ev" >"$T/each.ev"
	for how in --machine=zen4 --machine=drcachesim --quantum=7 \
	    --with="cache L1D policy=srrip"; do
		"$M" --cores=each "$how" "$T/th.ev" |
		    grep '^[0-9t+-]' >"$T/a"
		"$M" --cores=each "$how" "$T/each.ev" |
		    grep '^[0-9t+-]' >"$T/b"
		check "turns left out, stream $seed $how" \
		    grep -q ^totals "$T/a"
		samefile "give the same" "$T/b" "$T/a"
	done
done
{ echo H quern-events 1
  echo 'B 1 >401000 4r8.0 2C401000'
  echo 1+7ffe1000
  echo '1.*ffffffff'
  echo E exit 0 4294967297; } >"$T/many.ev"
check "four billion equal rounds" "$M" "$T/many.ev"
check "all of them count" grep -q '^totals: 8589934594 4294967297 0 1 1 0 ' \
    "$T/out"
{ echo H quern-events 1
  echo 'B 1 >401000 4r8.0 2C401000'
  echo '1.*ffffffff'
  echo E exit 0 4294967296; } >"$T/many.ev"
for how in --cores=1 --cores=2; do
	check "four billion rounds without the reference, $how" "$M" "$how" \
	    "$T/many.ev"
	check "all count" grep -q '^totals: 8589934592 0 0 1 0 ' "$T/out"
done
{ echo H quern-events 1
  echo 'T 1'
  echo 'B 1 >401000 4w8.0 2C401000'
  echo 'B 2 >401100 4r8.0 2C401100'
  echo 1+7ffe1000
  echo '1.*ffffffff'
  echo 'T 2'
  echo 2+7ffe1040
  echo '2.*fffffff'
  echo E exit 0 4563402754; } >"$T/many.ev"
check "four billion turns" "$M" --cores=2 --quantum=5 "$T/many.ev"
check "all count" grep -q '^totals: 9126805508 268435457 4294967297 ' "$T/out"
# a line that goes into an exclusive cache of its core, and back, is still held,
# with the bytes that were touched: it is written back for others
cat >"$T/m" <<'END'
cache L1I ways=4 sets=8
cache L1D ways=1 sets=2
cache L2 ways=1 sets=4 content=exclusive
cores each
END
{ echo H quern-events 2
  echo 'T 1'
  echo 'B 1 >1000 4w8.0'
  echo 'B 2 >1004 4r8.0'
  echo 'B 3 >1008 4r8.0'
  echo 'B 4 >100c 4w8.0'
  echo 1+10000
  echo 2+10080
  echo 'T 2'
  echo 3+10000
  echo E exit 0 3; } >"$T/held.ev"
check "a modified line in an exclusive cache" judge "$T/m" "$T/held.ev"
check "is written back for another core" grep -q '^1008 .*L2wb=1' "$T/fast"
sed 's/^3+10000/4+10000/' "$T/held.ev" >"$T/held2.ev"
check "a write to it" judge "$T/m" "$T/held2.ev"
check "invalidates what was touched" grep -q '^100c .*Inv=1' "$T/fast"
check "and is no false sharing" sh -c '! grep -q Fsh "$0"' "$T/fast"
sed 's/^2+10080/&\n2-80/; s/0 3$/0 4/' "$T/held2.ev" >"$T/held.ev"
check "the same once it is back" judge "$T/m" "$T/held.ev"
check "invalidates what was touched" grep -q '^100c .*Inv=1' "$T/fast"
check "and is no false sharing" sh -c '! grep -q Fsh "$0"' "$T/fast"

# code without a first cache asks an exclusive one, which never takes a line in
printf 'cache L1D ways=1 sets=2\ncache L2 ways=1 sets=4 content=exclusive\n' \
    >"$T/m"
{ echo H quern-events 2
  echo 'B 1 >1000 4 4 4'
  echo 1
  echo E exit 0 1; } >"$T/code.ev"
check "code without a cache of its own" judge "$T/m" "$T/code.ev"
check "misses each time" grep -q '^totals Ir=3 L2Imr=3$' "$T/fast"

# the table has what counts, as the costs
table() { # mark stream: columns of L1D
	sed "s/^C mark/J $1/" "$2" >"$T/marks.ev"
	"$M" -v -o "$T/costs" "$T/marks.ev" 2>&1 | awk '$1 == "L1D" {
		print $2, $3, $4; exit }'
}
{ echo H quern-events 2
  echo 'B 1 >401000 4r8.0 2C401000'
  echo 'B 2 >401006 4r8@7ffe0000'
  echo 'C mark'
  echo '1+7fff0000'
  echo '1+40*31'
  echo 'C mark'
  echo 2
  echo 2
  echo E exit 0 53; } >"$T/mark.ev"
same "-v of the whole" "53 1 52" "$(table toggle "$T/mark.ev" >/dev/null
    table cold "$T/mark.ev")"
same "-v without what marks leave out" "2 1 1" "$(table toggle "$T/mark.ev")"
same "-v without what was before a mark" "2 1 1" "$(table zero "$T/mark.ev")"
sed '$d' "$T/mark.ev" >"$T/open.ev"
printf 'C mark\n1\n1+40*9\nE exit 0 64\n' >>"$T/open.ev"
same "-v up to a mark" "2 1 1" "$(table toggle "$T/open.ev")"
{ echo H quern-events 1
  echo 'B 1 >401000 2r1.0*1w1.2*1'
  echo 1+400000+3fffffffffffffff+500000
  echo E exit 0 1; } >"$T/many.ev"
status 2 "an instruction that no program repeats so often" "$M" "$T/many.ev"
same "said with its line" "memsim: $T/many.ev:3: an instruction repeated more \
than 68719476736 times" "$(cat "$T/err")"
done_testing
