#!/bin/sh
# --debug=dump: a fragment beside the code that it was made of.  Each guest
# instruction that ran stands in the dump of the fragment that told it.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

status 0 "a run with --debug=dump" "$B/trace" --debug=dump -o "$T/ev" /bin/true
cp "$T/err" "$T/dump"
pc=$(sed -n 's/^B 1 >\([0-9a-f]*\) .*/\1/p' "$T/ev")
[ -n "$pc" ] || pc=$(sed -n 's/^fragment \([0-9a-f]*\): .*/\1/p' "$T/dump" |
    head -n 1)
status 0 "and with the pc of one fragment" \
    "$B/trace" --debug=dump="$pc" -o "$T/ev2" /bin/true
cp "$T/err" "$T/one"
same "which is all that is shown" "fragment $pc" \
    "$(grep '^fragment' "$T/one" | sed 's/:.*//' | sort -u)"
# as many instructions of the program as the first line says
same "all its instructions" \
    "$(sed -n '1s/.* \([0-9]*\) instructions.*/\1/p' "$T/one")" \
    "$(sed '2,$ { /^fragment/,$ d }' "$T/one" | grep -c '^[0-9a-f]\{5,\}  ')"
check "the way that it ends" grep -q '^exit 0: ' "$T/one"
check "map entries" grep -q '= body, 0 done' "$T/one"
for k in cache counts blocks; do
	status 0 "kind $k" "$B/trace" --debug=dump -e $k -o "$T/ev" /bin/true
	cp "$T/err" "$T/dump.$k"
	check "has exits" grep -q '^exit 0: ' "$T/dump.$k"
done
check "kind counts shows counters" \
    grep -q '^exit .*, counter [0-9]' "$T/dump.counts"

# A call by a word is a direct exit while the word cannot be written, and an
# indirect one later: `by_call' of this program is a push and that call.
v=$TB/victim/smc-words
low=$(nm "$v" | sed -n 's/.*\(...\) T by_call$/\1/p')
status 0 "kind counts of calls by words" \
    "$B/trace" --debug=dump -e counts -o "$T/ev" "$v"
same "which are direct exits, and indirect ones" "direct
indirect" "$(awk -v end="$low:\$" '
    /^fragment/ { here = $2 ~ end && / 2 instructions, 1 exits/; word = 0 }
    here && / call \[0x/ { word = 1 }
    word && /^exit 0:/ { print $3 }' "$T/err" | sort -u)"

status 125 "an address that is none" "$B/trace" --debug=dump=xyz /bin/true

done_testing
