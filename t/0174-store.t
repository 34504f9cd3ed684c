#!/bin/sh
# trace --store: translations kept for the next run

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
unset QUERN_STORE

cat >"$T/prog.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* sort words, say where the stack is; end with the number of arguments */
static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
int
main(int argc, char **argv)
{
	char *word[8] = { "pear", "fig", "plum", "apple" };
	int n = 4, here;

	for (int i = 1; i < argc && n < 8; i++)
		word[n++] = argv[i];
	qsort(word, n, sizeof *word, compare);
	for (int i = 0; i < n; i++)
		printf(WORD " %s\n", word[i]);
	printf("%p %s\n", (void *)&here, getenv("QUERN_STORE") != NULL ?
	    "seen" : "not seen");
	if (argc == 4) {
		fflush(stdout);
		execl(argv[0], argv[0], "b", "c", NULL);
	}
	return argc;
}
EOF
build() {
	$CC -O1 -DWORD="\"$1\"" -o "$T/prog" "$T/prog.c"
}
build one || skip_all "no compiler"

S=$T/store
# what ran, by address; the order of lines is that of translations
trace() {
	"$B/trace" -v -e none -o "$T/ev" --store="$S" "$@" 2>"$T/trace.err"
}
# fragments of a run: made, less those that were made again; taken from the
# store
made() {
	awk '/^trace: [0-9]+ fragments, / { n += $2 }
	/^trace: [0-9]+ fragments made again/ { n -= $2 }
	END { print n + 0 }' "$T/trace.err"
}
taken() {
	sed -n 's/^trace: \([0-9]*\) fragments from the store/\1/p' \
	    "$T/trace.err"
}
run_as() {
	want=$1 text=$2
	shift 2
	trace "$T/prog" "$@" >"$T/out"
	same "$text: status" "$want" $?
}
natively() {
	setarch -R "$T/prog" "$@" >"$T/native"
}

natively
run_as 1 "the first run"
samefile "the first run prints the same" "$T/native" "$T/out"
same "it takes nothing" 0 "$(taken)"
same "its folder is ours alone" 700 "$(stat -c %a "$S")"
same "one entry" 1 "$(ls "$S" | wc -l)"
all=$(made)
run_as 1 "the second run"
samefile "the second run prints the same" "$T/native" "$T/out"
[ "$(made)" -le 3 ]
ok "it makes next to nothing" $?
[ "$(taken)" -ge $((all - 3)) ]
ok "it takes nearly all" $?

# other arguments, other code: what is new is added
natively a
run_as 2 "an argument" a
samefile "an argument: the same" "$T/native" "$T/out"
natively a b c
for i in 1 2; do
	run_as 3 "exec, run $i" a b c
	samefile "exec, run $i: the same" "$T/native" "$T/out"
done

# a few more are kept, too, but not each time: once a second for each MB
cat >"$T/few.c" <<'EOF2'
#include <stdlib.h>
int
main(int argc, char **argv)
{
	return argc > 1 ? atoi(argv[1]) : 0;
}
EOF2
$CC -O1 -o "$T/few" "$T/few.c"
trace "$T/few"
sleep 2
trace "$T/few" 3
same "few: the status" 3 $?
few=$(made)
[ "$few" -gt 0 ] && [ "$few" -lt 40 ]
ok "few are made" $?
trace "$T/few" 3
[ "$(made)" -lt "$few" ]
ok "and kept" $?

