# many runs: array against xargs over the same pipelines; ci against the same
# without ci; the sum of a thousand profiles, with its memory

if has trace array ci merge icount; then
	untimed "
	printf '%s\n' '#include <stdlib.h>' 'int main(int c, char **v) {' \
	    'for (volatile long i = 0; i < atol(v[1]); i++) ; return 0; }' >loop.c
	$CC -O1 -g -o loop loop.c
	# as many rounds as make a task of 50 ms
	n=200000 t=0
	while [ \$t -lt 50 ]; do
		n=\$((n * 5 / 4))
		a=\$(date +%s%N)
		$B/trace -e counts ./loop \$n | $B/icount |
		    $B/fmt-cachegrind -o /dev/null
		t=\$(((\$(date +%s%N) - a) / 1000000))
	done
	echo \$n >rounds
	for i in \$(seq 200); do echo \"./loop \$n\"; done >many.list
	cat >many.one <<-'END'
		\$B/trace -e counts --vdso=no --cpu=v3 --clear-env -o - \$2 </dev/null |
		    \$B/icount | \$B/fmt-cachegrind -o many.x/\$1.out
	END
	export B='$B'
	mkdir -p many.x"
	title "many runs: 200 tasks of 50 ms, two at once ($(cat "$W/rounds")" \
	    "rounds each)"
	lane "xargs -P2" "rm -rf many.x; mkdir many.x; export B='$B'
	    seq 200 | xargs -P2 -I{} sh many.one {} './loop $(cat "$W/rounds")'"
	lane "array -j2" "$B/array -j2 --fresh --no-merge -p counts -d many.out \
	    many.list"
	lane "array, merged" "$B/array -j2 --fresh -p counts -d many.out \
	    many.list"
	go "xargs -P2"

	untimed "
	n=\$(cat rounds)
	for k in counts branches calls cache; do
		echo \"\$k \$k ./loop \$((n * 40))\"
	done >ci.list
	$B/ci -q -d ci.base ci.list"
	title "a list of four programs"
	lane "the pipelines" "
	    t='$B/trace --vdso=no --cpu=v3 --clear-env=LC_ALL=C'
	    p=\"./loop \$(($(cat "$W/rounds") * 40))\"
	    \$t -e counts \$p | $B/icount | $B/fmt-cachegrind >a
	    \$t -e blocks \$p | $B/branchsim | $B/fmt-cachegrind >a
	    \$t -e blocks \$p | $B/callgraph | $B/fmt-callgrind >a
	    \$t -e cache \$p | $B/cachesim $caches | $B/fmt-cachegrind >a"
	lane "ci" "$B/ci -q -d ci.out -b ci.base --limit=Ir=1% ci.list"
	go "the pipelines"
fi

# a thousand profiles of a megabyte, each with counts of its own
if has merge && { [ -s "$W/thousand/1000" ] || untimed "
	rm -rf thousand && mkdir thousand
	awk 'BEGIN {
		srand(1)
		for (n = 1; n <= 1000; n++) {
			out = \"thousand/\" n
			print \"desc: I1 cache: 32768 B, 64 B, 8-way\" >out
			print \"cmd: prog\" >out
			print \"events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\" >out
			all = 0
			for (f = 100; f < 400; f++) {
				print \"fl=/usr/src/prog/module\" f \"/file.c\" >out
				for (g = 10; g < 24; g++) {
					print \"fn=function_\" f \"_\" g >out
					for (l = 1; l < 9; l++) {
						c = int(rand() * 1000000)
						all += c
						print l * 9 + int(rand() * 2), c,
						    1, 0, l, f, g, 0, 7, 1 >out
					}
				}
			}
			k = 300 * 14
			printf \"summary: %.0f %d 0 %d %d %d 0 %d %d\\n\", all,
			    8 * k, 36 * k, 8 * 14 * 74850, 8 * 300 * 231,
			    56 * k, 8 * k >out
			close(out)
		}
	}'"; }; then
	title "merge: 1000 profiles of" \
	    "$(($(wc -c <"$W/thousand/1000") / 1000)) kB, in 200 MB"
	lane merge "ulimit -v 200000; $B/merge -o sum thousand/*"
	go merge
fi
