#!/bin/sh
# trace --allocs: each allocation and free, held to what the program logs.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
c++ -g -O1 -fno-builtin -pthread -Wno-free-nonheap-object -o "$T/allocs" \
    t/src/allocs.cc 2>"$T/cc.err" || { cat "$T/cc.err"; exit 1; }

# events FILE: as the program's log, of what the program itself called; frees
# of what it allocated
events() {
	awk '$1 == "T" { t = $2 }
	$1 != "D" { next }
	$3 == "+" || $3 == "*" {
		old[t] = $3 == "*" ? $4 : ""
		i = $3 == "*" ? 5 : 4
		size[t] = $(i + 1)
		mine[t] = $(i + 2) ~ /^(5555|4.....$)/
	}
	$3 == "=" {
		if (mine[t] && $4 != 0) {
			if (old[t] != "")
				print t, "-", old[t]
			print t, "+", size[t], $4
			own[$4] = 1
		}
		mine[t] = 0
	}
	$3 == "-" && $4 in own { print t, "-", $4 }' "$1"
}

# lives FILE: what is allocated was free, in the order of numbers (glibc frees
# once more what a thread that ends has freed already)
lives() {
	awk '$1 == "T" { t = $2 }
	$1 == "D" { print t + 0, $0 }' "$1" | while read -r t d n rest; do
		printf '%08d %s %s\n' "0x$n" "$t" "$rest"
	done | sort | awk '
	$3 == "*" { old[$2] = $4; oldn[$2] = live[$4]; delete live[$4] }
	$3 == "+" { old[$2] = "" }
	$3 == "=" && $4 == 0 && old[$2] != "" { live[old[$2]] = 1 }
	$3 == "=" && $4 != 0 {
		if ($4 in live) { print "twice:", $0; bad = 1 }
		live[$4] = 1
	}
	$3 == "-" { delete live[$4] }
	END { exit bad || NR == 0 }'
}

for kind in all blocks cache counts "counts --contexts"; do
	for mode in plain throw; do
		check "$kind: $mode" "$B/trace" -e $kind --allocs \
		    -o "$T/$mode.ev" "$T/allocs" $mode "$T/log"
		events "$T/$mode.ev" | cut -d' ' -f2- >"$T/got"
		samefile "$kind: what $mode logs" "$T/log" "$T/got"
		check "$kind: $mode is read" "$B/icount" "$T/$mode.ev"
	done
	check "$kind: all lives of memory" lives "$T/plain.ev"
done

"$B/trace" --allocs -o "$T/all.ev" "$T/allocs" plain "$T/log"
"$B/trace" -o "$T/none.ev" "$T/allocs" plain "$T/log"
grep -v '^[DHT]' "$T/all.ev" | grep -c '^[0-9a-f]' >"$T/with"
same "no D lines without --allocs" "0" "$(grep -c '^D' "$T/none.ev")"
for ev in all none; do
	"$B/icount" "$T/$ev.ev" | sed -n '$p' >"$T/$ev.total"
done
samefile "the program executes the same" "$T/none.total" "$T/all.total"
same "a stream without contexts names no state" "" \
    "$(awk '$1 == "D" && $3 == "+" && NF != 6' "$T/all.ev")"
"$B/trace" -e counts --contexts --allocs -o "$T/ctx.ev" "$T/allocs" plain \
    "$T/log"
same "one with contexts names one for each" "" \
    "$(awk '$1 == "D" && $3 == "+" && NF != 7' "$T/ctx.ev")"

# The state that is named is the call: up from it is who called.
"$B/trace" -e counts --contexts --alloc-fn=arena_take:2 \
    --free-fn=arena_give:1 -o "$T/arena.ev" "$T/allocs" arena "$T/log"
