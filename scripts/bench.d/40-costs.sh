# costs: merge, diff and annotate against cg_merge, cg_diff and cg_annotate, on
# profiles of 100 MB: variants of one of Cachegrind's, each with functions of
# its own, merged

base=cachegrind.base
if has valgrind cg_merge cg_diff cg_annotate merge diff annotate &&
    { [ -s "$W/costs.new" ] || untimed "
	echo 'int main(void) { return 0; }' >base.c
	rm -f $base.*
	valgrind -q --tool=cachegrind --trace-children=yes --cache-sim=yes $caches \
	    --cachegrind-out-file=$base.%p $CC -O2 -c base.c -o base.o 2>/dev/null
	cp \"\$(ls -S $base.* | head -n 1)\" costs.base
	n=\$((100000000 / \$(wc -c <costs.base) + 1))
	mkdir -p variants && rm -f variants/*
	for i in \$(seq \$n); do
		sed \"s/^fn=.*/&_v\$i/\" costs.base >variants/\$i
	done
	$B/merge -o costs.old variants/* &&
	$B/merge -o costs.new variants/* variants/[1-9] &&
	rm -r variants"; }; then
	title "costs: two profiles of $(($(wc -c <"$W/costs.old") / 1000000)) MB," \
	    "$(grep -c '^[0-9]' "$W/costs.old") lines each"
	lane cg_merge "cg_merge -o costs.theirs costs.old costs.new"
	lane merge "$B/merge -o costs.ours costs.old costs.new"
	go cg_merge
	lane cg_diff "cg_diff costs.old costs.new"
	lane "diff -p" "$B/diff -p costs.old costs.new || [ \$? -eq 1 ]"
	lane diff "$B/diff costs.old costs.new || [ \$? -eq 1 ]"
	go cg_diff
	lane cg_annotate "cg_annotate costs.old"
	lane "annotate" "$B/annotate costs.old"
	lane "annotate --layout=old" "$B/annotate --layout=old costs.old"
	go cg_annotate
	rm -f "$W/costs.theirs" "$W/costs.ours"
fi
