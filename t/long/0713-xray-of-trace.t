#!/bin/sh
# real programs under trace, as XRay logs: LLVM's tools take them and find in
# them what we do

. t/lib.sh

LIMIT=120
[ -x "$B/trace" ] || skip_all "no trace"
cat >"$T/exc.cc" <<'END'
#include <cstdio>
#include <stdexcept>
#include <string>
#define F __attribute__((noinline, noclone))
F int deep(int n) { if (n == 0) throw std::runtime_error("x"); return deep(n - 1) + 1; }
F int rec(int n) { return n < 2 ? n : rec(n - 1) + rec(n - 2); }
struct guard { std::string s; ~guard() { std::puts(s.c_str()); } };
F int catcher(int i)
{
	guard g{"bye"};
	try { return deep(i); } catch (std::exception &e) { return -1; }
}
int main()
{
	int n = 0;
	for (int i = 0; i < 10; i++)
		n += catcher(i);
	return n == -10 && rec(12) == 144 ? 0 : 1;
}
END
cat >"$T/thr.c" <<'END'
#include <pthread.h>
static volatile long s;
__attribute__((noinline, noclone)) void leaf(long n) { while (n-- > 0) s++; }
static void *thread(void *p) { for (int i = 0; i < 20; i++) leaf((long)p); return 0; }
int main(void)
{
	pthread_t t[5];
	for (long i = 0; i < 5; i++) pthread_create(&t[i], 0, thread, (void *)(i * 10));
	for (int i = 0; i < 5; i++) pthread_join(t[i], 0);
	return 0;
}
END
"${CXX:-g++}" -O1 -g -o "$T/exc" "$T/exc.cc" 2>/dev/null
"${CC:-gcc}" -O1 -g -o "$T/thr" "$T/thr.c" -pthread || exit 99
cat "$B"/cachesim "$B"/trace | head -c 40000 >"$T/data"
echo 'create table t(a, b);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 300)
	insert into t select i, hex(i * 7) from n;
create index x on t(b);
select count(*), sum(a) from t where b > "33";' >"$T/sql"

# the thread of all lines before the first T line
first() {
	grep -m1 '^T' "$1" | cut -d' ' -f2
}

