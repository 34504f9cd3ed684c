#!/bin/sh
# callgraph --collect-bus: instructions that lock the bus

. t/lib.sh

TOP=$PWD
cd "$T" || exit 99
${CC:-gcc} -O1 -g -nostdlib -static -fno-stack-protector -o locks \
    "$TOP/t/src/locks.c" || exit 99

for kind in all blocks; do
	check "kind $kind" "$B/trace" -e $kind -o ev ./locks
	check "marks of it" test "$(grep -o '[0-9a-f]m[48]!' ev |
	    sort -u | wc -l)" -ge 2
	check "--collect-bus" "$B/callgraph" --collect-bus=yes -o costs ev
	same "is an event" "events: Ir Ge" "$(grep ^events costs)"
	same "eight of eleven instructions, three times" 24 \
	    "$(sed -n 's/^totals: [0-9]* //p' costs)"
	same "in the call of their function" "24" \
	    "$("$B/fmt-callgrind" costs | awk '/^cfn=.*locked/ { getline
		split(substr($0, 7), c); getline; n += $3 } END { print n }')"
done
check "as a block of a lean reader" "$TB/ev" copy ev
same "has them, too" "$(grep -o 'm[48]!' ev | sort | uniq -c)" \
    "$(grep -o 'm[48]!' out | sort | uniq -c)"
check "without the option" "$B/callgraph" -o costs ev
same "there is no such event" "events: Ir" "$(grep ^events costs)"
check "--modify=write" "$B/callgraph" --collect-bus=yes --modify=write -o costs \
    ev
same "changes nothing of that" 24 "$(sed -n 's/^totals: [0-9]* //p' costs)"

if command -v valgrind >/dev/null; then
	check "Callgrind" valgrind -q --tool=callgrind --collect-bus=yes \
	    --callgrind-out-file=cg ./locks
	same "counts as many" "24" "$(sed -n 's/^totals: [0-9]* //p' cg)"
else
	skip "Callgrind's count" "no valgrind"
fi
done_testing