# Where executions are counted, an entry has fragments along the paths of what
# ran often, however short the run was; what ran is the same.
cat >"$T/paths.c" <<'EOF2'
__attribute__((noinline)) static unsigned
less(unsigned n)
{
	return n % 3 == 0 ? n / 3 : n - 1;
}
__attribute__((noinline)) static unsigned
steps(unsigned n)
{
	unsigned i = 0;

	while (n > 1) {
		n = n % 7 == 0 ? n / 7 : less(n);
		i++;
	}
	return i;
}
int
main(int argc, char **argv)
{
	unsigned n, sum = 0;

	for (n = 0; n < 5000; n++)
		sum += steps(n + (unsigned)argc);
	return sum % 100;
}
EOF2
$CC -O1 -o "$T/paths" "$T/paths.c"
executions() {
	sed -n 's/^trace: \([0-9]*\) executions told/\1/p' "$1"
}
for kind in counts branches; do
	for how in cold warm; do
		"$B/trace" -v -e $kind --store="$S" -o "$T/$how.ev" \
		    "$T/paths" 2>"$T/$how.err"
		"$B/icount" -o "$T/$how" "$T/$how.ev"
	done
	samefile "$kind: paths count the same" "$T/cold" "$T/warm"
	cold=$(executions "$T/cold.err")
	warm=$(executions "$T/warm.err")
	[ "$warm" -lt $((cold * 3 / 4)) ]
	ok "$kind: the next run has paths" $?
	echo "# $cold, $warm executions"
done

# targets of indirect calls that share a lookup word, because they are 65536
# bytes apart: the store has a second word for one of each pair
cat >"$T/far.c" <<'EOF2'
#include <stdio.h>
#define AT(n, align, x) \
	__attribute__((noinline, aligned(align), section(".text.far"))) \
	static int f##n(int i) { return i * 3 + x; }
#define TEN(n, align) AT(n##0, align, 0) AT(n##1, 64, 1) AT(n##2, 64, 2) \
	AT(n##3, 64, 3) AT(n##4, 64, 4) AT(n##5, 64, 5) AT(n##6, 64, 6) \
	AT(n##7, 64, 7) AT(n##8, 64, 8) AT(n##9, 64, 9)
#define NAMES(n) f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, \
	f##n##6, f##n##7, f##n##8, f##n##9
TEN(a, 65536) TEN(b, 64) TEN(c, 64) TEN(d, 64)
TEN(e, 65536) TEN(f, 64) TEN(g, 64) TEN(h, 64)
int
main(void)
{
	static int (*volatile f[80])(int) = { NAMES(a), NAMES(b), NAMES(c),
		NAMES(d), NAMES(e), NAMES(f), NAMES(g), NAMES(h) };
	int i, k, sum = 0;

	for (k = 0; k < 40; k++)
		sum += (int)(((long)f[k + 40] - (long)f[k]) % 65536 == 0);
	printf("%d\n", sum);
	for (i = 0; i < 3; i++)
		for (k = 0; k < 80; k++)
			sum = f[k](sum);
	return sum & 1;
}
EOF2
missed() {
	sed -n 's/^trace: \([0-9]*\) indirect transfers.*/\1/p' "$T/trace.err"
}
$CC -O1 -fno-toplevel-reorder -o "$T/far" "$T/far.c"
trace "$T/far" >"$T/out"
same "40 pairs of targets have one word" 40 "$(cat "$T/out")"
cold=$(missed)
[ "$cold" -ge 120 ]
ok "at first each of a pair goes the long way, and one does again: $cold" $?
trace "$T/far" >"$T/out"
warm=$(missed)
[ "$warm" -lt 5 ]
ok "from the store each has a word: $warm do" $?

# another program in its place
build two
natively
run_as 1 "changed"
samefile "a changed program runs as it is" "$T/native" "$T/out"
cp "$T/prog" "$T/old"
# the same size and time, other bytes
sed 's/two/six/' "$T/old" >"$T/new"
cat "$T/new" >"$T/prog"
touch -r "$T/old" "$T/prog" "$T/old"
natively
for i in 1 2; do
	run_as 1 "patched, run $i"
	samefile "patched, run $i: as it is" "$T/native" "$T/out"
done

# code of a file that the program has changed in its memory only
cat >"$T/own.c" <<'EOF2'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
int
main(int argc, char **argv)
{
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE, open(argv[1], O_RDONLY), 0);

	(void)argc;
	p[1] = atoi(argv[2]);
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	return ((int (*)(void))p)();
}
EOF2
$CC -O1 -o "$T/own" "$T/own.c"
{ printf '\270\5\0\0\0\303'; head -c 4090 /dev/zero; } >"$T/code"
for i in 5 5 9 9 5; do
	trace "$T/own" "$T/code" $i
	same "changed in memory only, to $i" $i $?
done
printf '\270\11' | dd of="$T/code" conv=notrunc 2>/dev/null
trace "$T/own" "$T/code" 5
same "changed in the file only" 5 $?
[ "$(taken)" -gt 100 ]
ok "the rest comes from the store" $?

# what is left of an object of which a part changes: the bytes of the store's
# fragments are still compared
cat >"$T/rest.c" <<'EOF2'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
int
main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, r;
	unsigned char *p = mmap((void *)0x10000000, n ? 4096 : 8192,
	    PROT_READ | (n ? PROT_WRITE : PROT_EXEC), MAP_PRIVATE | MAP_FIXED,
	    open(argv[1], O_RDONLY), 0);

	if (n) {
		p[1] = n;
		mprotect(p, 4096, PROT_READ | PROT_EXEC);
	}
	r = ((int (*)(void))p)();
	if (argc > 2 && n == 0) {
		mprotect(p + 4096, 4096, PROT_READ);
		printf("%g %a\n", r * 1.5, r / 7.0);
	}
	return r;
}
EOF2
$CC -O1 -o "$T/rest" "$T/rest.c"
{ printf '\270\5\0\0\0\303'; head -c 8186 /dev/zero; } >"$T/code"
for how in "" 0 9 9; do
	[ "${how:-0}" = 9 ] && want=9 || want=5
	trace "$T/rest" "$T/code" $how >"$T/out"
	same "the rest of an object, then ${how:-all}" $want $?
