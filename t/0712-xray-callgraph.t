#!/bin/sh
# read-xray | callgraph | fmt-callgrind: calls and ticks of each arc, as a
# decoder and a stack of their own find them

. t/lib.sh

D=t/fix/xray

# arcs LOG: "caller callee calls ticks", by numbers of functions; exits leave
# their innermost frame and all inside of that
arcs() {
	"$TB/xraydump" "$1" | grep ' [NXV] ' | awk '
	# ticks since the first of all, so that they fit in a double
	function since(t) { return substr(t, length(t) - 14) - base }
	NR == 1 { base = substr($5, length($5) - 14) }
	{
		w = $1 " " $2
		d = depth[w] + 0
		now = since($5)
	}
	$3 == "N" {
		depth[w] = ++d
		id[w, d] = $4
		at[w, d] = now
		if (d > 1)
			n[id[w, d - 1] " " $4]++
		next
	}
	{
		for (i = d; i > 0 && id[w, i] != $4; i--)
			;
		if (i == 0)
			next
		for (; d >= i; d--)
			if (d > 1)
				cost[id[w, d - 1] " " id[w, d]] += now - at[w, d]
		depth[w] = i - 1
		last[w] = now
	}
	END {
		for (a in n)
			print a, n[a], cost[a] + 0
	}' | sort
}

# told COSTS: the same of a file of costs, whose functions are #NUMBER
told() {
	awk '
	/^fn=/ { s = $0; sub(/^fn=/, "", s); fn = number(s) }
	/^cfn=/ { s = $0; sub(/^cfn=/, "", s); cfn = number(s) }
	/^calls=/ {
		split($1, c, "=")
		getline
		n[fn " " cfn] += c[2]
		cost[fn " " cfn] += $NF
	}
	function number(s,   k) {
		k = s
		sub(/\).*/, ")", k)
		if (sub(/^[^)]*\) /, "", s)) {
			sub(/^#/, "", s)
			sub(/'"'"'.*/, "", s)
			name[k] = s
		}
		return name[k]
	}
	END { for (a in n) print a, n[a], cost[a] }' "$1" | sort
}

for m in simple threads args tail throw events; do
	gzip -dc $D/$m.log.gz >"$T/$m"
	"$B/read-xray" -o "$T/$m.ev" "$T/$m" 2>/dev/null
	check "$m: callgraph" "$B/callgraph" -o "$T/$m.costs" "$T/$m.ev"
	arcs "$T/$m" >"$T/want"
	told "$T/$m.costs" >"$T/got"
	samefile "$m: calls and ticks of each arc" "$T/want" "$T/got"
	check "$m: fmt-callgrind" "$B/fmt-callgrind" -o "$T/$m.cg" "$T/$m.costs"
	if command -v callgrind_annotate >/dev/null; then
		check "$m: callgrind_annotate reads it" callgrind_annotate "$T/$m.cg"
		same "$m: its total" "$(sed -n 's/^summary: //p' "$T/$m.costs")" \
		    "$(sed -n 's/^ *\([0-9,]*\).*PROGRAM TOTALS$/\1/p' "$T/out" | tr -d ,)"
	else
		skip "$m: callgrind_annotate reads it" "none here"
		skip "$m: its total" "no callgrind_annotate"
	fi
done

# stacks have the time of their innermost function alone: a function's own time
# and that of all stacks through it are what account finds
for m in simple threads throw; do
	check "$m: fmt-folded" "$B/fmt-folded" -o "$T/$m.folded" "$T/$m.costs"
	same "$m: the stacks' sum is the total" "$(sed -n 's/^summary: //p' "$T/$m.costs")" \
	    "$(awk '{ sum += $NF } END { print sum }' "$T/$m.folded")"
	"$B/account" -t -f csv -s funcid "$T/$m.ev" | sed 1d | awk -F, '{ print "#" $1, $8 }' |
	    sort >"$T/want"
	awk '{
		n = $NF
		sub(/ [^ ]*$/, "")
		k = split($0, f, ";")
		for (i = 1; i <= k; i++)
			sum[f[i]] += n
	}
	END { for (s in sum) print s, sum[s] }' "$T/$m.folded" | sort >"$T/got"
	samefile "$m: inclusive times from the stacks" "$T/want" "$T/got"
done

# what needs the order of executions is refused by name
line=$(($(grep -c '^H' "$T/simple.ev") + 1))
for o in --collect-atstart=no --collect-bus=yes --collect-jumps=yes \
    --collect-systime=usec --dump-after=f --dump-before=f --dump-every-bb=9 \
    --fn-skip=f --instr-atstart=no --join-cold=yes --pop-on-jump=f \
    --requests=block --separate-sites=yes --skip-direct-rec=yes \
    --skip-plt=no --toggle-collect=f --zero-before=f; do
	case $o in
	*=no | *=block) name=$o ;;
	*) name=${o%%=*} ;;
	esac
	status 2 "refused: $o" "$B/callgraph" $o "$T/simple.ev"
	same "is told: $o" "callgraph: $T/simple.ev:$line: a stream of kind \
calls does not tell what $name needs, the order of executions: needs trace -e \
blocks" "$(cat "$T/err")"
done
check "not refused" "$B/callgraph" --separate-recs=3 --separate-callers=2 \
    --collect-atstart=yes --dump-every-bb=0 --collect-jumps=no "$T/simple.ev"

# own costs of all functions are the time from each thread's first entry on
# that some function ran
same "simple: own costs and their sum" \
    "$(awk '/^[NXV]/ { print $1, $3 }' "$T/simple.ev" | while read -r l k; do
	printf '%s %u\n' "$l" "0x$k"; done | awk '
	{ k = substr($2, length($2) - 14) }
	d > 0 { sum += k - last }
	{ last = k; d += $1 == "N" ? 1 : -1 }
	END { print sum }')" \
    "$(sed -n 's/^summary: //p' "$T/simple.costs")"

# the same of LLVM's names and lines, where clang is
clang++ -O2 -g -fxray-instrument -fxray-instruction-threshold=1 -o "$T/prog" \
    -x c++ - -pthread 2>"$T/cc" <<END
#include "$PWD/$D/prog.cc"
void events(int) {}
void typed(int) {}
END
if [ $? -eq 0 ] && (cd "$T" && ./prog simple func_duration_threshold_us=0 50 >said 2>err); then
	mv "$T"/xray-log.* "$T/log"
	"$B/read-xray" -m "$T/prog" "$T/log" | "$B/callgraph" | "$B/fmt-callgrind" >"$T/cg"
	ok "names: a pipeline" $?
	check "names: callgrind_annotate" callgrind_annotate --inclusive=yes --tree=calling "$T/cg"
	grep -q "prog.cc:middle(int)" "$T/out" && grep -q "prog.cc:leaf(int) (50x)" "$T/out"
	ok "names: functions with their file, and calls" $?
	line=$(grep -n 'TRACED void leaf' $D/prog.cc | cut -d: -f1)
	awk -v line="$line" '/^f[lie]=/ { file = $0 } /^fn=.*leaf/ { on = 1; next }
	on && ($1 == line || $1 == line + 1) { found = 1 } /^fn=/ { on = 0 } END { exit !found }' "$T/cg"
	ok "names: the line where the function begins" $?
else
	for t in "a pipeline" "callgrind_annotate" "functions with their file, and calls" \
	    "the line where the function begins"; do
		skip "names: $t" "no clang with XRay"
	done
fi

done_testing
