#!/bin/sh
# callgraph: frames left by exceptions, longjmp, handlers that never return

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
SRC=$PWD/t/src
cd "$T" || exit 99
${CXX:-g++} -O1 -fcf-protection=none -o unwind "$SRC/unwind.cc" || exit 99

# "caller callee calls" of the marks, "function own" of who calls them
cat >list.awk <<'E'
function name(s,	id) {
	id = s
	sub(/\).*/, "", id)
	if (s ~ /\) /) {
		sub(/^[^)]*\) /, "", s)
		n[id] = s
	}
	return n[id]
}
/^fn=/ { fn = name(substr($0, 4)) }
/^cfn=/ { cfn = name(substr($0, 5)) }
/^calls=/ {
	split(substr($0, 7), c, " ")
	if (cfn ~ /^(inner|outer|cleanup|end)$/ && fn != "main")
		print fn, cfn, c[1]
	getline
	next
}
/^[0-9+*-]/ { own[fn] += $2 }
END {
	for (fn in own)
		if (fn ~ /^(plain|guarded|p[io]ng|jumps|coroutine|resume)/)
			print fn, own[fn]
}
E
# marks FILE: calls of marks
marks() {
	awk -f list.awk "$1" | awk 'NF == 3 { n[$1 " " $2] += $3 }
	END { for (i in n) print i, n[i] }' | sort | tr '\n' ';'
}
# tells "expected" MODE...: also as Callgrind, where that can tell
tells() {
	want=$1
	shift
	"$B/trace" -e blocks -o ev ./unwind "$@"
	run "$B/callgraph" --separate-recs=6 ev
	same "$*" "$want" "$(marks out)"
	[ $# -gt 1 ] || return
	if ! command -v valgrind >/dev/null; then
		skip "$*: as Callgrind" "no valgrind"
		return
	fi
	run valgrind -q --tool=callgrind --separate-recs=6 \
	    --callgrind-out-file=cg ./unwind "$@"
	awk -f list.awk cg | sort >want
	"$B/callgraph" --separate-recs=6 ev | awk -f list.awk | sort >got
	samefile "$*: own costs by level, as Callgrind" want got
}

# --- each three times: who catches at which level of six; levels within have
# called end twice if they returned
for at in 1 2 4 6; do
	want= k=1
	while [ $k -lt $at ]; do
		l=$([ $k -eq 1 ] || echo "'$k")
		want="${want}plain$l end 6;"
		k=$((k + 1))
	done
	l=$([ $at -eq 1 ] || echo "'$at")
	# at is the last one in order but for 6
	want="${want}plain$l end 3;"
	[ $at -eq 6 ] && want="${want}plain'6 inner 3;"
	want="${want}plain$l outer 3;"
	[ $at -eq 6 ] || want="${want}plain'6 inner 3;"
	tells "$(echo "$want" | tr ';' '\n' | sort | tr '\n' ';' | sed 's/^;//')" \
	    plain $at
done
tells "guarded cleanup 3;guarded'2 cleanup 3;guarded'3 cleanup 3;\
guarded'4 cleanup 3;guarded'5 cleanup 3;guarded'5 inner 3;" guarded 1
tells "ping end 3;ping outer 3;pong'3 inner 3;" pong 1
tells "ping end 6;ping'2 end 6;ping'3 end 3;ping'3 outer 3;pong end 3;\
pong'2 end 3;pong'3 inner 3;" pong 3
tells "jumps outer 3;jumps'4 inner 3;" jumps 1
tells "jumps end 3;jumps'2 end 3;jumps'3 outer 3;jumps'4 inner 3;" jumps 3
tells "jumps end 3;jumps'2 end 3;jumps'3 end 3;jumps'4 inner 3;\
jumps'4 outer 3;" jumps 4
# what counts besides executions moves out of limbo, too
"$B/callgraph" --separate-recs=6 --collect-jumps=yes ev >moved
same "jumps counted" "$want" "$(marks moved)"
"$B/branchsim" -t ev | "$B/callgraph" --separate-recs=6 >moved
same "branches missed" "$want" "$(marks moved)"

# --- handlers, 1,000 times, on their victim's stack and on one of their own
for s in '' alt-below- alt-above-; do
	tells "caught outer 1000;on_return inner 1000;victim end 1000;" ${s}return
	tells "caught outer 1000;on_jump inner 1000;" ${s}jump
	tells "caught outer 1000;on_jump inner 1000;on_nested inner 1000;" \
	    ${s}nested
	tells "caught outer 1000;on_inside outer 1000;on_jump inner 1000;\
victim end 1000;" ${s}inside
	tells "caught outer 1000;on_again inner 1000;on_again outer 1000;\
on_again'2 inner 1;on_again'2 outer 1;victim end 1000;" ${s}again
done
tells "at_once outer 10;on_again inner 10;on_again outer 10;\
on_return inner 10;" once
tells "coroutine inner 100;resume outer 100;" coroutines
# where the C library switched stacks, a message says what that means
switched() {
	"$B/callgraph" -o out ev 2>err
	grep -c "swapcontext switched stacks" out err | cut -d: -f2 | tr '\n' ' '
}
"$B/trace" -e blocks -o ev ./unwind coroutines >/dev/null
same "stacks were switched" "1 1 " "$(switched)"
"$B/trace" -e blocks -o ev ./unwind jump >/dev/null
same "no stacks were switched" "0 0 " "$(switched)"

# --- a static program: _start and what it calls have one name
echo 'int main(void) { return 0; }' >static.c
if ${CC:-gcc} -static -o static static.c 2>err; then
	"$B/trace" -e blocks -o ev ./static
	"$B/callgraph" -o out ev
	same "below main, a level further" "(below main)
(below main)'2" "$(grep -o '(below main).*' out | sort -u)"
else
	skip "below main" "no static C library"
fi
done_testing
