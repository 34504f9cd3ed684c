#!/bin/sh
# costs of several parts that are cut: every reader says so, wherever it was

. t/lib.sh

cd "$T" || exit 99

cat >ev <<'END'
H quern-events 1
H kind all
H cmd prog
B 1 >1000 5w8.0L2000
B 2 >2000 3 1r8.0R
B 3 >1005 2J1000
T 1
1+7ffe1000
2+7ffe1000
3
1.
T 2
1-1000
2-1000
3
T 1
2+1000
3
1+1000
2.
E exit 0 11
END
"$B/callgraph" ev >one || exit 99
"$B/callgraph" --separate-threads=yes ev >threads || exit 99
"$B/callgraph" --dump-before='0x*2000' ev >dumps || exit 99
"$B/callgraph" --separate-threads=yes --dump-after='0x*2000' ev >both || exit 99
for f in threads dumps both; do
	ok "$f: several parts" "$([ "$(grep -c '^part:' $f)" -gt 1 ]; echo $?)"
	same "$f: each but the last tells of the next" \
	    "$(($(grep -c '^totals:' $f) - 1))" \
	    "$(grep -c '^# another part follows$' $f)"
	"$B/fmt-callgrind" --parts=keep -o $f.fmt $f
	check "$f: whole" "$B/merge" $f
	check "$f: whole, by line" "$B/merge" $f.fmt
done

# around the ends of parts, and some more
cuts() { # FILE
	perl -e 'local $/; my $s = <STDIN>; my $len = length $s; my %at;
	while ($s =~ /^(?:totals|part|# another).*\n/mg) {
		$at{$_} = 1 for $-[0], $+[0] - 1, $+[0], $+[0] + 2;
	}
	for (my $i = $len - 1; $i >= 0; $i -= int($len / 25) + 1) { $at{$i} = 1 }
	print "$_\n" for sort { $a <=> $b } grep { $_ < $len } keys %at' <"$1"
}
each() { # FILE PROGRAM OPTION...: the cuts that it did not notice
	from=$1 missed=
	shift
	for n in $(cuts "$from"); do
		head -c "$n" "$from" >part
		timeout -k 5 20 "$@" part >out 2>err
		got=$?
		[ $got -eq 2 ] && [ "$(grep -c . err)" -le 2 ] ||
		    missed="$missed $n:$got"
	done
	echo "$missed"
}
same "merge, one part" "" "$(each one "$B/merge")"
for f in threads dumps both; do
	same "merge, $f" "" "$(each $f "$B/merge")"
	same "merge, $f by line" "" "$(each $f.fmt "$B/merge")"
done
same "diff" "" "$(each dumps "$B/diff" dumps)"
same "annotate" "" "$(each dumps.fmt "$B/annotate")"
same "annotate --html" "" "$(each dumps.fmt "$B/annotate" --html=page)"
same "fmt-cachegrind" "" "$(each dumps "$B/fmt-cachegrind")"
same "fmt-callgrind" "" "$(each both "$B/fmt-callgrind")"
same "fmt-callgrind --parts=keep" "" \
    "$(each threads "$B/fmt-callgrind" --parts=keep)"
same "fmt-folded" "" "$(each dumps "$B/fmt-folded")"
same "fmt-pprof" "" "$(each dumps "$B/fmt-pprof" -o pprof)"

# with one message, be it that gzip data ends, or that the addresses of what is
# there have no names
gzip -c dumps | head -c 300 >part.gz
zstd -qc dumps | head -c 300 >part.zst
"$B/icount" ev | sed '$d' >part
for p in fmt-cachegrind fmt-callgrind fmt-folded fmt-pprof annotate; do
	status 2 "$p: cut gzip data" "$B/$p" part.gz
	same "$p: one message" "$p: part.gz: gzip: data ends early" "$(cat err)"
	status 2 "$p: cut zstd data" "$B/$p" part.zst
	same "$p: one message" "$p: part.zst: zstd: data ends early" "$(cat err)"
	status 2 "$p: cut costs" "$B/$p" part
	same "$p: cut costs: one message" 1 "$(grep -c . err)"
done

# and what a formatter makes of it is noticed by the next one
passed=
for n in $(cuts dumps); do
	head -c "$n" dumps | "$B/fmt-callgrind" --parts=keep >out 2>err
	"$B/merge" out >sum 2>err && passed="$passed $n"
done
same "the next one in the pipe" "" "$passed"

# a page of a profile that was cut says so
"$B/fmt-callgrind" -o whole both
check "a page" "$B/annotate" --html=page whole
check "a page: no remark" sh -c '! grep -q class=cut page'
sed '$d' whole >'a<b'
status 2 "a page of a cut profile" "$B/annotate" --html=page 'a<b'
check "a page of a cut profile: says so, with the file" \
    grep -q '^<p class=cut>.*a&lt;b' page
done_testing
