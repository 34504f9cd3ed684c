#!/bin/sh
# README's tour, as it would be pasted, and its claims about itself

. t/lib.sh

for p in trace plain cachesim fmt-cachegrind annotate diff; do
	[ -x "$B/$p" ] || skip_all "no $p"
done
LIMIT=200
top=$PWD
sed -n '/^A tour/,/^The programs/s/^    //p' README | grep -v '^make$' \
    >"$T/tour"
check "there is a tour" test "$(wc -l <"$T/tour")" -gt 8
if ! command -v cg_annotate >/dev/null; then
	sed -i '/^cg_annotate/d' "$T/tour"
	skip "the tour's cg_annotate" "it is not installed"
fi
cd "$T" || exit 99
mkdir build
ln -s "$B" build/bin
# it is pasted where these are
mkdir cmd lib scripts t man
cp tour script
run sh script
ok "the tour runs to its end, status $?" "$([ $? -eq 0 ]; echo $?)"
cp out tour.out
cp err tour.err
check "it shows events" grep -q '^H quern-events 2$' tour.out
check "a difference" grep -q 'D1mr' tour.out
check "references" grep -q '^ [LSM] ' tour.out
check "and sources" grep -q ' s += v\[i\];$' tour.out
same "without complaints" "" "$(grep -v -e '^cachesim: the LL' \
    -e '^diff: small.out: costs of another model: D1 cache' tour.err |
    head -n 5)"
check "README has less than 150 lines" \
    test "$(wc -l <"$top/README")" -lt 150
same "and none longer than 80, but for one to paste" 1 \
    "$(awk 'length > 80' "$top/README" | wc -l)"
same ".ci/run runs README's test command" 1 \
    "$(grep -c 'make check *||' "$top/.ci/run")"

done_testing
