#!/bin/sh
# the call graph's files in KCachegrind: no complaint of its importer, and a
# picture of the window

. t/lib.sh
. t/kcachegrind.sh

TOP=$PWD
LIMIT=90
kcachegrind_there || skip_all "no kcachegrind"
cd "$T" || exit 99

${CC:-gcc} -O1 -g -o recurse "$TOP/t/src/recurse.c" || exit 99
caches="--I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64"
# shellcheck disable=SC2086
"$B/trace" --cpu=v3 ./recurse 2>/dev/null | "$B/branchsim" -t |
    "$B/cachesim" -t $caches |
    "$B/callgraph" --collect-jumps=yes --dump-after=is_even >costs
events=$(sed -n 's/^events: //p' costs | head -n 1)
same "branches, misses and references came along" \
    "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim" "$events"
"$B/fmt-callgrind" -o plain costs
"$B/fmt-callgrind" --dump-instr=yes -o rich costs
"$B/fmt-callgrind" --dump-instr=yes --parts=keep -o parts costs
"$B/fmt-callgrind" --inline=yes -o inline costs
"$B/read-xray" "$TOP/t/fix/xray/threads.log.gz" 2>/dev/null |
    "$B/callgraph" | "$B/fmt-callgrind" -o xray

for f in plain rich parts inline xray; do
	same "KCachegrind opens $f without a complaint" opened \
	    "$(kcachegrind_loads $f)"
done
{ cat plain; echo "rubbish!"; } >bad
check "which it would make" test "$(kcachegrind_loads bad)" != opened

for p in Xvfb import identify; do
	command -v $p >/dev/null || {
		skip "a picture" "no $p"
		done_testing
		exit
	}
done
same "it opens in a window" opened "$(kcachegrind_shows rich "$T/picture.png")"
check "which shows something" test "$(identify -format %k picture.png)" -gt 100

done_testing
