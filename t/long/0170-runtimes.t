#!/bin/sh
# node, java and python with names of the code that they make: their functions
# and the runtimes' own, in all kinds
. t/lib.sh

LIMIT=300
TOP=$PWD
cd "$T" || exit 99

# traced KIND CMD...: the stream $T/ev, the program's output $T/o
traced() {
	kind=$1
	shift
	rm -f ev.*
	status 0 "$kind: ${1##*/} $2" "$B/trace" -e $kind -o ev.%p --stdout=o "$@"
	samefile "  nothing is said" /dev/null err
	for ev in ev.*; do
		rm -f "/tmp/perf-${ev#ev.}.map" jit-*.dump isolate*.log
		mv "$ev" ev
	done
}

# native CMD...: its output in $T/native; its maps go away
native() {
	"$@" >native 2>/dev/null &
	pid=$!
	wait $pid
	set -- $?
	rm -f /tmp/perf-$pid.map jit-*.dump isolate*.log
	return $1
}

# cost NAME: Ir of functions that match, in $T/out
cost() {
	awk -v name="$1" '/^fn=/ { on = $0 ~ "^fn=" name }
	    /^[0-9]/ && on { n += $2 } END { print n + 0 }' cg
}

# at_least TEXT COST LEAST
at_least() {
	ok "  $1: $2" "$([ "$2" -ge "$3" ]; echo $?)"
}

# ---- node

cat >a.js <<'END'
function hot(n) {
	let s = 0;
	for (let i = 0; i < n; i++)
		s = (s * 31 + i) & 0xffff;
	return s;
}
let t = 0;
for (let r = 0; r < 300; r++)
	t += hot(2000);
console.log(t);
END
if command -v node >/dev/null && native node --perf-basic-prof --perf-prof a.js
then
	for kind in all blocks counts cache; do
		traced $kind node --perf-basic-prof a.js
		samefile "  its output" native o
		"$B/icount" ev | "$B/fmt-cachegrind" >cg
		# the loop has 600000 rounds, a few in the interpreter
		at_least "the function" "$(cost 'JS:.?hot ')" 3000000
		at_least "the interpreter" "$(cost 'Builtins_')" 1000000
	done
	# V8 does not write the lines of its baseline code, so optimize at once
	traced counts node --single-threaded --perf-prof a.js
	"$B/icount" ev | "$B/fmt-cachegrind" >cg
	"$B/annotate" --lines cg >text
	check "  the loop's line is among the costliest" \
	    grep -aq 'a.js:4 JS:[*]hot .* s = (s' text
	for kind in blocks "counts --contexts"; do
		traced "$kind" node --perf-basic-prof a.js
		"$B/callgraph" ev | "$B/fmt-callgrind" >cg
		check "  callgraph names it" grep -aq 'c*fn=([0-9]*) JS:.hot ' cg
	done
	"$B/trace" -e counts -o ev --stdout=o node a.js 2>err
	samefile "without the option: its output" native o
	check "  one line at most" [ "$(wc -l <err)" -le 1 ]
else
	skip "node" "there is none that writes maps"
fi

# ---- java

# -Xbatch: what is compiled is waited for, or all may be over before it is
JAVA="java -Xbatch -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"
if ! command -v java >/dev/null || ! native $JAVA -version; then
	skip "java" "there is none that writes maps"
elif ! javac -d . "$TOP/t/src/Sums.java" >/dev/null 2>&1; then
	skip "java" "there is no javac"
else
	native $JAVA -cp . Sums 100
	for kind in blocks counts cache; do
		traced $kind $JAVA -cp . Sums 100
		samefile "  its output" native o
		"$B/icount" ev | "$B/fmt-cachegrind" >cg
		at_least "the interpreter" "$(cost Interpreter)" 1000000
		at_least "its library" "$(cost '.*java[.]util[.]HashMap')" \
		    100000
	done
	rm -f ev
	"$B/trace" -e counts -o ev --stdout=o java -cp . Sums 100 2>err
	samefile "without the option: its output" native o
	check "  says so" grep -q 'DumpPerfMapAtExit' err
fi

# ---- python

python=
for p in python3 python3.12 python3.13 python3.14; do
	command -v $p >/dev/null && native $p -X perf -c 'import sys
sys.exit(not sys.is_stack_trampoline_active())' &&
	    python=$($p -c 'import sys; print(sys.executable)')
done
cat >a.py <<'END'
def inner(n):
    return sum(range(n))
def outer():
    return [inner(1000) for i in range(300)]
print(len(outer()))
END
if [ -n "$python" ]; then
	for kind in blocks "counts --contexts"; do
		traced "$kind" $python -X perf a.py
		same "  its output" 300 "$(cat o)"
		"$B/callgraph" --contexts ev | "$B/fmt-folded" >folded
		# the evaluator's recursion is folded, so some callers are not
		at_least "functions under the module" "$(grep -a \
		    'py::<module>:.*;py::inner:' folded |
		    awk '{ n += $NF } END { print n + 0 }')" 100000
	done
else
	skip "python" "there is none with -X perf"
fi

cd "$TOP" || exit 99
done_testing
