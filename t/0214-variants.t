#!/bin/sh
# cachesim's other models: --simulate-wb, --simulate-hwpref, --cacheuse

. t/lib.sh

C=$B/cachesim
cd "$T" || exit 99

# the totals of the caches' events in costs, by their names
totals_of() {
	awk '/^events:/ { for (i = 2; i <= NF; i++) name[i] = $i }
	    /^totals:/ { for (i = 2; i <= NF; i++) n[name[i]] = $i }
	    END { split("I1mr ILmr D1mr DLmr D1mw DLmw ILdmr DLdmr DLdmw " \
			"AcCost1 SpLoss1 AcCost2 SpLoss2", e, " ")
		for (i = 1; i <= 13; i++)
			if (e[i] in n || i <= 6)
				print e[i], n[e[i]] + 0 }' "$1"
}

# --- by hand
small="--I1=128,1,64 --D1=128,1,64"
ev() {
	printf '%s\n' "H quern-events 2" "H cmd ./a" "$@"
}
totals() {
	same "$1" "$2" "$(sed -n 's/^events: //p; s/^totals: //p' out)"
}

# one set of LL: the write's line is dirty when the read replaces it
ev "B 1 >1000 4w8.0 4r8.1" 1+10000+20000 1.. "E exit 0 2" >wb.ev
check "write-back" "$C" $small --LL=128,1,64 --simulate-wb=yes wb.ev
totals "a dirty line that is replaced is written back" \
"Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw ILdmr DLdmr DLdmw
4 1 1 2 2 2 2 2 2 0 2"
check "-t" "$C" $small --LL=128,1,64 --simulate-wb -t wb.ev
same "has these events" "O 1 I1mr ILmr D1mw DLmw;O 2 D1mr DLmr DLdmr;\
O 1 D1mw DLmw;O 2 D1mr DLmr DLdmr;" "$(grep ^O out | tr '\n' ';')"
ev "B 1 >1000 4r8.0 4w8.0 4r8.1" 1+10000+20000 "E exit 0 1" >hit.ev
check "a write that hits D1" "$C" $small --LL=128,1,64 --simulate-wb=yes hit.ev
totals "makes LL's line dirty" \
"Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw ILdmr DLdmr DLdmw
3 1 1 2 2 2 1 0 0 0 1"

# executions that a line counts, of no kind of events
ev "H kind all" "B 1 >1000 3r8.0" 1+50 "W 1 5" "E exit 0 6" >told.ev
for model in simulate-wb simulate-hwpref cacheuse; do
	check "--$model, executions told" "$C" $small --LL=128,1,64 \
	    --$model=yes told.ev
	same "are counted" 6 "$(sed -n 's/^totals: \([0-9]*\).*/\1/p' out)"
done

# twelve lines in a row: from the third on, the fifth behind each is loaded
ev "B 1 >1000 4r8.0" 1+10000 "1+40*a" "E exit 0 12" >pf.ev
check "prefetching" "$C" $small --LL=4096,4,64 --simulate-hwpref=yes pf.ev
totals "upwards" "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
12 1 1 12 12 7"
ev "B 1 >1000 4r8.0" 1+10fc0 "1-40*a" "E exit 0 12" >down.ev
check "prefetching" "$C" $small --LL=4096,4,64 --simulate-hwpref=yes down.ev
totals "downwards" "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
12 1 1 12 12 7"
ev "B 1 >1000 4w8.0" 1+10000 "1+40*a" "E exit 0 12" >wpf.ev
check "both" "$C" $small --LL=4096,4,64 --simulate-hwpref --simulate-wb wpf.ev
totals "work together" "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw ILdmr DLdmr DLdmw
12 1 1 0 0 0 12 12 7"

# 16 bytes of a line are read twice by 8, then another takes its place
ev "B 1 >1000 4r8.0" 1+10000 1+8 1+78 "E exit 0 3" >use.ev
check "use of lines" "$C" $small --LL=256,1,64 --cacheuse=yes use.ev
totals "accesses and bytes" "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw AcCost1\
 SpLoss1 AcCost2 SpLoss2
3 1 1 3 2 2 0 0 0 1833 164 1200 104"
check "-t" "$C" $small --LL=256,1,64 --cacheuse=yes -t use.ev
cat >want <<'E'
1+10000
O 1 I1mr ILmr D1mr DLmr
O 1=1
O 1=2
O 1=3
O 1=2
1+8
1+78
O 1 D1mr DLmr
O =3 AcCost1*1f4 SpLoss1*30
O 1=3
O 1=4
O =1 AcCost1*14d SpLoss1*3c
O =3 AcCost1*3e8 SpLoss1*38
O =2 AcCost2*c8 SpLoss2*30
O =4 AcCost2*3e8 SpLoss2*38
E exit 0 3
E
sed '1,/^B/d' out >got
samefile "labels whoever loaded a line" want got
ev "B 1 >1000 4w8.0*1" 1+10000+20 "E exit 0 1" >rep.ev
check "a repeated instruction" "$C" $small --LL=512,1,64 --cacheuse rep.ev
totals "uses each of its lines eight times" \
"Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw AcCost1 SpLoss1 AcCost2 SpLoss2
1 1 1 0 0 0 32 4 4 1500 60 486"
check "--rep=each" "$C" $small --LL=512,1,64 --cacheuse --rep=each rep.ev
totals "fetches it for each round, too" \
"Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw AcCost1 SpLoss1 AcCost2 SpLoss2
33 1 1 0 0 0 32 4 4 530 60 399"

