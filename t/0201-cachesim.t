#!/bin/sh
# cachesim: the fast simulator against the plain one; options; passing through

. t/lib.sh

C=$B/cachesim
J=$TB/caches
small="--I1=1024,2,64 --D1=2048,1,32 --LL=8192,4,128"

# random streams, four geometries; with a large one, an odd one, a small one
judge() { # seed I1 D1 LL once|each [executions]
	"$J" gen "$1" "${6:-20000}" >"$T/in.ev" &&
	$as "$C" --I1="$2" --D1="$3" --LL="$4" --rep="$5" "$T/in.ev" \
	    >"$T/in.cost" &&
	"$J" judge "$2" "$3" "$4" "$5" "$T/in.ev" "$T/in.cost"
}
for seed in 1 2 3; do
	check "stream $seed, usual caches" judge $seed \
	    32768,8,64 32768,8,64 8388608,16,64 once
	check "stream $seed, small caches, lines of three sizes" judge $seed \
	    1024,2,64 2048,1,32 8192,4,128 each
	check "stream $seed, many ways" judge $seed \
	    4096,4,16 8192,128,64 24576,48,32 once
	check "stream $seed, few sets, of 12 and of 5 ways" judge $seed \
	    1280,5,64 3072,12,64 24576,12,64 once
done

# so many executions that most of them run as machine code
as=
for seed in 8 14; do
	check "long stream $seed, usual caches" judge $seed \
	    32768,8,64 32768,8,64 8388608,16,64 once 400000
	check "long stream $seed, each line of code misses, sets of 12 ways" \
	    judge $seed 1280,5,64 3072,12,64 24576,12,64 each 400000
	check "long stream $seed, longer lines in LL, one way" judge $seed \
	    512,2,64 4096,1,64 24576,48,128 once 400000
done
# so long that references that often miss are searched for, and no longer, again
check "stream 8 of 5,000,000 executions" judge 8 \
    32768,8,64 32768,8,64 8388608,16,64 once 5000000
# a reference that misses in one set, and is then searched for in sets that have
# no line yet, or one
echo 'my ($last, $n, $far) = (0, 0, shift);
print "H quern-events 1\nH cmd sets\nM 1 200000 220000 0 /nowhere/prog\n";
print "B 1 >401000 4r8.0 2\n";
sub refer {
	printf "1%s%x\n", $_[0] < $last ? "-" : "+", abs($_[0] - $last);
	$last = $_[0];
	$n++;
}
refer(0x2000000 + $far * ($_ % 40)) for 1 .. 300000;
for my $set (1 .. $far / 64 - 1) {
	refer(64 * $set + ($_ % 3 << 24)) for 1 .. 4;
}
print "E exit 0 $n\n";' >"$T/sets.pl"
perl "$T/sets.pl" 4096 >"$T/sets.ev"
few() { # D1 without its lines
	"$C" --I1=32768,8,64 --D1="$1,64" --LL=8388608,16,64 "$T/sets.ev" \
	    >"$T/sets.cost" &&
	"$J" judge 32768,8,64 "$1,64" 8388608,16,64 once "$T/sets.ev" \
	    "$T/sets.cost"
}
for d in 32768,8 65536,16 49152,12; do
	check "few lines in sets of $d" few $d
done
# none is made where memory that was written may not be run (PR_SET_MDWE)
echo 'exit 1 if syscall(157, 65, 1, 0, 0, 0) != 0; exec @ARGV' >"$T/deny.pl"
if perl "$T/deny.pl" true; then
	as="perl $T/deny.pl"
	check "long stream 8, no machine code" judge 8 \
	    32768,8,64 32768,8,64 8388608,16,64 once 400000
	as=
else
	skip "no machine code" "this kernel cannot deny it"
fi

# last levels whose sets are several steps of 16 tags, or part of one
many_ways() {
	for ll in 40960,20,64 16384,16,64 90112,44,64 3072,3,64; do
		check "$1LL $ll" judge 7 1280,5,64 3072,12,64 $ll each
	done
}
many_ways