done

# the environment: not the program's, nor does it move its stack
natively
QUERN_STORE=$S "$B/trace" -v -e none -o "$T/ev" "$T/prog" >"$T/out" 2>"$T/trace.err"
samefile "QUERN_STORE: not in the program's environment" "$T/native" "$T/out"
[ "$(taken)" -gt 500 ]
ok "QUERN_STORE: is used" $?
QUERN_STORE=$S "$B/trace" -f -e counts --contexts -o "$T/ev.%p" sh -c true \
    2>"$T/err"
same "QUERN_STORE: where it cannot be used nothing is said" "" \
    "$(cat "$T/err")"

# at the same time, each with the same new entry
rm -r "$S"
natively
for i in 1 2 3 4; do
	timeout 60 "$B/trace" -v -e none -o "$T/ev.$i" --store="$S" "$T/prog" \
	    >"$T/out.$i" 2>"$T/err.$i" &
done
wait
all=
for i in 1 2 3 4; do
	samefile "four at a time: $i" "$T/native" "$T/out.$i"
	cp "$T/err.$i" "$T/trace.err"
	all=$(printf '%s\n' $all $(($(made) + $(taken))) | sort -n | head -n 1)
	same "four at a time: $i says nothing" "" \
	    "$(grep -v '^trace: [0-9]' "$T/err.$i")"
done
# each has made others ahead; the entry is that of one of them
run_as 1 "behind them"
[ "$(taken)" -ge $((all - 3)) ] && [ "$(made)" -le 3 ]
ok "their entry is whole" $?
same "nothing else is left" 1 "$(ls "$S" | wc -l)"

# whose it is
refused() {
	natively
	same "$1: the program runs" 1 "$(trace "$T/prog" >"$T/out"; echo $?)"
	samefile "$1: the same" "$T/native" "$T/out"
	same "$1: a line" 1 "$(grep -c "^trace: --store.*not used$" \
	    "$T/trace.err")"
}
chmod 770 "$S"
refused "a folder that others can write"
chmod 700 "$S"
entry=$S/$(ls "$S")
chmod 666 "$entry"
run_as 1 "an entry that others can write"
same "an entry that others can write is not read" 0 "$(taken)"
same "and is replaced" 600 "$(stat -c %a "$entry")"
mv "$entry" "$T/away"
ln -s "$T/away" "$entry"
run_as 1 "a link"
same "a link is not read" 0 "$(taken)"
S=$T/prog
refused "a file"
S=$T/prog/folder
refused "a folder in a file"
S=$T/no/such/folder/
trace "$T/prog" >"$T/out"
same "a folder in none is made, with those above" "700 700 1" \
    "$(stat -c %a "$T/no" "$S" | tr '\n' ' ')$(ls "$S" | wc -l)"
