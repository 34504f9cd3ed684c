#!/bin/sh
# fmt-svg: flame graphs of collapsed stacks

. t/lib.sh

S=$B/fmt-svg
TOP=$PWD
LIMIT=120
cd "$T" || exit 99

cat >stacks <<'E'
main;work 40
main 10
main;work;std::map<int, char const*>::operator[] 25
main;idle 24
main;work;"quoted" & 'more' 1
E
check "a flame graph" "$S" -t 'A <title> & "more"' -o picture.svg stacks
if command -v python3 >/dev/null; then
	check "is that of the stacks" python3 "$TOP/t/models/flame.py" \
	    picture.svg stacks
	same "its frames and rows" "6 4" "$(cat out)"
else
	skip "is that of the stacks" "no python3"
fi
check "title" grep -q '>A &lt;title&gt; &amp; "more"<\|&lt;title&gt; &amp; &quot;more' \
    picture.svg
sort -r stacks >turned
"$S" -t 'A <title> & "more"' turned >out
samefile "in any order it is the same" picture.svg out
cat stacks stacks | "$S" - >out
check "twice as much" grep -q '<title>all: 200 counts, 100.00%' out
gzip -c stacks >stacks.gz
check "compressed" "$S" -i --width=600 --count=instructions stacks.gz
cp out down.svg
if command -v python3 >/dev/null; then
	check "upside down, and narrow" python3 "$TOP/t/models/flame.py" \
	    down.svg stacks
	sed 's/ \([0-9]*\)$/ 1\1 \1/' stacks >two
	"$S" two >two.svg
	check "two counts" python3 "$TOP/t/models/flame.py" two.svg two
	check "tell the difference" grep -q \
	    'idle: 24 counts, 24.00%; before 124, -100' two.svg
else
	skip "upside down" "no python3"
fi
printf '%s\n' 'a;b 1000000' 'a;c 1' >thin
"$S" --min-width=0 thin >out
same "all frames" 4 "$(grep -c 'class="f"' out)"
"$S" thin >out
same "without the thin ones" 3 "$(grep -c 'class="f"' out)"
printf '%s\n' '# a comment' '' 'a;;b 1' 'näme 2' 'a 3' >odd
check "comments, empty names, other letters" "$S" odd
cp out odd.svg
same "are there" 5 "$(grep -c 'class="f"' odd.svg)"
printf '%s\n' '#comment 9' '#1 1' '#1;#2 2' >log
check "functions of a log without names" "$S" log
same "are no comments" "all: 3 #1: 3 #2: 2" "$(sed -n \
    's/.*<title>\([^ ]* [0-9]*\) counts.*/\1/p' out | paste -s -d ' ')"

printf 'a\377\355\240\200;\303\244\357\277\277;\302 3\n' >letters
check "bytes that are no letters" "$S" letters
same "are shown as such" 'all,a????,ä???,?' "$(sed -n \
    's/.*class="f" data-name="\([^"]*\)".*/\1/p' out | paste -s -d ,)"
cp out letters.svg
if command -v rsvg-convert >/dev/null; then
	check "the picture can be read" rsvg-convert -o letters.png letters.svg
fi
check "the fuzzing corpus" "$TB/fuzz_svg" "$TOP/t/fuzz/corpus/svg"

# --- many frames: narrow ones are merged, and it says so
awk 'BEGIN { seed = 7
	for (i = 0; i < 800; i++) {
		s = "main"
		for (d = 0; d < 30; d++) {
			s = s ";f" i "_" d
			seed = seed * 16807 % 2147483647
			print s, int(1 + 400 * (seed / 2147483647) ^ 6)
		}
	} }' >many
check "24,000 stacks" "$S" -o many.svg many
check "are at most 10,000 frames and some gray ones" test \
    "$(grep -c 'class="f"' many.svg)" -le 10000
check "but not few" test "$(grep -c 'class="f"' many.svg)" -gt 5000
check "gray ones say how many they are" grep -q \
    'class="f s" data-name="([0-9]* small)"><title>[0-9]* small frames: ' many.svg
check "the picture says how many in all" grep -q -E \
    'id="note"[^>]*>[0-9,]+ frames narrower than [0-9.]+ of 1200 pixels are merged' \
    many.svg
if command -v python3 >/dev/null; then
	check "it is that of the stacks" python3 "$TOP/t/models/flame.py" \
	    many.svg many
fi
check "--min-width=0" "$S" --min-width=0 -o all.svg many
same "draws all" 24002 "$(grep -c 'class="f"' all.svg)"

# --- two runs
printf '%s\n' 'main;work 40' 'main;idle 50' 'main;gone;deep 7' 'main 3' >old
printf '%s\n' 'main;work 60' 'main;idle 25' 'main;fresh 10' 'main 5' >new
check "--diff" "$S" --diff -o diff.svg old new
for l in 'work: 60 counts, 60.00%; before 40, +20' \
    'idle: 25 counts, 25.00%; before 50, -25' \
    'fresh: 10 counts, 10.00%; before 0, +10' \
    'all: 100 counts, 100.00%; before 100, +0'; do
	check "tells ${l%%:*}" grep -qF "<title>$l</title>" diff.svg
done
same "labels have signs" 'fresh new,idle -50%,work +50%' "$(grep -o \
    '<text[^>]*>[a-z]* [-+n][^<]*<' diff.svg | sed 's/<text[^>]*>//; s/<//' |
    paste -s -d ,)"