# what runs where the processor can do less
for without in -AVX512F -AVX512F,-AVX2 -AVX512F,-AVX2,-BMI2; do
	export GLIBC_TUNABLES=glibc.cpu.hwcaps=$without
	check "$without, 8 ways" judge 6 \
	    32768,8,64 32768,8,64 8388608,16,64 once
	check "$without, long stream 14" judge 14 \
	    32768,8,64 32768,8,64 8388608,16,64 once 400000
	check "$without, long stream 8, 12 ways" judge 8 \
	    32768,8,64 49152,12,64 8388608,16,64 once 1000000
	for d in 32768,8 49152,12; do
		check "$without, few lines in sets of $d" few $d
	done
	check "$without, few sets of 12 ways" judge 7 \
	    1280,5,64 3072,12,64 24576,12,64 each
	many_ways "$without, "
	unset GLIBC_TUNABLES
done

# kind cache gives the same bytes: tables as large as the caches, and smaller,
# by up to 8 ways (which AVX-512 moves at once) and by more
for seed in 4 5; do
	"$J" gen $seed 20000 >"$T/all.ev"
	for table in "64 64 4" "64 64 1" "16 64 2" "2 64 3"; do
		"$J" filter $table "$T/all.ev" >"$T/cache.ev"
		for d1 in 32768,8,64 16384,4,64 3072,12,64 49152,12,64 \
		    114688,28,64; do
			[ ${table%% *} -le 4 ] || [ $d1 != 3072,12,64 ] ||
				continue
			opts="--I1=16384,4,64 --D1=$d1 --LL=262144,8,64"
			opts="$opts --rep=each"
			"$C" $opts "$T/all.ev" >"$T/all.cost"
			check "kind cache $table, stream $seed, D1 $d1" \
			    "$C" $opts "$T/cache.ev"
			samefile "is the same" "$T/all.cost" "$T/out"
			env GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F \
			    "$C" $opts "$T/cache.ev" >"$T/out"
			samefile "so without AVX-512" "$T/all.cost" "$T/out"
		done
	done
done
"$J" filter 64 64 4 "$T/all.ev" >"$T/cache.ev"
status 2 "kind cache, too few sets" "$C" --I1=16384,4,64 --D1=8192,4,64 \
    --LL=262144,8,64 "$T/cache.ev"
same "is refused with a reason" "cachesim: $T/cache.ev:4: a stream for caches\
 with a multiple of 64 sets, but D1 has 32: needs trace -e all, or\
 cache=32,64,4" "$(cat "$T/err")"
status 2 "kind cache, too few ways" "$C" --I1=16384,4,64 --D1=8192,2,64 \
    --LL=262144,8,64 "$T/cache.ev"
same "is refused with a reason" "cachesim: $T/cache.ev:4: a stream for caches\
 of 4 ways or more, but D1 has 2: needs trace -e cache=64,64,2" \
    "$(cat "$T/err")"
status 2 "kind cache, another line size" "$C" --I1=16384,4,64 \
    --D1=32768,8,32 --LL=262144,8,64 "$T/cache.ev"
check "kind cache with -t" "$C" -t "$T/cache.ev"

# modifications as writes
check "there are modifications" grep -q '^B.*[0-9a-f]m[0-9a-f]' "$T/all.ev"
for f in all cache; do
	sed '/^B/s/m/w/g' "$T/$f.ev" >"$T/written.ev"
	"$C" $opts "$T/written.ev" >"$T/written"
	check "--modify=write, $f.ev" "$C" --modify=write $opts "$T/$f.ev"
	samefile "as writes" "$T/written" "$T/out"
done
status 2 "--modify=both" "$C" --modify=both "$T/all.ev"

# who reads gets to know of objects before the program has run
{
	printf '%s\n' 'H quern-events 1' 'H kind all' \
	    "M 1 1000 2000 0 $C" 'M 2 4000 5000 0 [vdso]' \
	    'B 1 >1000 3r8.0 2S' '1+5000' "M 1 6000 7000 0 $J" 'Y 231'
	echo 'E exit 0 1'
} >"$T/in.ev"
check "objects" "$C" --I1=16384,4,64 --D1=16384,4,64 --LL=262144,8,64 "$T/in.ev"
same "are named when they are mapped" "ob=(1) $C;ob=(2) $J;ob=(1);" \
    "$(grep ^ob= "$T/out" | tr '\n' ';')"

