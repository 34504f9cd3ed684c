#!/bin/sh
# a line with a repeat count is as so many lines, whatever reads it, and takes
# no longer where each round is like the one before

. t/lib.sh

SEEDS=${SEEDS:-1 2}		# t/long has more of them, and more rounds
LONGEST=${LONGEST:-12000}
DEEP=${DEEP:-}

command -v python3 >/dev/null || skip_all "no python3"
R=$PWD/t/models/repeats.py
cd "$T" || exit 99

# eight functions of 100 bytes from 401000 on
cat >prog.s <<'E'
	.text
	.macro fun name
	.globl	\name
	.type	\name, @function
	.size	\name, 256
\name:	.skip 256
	.endm
	fun a
	fun b
	fun c
	fun d
	fun e
	fun f
	fun g
	fun h
	.skip 0x800
E
${CC:-gcc} -nostdlib -static -Wl,-Ttext=0x401000 -Wl,-e,0x401000 \
    -Wl,--build-id=none -o prog prog.s 2>err ||
    { cat err; exit 99; }

# both NAME arg...: of repeats and of all lines the same; the file m, too
both() {
	prog=$1
	shift
	for x in repeats lines; do
		rm -f m
		timeout -k 5 "$LIMIT" "$B/$prog" "$@" <$x.ev >$x.out 2>$x.err ||
		    { cat $x.err; return 1; }
		[ ! -e m ] || cat m >>$x.out
	done
	cmp repeats.out lines.out
}

caches="--I1=4096,2,64 --D1=4096,2,64 --LL=65536,4,64"
small="--I1=1024,2,64 --D1=2048,1,32 --LL=8192,4,128"
wide="--I1=4096,4,16 --D1=8192,128,64 --LL=24576,48,32"

# judge ONCE I1 D1 LL: cachesim against the plainest simulation, of repeats0.ev
judge() {
	timeout -k 5 "$LIMIT" "$B/cachesim" --I1="$2" --D1="$3" --LL="$4" \
	    --rep="$1" repeats0.ev >cost &&
	timeout -k 5 "$LIMIT" "$TB/caches" judge "$2" "$3" "$4" "$1" \
	    repeats0.ev cost
}