S=$T/store

# bounded, the oldest first: three fit
most=1G
rm -r "$S"
for i in 1 2 3 4; do
	cp "$T/prog" "$T/prog$i"
	trace --store-max=$most "$T/prog$i" >"$T/out"
	[ $i -ne 1 ] || most=$(cat "$S"/* | wc -c | awk '{ print 3 * $1 }')
	[ $i -ne 1 ] || first=$(ls "$S")
done
bytes=$(cat "$S"/* | wc -c)
[ "$bytes" -le "$most" ] && [ "$bytes" -gt $((most / 3)) ]
ok "at most --store-max bytes" $?
trace "$T/prog4" >"$T/out"
[ "$(taken)" -gt 500 ]
ok "the newest is there" $?
[ ! -e "$S/$first" ]
ok "the oldest is not" $?

# damaged: some bytes here, each one in t/long
natively
rm -r "$S"
run_as 1 "to be damaged"
all=$(made)	# how many are made ahead differs from run to run
entry=$S/$(ls "$S")
cp "$entry" "$T/entry"
size=$(stat -c %s "$entry")
bad=0
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
	cp "$T/entry" "$entry"
	at=$((i * size / 20 + i * 7))
	printf '\377' | dd of="$entry" bs=1 seek=$at conv=notrunc 2>/dev/null
	cmp -s "$entry" "$T/entry" && printf '\125' | dd of="$entry" bs=1 \
	    seek=$at conv=notrunc 2>/dev/null
	timeout 60 "$B/trace" -e none -o "$T/ev" --store="$S" "$T/prog" >"$T/out" \
	    2>"$T/err"
	[ $? -eq 1 ] && cmp -s "$T/out" "$T/native" && [ ! -s "$T/err" ] ||
		bad=$((bad + 1))
done
same "damaged bytes: the program runs as ever" 0 $bad
# an entry that was found right is not summed up again, unless it was written to
# since, even if its times are set back
for at in $((size / 2)) $((size - 4096 * 2)); do
	cp "$T/entry" "$entry"
	touch -d '1 hour ago' "$entry"
	run_as 1 "found right"
	same "found right: its times say so" 86400 \
	    "$(stat -c '%X %Y' "$entry" | awk '{ print $1 - $2 }')"
	run_as 1 "found right, again"
	[ "$(taken)" -ge $((all - 3)) ]
	ok "found right: it is used" $?
	touch -r "$entry" "$T/times"
	sleep 0.1
	printf '\125\252\125' | dd of="$entry" bs=1 seek=$at conv=notrunc \
	    2>/dev/null
	touch -r "$T/times" "$entry"
	run_as 1 "found right, then damaged"
	same "found right, then damaged: it is not used" 0 "$(taken)"
done
bad=0
for n in 0 1 7 8 100 4096 $((size / 2)) $((size - 1)); do
	head -c "$n" "$T/entry" >"$entry"
	trace "$T/prog" >"$T/out"
	[ $? -eq 1 ] && cmp -s "$T/out" "$T/native" &&
		! grep -qv '^trace: [0-9]' "$T/trace.err" ||
		bad=$((bad + 1))
done
same "cut short: the program runs as ever" 0 $bad
all=$(made)
run_as 1 "mended"
[ "$(taken)" -ge $((all - 3)) ]
ok "it is written anew" $?

# kinds counts and blocks: what ran how often; kind all: every execution; kind
# cache: the misses. Code of the vDSO, which is in no file, is not kept.
stream() {
	"$B/trace" --vdso=no -e $kind -o "$T/ev" "$@" "$T/prog" x y >"$T/out" 2>"$T/err"
	case $kind in
	all) "$B/plain" "$T/ev" ;;
	blocks | counts) "$B/icount" "$T/ev" ;;
	cache*) "$B/cachesim" "$T/ev" ;;	# ids depend on the order of requests
	esac >"$T/told"
}
rm -r "$S"
for kind in counts all blocks cache cache=64,64,2; do
	[ $kind = counts ] && most=3 || most=20
	stream
	cp "$T/told" "$T/told.none"
	for run in cold warm again; do
		stream -v --store="$S"
		samefile "kind $kind, $run: the same is told" "$T/told.none" \
		    "$T/told"
		cp "$T/err" "$T/trace.err"
	done
	[ "$(taken)" -gt 500 ] && [ "$(made)" -le $most ]
	ok "kind $kind: it comes from the store" $?
done
# rounds of repeated instructions, also of one that faults; as client requests
# are answered
each() {
	"$B/trace" -e $kind --rep=each --client-requests -o "$T/ev" "$@" \
	    "$TB/victim/$v" >"$T/out" 2>"$T/err"
	case $kind in
	branches) "$B/branchsim" --rep=each "$T/ev" ;;
	cache) "$B/cachesim" --rep=each "$T/ev" ;;
	*) "$B/icount" --rep=each "$T/ev" ;;
	esac >"$T/told" 2>"$T/err.told"
}
for v in exact-rep exact-repfault ins-repcmp; do
	for kind in counts branches cache all; do
		each
		cp "$T/told" "$T/told.none"
		for run in cold warm; do
			each -v --store="$S"
			samefile "$v, kind $kind, --rep=each, $run" \
			    "$T/told.none" "$T/told"
			cp "$T/err" "$T/trace.err"
			[ $run = warm ] || all=$(made)
		done
		# fewer than 16 are not worth an entry; how many there are
		# depends on how many were made ahead
		if [ "$all" -lt 16 ]; then
			[ "$(taken)" = 0 ]
		else
			[ "$(taken)" -gt 10 ]
		fi
		ok "$v, kind $kind, --rep=each: from the store" $?
	done
done
# code that was made again for indirect jumps, and then along a path: once
rm -rf "$S"
for run in 1 2 3; do
	same "kind all, a path over what was made again, run $run" \
	    "ok smc-words" "$(env -i "$B/trace" -e all --store="$S" \
	    -o "$T/ev" "$TB/victim/smc-words" 2>&1)"
done

# a thread stops where none stopped when the entry was made
kind=counts
v=$TB/victim/sig-repsometimes
for rep in once each; do
	rm -rf "$S"
	env -i "$B/trace" -e counts --rep=$rep -o "$T/ev" "$v" >"$T/out" &&
	    "$B/icount" --rep=each "$T/ev" >"$T/told.none"
	ok "--rep=$rep: a repeated instruction is stopped" $?
	env -i "$B/trace" -v -e counts --rep=$rep --store="$S" -o "$T/ev" \
	    "$v" open >"$T/out" 2>"$T/trace.err"
	all=$(made)
	for run in "for the first time" again; do
		env -i "$B/trace" -v -e counts --rep=$rep --store="$S" \
		    -o "$T/ev" "$v" >"$T/out" 2>"$T/trace.err"
		same "in code from the store, $run" "ok sig-repsometimes" \
		    "$(cat "$T/out")"
		[ "$(taken)" -gt $((all / 2)) ]
		ok "most of it came from there" $?
		"$B/icount" --rep=each "$T/ev" >"$T/told"
		samefile "it costs the same" "$T/told.none" "$T/told"
	done
done
stream
cp "$T/told" "$T/told.none"
stream -i 1000 --store="$S"
sed -n '/^I/p' "$T/ev" >"$T/intervals"
stream -i 1000 -v --store="$S"
sed -n '/^I/p' "$T/ev" | cmp -s - "$T/intervals"
ok "intervals end where they did" $?
cp "$T/err" "$T/trace.err"
[ "$(taken)" -gt 500 ]
ok "intervals: they come from the store" $?

samefile "intervals: the same is told" "$T/told.none" "$T/told"

# kind counts: faults and signals inside blocks, code that is unmapped; what is
# told of a block before it is, and of parts of blocks
for v in exact-fault exact-repfault exact-signal smc-dlopen smc-unmapped; do
	"$B/trace" -e counts -o "$T/ev" "$TB/victim/$v" >"$T/out" 2>"$T/err"
	"$B/icount" "$T/ev" >"$T/told.none"
	for run in cold warm again; do
		"$B/trace" -v -e counts -o "$T/ev" --store="$S" \
		    "$TB/victim/$v" >"$T/out" 2>"$T/trace.err"
		"$B/icount" "$T/ev" >"$T/told"
		samefile "kind counts, $v, $run: the same is told" \
		    "$T/told.none" "$T/told"
	done
	[ "$(taken)" -gt 0 ]
	ok "kind counts, $v: it comes from the store" $?
done

check "the fuzzing corpus" "$TB/fuzz_store" t/fuzz/corpus/store

# names of code made at run time, beside an object that is not mapped again
echo 'int none(void) { return 1; }' >"$T/lib.c"
$CC -O1 -shared -fPIC -nostdlib -o "$T/lib.so" "$T/lib.c"
named() {
	"$B/trace" -e $kind -o "$T/ev" --store="$S" "$TB/jit" map >"$T/pid"
	rm -f "/tmp/perf-$(head -1 "$T/pid").map" $(sed 1d "$T/pid")
	"$B/icount" "$T/ev" | "$B/fmt-cachegrind" | grep '^fn=second one'
}
for kind in counts all; do
	(LD_PRELOAD=$T/lib.so; export LD_PRELOAD; named >"$T/out")
	same "kind $kind: names of code made at run time" "fn=second one" \
	    "$(named)"
done
kind=counts

# behind an exec definitions have other numbers than in the entry
"$B/trace" -e counts -o "$T/ev" "$T/prog" x y z >"$T/native" 2>"$T/err"
"$B/icount" "$T/ev" >"$T/told.none"
for run in cold warm again; do
	"$B/trace" -e counts -o "$T/ev" --store="$S" "$T/prog" x y z \
	    >"$T/out" 2>"$T/err"
	"$B/icount" "$T/ev" >"$T/told"
	samefile "kind counts, exec, $run: prints the same" "$T/native" \
	    "$T/out"
	samefile "kind counts, exec, $run: tells the same" "$T/told.none" \
	    "$T/told"
done

# ids go on behind an exec, so what is executed there does without
"$B/trace" -o "$T/ev" "$T/prog" x y z >"$T/native" 2>"$T/err"
"$B/plain" "$T/ev" >"$T/told.none"
for run in cold warm; do
	"$B/trace" -o "$T/ev" --store="$S" "$T/prog" x y z >"$T/out" 2>"$T/err"
	"$B/plain" "$T/ev" >"$T/told"
	samefile "kind all, exec, $run: prints the same" "$T/native" "$T/out"
	samefile "kind all, exec, $run: tells the same" "$T/told.none" "$T/told"
done

# children, by an option that the program does not see
QUERN_STORE=$S "$B/trace" -f -e none -o "$T/ev.%p" sh -c "$T/prog; $T/prog" \
    >"$T/out" 2>"$T/err"
n=$(ls "$S" | wc -l)
QUERN_STORE=$S "$B/trace" -f -v -e none -o "$T/ev.%p" sh -c \
    "$T/prog; $T/prog" >"$T/out" 2>"$T/trace.err"
same "children use it" "$n" "$(ls "$S" | wc -l)"
same "children take what they need" "" \
    "$(taken | awk '$1 < 500 { n++ } END { if (n > 2) print n }')"

# a full disk
if unshare -rm true 2>/dev/null; then
	result=$(T=$T B=$B unshare -rm sh -c "$(cat <<'EOF'
mkdir "$T/disk" && mount -t tmpfs -o size=64k none "$T/disk" &&
    mkdir -m 700 "$T/disk/s" && setarch -R "$T/prog" >"$T/native"
"$B/trace" -e none -o "$T/ev" --store="$T/disk/s" \
    "$T/prog" >"$T/out" 2>"$T/err"
echo $? $(ls "$T/disk/s" | wc -l)
EOF
	    )")
	same "a full disk: the status, and nothing is left" "1 0" "$result"
	samefile "a full disk: the same" "$T/native" "$T/out"
	same "a full disk: a line" 1 "$(grep -c '^trace: --store' "$T/err")"
else
	skip "a full disk" "no mount namespaces"
fi

# as where a file may not be so large
mkdir -m 700 "$T/limit"
setarch -R "$T/prog" >"$T/native"
limited() {
	(ulimit -S -f 64; "$B/trace" -e none -o "$T/ev" --store="$T/limit" \
	    "$T/prog")
}
status 1 "a limit of files" limited
samefile "a limit of files: the same" "$T/native" "$T/out"
same "a limit of files: nothing is left, a line" "0 1" \
    "$(ls "$T/limit" | wc -l) $(grep -c '^trace: --store' "$T/err")"

# but what is there is taken: the memory file is not one of these
trace "$T/prog" >"$T/out"
small() {
	(ulimit -S -f 64; trace "$T/prog")
}
status 1 "a limit of files, and a store" small
samefile "a limit of files, and a store: the same" "$T/native" "$T/out"
[ "$(taken)" -gt 300 ]
ok "a limit of files: it takes $(taken) fragments" $?

# a library whose first segment has code: ld.so maps all of it as code, then
# data over its end
i=0
while [ $i -lt 400 ]; do
	echo "int f$i(int x) { return x + $i; }"
	i=$((i + 1))
done >"$T/many.c"
{ echo "int all(int x) {"
  sed 's/^int \(f[0-9]*\).*/x = \1(x);/' "$T/many.c"
  echo "return x; }"; } >"$T/all.c"
