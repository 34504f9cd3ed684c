#!/bin/sh
# memsim with many cores on real programs: invalidations and false sharing
# stand at the lines of source that cause them

. t/lib.sh

M=$B/memsim
LIMIT=120
CC=${CC:-gcc}
$CC -g -O1 -pthread -o "$T/sharing" t/src/sharing.c ||
    skip_all "no threads to be had from $CC"

check "trace" "$B/trace" -o "$T/sharing.ev" "$T/sharing"
# without prefetches, which fetch the other one of two neighbours
check "memsim" "$M" --machine=drcachesim --cores=each \
    --with="cache L1D prefetch=none" -v -o "$T/costs" \
    "$T/sharing.ev"
check "-v tells of both" grep -q '^Fsh ' "$T/err"
"$B/fmt-cachegrind" -o "$T/out.cg" "$T/costs"
# line Inv Fsh of the function some
awk '/^events:/ { for (i = 2; i <= NF; i++) col[$i] = i }
    /^f[nl]=/ { ours = ours_file && $0 == "fn=some" }
    /^fl=/ { ours_file = $0 ~ /sharing[.]c$/ }
    ours && /^[0-9]/ { print $1, $(col["Inv"]) + 0, $(col["Fsh"]) + 0 }' \
    "$T/out.cg" >"$T/lines"
at() { # text of the line, column: its count
	n=$(grep -n -F "$1" t/src/sharing.c | cut -d: -f1)
	awk -v n="$n" -v c="$2" '$1 == n { s += $c } END { print s + 0 }' \
	    "$T/lines"
}
check "beside: invalidations" test "$(at 'beside[k]++' 2)" -gt 50
same "all of them are false sharing" "$(at 'beside[k]++' 2)" \
    "$(at 'beside[k]++' 3)"
check "apart: next to none" test "$(at 'apart[k].n++' 2)" -le 9
check "both: invalidations" test "$(at 'both[0]++' 2)" -gt 50
check "none is false sharing" test "$(at 'both[0]++' 3)" -le 9

# long loops between system calls take turns, too
{ printf 'H quern-events 1\nT 1\n'
  echo 'B 1 >401000 4m8.0 2C401000'
  echo 'B 2 >401100 4m8.0 2C401100'
  printf '1+500000\n1.*200000\nT 2\n2+500008\n2.*200000\n'
  echo E exit 0 4194308; } >"$T/loops.ev"
check "two loops" "$M" --machine=drcachesim --cores=each -o "$T/costs" \
    "$T/loops.ev"
eval "$(awk '/^events:/ { for (i = 2; i <= NF; i++) name[i] = $i }
    /^totals:/ { for (i = 2; i <= NF; i++) print name[i] "=" $i }' "$T/costs")"
check "count all rounds" test "$Ir" -eq 8388616
check "collide" test "$Fsh" -gt 80000 -a "$Fsh" -eq "$Inv"

# one core
"$M" --machine=drcachesim --cores=1 "$T/sharing.ev" >"$T/one"
check "one core has no such columns" sh -c "! grep -q '^events.*Inv' '$T/one'"

# what it does with the threads of programs that others wrote
real() { # name command...
	name=$1
	shift
	command -v "$name" >/dev/null || { skip "$name" "not installed"; return; }
	"$B/trace" -o "$T/real.ev" --stdout=/dev/null "$@" 2>"$T/err"
	"$M" --machine=drcachesim --cores=each -o "$T/costs" "$T/real.ev"
	eval "$(awk '/^events:/ { for (i = 2; i <= NF; i++) name[i] = $i }
	    /^totals:/ { for (i = 2; i <= NF; i++) print name[i] "=" $i }' \
	    "$T/costs")"
	check "$name: invalidations, and some of them are false sharing" \
	    test "$Inv" -gt 0 -a "$Fsh" -le "$Inv" -a "$Inv" -le "$Dw"
}
seq 1 60000 >"$T/text"
real pigz pigz -p 2 -b 128 -kc "$T/text"
real xz xz -T2 --block-size=128KiB -0 -kc "$T/text"
done_testing