# -t: nothing lost, and the misses are those that are summed up
"$J" gen 6 20000 >"$T/in.ev"
"$C" $small "$T/in.ev" >"$T/in.cost"
check "-t" "$C" $small -t "$T/in.ev"
cp "$T/out" "$T/through.ev"
grep -v '^O \|^H outcomes\|^H desc' "$T/through.ev" | "$TB/ev" copy >"$T/a.ev"
"$TB/ev" copy "$T/in.ev" >"$T/b.ev"
samefile "-t passes all on" "$T/b.ev" "$T/a.ev"
perl -ne 'if (/^O /) { while (/ (\w+mr|\w+mw)(?:\*([0-9a-f]+))?/g)
	{ $n{$1} += defined $2 ? hex $2 : 1 } }
    END { print join " ", map $n{$_}, qw(I1mr ILmr D1mr DLmr D1mw DLmw) }' \
    "$T/through.ev" >"$T/told"
same "-t tells all misses" \
    "$(sed -n 's/^totals: //p' "$T/in.cost" | cut -d' ' -f2,3,5,6,8,9)" \
    "$(cat "$T/told")"
status 2 "twice through cachesim" "$C" $small "$T/through.ev"

# events that others found are summed up
cat >"$T/told.ev" <<'END'
H quern-events 1
H cmd two\040words and\134more
H outcomes Bcm Prefetch
M 1 1000 3000 0 /no such/file
B 1 >1000 4r8@5000 2C1000
1
O 2 Bcm
O 1 Prefetch*a
1*3
O 2 Bcm*2 Prefetch
E exit 0 5
END
check "events of others" "$C" $small "$T/told.ev"
same "are columns" "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm\
 Prefetch
ob=(1) /no such/file
0x0 5 1 1 5 1 1 0 0 0 0 0 10
+4 5 0 0 0 0 0 0 0 0 5 3 1
totals: 10 1 1 5 1 1 0 0 0 5 3 11" \
    "$(grep '^events\|^ob\|^0x\|^[+]\|^totals' "$T/out")"
same "the command" 'cmd: two words and\more' "$(grep ^cmd "$T/out")"

# what the run was goes into the costs, by way of other stages, too
{ head -n 2 "$T/told.ev"
  printf 'H cpu v3\nH desc Branch predictor: tage\n'
  sed 1,2d "$T/told.ev"; } >"$T/cpu.ev"
cat >"$T/desc" <<'END'
desc: I1 cache:         1024 B, 64 B, 2-way associative
desc: D1 cache:         2048 B, 32 B, direct-mapped
desc: LL cache:         8192 B, 128 B, 4-way associative
desc: CPU:              v3
desc: Branch predictor: tage
END
check "cpu and desc" "$C" $small "$T/cpu.ev"
grep ^desc "$T/out" >"$T/got"
samefile "are in the costs" "$T/desc" "$T/got"
sort "$T/desc" >"$T/desc.sorted"
"$C" $small "$T/cpu.ev" | "$B/fmt-cachegrind" | grep ^desc | sort >"$T/got"
samefile "and in the file of Cachegrind's" "$T/desc.sorted" "$T/got"
"$C" $small -t "$T/cpu.ev" | "$B/callgraph" 2>"$T/err" |
    "$B/fmt-callgrind" | grep '^desc: [IDLCB]' | sort >"$T/got"
samefile "and behind callgraph" "$T/desc.sorted" "$T/got"
grep -v 'predictor\|outcomes\|^O ' "$T/cpu.ev" | "$B/branchsim" -t --predictor=tage |
    "$C" $small | grep ^desc | sort >"$T/got"
samefile "and those of branchsim" "$T/desc.sorted" "$T/got"