cat "$T/all.c" >>"$T/many.c"
echo "int all(int); int main(int c, char **v) { return (v != 0) + all(c) % 7; }" \
    >"$T/m.c"
# library OPTION...: a program that needs it
library() {
	$CC -O0 -fPIC -shared -o "$T/libmany.so" "$T/many.c" "$@" 2>"$T/err" &&
	    $CC -o "$T/m" "$T/m.c" -L"$T" -lmany -Wl,-rpath,"$T"
}
# kept TEXT COMMAND...: its second run makes nothing, nor does the third
kept() {
	text=$1
	shift
	rm -rf "$S"
	trace "$@"
	made=$(made)
	for run in second third; do
		trace "$@"
		[ "$(made)" -le 3 ] && [ "$(taken)" -gt $((made * 3 / 4)) ]
		ok "$text: the $run run makes $(made) of $made" $?
	done
}
library -Wl,-z,noseparate-code
kept "a library without a segment for code alone" "$T/m"
# one that wants an executable stack: ld.so changes that by PROT_GROWSDOWN
library -Wl,-z,execstack
kept "a library that wants an executable stack" "$T/m"

# a page of code that cannot be executed for a while
cat >"$T/m.c" <<'EOF2'
#include <stdint.h>
#include <sys/mman.h>
int all(int), f200(int);
int
main(int argc, char **argv)
{
	void *p = (void *)((uintptr_t)f200 & -4096ul);
	int i, sum = all(argc);

	for (i = 0; i < 3; i++) {
		mprotect(p, 4096, PROT_READ);
		mprotect(p, 4096, PROT_READ | PROT_EXEC);
		sum += all(argc);
	}
	return sum & 1;
}
EOF2
library
kept "a page of code that goes and comes" "$T/m"