# a mark empties the caches, at no cost
ev "B 1 >1000 4w8.0 4r8.1" 1+10000+20000 "J cold" 1.. "E exit 0 2" >cold.ev
for o in --simulate-wb --simulate-hwpref --cacheuse; do
	check "$o: J cold" "$C" $small --LL=256,1,64 $o cold.ev
	same "$o: all miss again" "4 2 2 2 2 2 2 2 2" \
	    "$(sed -n 's/^totals: //p' out | cut -d' ' -f1-9)"
done
same "lines that the mark takes away cost nothing" "3500 224 2333 168" \
    "$(sed -n 's/^totals: //p' out | cut -d' ' -f10-)"

# a modification
ev "B 1 >1000 4m8.0 4r8.0" 1+10000 "E exit 0 1" >m.ev
check "--modify=write" "$C" $small --LL=256,1,64 --modify=write m.ev
totals "is a write" "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
2 1 1 1 0 0 1 1 1"
"$C" $small --LL=256,1,64 -t --modify=write m.ev |
    "$B/callgraph" --modify=write | sed -n 's/^events: //p;s/^totals: //p' >got
same "in callgraph, too" "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
2 1 1 1 0 1 1 0 1" "$(cat got)"
check "write-back" "$C" $small --LL=256,1,64 --simulate-wb --modify=read m.ev
totals "or a read" "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw ILdmr DLdmr DLdmw
2 1 1 2 1 1"

# --- what is refused
refused() { # text message option...
	text=$1 message=$2
	shift 2
	status 2 "$text" "$C" $small "$@"
	same "$text: message" "cachesim: $message" "$(cat err)"
}
ev "H kind cache 64 64 2" "E exit 0 0" >cache.ev
for o in --simulate-wb --simulate-hwpref --cacheuse; do
	refused "kind cache with $o" "cache.ev:1: a stream of kind cache does\
 not tell each reference for $o: needs kind all" --LL=256,1,64 $o=yes cache.ev
done
refused "two models" "--cacheuse goes without --simulate-wb and\
 --simulate-hwpref" --LL=256,1,64 --cacheuse --simulate-wb use.ev
refused "lines of two sizes" "--cacheuse: the lines of I1, D1 and LL differ\
 in size" --LL=256,1,128 --cacheuse use.ev
ev "B 1 >1000 4r8" 1 "E exit 0 1" >bare.ev
refused "a bare reference" "bare.ev:3: a reference without its address" \
    --LL=256,1,64 --cacheuse bare.ev

# --- another stage finds the same totals, and callgraph its functions
check "a program" "$B/trace" -o true.ev /bin/true
lot="--I1=1024,2,64 --D1=2048,2,64 --LL=16384,4,64"
for o in "" --simulate-wb --simulate-hwpref --cacheuse; do
	"$C" $lot $o true.ev >own.costs
	check "$o -t" "$C" $lot $o -t -o t.ev true.ev
	for p in branchsim callgraph; do
		"$B/$p" t.ev >other.costs
		same "$p sums $o up" "$(totals_of own.costs)" \
		    "$(totals_of other.costs)"
	done
done

# of a reference to two lines LL is asked only for what D1 has not, as in
# Callgrind, whose figures these are (a loop of five loads)
loads="8r8@402000 8r8@402080 8r8@40201c 8r8@402080 8r8@40203c 2 2C401005"
ev "B 1 >401000 5 $loads 5 2 2S" "B 2 >401005 $loads" "P 3 1 8" 3 "2*3e5" \
    "B 5 >401005 $loads 5 2 2S" 5 "Y 231" \
    "E exit 0 1000" >across.ev
two="--I1=1024,2,32 --D1=128,2,32 --LL=256,2,32"
for o in "no 5000 3001 5" "yes 5000 3001 4"; do
	check "lines of a reference: $o" "$C" $two --cacheuse=${o%% *} across.ev
	same "are those of Callgrind" "${o#* }" \
	    "$(awk '/^totals/ { print $5, $6, $7 }' out)"
done

# --- judged by Callgrind
command -v valgrind >/dev/null 2>&1 || {
	skip "Callgrind's figures" "no valgrind"
	done_testing
	exit
}
LIMIT=300
exact="--vex-guest-chase=no --vex-iropt-level=0"
judge() { # caches options
	check "$1: callgrind" env -i valgrind -q --tool=callgrind $exact \
	    --cache-sim=yes $1 $2 --callgrind-out-file=cg ./strides
	totals_of cg >want
	check "$1 $2" "$C" $1 $2 --rep=each --wide=cut --modify=write \
	    lackey.ev
	totals_of out >got
	samefile "$1 $2: as Callgrind has it" want got
}
${CC:-gcc} -O1 -g -nostdlib -static -fcf-protection=none -fno-stack-protector -fno-builtin \
    -o strides "$OLDPWD/t/src/strides.c" || exit 99
check "lackey" env -i valgrind --tool=lackey $exact --trace-mem=yes \
    --log-file=lackey ./strides
check "to events" "$B/plain" -r -o lackey.ev lackey
for lot in "--I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64" \
    "--I1=1024,2,64 --D1=2048,1,64 --LL=16384,4,64"; do
	for o in "" --simulate-wb=yes --simulate-hwpref=yes --cacheuse=yes; do
		judge "$lot" "$o"
	done
done
lot="--I1=1024,2,32 --D1=2048,1,64 --LL=49152,3,128"
judge "$lot" --simulate-wb=yes
judge "$lot" --simulate-hwpref=yes
judge "--I1=1024,2,32 --D1=2048,1,32 --LL=49152,3,32" --cacheuse=yes
done_testing