check "and what is gone is told" grep -q '>7 counts of before are in' diff.svg
# frames on top of the highest with a count, which have none
for n in 1 5 9 11 13; do
	top=$(seq -s ';' $n)
	echo "$top;gone 5" >highest.old
	echo "$top 3" >highest.new
	check "gone from the top of $n" "$S" --diff highest.old highest.new
	same "and told" 1 "$(grep -c '>5 counts of before are in' out)"
done
cat old new | cut -d ' ' -f 1 | sort -u | while read -r s; do
	echo "$s $(sed -n "s/^$s //p" old | grep . || echo 0)" \
	    "$(sed -n "s/^$s //p" new | grep . || echo 0)"
done >pairs
"$S" -o pairs.svg pairs
samefile "as with two counts on a line" pairs.svg diff.svg
"$S" --diff -o out.svg - new <old
samefile "one is standard input" diff.svg out.svg
status 2 "--diff: one file" "$S" --diff old
status 2 "--diff: both standard input" "$S" --diff - - <old
status 2 "--diff: two counts on a line" "$S" --diff old two
echo 'a;b x' >bad
status 2 "--diff: the second is bad" "$S" --diff old bad
check "is told" grep -q '^fmt-svg: bad:1: ' err
status 2 "--diff: the first is empty" "$S" --diff /dev/null new

# --- a real program
${CC:-gcc} -O1 -g -o recurse "$TOP/t/src/recurse.c" || exit 99
"$B/trace" -e blocks --cpu=v3 ./recurse 2>/dev/null | "$B/callgraph" \
    --contexts | "$B/fmt-folded" >folded
check "of a program" "$S" -o real.svg folded
if command -v python3 >/dev/null; then
	check "is that of its stacks" python3 "$TOP/t/models/flame.py" \
	    real.svg folded
fi
if command -v rsvg-convert >/dev/null; then
	check "a picture of it" rsvg-convert -o real.png real.svg
	check "not a small one" test "$(wc -c <real.png)" -gt 5000
else
	skip "a picture of it" "no rsvg-convert"
fi

# --- in a browser: zoom and search are kept in the address
dom() {
	# the last one's processes may not have left its profile yet
	profile=$(mktemp -d "$T/profile.XXXXXX")
	timeout -k 5 "$LIMIT" chromium --headless=new --no-sandbox --disable-gpu \
	    --disable-dev-shm-usage \
	    --user-data-dir="$profile" --virtual-time-budget=5000 \
	    --dump-dom "file://$T/real.svg$1"
}
if command -v chromium >/dev/null && dom "" >plain 2>err &&
    grep -q 'class="f"' plain; then
	frame=$(grep 'class="f' real.svg | grep -n 'data-name="main"' |
	    head -n 1 | cut -d: -f1)
	frame=$((frame - 1))
	check "in a browser" dom "#zoom=$frame&find=fib"
	cp out zoomed
	same "zoomed in, main is as wide as all" "$(sed -n \
	    's/.*data-name="all".*width="\([0-9]*\).*/\1/p' zoomed)" "$(sed -n \
	    's/.*data-name="main".* width="\([0-9]*\).*/\1/p' zoomed |
	    head -n 1)"
	check "its callers are pale" grep -q 'class="f under" data-name="all"' \
	    zoomed
	check "others are not there" grep -q 'class="f hidden"' zoomed
	check "there is a way back" grep -q '<text id="back" class=""' zoomed
	check "fib is found" grep -q 'class="f match" data-name="fib"' zoomed
	check "with its share" grep -q -E \
	    '<text id="found"[^>]*>found: [0-9.]+% in [1-9]' zoomed
	check "words that are no expression" dom "#find=fib("
	check "are looked for as they are" grep -q '>found: 0.0% in 0<' out
else
	skip "in a browser" "no chromium that works"
fi

# --- trouble
for l in 'a;b' 'a b' '12' 'a 99999999999999999999' ' 7'; do
	echo "$l" >bad
	status 2 "not a stack: '$l'" "$S" bad
	check "is told with its line" grep -q '^fmt-svg: bad:1: no [cs]' err
done
printf '%s\n' 'a 18446744073709551615' 'b 1' >bad
status 2 "too much" "$S" bad
check "is told" grep -q '^fmt-svg: bad:2: the sum is beyond 64 bits$' err
printf '# callgrind format\nversion: 1\n' >bad
status 2 "costs" "$S" bad
same "are told" "fmt-svg: bad:1: costs, not stacks: needs fmt-folded before this" \
    "$(cat err)"
printf 'H quern-events 2\nH kind all\n' >bad
status 2 "events" "$S" bad
same "are told" "fmt-svg: bad:1: events, not stacks: needs callgraph --contexts \
and fmt-folded before this" "$(cat err)"
printf 'a\0b 1\n' >bad
status 2 "a zero byte" "$S" bad
status 2 "nothing" "$S" /dev/null
status 2 "two files" "$S" stacks stacks
status 2 "--width=10" "$S" --width=10 stacks

done_testing
