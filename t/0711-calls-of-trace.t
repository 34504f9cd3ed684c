#!/bin/sh
# what trace saw as entries and exits: callgraph --calls, and all that reads them

. t/lib.sh

CC=${CC:-gcc}
G="$B/callgraph"

cat >"$T/p.c" <<'END'
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#define F __attribute__((noinline, noclone, noipa))

static volatile long s;
static jmp_buf jb;

F void leaf(int n) { for (int i = 0; i < n; i++) s += i; }
F void middle(int n) { leaf(n); leaf(n + 1); s++; }
F int recurse(int n) { int r = n ? recurse(n - 1) + 1 : 0; s += r; return r; }
F void jumper(void) { s++; longjmp(jb, 1); }
F void lander(void) { if (!setjmp(jb)) jumper(); s++; }
F void handler(int n) { leaf(n); }
F void *thread(void *p) { middle(*(int *)p); return 0; }

int main(int argc, char **argv)
{
	int n = 30;
	pthread_t t[3];

	for (int i = 0; i < 10; i++)
		middle(i);
	recurse(5);
	lander();
	if (argc > 1 && strcmp(argv[1], "signal") == 0) {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
	}
	if (argc > 1 && strcmp(argv[1], "threads") == 0) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t[i], 0, thread, &n);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], 0);
	}
	middle(3);
	return 0;
}
END
"$CC" -O1 -g -o "$T/p" "$T/p.c" -pthread || exit 99

# counts FILE: our functions' names and calls
counts() {
	"$B/account" -f csv "$1" 2>/dev/null | tr -d '"' |
	    awk -F, '$9 ~ /^(leaf|middle|recurse|jumper|lander|handler|thread)$/ { print $9, $2 }' | sort
}

for m in plain signal threads; do
	check "$m: trace" "$B/trace" -e blocks -o "$T/$m.ev" "$T/p" $m
	check "$m: --calls" "$G" --calls -o "$T/$m.calls" "$T/$m.ev"
	check "$m: it is a whole stream" "$B/account" -o /dev/null "$T/$m.calls"
done
same "plain: calls" "jumper 1 lander 1 leaf 22 middle 11 recurse 6" "$(echo $(counts "$T/plain.calls"))"
same "signal: calls" "handler 1 jumper 1 lander 1 leaf 23 middle 11 recurse 6" \
    "$(echo $(counts "$T/signal.calls"))"
same "threads: calls" "jumper 1 lander 1 leaf 28 middle 14 recurse 6 thread 3" \
    "$(echo $(counts "$T/threads.calls"))"
for m in signal threads; do
	# what comes before the first T line is that thread's
	{ grep -m1 '^T' "$T/$m.calls"; cat "$T/$m.calls"; } | awk '
	function num(s) { while (length(s) < 16) s = "0" s; return s }
	/^T/ { t = $2 }
	/^[NX]/ { k = num($3); if (k "" < last[t] "") print; last[t] = k }
	END { for (t in last) n++; print n }' >"$T/got"
	same "$m: threads, and no ticks that go back" \
	    "$([ $m = threads ] && echo 4 || echo 1)" "$(cat "$T/got")"
done

# The same costs, whether callgraph reads executions or the calls that it tells
# of them: calls and inclusive costs of each function.
inclusive() {
	awk '
	/^c?fn=/ {
		callee_follows = /^cfn=/
		name = id = $0
		sub(/^c?fn=/, "", id)
		sub(/\).*/, ")", id)
		if (sub(/^c?fn=[^)]*\) /, "", name))
			names[id] = name
		if (callee_follows)
			callee = names[id]
	}
	/^calls=/ {
		split($1, c, "=")
		n[callee] += c[2]
		getline
		cost[callee] += $NF
	}
	END { for (f in n) print f, n[f], cost[f] }' "$1" | sort
}
"$G" -o "$T/a.costs" "$T/plain.ev"
"$G" -o "$T/b.costs" "$T/plain.calls"
inclusive "$T/a.costs" >"$T/a"
inclusive "$T/b.costs" >"$T/b"
samefile "callgraph of the calls is callgraph of the executions" "$T/a" "$T/b"

# as a log, for LLVM's tools
check "a log" "$B/fmt-xray" -m "$T/names" -o "$T/log" "$T/threads.calls"
check "a log: read again" "$B/read-xray" -m "$T/names" -o "$T/again" "$T/log"
same "a log: the same calls, by name" "$(counts "$T/threads.calls")" "$(counts "$T/again")"
if command -v llvm-xray >/dev/null; then
	check "a log: llvm-xray verifies it" llvm-xray fdr-dump -verify "$T/log"
	llvm-xray account -d -f csv --sort=funcid "$T/log" 2>/dev/null |
	    cut -d, -f1-8 >"$T/want"
	"$B/account" -f csv -s funcid "$T/threads.calls" | cut -d, -f1-8 |
	    awk -F, 'NR == 1 { print; next }
	{ printf "%d,%d", $1, $2; for (i = 3; i < 9; i++) printf ",%.6e", $i; print "" }' >"$T/got"
	samefile "a log: llvm-xray's account is ours" "$T/want" "$T/got"
else
	skip "a log: llvm-xray verifies it" "no llvm-xray"
	skip "a log: llvm-xray's account is ours" "no llvm-xray"
fi

# what is not whole, or not possible
head -n "$(($(wc -l <"$T/plain.ev") / 2))" "$T/plain.ev" >"$T/cut.ev"
status 2 "cut" "$G" --calls -o "$T/cut.calls" "$T/cut.ev"
same "cut: no end mark" "" "$(grep '^E' "$T/cut.calls")"
status 2 "calls of calls" "$G" --calls "$T/plain.calls"
status 2 "calls and parts" "$G" --calls --dump-before=main "$T/plain.ev"

done_testing