# arcs CALLS: caller, callee and calls that returned, all in decimal
arcs() {
	awk -v t="$(first "$1")" '
	function dec(s, i, v) {
		for (i = v = 0; i++ < length(s); )
			v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	/^T/ { t = $2 }
	/^N/ { s[t, ++d[t]] = $2 }
	/^X/ { n[(d[t] > 1 ? s[t, d[t] - 1] : 0) " " $2]++; d[t]-- }
	END {
		for (e in n) {
			split(e, x, " ")
			printf "F%d -> F%d [label=\"%d\"];\n", dec(x[1]), dec(x[2]), n[e]
		}
	}' "$1" | sort
}

# stacks CALLS: thread, functions from the outermost, and all ticks of these
stacks() {
	awk -v t="$(first "$1")" '
	function dec(s, i, v) {
		for (i = v = 0; i++ < length(s); )
			v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	/^T/ { t = $2 }
	/^N/ { path[t, d[t] + 1] = path[t, d[t]] "#" dec($2) ";"; from[t, ++d[t]] = dec($3) }
	/^X/ { sum[t, path[t, d[t]]] += dec($3) - from[t, d[t]]; d[t]-- }
	END {
		for (k in sum) {
			split(k, x, SUBSEP)
			printf "thread_%d;%s %d\n", x[1], x[2], sum[k]
		}
	}' "$1" | sort
}

for p in bzip2 sqlite exceptions threads; do
	case $p in
	bzip2)	 set -- bzip2 -kc "$T/data" ;;
	sqlite)	 set -- sqlite3 -init "$T/sql" :memory: .quit ;;
	exceptions) set -- "$T/exc" ;;
	threads) set -- "$T/thr" ;;
	esac
	if ! command -v "$1" >/dev/null; then
		skip "$p" "no $1"
		continue
	fi
	check "$p: trace" "$B/trace" -e blocks -o "$T/p.ev" "$@"
	check "$p: --calls" "$B/callgraph" --calls -o "$T/calls" "$T/p.ev"
	check "$p: fmt-xray" "$B/fmt-xray" -m "$T/names" -o "$T/log" "$T/calls"
	check "$p: read-xray" "$B/read-xray" -m "$T/names" -o "$T/again" "$T/log"
	for f in calls again; do
		"$B/account" -f csv -s funcid "$T/$f" | tr -d '"' | cut -d, -f1-9 >"$T/$f.csv"
	done
	samefile "$p: names and durations, there and back" "$T/calls.csv" "$T/again.csv"
	if ! command -v llvm-xray >/dev/null; then
		skip "$p: LLVM's tools" "no llvm-xray"
		continue
	fi
	check "$p: fdr-dump -verify" llvm-xray fdr-dump -verify "$T/log"
	check "$p: convert" llvm-xray convert -f yaml -o "$T/yaml" "$T/log"
	same "$p: convert: every entry and exit" "$(grep -c '^[NX]' "$T/calls")" \
	    "$(grep -c 'kind: function-' "$T/yaml")"
	check "$p: convert, for a viewer, by name" llvm-xray convert --symbolize -m "$T/names" \
	    -f trace_event -o "$T/json" "$T/log"
	same "$p: convert: names" "$(grep -c '^N' "$T/calls")" \
	    "$(grep -o '"ph" *: *"B"' "$T/json" | wc -l | tr -d ' ')"
	check "$p: account" llvm-xray account -f csv --sort=funcid -o "$T/account" "$T/log"
	cut -d, -f1-8 "$T/account" >"$T/want"
	cut -d, -f1-8 "$T/calls.csv" | awk -F, 'NR == 1 { print; next }
	{ printf "%d,%d", $1, $2; for (i = 3; i < 9; i++) printf ",%.6e", $i; print "" }' >"$T/got"
	samefile "$p: account: its figures" "$T/want" "$T/got"
	check "$p: graph" llvm-xray graph -m "$T/names" -e count -o "$T/graph" "$T/log"
	sort "$T/graph" | grep -e '->' >"$T/want"
	arcs "$T/calls" >"$T/got"
	samefile "$p: graph: its arcs" "$T/want" "$T/got"
	check "$p: stack" llvm-xray stack -m "$T/names" "$T/log"
	check "$p: stack of all" llvm-xray stack --all-stacks --stack-format=flame \
	    --aggregation-type=time "$T/log"
	grep '^thread' "$T/out" | sort >"$T/want"
	stacks "$T/calls" >"$T/got"
	samefile "$p: stack: its sums" "$T/want" "$T/got"
done

# times, for viewers: an instruction is what -F says
if command -v llvm-xray >/dev/null; then
	"$B/fmt-xray" -F 1G -o "$T/timed" "$T/calls"
	llvm-xray convert -f trace_event "$T/timed" |
	    sed -n 's/.*"tid" *: *"\([^"]*\)".*"ts" *: *"\([^"]*\)".*/\1 \2/p' | sort -n >"$T/got"
	grep -h '^[NXT]' "$T/calls" | awk -v t="$(first "$T/calls")" '
	function dec(s, i, v) {
		for (i = v = 0; i++ < length(s); )
			v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
		return v
	}
	/^T/ { t = $2 }
	/^[NX]/ { printf "%d %.4f\n", t, dec($3) / 1000 }' | sort -n >"$T/want"
	samefile "threads: convert: microseconds, with -F" "$T/want" "$T/got"
else
	skip "threads: convert: microseconds, with -F" "no llvm-xray"
fi

# what was caught was left; recursion is as deep as it is
calls() {
	awk -F, -v f="$1" '$9 ~ f { print $2 }' "$T/$2.csv"
}
if [ -x "$T/exc" ]; then
	"$B/trace" -e blocks -o "$T/p.ev" "$T/exc" >/dev/null
	"$B/callgraph" --calls -o "$T/calls" "$T/p.ev"
	"$B/account" -f csv -s funcid "$T/calls" | tr -d '"' >"$T/exc.csv"
	same "exceptions: calls of deep, which all threw" 55 "$(calls '^(deep|_Z4deepi)' exc)"
	same "exceptions: calls of rec" 465 "$(calls '^(rec|_Z3reci)' exc)"
	same "exceptions: calls of catcher" 10 "$(calls '^(catcher|_Z7catcheri)' exc)"
else
	skip "exceptions: calls" "no C++ compiler"
fi

done_testing