# the summary
check "-v" "$C" $small -v -o "$T/o" "$T/told.ev"
same "a summary" "I refs:          10
I1 misses:        1
LLi misses:       1
I1 miss rate: 10.00%
LLi miss rate:10.00%

D refs:           5  (    5 rd   +     0 wr)
D1 misses:        1  (    1 rd   +     0 wr)
LLd misses:       1  (    1 rd   +     0 wr)
D1 miss rate:  20.0% ( 20.0%     +   0.0%  )
LLd miss rate: 20.0% ( 20.0%     +   0.0%  )

LL refs:          2  (    2 rd   +     0 wr)
LL misses:        2  (    2 rd   +     0 wr)
LL miss rate:  13.3% ( 13.3%     +   0.0%  )" "$(cat "$T/err")"

# truncated: costs so far, no end mark, status 2
head -n 9 "$T/told.ev" >"$T/cut.ev"
status 2 "truncated" "$C" $small "$T/cut.ev"
same "is said" "cachesim: $T/cut.ev: truncated after 5 executions" \
    "$(cat "$T/err")"
same "costs without an end mark" "0x0 5 1 1 5 1 1 0 0 0 0 0 10" \
    "$(grep '^0x\|^totals\|^summary' "$T/out")"
status 2 "truncated, -t" "$C" $small -t "$T/cut.ev"
same "no end mark there, too" "" "$(grep '^E' "$T/out")"
printf 'H quern-events 1\nH kind blocks\nB 1 >1 1r8\n1\nE exit 0 1\n' \
    >"$T/blocks.ev"
status 2 "kind blocks" "$C" "$T/blocks.ev"
same "is refused" "cachesim: $T/blocks.ev:1: a stream of kind blocks does not\
 tell each reference with its address: needs kind all or cache" "$(cat "$T/err")"
grep -v kind "$T/blocks.ev" >"$T/bare.ev"
status 2 "a reference without address" "$C" $small "$T/bare.ev"

# caches that cannot be
refused() { # option message
	status 2 "$1" "$C" "$1" "$T/told.ev"
	same "$1: message" "cachesim: $1: $2" "$(cat "$T/err")"
}
refused --D1=32768,8 "not size,associativity,line size"
refused --D1=32768,8,64, "not size,associativity,line size"
refused --D1=32K,8,64 "not size,associativity,line size"
refused --D1=32768,8,64k "the number of sets is not a power of two"
refused --D1=4294967296,8,64 "a number is too large"
refused --D1=32768,8,0 "the line size is zero"
refused --I1=32768,0,64 "the associativity is zero"
refused --LL=32768,3,64 "the number of sets is not a power of two"
refused --LL=30720,10,48 "the line size is not a power of two"
refused --LL=32768,8,8 "the line size is less than 16"
refused --LL=64,1,64 "the size is not larger than the line size"
check "ways need not be a power of two" "$C" --D1=24576,6,64 $small \
    "$T/told.ev"
check "sizes in k" "$C" -o "$T/k.costs" --I1=1k,2,64 --D1=2k,1,32 --LL=8k,4,128 \
    "$T/told.ev"
"$C" -o "$T/bytes.costs" $small "$T/told.ev"
samefile "k is 1024" "$T/bytes.costs" "$T/k.costs"
check "--L2 is --LL" "$C" --I1=1024,2,64 --D1=2048,1,32 --L2=8192,4,128 \
    "$T/told.ev"
same "the last level's size" "desc: LL cache:         8192 B, 128 B, 4-way\
 associative" "$(grep 'desc: LL' "$T/out")"

# sizes from the stream; the last level is made to fit
{ head -n 1 "$T/told.ev"
  printf 'H I1 2048,1,64\nH D1 4096,2,32\nH LL 12582912,16,64\n'
  sed 1d "$T/told.ev"; } >"$T/sizes.ev"
check "caches of the traced machine" "$C" --D1=1024,2,64 "$T/sizes.ev"
same "are used" "desc: I1 cache:         2048 B, 64 B, direct-mapped
desc: D1 cache:         1024 B, 64 B, 2-way associative
desc: LL cache:         12582912 B, 64 B, 24-way associative" \
    "$(grep ^desc "$T/out")"