# code that is patched in memory once it has run, and becomes what the store has
sed -i 's/mprotect(p, 4096, PROT_READ);/mprotect(p, 4096, 3); *((volatile char *)f200 - 1) = 0x90;/' \
    "$T/m.c"
library
for kind in counts all cache; do
	for run in none cold warm; do
		store=--store=$S
		[ $run != none ] || store=
		# shellcheck disable=SC2086
		"$B/trace" --vdso=no -e $kind -o "$T/ev" $store "$T/m"
		case $kind in
		all) "$B/plain" "$T/ev" ;;
		cache) "$B/cachesim" "$T/ev" ;;
		counts) "$B/icount" "$T/ev" ;;
		esac >"$T/told.$run"
		samefile "patched in memory, kind $kind, $run: the same is told" \
		    "$T/told.none" "$T/told.$run"
	done
done

# libraries that are closed before the end, also one in the place of another
cat >"$T/open.c" <<'EOF2'
#include <dlfcn.h>
#include <stdio.h>
int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *h = dlopen(argv[i], RTLD_NOW);
		int (*all)(int) = (int (*)(int))dlsym(h, "all");

		printf("%d %s\n", all(argc), all == NULL ? "?" : argv[i]);
		dlclose(h);
	}
	return 0;
}
EOF2
$CC -O1 -w -o "$T/open" "$T/open.c" -ldl
for i in 1 2; do
	$CC -O0 -fPIC -shared -o "$T/lib$i.so" "$T/many.c"
	sed -i 's/return x; }/return x + 1; }/' "$T/many.c"