events "$T/arena.ev" | cut -d' ' -f2- >"$T/got"
samefile "an arena by --alloc-fn, its chunk a part of it" "$T/log" "$T/got"
awk '$1 == "S" { up[$2] = $3; at[$2] = $5 }
$1 == "D" && $3 == "+" && $6 ~ /^5555/ {
	if (at[$7] != $4) exit 1
	n++
}
END { exit n < 4 }' "$T/arena.ev"
ok "each state is one of the function called" $?
status 125 "--alloc-fn needs an argument's number" \
    "$B/trace" --alloc-fn=x "$T/allocs"
check "a function that is nowhere is named" "$B/trace" --alloc-fn=nowhere:1 \
    -o "$T/x.ev" "$T/allocs" arena "$T/log"
same "by its option" "trace: --alloc-fn=nowhere: no symbol of this name was mapped" \
    "$(cat "$T/err")"
status 125 "kind none has no place for them" "$B/trace" -e none --allocs true

for kind in all cache counts; do
	check "$kind: threads" "$B/trace" -e $kind --allocs -o "$T/th.ev" \
	    "$T/allocs" threads "$T/log"
	events "$T/th.ev" | cut -d' ' -f2- | grep '^+' | sort >"$T/got"
	grep '^+' "$T/log" | sort >"$T/want"
	samefile "$kind: what threads allocate" "$T/want" "$T/got"
	check "$kind: memory that changes hands" lives "$T/th.ev"
	check "$kind: signals" "$B/trace" -e $kind --allocs -o "$T/sig.ev" \
	    "$T/allocs" signals "$T/log" 3000
	events "$T/sig.ev" | cut -d' ' -f2- >"$T/got"
	samefile "$kind: between signals" "$T/log" "$T/got"
done
check "fork" "$B/trace" -f --allocs -o "$T/fork.%p.ev" "$T/allocs" fork \
    "$T/log"
for f in "$T"/fork.*.ev; do
	events "$f" | cut -d' ' -f2- >"$T/got"
	cmp -s "$T/log" "$T/got" && cat "$f" >"$T/child.ev"
done
[ -s "$T/child.ev" ]
ok "a child has its own" $?
check "--debug=nolink,nosuper" "$B/trace" --debug=nolink,nosuper --allocs \
    -o "$T/nl.ev" "$T/allocs" plain "$T/log"
events "$T/nl.ev" | cut -d' ' -f2- >"$T/got"
samefile "what they log" "$T/log" "$T/got"
check "a cache that is flushed" "$B/trace" --debug=tinycache --allocs \
    -o "$T/nl.ev" "$T/allocs" plain "$T/log"
events "$T/nl.ev" | cut -d' ' -f2- >"$T/got"
samefile "what it logs" "$T/log" "$T/got"
check "the flight recorder has them" "$B/trace" --last=1M --allocs \
    -o "$T/last.ev" "$T/allocs" plain "$T/log"
check "and is read" "$B/icount" "$T/last.ev"
events "$T/last.ev" | cut -d' ' -f2- >"$T/got"
samefile "all of them" "$T/log" "$T/got"

if c++ -g -O1 -static -fno-builtin -pthread -o "$T/static" t/src/allocs.cc \
    2>/dev/null; then
	check "a static program" "$B/trace" --allocs -o "$T/st.ev" \
	    "$T/static" plain "$T/log"
	events "$T/st.ev" | cut -d' ' -f2- | grep -xFf "$T/log" >"$T/got"
	samefile "what it logs" "$T/log" "$T/got"
else
	skip "a static program" "no static libraries"
fi

cat >"$T/musl.c" <<'EOF2'
#include <stdlib.h>
int main(void)
{
	char *p = malloc(1234);
	p = realloc(p, 99999);
	free(p);
	p = calloc(3, 1000);
	free(p);
	return p == NULL;
}
EOF2
if musl-gcc -static -O0 -fno-builtin -o "$T/musl" "$T/musl.c" 2>/dev/null; then
	"$B/trace" --allocs -o "$T/musl.ev" "$T/musl"
	same "musl, static" "+4d2*1869f-+bb8-" \
	    "$(awk '$1 == "D" && $3 == "+" { printf "+%s", $5 }
	    $1 == "D" && $3 == "*" { printf "*%s", $6 }
	    $1 == "D" && $3 == "-" { printf "-" }' "$T/musl.ev" )"
