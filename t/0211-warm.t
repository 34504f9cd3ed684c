#!/bin/sh
# --warm: what the first instructions do is simulated, but not counted

. t/lib.sh

M=$B/memsim
J=$TB/caches
command -v python3 >/dev/null || skip_all "no python3"

cat >"$T/m" <<'END'
cache L1I size=1k ways=2
cache L1D size=2k ways=1 line=32
cache L2 size=8k ways=4 line=128
END
caches="--I1=1024,2,64 --D1=2048,1,32 --LL=8192,4,128"
by_cachesim() { # warm stream: memsim's order of columns
	"$B/cachesim" $caches --warm="$1" "$2" | grep '^totals' | {
		read -r _ ir i1 il dr d1r dlr dw d1w dlw
		echo "$ir $dr $dw $i1 $d1r $d1w $il $dlr $dlw"
	}
}
"$J" gen 3 3000 >"$T/in.ev"
"$M" --machine="$T/m" --describe >"$T/machine"
for n in 1 7 1000 20000; do
	check "memsim, $n" "$M" --machine="$T/m" --warm=$n -o "$T/costs" \
	    "$T/in.ev"
	python3 t/models/costs.py "$T/costs" >"$T/fast"
	python3 t/models/memsim.py "$T/machine" warm=$n "$T/in.ev" >"$T/slow"
	samefile "as the slow one" "$T/slow" "$T/fast"
	same "cachesim, $n, is the same" \
	    "$(sed -n 's/^totals: //p' "$T/costs" | cut -d' ' -f1-9)" \
	    "$(by_cachesim $n "$T/in.ev")"
done
python3 t/models/machines.py threads 3 <"$T/in.ev" >"$T/th.ev"
check "many cores" "$M" --machine="$T/m" --with="cache L1D line=64" \
    --with="cache L2 line=64" --cores=2 --warm=5000 -o "$T/costs" "$T/th.ev"
"$M" --machine="$T/m" --with="cache L1D line=64" --with="cache L2 line=64" \
    --cores=2 --describe >"$T/machine"
python3 t/models/costs.py "$T/costs" >"$T/fast"
python3 t/models/memsim.py "$T/machine" warm=5000 "$T/th.ev" >"$T/slow"
samefile "as the slow one" "$T/slow" "$T/fast"

# 0 is nothing, and more than the run has leaves nothing
"$B/cachesim" $caches "$T/in.ev" >"$T/a"
"$B/cachesim" $caches --warm=0 "$T/in.ev" >"$T/b"
samefile "a warm-up of 0" "$T/a" "$T/b"
check "one of all" "$B/cachesim" $caches --warm=1G "$T/in.ev"
same "leaves nothing" "totals: 0" "$(grep '^[0+t]' "$T/out")"

# -t: what is told is what is counted
check "trace" "$B/trace" -o "$T/ls.ev" /bin/ls /
told() { # event: how often O lines have it
	perl -ne 'if (/^O /) { while (/ '"$1"'(?:\*([0-9a-f]+))?(?= |$)/g)
	    { $n += defined $1 ? hex $1 : 1 } } END { print $n || 0 }'
}
column() { # event: its total
	awk -v e="$1" '/^events:/ { for (i = 2; i <= NF; i++) if ($i == e)
	    k = i } /^totals:/ { print $k + 0 }'
}
for n in 1000 50000; do
	for what in "branchsim Bcm" "branchsim Bim" "cachesim D1mr" \
	    "memsim L1Dmr"; do
		p=${what% *} e=${what#* }
		same "$p -t, $n: $e" \
		    "$("$B/$p" --warm=$n "$T/ls.ev" | column $e)" \
		    "$("$B/$p" --warm=$n -t "$T/ls.ev" | told $e)"
	done
done
less=$(($("$B/branchsim" "$T/ls.ev" | column Ir) - \
    $("$B/branchsim" --warm=50000 "$T/ls.ev" | column Ir)))
check "branchsim counts less" test $less -ge 50000 -a $less -lt 50400

# events that others told count likewise
cat >"$T/told.ev" <<'END'
H quern-events 1
H outcomes Prefetch
B 1 >1000 4 2C1000
1*3
O 1 Prefetch*a
1
O 1 Prefetch
E exit 0 5
END
check "told events" "$B/cachesim" $caches --warm=8 "$T/told.ev"
same "are taken off" "totals: 2 0 0 0 0 0 0 0 0 1" "$(grep totals "$T/out")"
same "by address" "0x1000 1 0 0 0 0 0 0 0 0 1 +4 1 " \
    "$(grep '^[0+]' "$T/out" | tr '\n' ' ')"

# a branch is predicted when its thread goes on, but counts as it was executed
cat >"$T/open.ev" <<'END'
H quern-events 2
H kind all
T 1
B 1 >1000 1 2C1000
B 2 >1003 1
1*1
T 2
C mark
T 1
1
2
E exit 0 4
END
same "a branch open at the end of the warm-up is not counted" \
    "totals: 3 1" "$("$B/branchsim" --warm=4 "$T/open.ev" | grep totals)"
same "nor by another predictor" "totals: 3 1" "$("$B/branchsim" --warm=4 \
    --predictor=gshare "$T/open.ev" | grep totals)"
same "nor passed on" 0 \
    "$("$B/branchsim" --warm=4 -t "$T/open.ev" | grep -c ^O)"
sed 's/^C mark/J zero/' "$T/open.ev" >"$T/zero.ev"
same "nor is one at a mark" "totals: 3 1" \
    "$("$B/branchsim" "$T/zero.ev" | grep totals)"
sed 's/^C mark/J toggle/; s/^B 1/J toggle\n&/' "$T/open.ev" >"$T/on.ev"
same "nor one at a mark from which on costs count" "totals: 3 1" \
    "$("$B/branchsim" "$T/on.ev" | grep totals)"

# kind cache has no order of executions
"$J" filter 64 64 4 "$T/in.ev" >"$T/cache.ev"
status 2 "kind cache" "$B/cachesim" --warm=9 --I1=16384,4,64 --D1=16384,4,64 \
    --LL=262144,8,64 "$T/cache.ev"
check "is refused" grep -q "warm needs a stream that tells the order" "$T/err"
status 2 "no number" "$B/branchsim" --warm=x "$T/in.ev"
done_testing
