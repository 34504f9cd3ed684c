#!/bin/sh
# cachesim on Lackey's trace equals Cachegrind on the same program

. t/lib.sh

command -v valgrind >/dev/null 2>&1 || skip_all "no valgrind"
LIMIT=300
# Valgrind without these does not count what is executed
exact="--vex-guest-chase=no --vex-iropt-level=0"

same_as_cachegrind() { # text geometry command...
	label=$1 caches=$2
	shift 2
	check "$label: cachegrind" env -i valgrind --tool=cachegrind $exact \
	    --cache-sim=yes $caches --cachegrind-out-file="$T/cg" "$@"
	check "$label: lackey" env -i valgrind --tool=lackey $exact \
	    --trace-mem=yes --log-file="$T/lackey" "$@"
	check "$label: to events" "$B/plain" -r -o "$T/ev" "$T/lackey"
	check "$label: cachesim" "$B/cachesim" $caches --rep=each --wide=cut \
	    "$T/ev"
	same "$label: equal" "$(sed -n 's/^summary: //p' "$T/cg")" \
	    "$(sed -n 's/^totals: //p' "$T/out")"
}

usual="--I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64"
same_as_cachegrind "true" "$usual" /bin/true
same "the command is told" "H cmd /bin/true" "$(sed -n 2p "$T/ev")"
same_as_cachegrind "echo, small caches" \
    "--I1=4096,2,32 --D1=8192,1,32 --LL=49152,3,32" /bin/echo hello
same_as_cachegrind "true, lines of three sizes" \
    "--I1=8192,4,64 --D1=6144,3,32 --LL=65536,4,128" /bin/true

# there and back
grep '^I\|^ [LSM]' "$T/lackey" >"$T/lines"
check "plain gives Lackey's lines" "$B/plain" "$T/ev"
# but for Valgrind's own long instructions
sed 's/^\(I .*\),1[6-9]$/\1,15/' "$T/lines" >"$T/cut"
samefile "all of them" "$T/cut" "$T/out"
done_testing