# cached SEED: a stream of kind cache, some of its lines once more, and often
cached() {
	"$TB/caches" gen "$1" 3000 >all.ev
	"$TB/caches" filter 64 64 4 all.ev | perl -e 'srand shift;
	while (<STDIN>) {
		s/^(E exit 0 )(\d+)/$1 . ($2 + $add)/e;
		print;
		next if !/^([0-9a-f]+)([-+.].*)?$/ || rand > .2;
		$same = $1 . "." x (($f = $2 // "") =~ tr/-+.//);
		$n = int rand 200;
		printf "%s*%x\n", $same, $n;
		$add += $n + 1;
	}' "$1"
}

for seed in $SEEDS; do
	python3 "$R" $seed 20 3000 >repeats.ev
	python3 "$R" -x <repeats.ev >lines.ev
	check "stream $seed: bbv" both bbv -i 1000 --tail=keep
	check "stream $seed: bbv, short intervals, memory" \
	    both bbv -i 37 --mav=m
	check "stream $seed: bbv, places of 4096 bytes" \
	    both bbv -i 5000 --mav=m --mav-size=4096
	check "stream $seed: bbv, as exp-bbv has them" \
	    both bbv -i 700 --format=exp-bbv
	check "stream $seed: bbv, as PinPoints has them" \
	    both bbv -i 11111 --format=pinpoints
	check "stream $seed: bbv, only sums" \
	    both bbv -i 3 --instr-count-only --format=pinpoints
	check "stream $seed: branchsim, rounds" both branchsim --rep=each
	for p in gshare tage; do
		check "stream $seed: branchsim, $p" \
		    both branchsim --predictor=$p
		check "stream $seed: branchsim, $p, through" \
		    both branchsim --predictor=$p -t
	done
	for o in --rep=once --rep=each --collect-jumps=yes --contexts --calls \
	    --separate-callers=2 --fn-skip=b --toggle-collect=c \
	    --pop-on-jump=e --dump-after=c --zero-before=c; do
		check "stream $seed: callgraph $o" both callgraph $o
	done
	sed -i '2i H outcomes D1mr' repeats.ev lines.ev
	check "stream $seed: callgraph, data" both callgraph
	check "stream $seed: callgraph, data, jumps" \
	    both callgraph --collect-jumps=yes --separate-threads=yes
	sed -i 2d repeats.ev lines.ev
	check "stream $seed: cachesim" both cachesim $caches
	check "stream $seed: cachesim, small caches" \
	    both cachesim $small --rep=each
	check "stream $seed: cachesim, many ways" both cachesim $wide
	check "stream $seed: cachesim, through" both cachesim $small -t -v
	grep -v ^M repeats.ev >repeats0.ev
	check "stream $seed: cachesim, as the judge has it" judge once \
	    4096,2,64 4096,2,64 65536,4,64
	check "stream $seed: cachesim, lines of three sizes" judge each \
	    1024,2,64 2048,1,32 8192,4,128
	cached $seed >cache.ev
	python3 "$R" -x <cache.ev >lines.ev
	mv cache.ev repeats.ev
	check "stream $seed: cachesim, kind cache" both cachesim \
	    --I1=16384,4,64 --D1=32768,8,64 --LL=262144,8,64
done

# long enough for states to be looked for
python3 "$R" 4 8 "$LONGEST" >repeats.ev
python3 "$R" -x <repeats.ev >lines.ev
check "long repeats: branchsim, rounds" both branchsim --rep=each
check "long repeats: cachesim" both cachesim $caches
check "long repeats: cachesim, many ways" both cachesim $wide
for p in cachegrind bimodal gshare tage perfect; do
	check "long repeats: branchsim, $p" both branchsim --predictor=$p
	check "long repeats: branchsim, $p, through" \
	    both branchsim --predictor=$p -t
done

# an address that is 0 in one of the rounds: that reference did not happen
for k in 1 64 65 66 67 68 69 70 72 80 100 129 200 300; do
	printf '%s\n' 'H quern-events 2' 'H kind all' 'H outcomes D1mr' \
	    'M 1 401000 402000 0 prog' 'B 1 >401000 4r8.0 2' >head.ev
	{
		cat head.ev
		printf '1-%x\n1+10*%x\nE exit 0 402\n' $((16 * k)) 400
	} >repeats.ev
	{
		cat head.ev
		printf '1-%x\n' $((16 * k))
		for i in $(seq 401); do echo 1+10; done
		echo E exit 0 402
	} >lines.ev
	check "0 in round $k of 401: callgraph" both callgraph
	check "0 in round $k of 401: memsim" both memsim
	sed -i 3d repeats.ev lines.ev
	check "0 in round $k of 401: cachesim" both cachesim $caches
done

# a recursion deeper than what callgraph remembers of it
if [ -n "$DEEP" ]; then
	printf '%s\n' 'H quern-events 1' 'M 1 401000 402000 1000 prog' \
	    'B 1 >401200 1w8.0 5w8.1L401300 >401300 5w8.1-8L401200' \
	    1+7ffe1000+7ffe0ff8 1-20-20*3c4b41 'B 2 >401103 1r8.0R' \
	    2+7ffe00000000 '2.*4c4b' 'E exit 0 3970960' >repeats.ev
	python3 "$R" -x <repeats.ev >lines.ev
	for o in --separate-recs=5 --contexts --fn-skip=c; do
		check "deep recursion: callgraph $o" both callgraph $o
	done
fi

# many EXECUTIONS KIND LINE...: more rounds than can be gone through
many() {
	n=$1 kind=$2
	shift 2
	printf '%s\n' 'H quern-events 1' "H kind $kind" \
	    'M 1 401000 402000 1000 prog' "$@" "E exit 0 $n" >many.ev
}
three=$((3 << 32))
many $((three + 1)) all 'B 1 >401010 3w8.0 2C401010' 1+600000 \
    1.*ffffffff 1+8*ffffffff 1-8*ffffffff
check "bbv: three times 2^32 rounds" "$B/bbv" many.ev
same "are rows of the same" "T:1:100000000 ;257" \
    "$(sort -u out | sed 1q);$(wc -l <out)"
check "bbv: sums of short intervals" "$B/bbv" -i 1 --instr-count-only many.ev
ok "all instructions" "$(grep -q 'instructions: 25769803778$' out; echo $?)"
check "bbv: places of 16 MB" \
    "$B/bbv" --mav=m --mav-size=16777216 many.ev
check "callgraph: three times 2^32 rounds" "$B/callgraph" many.ev
same "are all counted" "totals: $(((three + 1) * 2))" "$(grep ^totals out)"
usual="--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64"
check "cachesim: three times 2^32 rounds" "$B/cachesim" $usual many.ev
# on the way back those are there that the cache holds: the newest is no way
same "all lines are missed, there and back" "0x1010 $((three + 1)) 1 1 0 0 0\
 $((three + 1)) $(((1 << 30) - 510)) $(((1 << 30) - 131070))" \
    "$(grep '^0x' out)"
many $((three + 1)) all 'B 1 >401000 3w8.0 3r8.1 3m8.0+8000 5 2J401000' \
    1+600000+7ffe00000000 1+8+40*ffffffff 1+7ffe1000.*ffffffff \
    1+40-40*ffffffff
check "cachesim: what moves by itself, and through the code" \
    "$B/cachesim" $usual many.ev
many 4294967298 all 'B 1 >401000 3w8.0 3r8.1 5 2J401000' \
    1+600000+7ffe00000000 1..*ffffffff 1..
check "cachesim, through: nothing is missed" "$B/cachesim" $usual -t many.ev
same "and all is passed on in one line" "1..*ffffffff 1.." \
    "$(grep '^1\.' out | tr '\n' ' ' | sed 's/ $//')"
many 1 all 'B 1 >401010 3r1.0*1w1.2*1' 1+10000000+3fffffffffff+20000000
lines=1099511627776
check "cachesim: a long repeated instruction" "$B/cachesim" $usual many.ev
same "misses each line" "0x1010 1 1 1 70368744177663 $lines $lines\
 70368744177663 $lines $lines" "$(grep '^0x' out)"
check "cachesim: a long repeated instruction, through" \
    "$B/cachesim" $usual -t many.ev
same "is told in one line" "O 1 I1mr ILmr D1mr*10000000000 DLmr*10000000000\
 D1mw*10000000000 DLmw*10000000000" "$(grep '^O' out)"
status 2 "bbv: places of a long repeated instruction" \
    "$B/bbv" --mav=m many.ev
same "are too many" "bbv: many.ev:5: --mav: more than 16777216 places; a larger\
 --mav-size makes fewer" "$(cat err)"
check "bbv: larger places of it" \
    "$B/bbv" --tail=keep --mav=m --mav-size=1073741824 many.ev
same "have each of its rounds" $((2 * 0x3fffffffffff)) \
    "$(tr ' ' '\n' <m | sed 's/.*://' | awk '{ n += $1 }
	END { printf "%.0f\n", n }')"

# a call that returns; one that does not; returns that nobody has called
call="B 1 >401010 3 5w8.0L401100 >401100 3 1r8.0R >401018 2J401010"
many $((three + 3)) all "$call" 1+7ffe00000000 '1.*ffffffff' \
    'B 2 >401200 5w8.0L401200' 2+7ffe00000000 2-10*ffffffff \
    'B 3 >401103 1r8.0R' 3+7ffe00000000 3.*ffffffff
check "callgraph: calls" "$B/callgraph" many.ev
same "that return are counted" "calls=4294967297 +237" "$(grep -m1 ^calls out)"

many $((three + 3)) all 'B 1 >401000 1 2C401000' '1*ffffffff' \
    'B 2 >401003 2C401100 2C401012 >401012 5X >401003 5w8.0L401003' \
    2+7ffe00000000 2-10*ffffffff 'B 3 >401003 3 1r8.0R' 3+7ffe00000000 \
    3.*ffffffff 'B 4 >401020 1' 4
for p in cachegrind bimodal gshare tage perfect; do
	check "branchsim, $p: three times 2^32 rounds" \
	    "$B/branchsim" --predictor=$p many.ev
done
many 1 all 'B 1 >401010 3r1.0*1w1.2*1' 1+100000+3fffffffffffffff+200000
for p in cachegrind bimodal gshare tage; do
	check "branchsim, $p: a long repeated instruction" \
	    "$B/branchsim" --predictor=$p --rep=each many.ev
	same "each round is a branch, and the last test" \
	    "totals: 4611686018427387904 4611686018427387904" \
	    "$(sed -n 's/^\(totals: [0-9]* [0-9]*\).*/\1/p' out)"
done
done_testing