done
for libs in "$T/lib1.so" "$T/lib1.so $T/lib1.so" "$T/lib1.so $T/lib2.so"; do
	# shellcheck disable=SC2086
	setarch -R "$T/open" $libs >"$T/native"
	rm -rf "$S"
	for run in cold warm again; do
		# shellcheck disable=SC2086
		trace "$T/open" $libs >"$T/out"
		samefile "closed, $(echo "$libs" | wc -w), $run: the same" \
		    "$T/native" "$T/out"
		[ $run != cold ] || made=$(made)
	done
	[ "$(taken)" -gt 1000 ] && [ "$(taken)" -gt $((made / 2 - 100)) ]
	ok "closed: it takes $(taken), $made were made" $?
	[ "$libs" != "$T/lib1.so $T/lib1.so" ] || [ "$(made)" -le 3 ]
	ok "closed and opened again: it makes $(made)" $?
done
trace "$T/open" "$T/lib1.so"
cp "$T/lib1.so" "$T/old"
cat "$T/lib2.so" >"$T/lib1.so"
touch -r "$T/old" "$T/lib1.so"
setarch -R "$T/open" "$T/lib1.so" >"$T/native"
for run in first second; do
	trace "$T/open" "$T/lib1.so" >"$T/out"
	samefile "closed, then patched, $run run: as it is" "$T/native" \
	    "$T/out"
done
for kind in counts all cache branches; do
	for run in none cold warm again; do
		store=--store=$S
		[ $run != none ] || store=
		# shellcheck disable=SC2086
		"$B/trace" --vdso=no -e $kind -o "$T/ev" $store "$T/open" \
		    "$T/lib1.so" "$T/lib2.so" "$T/lib1.so" >"$T/out"
		case $kind in
		all) "$B/plain" "$T/ev" ;;
		branches) "$B/branchsim" "$T/ev" ;;
		cache) "$B/cachesim" "$T/ev" ;;
		counts) "$B/icount" "$T/ev" ;;
		esac >"$T/told.$run"
		samefile "closed, kind $kind, $run: the same is told" \
		    "$T/told.none" "$T/told.$run"
	done
done

# what does not use it says so
for o in --aslr "-e counts --contexts" --client-requests=off; do
	$B/trace $o --store="$S" -o "$T/ev" "$T/prog" >"$T/out" 2>"$T/err"
	same "$o: says that it does without" 1 \
	    "$(grep -c '^trace: --store: .*not used$' "$T/err")"
done
done_testing