same "the change is told" "cachesim: the LL cache of 12582912,16,64 is\
 simulated as 12582912,24,64" "$(cat "$T/err")"

sed 's/^H D1 .*/H D1 32767,8,64/' "$T/sizes.ev" >"$T/wrong.ev"
status 2 "an impossible cache of the stream" "$C" "$T/wrong.ev"
same "is told with its place" "cachesim: $T/wrong.ev:3: D1 cache of\
 32767,8,64: the number of sets is not a power of two; give --D1" \
    "$(cat "$T/err")"
check "unless an option replaces it" "$C" --D1=1024,2,64 "$T/wrong.ev"

# CPUID
detected() { # machine expected
	same "caches of $1" "$2" "$("$TB/geometry" "$1")"
}
detected zen4 "32768,8,64 32768,8,64 33554432,16,64 33554432,16,64"
detected zen1 "65536,4,64 32768,8,64 8388608,16,64 8388608,16,64"
detected zen-guest "65536,4,64 32768,8,64 16777216,16,64 16777216,16,64"
detected zen-empty "65536,4,64 32768,8,64 16777216,16,64 16777216,16,64"
detected zen5-empty "32768,8,64 49152,12,64 532676608,16,64 not 536870912,32,64"
detected zen-two "65536,4,64 32768,8,64 524288,16,64 524288,16,64"
detected zen-half "65536,4,64 32768,8,64 16777216,16,64 16777216,16,64"
detected phenom "65536,2,64 65536,2,64 6291456,48,64 6291456,48,64"
detected athlon "65536,2,64 65536,2,64 524288,16,64 524288,16,64"
detected old-amd none
detected core "32768,8,64 32768,8,64 8388608,16,64 8388608,16,64"
detected xeon "32768,8,64 32768,8,64 31457280,20,64 not 31457280,30,64"
detected core2 "32768,8,64 32768,8,64 4194304,16,64 4194304,16,64"
detected old-intel none
detected other none
same "as Valgrind takes zen4" \
    "32768,8,64 32768,8,64 335544320,1,64 not 268435456,1,64" \
    "$("$TB/geometry" zen4 valgrind)"
same "and core" "32768,8,64 32768,8,64 8388608,16,64 8388608,16,64" \
    "$("$TB/geometry" core valgrind)"
check "--caches=machine" "$B/cachesim" --caches=machine
check "are options" "$B/cachesim" $(cat "$T/out") --version
status 2 "--caches=other" "$B/cachesim" --caches=other
if command -v valgrind >/dev/null; then
	valgrind -v --tool=cachegrind --cache-sim=yes \
	    --cachegrind-out-file=/dev/null true 2>&1 | tr -d , |
	    sed -n 's/^==.*== *\([ID]1\|LL\): \([0-9]*\) B \([0-9]*\)-way \([0-9]*\) B .*/--\1=\2,\3,\4/p' |
	    tr '\n' ' ' >"$T/valgrind"
	same "--caches=valgrind: as Valgrind has them" \
	    "$(sed 's/ $//' "$T/valgrind")" \
	    "$("$B/cachesim" --caches=valgrind)"
else
	skip "--caches=valgrind" "no valgrind"
fi

# a limit of address space, whether large or small, is enough for what it holds
"$B/trace" -o "$T/few.ev" true 2>/dev/null
"$B/cachesim" -o "$T/few.costs" "$T/few.ev"
for kb in 300000 500000 1000000 2000000 unlimited; do
	if [ -n "${SAN:-}" ]; then
		skip "ulimit -v $kb" "sanitizers need more"
		continue
	fi
	(ulimit -v $kb; exec "$B/cachesim" "$T/few.ev") >"$T/limited" 2>"$T/err"
	samefile "ulimit -v $kb" "$T/few.costs" "$T/limited"
done

same "misses beyond 2^8 and 2^32" "4294967386 100
17179869274 200100" "$("$TB/misses")"
done_testing
