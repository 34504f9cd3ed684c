#!/bin/sh
# Under a small limit of the stack all programs do what they do with a large
# one: no frame of ours is large, and libdw, which needs much, has a stack of
# ours.

. t/lib.sh

case $B in
*/san/bin) skip_all "sanitizers need a larger stack" ;;
esac
[ -x "$B/trace" ] || skip_all "no trace"

# both TEXT NAME ARG...: the same output with either limit
both() {
	text=$1 p=$2
	shift 2
	check "$text" "$B/$p" "$@"
	mv "$T/out" "$T/want"
	small "$text, small stack" "$B/$p" "$@"
	samefile "$text: the same" "$T/want" "$T/out"
}

small() {
	text=$1
	shift
	check "$text" sh -c 'ulimit -s 64 && exec "$@"' sh "$@"
}

small "trace" "$B/trace" -o "$T/all.ev" "$TB/victim/ins-flow"
small "trace: counts, calls" "$B/trace" -e counts --contexts -o "$T/ctx.ev" \
    "$TB/victim/ins-flow"
small "trace: cache" "$B/trace" -e cache -o "$T/cache.ev" \
    "$TB/victim/ins-flow"
small "trace: intervals" "$B/trace" -e counts -i 1000 -o "$T/iv.ev" \
    "$TB/victim/ins-flow"
for p in cachesim branchsim memsim icount reuse mix plain callgraph dataprof
do
	both "$p" $p "$T/all.ev"
done
both "callgraph: contexts" callgraph "$T/ctx.ev"
both "bbv" bbv "$T/iv.ev"
"$B/bbv" -o "$T/bb" "$T/iv.ev"
both "simpoint" simpoint -maxK 3 -loadFVFile "$T/bb" \
    -saveSimpoints "$T/points" -saveSimpointWeights "$T/weights"
"$B/callgraph" -o "$T/calls" "$T/all.ev"
for p in fmt-cachegrind fmt-callgrind fmt-folded fmt-pprof; do
	both "$p" $p "$T/calls"
done
for p in cachegrind callgrind folded; do
	"$B/fmt-$p" "$T/calls" >"$T/$p" 2>"$T/err"
done
both "fmt-svg" fmt-svg "$T/folded"
both "annotate" annotate "$T/cachegrind"
both "annotate: calls" annotate "$T/callgrind"
both "merge" merge "$T/calls" "$T/calls"
both "diff" diff "$T/calls" "$T/calls"
done_testing
