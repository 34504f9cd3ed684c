#!/bin/sh
# callgraph: code that falls into a function calls it, wherever blocks end

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

cat >"$T/list.awk" <<'E'
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
	calls[fn ">" cfn] += c[1]
	getline
	next
}
/^[0-9+*-]/ { own[fn] += $2 }
END {
	for (a in calls)
		print a, calls[a]
	for (fn in own)
		print fn, own[fn]
}
E

# What 300 times are, by hand. The loop in rounds goes round 4, 3, 2, 1, 4 ...
# times, 750 in all, of 3 instructions; each but the first of 300 is a call.
cat >"$T/want" <<'E'
(below main) 6309
(below main)>GAP 300
(below main)>branches 300
(below main)>inner 300
(below main)>jumps 300
(below main)>longer 300
(below main)>outer 300
GAP 300
GAP>after 300
after 600
behind 4200
branches 1163
branches>rounds 300
inner 900
inner>innermost 900
innermost 1800
jumps 600
jumps>inner 300
longer 14400
longer>behind 300
outer 300
outer>inner 300
rounds 975
rounds'2 1575
rounds'2>rounds'2 225
rounds>rounds'2 225
E
for v in exact-fall exact-fall-pie; do
	for debug in "" nosuper long tinycache nolink; do
		"$B/trace" -e blocks ${debug:+--debug=$debug} -o "$T/ev" \
		    "$TB/victim/$v" >"$T/said"
		"$B/callgraph" "$T/ev" >"$T/costs"
		awk -f "$T/list.awk" "$T/costs" |
		    sed 's/0x[0-9a-f]*/GAP/' | sort >"$T/got"
		samefile "$v $debug" "$T/want" "$T/got"
		[ -n "$debug" ] || cp "$T/costs" "$T/first"
		grep -v '^desc:' "$T/first" >"$T/a"
		grep -v '^desc:' "$T/costs" | cmp - "$T/a"
		ok "the same to the last byte" $?
	done
done

# a stream that begins in a stub of linkage, which jumps: the return is to who
# had called the stub
cd "$T" || exit 99
cat >stub.s <<'E'
	.text
	.globl main, stub, g
	.type main, @function
	.type stub, @function
	.type g, @function
main:	nop
1:	call stub
	jmp 1b
	.size main, . - main
	.org 0x10
stub:	jmp *there(%rip)
	.size stub, . - stub
	.org 0x20
g:	ret
	.size g, . - g
	.data
there:	.quad g
E
${CC:-gcc} -nostdlib -static -Wl,-e,main -Wl,-Ttext=0x401000 \
    -Wl,-Tdata=0x402000 -Wl,--build-id=none -o stub stub.s || exit 99
cat >stub.ev <<E
H quern-events 2
H kind all
M 1 401000 402000 1000 $T/stub
B 1 >401010 6r8@402000I
1
B 2 >401020 1r8.0R
2+7ffe00001000
B 3 >401006 2J401001
3
B 4 >401001 5w8.0-8L401010
4+7ffe00001008
1
2.
3
4.
1
2.
E exit 0 10
E
cat >want <<'E'
g 3
main 4
main>stub 3
stub 3
stub>g 3
E
"$B/callgraph" stub.ev >stub.costs
awk -f list.awk stub.costs | sort >got
samefile "from a stub on" want got
done_testing