else
	skip "musl, static" "no musl-gcc"
fi

cat >"$T/sbrk.c" <<'EOF2'
#include <unistd.h>
int main(void)
{
	sbrk(0);
	sbrk(0x123000);
	sbrk(0);
	sbrk(-4096);
	return 0;
}
EOF2
${CC:-cc} -O1 -o "$T/sbrk" "$T/sbrk.c" || exit 99
for kind in all counts; do
	"$B/trace" -e $kind --allocs -o "$T/sbrk.ev" "$T/sbrk"
	at=$(awk '$1 == "D" && $3 == "+" && $5 == "123000" { new = 1 }
	$1 == "D" && $3 == "=" && new { print $4; exit }' "$T/sbrk.ev")
	same "$kind: sbrk() allocates, frees what was last, or just asks" \
	    "+ 123000, = $at, - $(printf %x $((0x$at + 0x122000))) 1000," \
	    "$(awk '$1 == "D" && $3 == "+" { s = s ", + " $5 }
	    $1 == "D" && $3 == "=" { s = s ", = " $4 }
	    $1 == "D" && $3 == "-" { s = s ", - " $4 " " $5 }
	    END { sub(/.*, [+] 123000/, "+ 123000", s); print s "," }' "$T/sbrk.ev")"
	same "$kind: nothing of 0 bytes" "0" "$(awk '$1 == "D" && $3 == "+" &&
	    $5 == "0"' "$T/sbrk.ev" | wc -l)"
done
for lib in /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 \
    /usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4; do
	name=$(basename $lib)
	if [ ! -e $lib ]; then
		skip "$name" "not installed"
		continue
	fi
	LD_PRELOAD=$lib "$T/allocs" plain "$T/log" 2>/dev/null
	check "$name" "$B/trace" --allocs -e cache -o "$T/je.ev" \
	    env LD_PRELOAD=$lib "$T/allocs" plain "$T/log"
	# env allocates, too
	sed -n '/^U 0 ffffffffffffffff/,$p' "$T/je.ev" >"$T/exec.ev"
	events "$T/exec.ev" | cut -d' ' -f2- >"$T/got"
	samefile "$name: what is logged" "$T/log" "$T/got"
	grep "$name" "$T/je.ev" | grep -q '^M'
	ok "$name is mapped" $?
done
# many threads wait for room in one queue, and each event has its number
cat >"$T/crowd.c" <<'END'
#include <pthread.h>
#include <stdlib.h>

static void *volatile some[64];

static void *
run(void *number)
{
	long me = (long)number;

	for (int i = 0; i < 20000; i++) {
		some[me] = malloc(16 + i % 900);
		free(some[me]);
	}
	return NULL;
}

int
main(void)
{
	pthread_t t[24];

	for (long i = 0; i < 24; i++)
		pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 24; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
${CC:-gcc} -O1 -fno-builtin -pthread -o "$T/crowd" "$T/crowd.c" || exit 99
for kind in counts all; do
	check "$kind: 24 threads that allocate" "$B/trace" -e $kind --allocs \
	    -o "$T/crowd.ev" "$T/crowd"
	same "$kind: all of it is there, once" "480000 yes" "$(grep '^D' \
	    "$T/crowd.ev" | perl -ne '/^D (\S+) (\S)/;
	    $n++; $seen{hex $1}++; $frees++ if $2 eq "-";
	    END { print $frees >= 480000 ? 480000 : $frees, " ",
		keys %seen == $n && $seen{$n} ? "yes" : "no" }')"
done

done_testing
