#!/bin/sh
# valgrind: Valgrind's command line. Options, logs, names of files, children;
# figures beside those of the pipelines, and of Valgrind where it is installed.

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
V=$B/valgrind
S=$PWD
CC=${CC:-gcc}
cd "$T" || exit 99
HOME=$T/home
export HOME
unset VALGRIND_OPTS
mkdir home
cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int v[4096];
__attribute__((noinline)) int work(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += v[i * 17 % 4096]++;
	return s;
}
int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "exec")) {
		execv(argv[2], argv + 2);
		return 9;
	}
	if (argc > 1 && !strcmp(argv[1], "fork") && fork() == 0)
		work(500);
	work(1000);
	if (argc > 1 && !strcmp(argv[1], "abort"))
		abort();
	return argc > 1 && argv[1][0] == '7' ? 7 : 0;
}
END
$CC -O1 -g -o prog prog.c || skip_all "no compiler"

cat >asks.c <<'END'
static unsigned long ask(unsigned long what)
{
	volatile unsigned long a[6] = { what, 0, 0, 0, 0, 0 };
	unsigned long r = 0;
	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; "
	    "rolq $51, %%rdi; xchgq %%rbx, %%rbx" : "+d"(r) : "a"(a)
	    : "cc", "memory");
	return r;
}
enum { RUNNING = 0x1001, CG = 'C' << 24 | 'G' << 16,
	CT = 'C' << 24 | 'T' << 16 };
__attribute__((noinline)) static int work(int n)
{
	volatile int s = 0;
	while (n-- > 0)
		s += n;
	return s;
}
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 2)
		return 0;
	ask(argc > 1 ? CT + 4 : CG);
	work(1000);
	ask(argc > 1 ? CT + 5 : CG + 1);
	ask(argc > 1 ? CT + 5 : CG + 1);
	work(100000);
	return ask(RUNNING) == 1 ? 8 : 9;
}
END
$CC -O1 -g -o asks asks.c

# The log of the last run without numbers of processes and sizes.
log() {
	sed -e 's/==[0-9]*==/==/' -e 's/[0-9][0-9,]*/N/g' -e 's/  */ /g' "$1"
}

# ran STATUS TEXT ARGUMENT...: by our program; what it says is in $T/said
ran() {
	want=$1 text=$2
	shift 2
	status "$want" "$text" "$V" "$@"
	cp err said
}

# --- tools that are none, options that are none, programs that are none
wrong() { # STATUS LINE ARGUMENT...
	want=$1 line=$2
	shift 2
	ran "$want" "${*:-nothing}" "$@"
	same "is told" "valgrind: $line" "$(head -n 1 said)"
}
wrong 1 "no program specified" --tool=none
wrong 1 "failed to start tool 'memcheck' for platform 'amd64-linux': \
No such file or directory" ./prog
same "and which tools there are" \
    "valgrind: give --tool=cachegrind, callgrind, massif, lackey, none or exp-bbv" \
    "$(sed -n 2p said)"
wrong 1 "failed to start tool 'foo' for platform 'amd64-linux': \
No such file or directory" --tool=foo ./prog
wrong 1 "Unknown option: --foo" --tool=none --foo ./prog
wrong 1 "Unknown option: --branch-sim=yes" --tool=none --branch-sim=yes ./prog
wrong 1 "Unknown option: -x" --tool=cachegrind -x ./prog
wrong 1 "Bad option: --cache-sim=maybe" --tool=cachegrind --cache-sim=maybe \
    ./prog
same "with a reason" "valgrind: Invalid boolean value 'maybe' (should be 'yes'\
 or 'no')" "$(sed -n 2p said)"
wrong 1 "Bad option: --trace-children" --tool=none --trace-children ./prog
same "with a reason" "valgrind: Missing boolean value, did you mean \
'--trace-children=yes'?" "$(sed -n 2p said)"
wrong 1 "Bad option: --dump-instr" --tool=callgrind --dump-instr ./prog
wrong 1 "Unknown option: --dump-instr" --tool=none --dump-instr ./prog
wrong 1 "Unknown option: --log-fd" --tool=none --log-fd ./prog
wrong 1 "Unknown option: --D1" --tool=cachegrind --D1 ./prog
wrong 1 "Unknown option: --fn-group2" --tool=callgrind --fn-group2 ./prog
wrong 1 "Bad option: --log-fd=x" --tool=none --log-fd=x ./prog
wrong 1 "Bad option: --log-file=%z" --tool=none --log-file=%z ./prog
wrong 1 "Bad option: --log-file=%q{NONE_SUCH}" --tool=none \
    '--log-file=%q{NONE_SUCH}' ./prog
same "with a reason" "valgrind: Environment variable 'NONE_SUCH' is not set" \
    "$(sed -n 2p said)"
wrong 1 "Bad option: --xml=yes" --tool=none --xml=yes ./prog
wrong 127 "./none: No such file or directory" --tool=none ./none
wrong 127 "none-such: command not found" --tool=none none-such
wrong 126 "/bin: is a directory" --tool=none /bin
wrong 126 "./prog.c: Permission denied" --tool=none ./prog.c

wrong 1 "can not open output file './none/f.1': no such directory" \
    --tool=callgrind --callgrind-out-file=./none/f.%n ./prog
same "before the program runs" 1 "$(wc -l <said)"

# --- run from the tree of sources, and from nowhere
mkdir -p tree/scripts tree/build nowhere
cp "$S/scripts/valgrind" tree/scripts/
cp "$S/scripts/valgrind" nowhere/
status 1 "no programs beside it" nowhere/valgrind --tool=none ./prog
same "is told" "valgrind: no trace beside $T/nowhere/valgrind: run make, then \
build/bin/valgrind, or install it" "$(cat err)"
ln -s "$B" tree/build/bin
status 7 "those of the tree are found" tree/scripts/valgrind --tool=none -q \
    ./prog 7
wrong 126 "./prog.c/prog: Not a directory" --tool=none ./prog.c/prog
for c in "1,2:Bad argument '1,2'" "1,2,3,4:Bad argument '1,2,3,4'" \
    "a,2,64:Bad argument 'a,2,64'" "32768,8,0:Cache line size is zero." \
    "99999999999,8,64:One of the cache parameters was too large and overflowed." \
    "32768,0,64:Cache associativity is zero." \
    "30000,8,64:Cache set count is not a power of two." \
    "768,1,24:Cache line size is not a power of two." \
    "1024,2,8:Cache line size is too small."; do
	wrong 1 "Bad option: --D1=${c%%:*}" --tool=callgrind "--D1=${c%%:*}" \
	    ./prog
	same "with a reason" "valgrind: ${c#*:}" "$(sed -n 2p said)"
done
wrong 1 "Bad option: --cachegrind-out-file=%z" --tool=cachegrind \
    --cachegrind-out-file=%z ./prog

# of Massif, in its words
number="Invalid integer value"
within="argument must be between"
share="Invalid floating point value"
percent="--threshold must be between 0.0 and 100.0"
power="Alignment must be a power of 2 in the range 16..4096."
for c in "depth=0:'--depth' $within 1 and 200" \
    "depth=201:'--depth' $within 1 and 200" \
    "depth=:'--depth' $within 1 and 200" "depth=x:$number 'x'" \
    "max-snapshots=9:'--max-snapshots' $within 10 and 1000" \
    "max-snapshots=1001:'--max-snapshots' $within 10 and 1000" \
    "detailed-freq=0:'--detailed-freq' $within 1 and 1000000" \
    "heap-admin=1025:'--heap-admin' $within 0 and 1024" \
    "threshold=-1:$percent" "threshold=100.5:$percent" \
    "threshold=1e1:$share '1e1'" "peak-inaccuracy=x:$share 'x'" \
    "alignment=8:$power" "alignment=24:$power" "alignment=8192:$power" \
    "stacks=x:Invalid boolean value 'x' (should be 'yes' or 'no')"; do
	wrong 1 "Bad option: --${c%%:*}" --tool=massif "--${c%%:*}" ./prog
	same "with a reason" "valgrind: ${c#*:}" "$(sed -n 2p said)"
done
for o in time-unit=x xtree-memory=x depth threshold alloc-fn cache-sim=yes; do
	wrong 1 "Unknown option: --$o" --tool=massif "--$o" ./prog
done
for o in heap=no heap-admin=0 stacks=yes pages-as-heap=yes alloc-fn=work \
    ignore-fn=work xtree-memory=full realloc-zero-bytes-frees=no; do
	wrong 1 "--$o: not supported by quern" --tool=massif "--$o" ./prog
done

# --- what changes nothing
ran 0 "options that change nothing" --tool=none -q --fair-sched=try \
    --smc-check=all-non-file --vex-guest-chase=no --num-callers=20 --vgdb=no \
    --error-exitcode=3 --suppressions=none --massif:pages-as-heap=yes \
    --sim-hints=lax-ioctls -d --memcheck:leak-check=full ./prog
same "nor say anything" "" "$(cat out err)"

# --- cachegrind
ran 7 "cachegrind: the program's status" --tool=cachegrind ./prog '7 <x>'
name=$(ls cachegrind.out.*)
pid=${name#cachegrind.out.}
same "the log has the file's number" "==$pid== " "$(sed 's/\(== \).*/\1/' said |
    sort -u)"
total=$(sed -n 's/^summary: //p' "$name")
same "the log" "== Cachegrind, a high-precision tracing profiler
== Files and figures of that tool, made by quern
== Using Valgrind-N.N.N.quern, without Valgrind and LibVEX; rerun with -h for \
copyright info
== Command: ./prog N\\ \\<x\\>
== 
== 
== I refs: N" "$(log said)"
same "has the sum" "$total" "$(sed -n 's/.*I refs: *//p' said | tr -d ,)"
"$B/trace" -e counts --cpu=v3 --vdso=no -o ev ./prog '7 <x>'
"$B/icount" --rep=each ev | "$B/fmt-cachegrind" -o want
samefile "the file" want "$name"
rm -f cachegrind.out.*
args="--tool=cachegrind --cachegrind-out-file=cg"
ran 0 "caches, branches" $args --cache-sim=yes --branch-sim=yes ./prog
same "the last lines" "== I refs: N
== IN misses: N
== LLi misses: N
== IN miss rate: N.N%
== LLi miss rate: N.N%
== 
== D refs: N (N rd + N wr)
== DN misses: N (N rd + N wr)
== LLd misses: N (N rd + N wr)
== DN miss rate: N.N% ( N.N% + N.N% )
== LLd miss rate: N.N% ( N.N% + N.N% )
== 
== LL refs: N (N rd + N wr)
== LL misses: N (N rd + N wr)
== LL miss rate: N.N% ( N.N% + N.N% )
== 
== Branches: N (N cond + N ind)
== Mispredicts: N (N cond + N ind)
== Mispred rate: N.N% ( N.N% + N.N% )" \
    "$(log said | sed -e '1,6d' -e 's/( *\(N[ ,.]*N*\)/(\1/' -e 's/(N\.N/( N.N/')"
same "all events" \
    "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim" \
    "$(grep ^events: cg)"
both=$(sed -n 's/^summary: //p' cg)
ran 0 "caches" $args --cache-sim=yes ./prog
same "the same figures" "$(echo "$both" | cut -d ' ' -f -9)" \
    "$(sed -n 's/^summary: //p' cg)"
ran 0 "branches" $args --branch-sim=yes ./prog
same "the same figures" "$(echo "$both" | cut -d ' ' -f 1,10-)" \
    "$(sed -n 's/^summary: //p' cg)"
small="--I1=1024,1,64 --D1=2048,2,32 --L2=65536,4,64"
ran 0 "caches with lines of two sizes" $args --cache-sim=yes $small ./prog
"$B/trace" --cpu=v3 --vdso=no ./prog |
    "$B/cachesim" --rep=each --wide=cut $small | "$B/fmt-cachegrind" -o want
samefile "the file" want cg
many="--I1=65536,2,64 --D1=65536,2,64 --LL=1048576,16,64"
ran 0 "caches of more sets than kind cache has" $args --cache-sim=yes $many ./prog
"$B/trace" --cpu=v3 --vdso=no ./prog |
    "$B/cachesim" --rep=each --wide=cut $many | "$B/fmt-cachegrind" -o want
samefile "the file" want cg
ran 0 "no file" --tool=cachegrind --cachegrind-out-file=/dev/null ./prog
check "but the figures" grep -q 'I refs:  *[1-9]' said
ran 0 "-q" -q $args ./prog
same "says nothing" "" "$(cat said)"

# --- the log, elsewhere
X=x "$V" $args --log-file='log.%q{X}.%n%%' ./prog 2>said
same "--log-file: its name" "log.x.1%" "$(ls -d log.x*)"
check "has the parent" grep -q "^==[0-9]*== Parent PID: $$\$" "log.x.1%"
same "nothing on standard error" "" "$(cat said)"
"$V" $args --log-fd=5 ./prog 5>five 2>said
check "--log-fd" grep -q 'I refs: ' five
same "nothing on standard error" "" "$(cat said)"
wrong 1 "Cannot create log file 'none/x'" --tool=none --log-file=none/x ./prog
wrong 0 "cannot write log file '/dev/full'" $args --log-file=/dev/full ./prog
same "once" 1 "$(wc -l <said)"
rm -f cg.*
ran 0 "--log-fd, not open" $args --log-fd=77 ./prog
check "is told" grep -q 'failed to move log file descriptor' said
ran 0 "--time-stamp" $args --time-stamp=yes ./prog
check "begins lines" grep -q '^==00:00:00:[0-9]*\.[0-9]* [0-9]*== I refs' said

# --- where options come from
printf '%s\n' "--tool=callgrind '--log-file=two words'" '--branch-sim=no' \
    >home/.valgrindrc
echo '--callgrind-out-file=here --cachegrind:nonsense' >.valgrindrc
check ".valgrindrc" env VALGRIND_OPTS="--branch-sim=yes" "$V" ./prog
check "in both places" grep -q '^creator' here
check "quoted" grep -q 'Events    : Ir Bc Bcm Bi Bim$' "two words"
chmod o+w .valgrindrc
rm here
ran 0 "one that all can write" --callgrind-out-file=there ./prog
check "is told" grep -q 'was not read' said
check "and not read" test ! -e here
ran 0 "--command-line-only" --command-line-only=yes --tool=none ./prog
rm home/.valgrindrc .valgrindrc

# --- callgrind
args="--tool=callgrind --callgrind-out-file=cl"
ran 0 "callgrind" $args ./prog
same "the log" "== Events : Ir
== Collected : N
== 
== I refs: N" "$(log said | sed 1,6d)"
check "calls" grep -q '^cfn=.*work' cl
check "the sum" grep -q "Collected : $(sed -n 's/^totals: //p' cl)\$" said
ran 0 "all of it" $args --cache-sim=yes --branch-sim=yes --dump-instr=yes \
    --collect-jumps=yes --separate-recs=3 --separate-callers2=work ./prog
same "events" "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim" \
    "$(grep ^events: cl)"
same "the sums of the simulators" "$(echo "$both" | awk '{
    print $1, $4 + $7, $2, $5 + $8, $3, $6 + $9, $10, $11, $12, $13 }')" \
    "$(sed -n 's/^totals: //p' cl |
    awk '{ print $1, $2 + $3, $4, $5 + $6, $7, $8 + $9, $10, $11, $12, $13 }')"
check "jumps" grep -q '^jcnd=' cl
check "callers" grep -q "work'main" cl
ran 0 "a function" $args --toggle-collect='wor*' ./prog
toggled=$(sed -n 's/^totals: //p' cl)
check "is less than all" test "$toggled" -gt 5000 -a "$toggled" -lt 20000
# calls that are counted cost what calls cost that are followed, in order
calls_in() { # kind OPTION...: the last run's
	kind=$1
	shift
	sh -x "$V" "$@" 2>said >/dev/null
	check "$kind: $*" grep -q "^+ exec .* -e $kind " said
	grep -v '^pid:\|^desc:' cl >"cl.$kind"
}
for o in "" --separate-threads=yes --dump-instr=yes --collect-jumps=no \
    --separate-recs=2 --collect-systime=no; do
	calls_in "counts --contexts" $args $o ./prog 7
	calls_in blocks $args $o --dump-before=none ./prog 7
	samefile "$o: the same file" cl.blocks "cl.counts --contexts"
done
small="--I1=1024,1,64 --D1=2048,2,64 --LL=65536,4,64"
calls_in "cache=16,64,1 --contexts" $args $small ./prog 7
calls_in all $args $small --fn-skip=none ./prog 7
samefile "with caches: the same file" cl.all "cl.cache=16,64,1 --contexts"
for o in --cacheuse=yes --separate-threads=yes --D1=1024,2,32; do
	calls_in all $args $small $o ./prog 7
done
for o in --collect-jumps=yes --toggle-collect=work --collect-atstart=no \
    --instr-atstart=no --separate-callers=2 --separate-recs3=work \
    --skip-plt=no --collect-bus=yes --branch-sim=yes --pop-on-jump; do
	calls_in blocks $args $o ./prog 7
done
calls_in blocks $args ./asks 1
if [ -z "$SAN" ]; then
	status 7 "less address space" sh -c "ulimit -v 9000000; sh -x '$V' \
	    $args ./prog 7 2>said"
	check "has room for kind blocks" grep -q "^+ exec .* -e blocks " said
else
	skip "less address space" "sanitizers need memory of their own"
fi
ran 0 "what is for debugging" $args --ct-verbose=1 --ct-verbose1=main \
    --ct-vstart=0 ./prog
ran 1 "what is not there" $args --fn-group2=work ./prog
same "is told" "valgrind: --fn-group2=work: not supported by quern" "$(cat said)"
ran 0 "what is the default" $args --dump-bb=no --mangle-names=yes ./prog
ran 1 "what asks for more" $args --dump-bb=yes ./prog
same "is told" "valgrind: --dump-bb=yes: not supported by quern" "$(cat said)"

# --- massif
cat >heap.c <<'END'
#include <stdlib.h>
#include <unistd.h>
static void *volatile p[100];
__attribute__((noinline)) static void one(int n)
{
	for (int i = 0; i < n; i++)
		p[i] = malloc(i + 1);
}
__attribute__((noinline)) static void two(int n)
{
	one(n);
	p[n] = malloc(300);
}
int main(int argc, char **argv)
{
	(void)argv;
	two(60);
	if (argc > 2 && fork() == 0)
		p[70] = malloc(70);
	p[61] = calloc(100, 100);
	p[62] = realloc(p[60], 7);
	free(p[61]);
	p[63] = malloc(3000);
	return argc > 1 ? 7 : 0;
}
END
$CC -O1 -g -fno-builtin -o heap heap.c
# peak FILE: bytes, and what the allocator adds
peak() {
	awk -F= '/^mem_heap_B=/ { b = $2 } /^mem_heap_extra_B=/ { x = $2 }
	    /^heap_tree=peak/ { print b, x }' "$1"
}
# tree FILE: of the peak, bytes and names, with the places of a function as one
tree() {
	sed -n '/^heap_tree=peak/,/^#/s/^\( *n\)[0-9]*: \([0-9]* \)\(0x[0-9A-F]*: \)*\(.*\)/\1\2\4/p' \
	    "$1" | sed 's/ ([^ ]*\.c:[0-9]*)$\| (in .*//'
}
ran 7 "massif: the program's status" --tool=massif ./heap 7
name=$(ls massif.out.*)
same "the log has the file's number" "==${name#massif.out.}== " \
    "$(sed 's/\(== \).*/\1/' said | sort -u)"
same "the log" "== Massif, a heap profiler
== Files and figures of that tool, made by quern
== Using Valgrind-N.N.N.quern, without Valgrind and LibVEX; rerun with -h for \
copyright info
== Command: ./heap N
== 
== " "$(log said)"
same "the peak" "12130 974" "$(peak "$name")"
same "the command" "cmd: ./heap 7" "$(grep ^cmd "$name")"
if command -v ms_print >/dev/null; then
	check "ms_print" ms_print "$name"
	check "shows the peak" grep -q '(peak)' out
else
	skip "ms_print" "there is none"
	skip "shows the peak" "there is none"
fi
args="--tool=massif --massif-out-file=ms"
"$V" $args ./heap 2>said
same "the tree" " n10000 main
 n1830 one
  n1830 two
   n1830 main
 n300 two
  n300 main" "$(tree ms | sed 1d)"
"$V" $args --depth=2 ./heap 2>said
same "--depth" " n10000 main
 n1830 one
  n1830 two
 n300 two
  n300 main" "$(tree ms | sed 1d)"
"$V" $args --threshold=12.5 ./heap 2>said
same "--threshold" " n10000 main
 n1830 one
  n1830 two
   n1830 main
 n300 in 1 place, below massif's threshold (12.50%)" "$(tree ms | sed 1d)"
"$V" $args --max-snapshots=10 --detailed-freq=2 ./heap 2>said
check "--max-snapshots" test "$(grep -c ^snapshot= ms)" -le 10
check "--detailed-freq" test "$(grep -c =detailed ms)" -ge 2
"$V" $args --detailed-freq=1000000 ./heap 2>said
same "a tree of the first alone, and the peak's" "1 1" \
    "$(grep -c =detailed ms) $(grep -c =peak ms)"
"$V" $args --max-snapshots=1000 --time-unit=i --time-unit=ms --heap=yes \
    --stacks=no --pages-as-heap=no --heap-admin=8 --alignment=32 \
    --peak-inaccuracy=0.5 --xtree-memory=none --trace-malloc=no ./heap 2>said
same "what is the default, or changes nothing" "time_unit: B 12130 974" \
    "$(grep ^time_unit ms) $(peak ms)"
ran 7 "a forked child" --tool=massif --massif-out-file=ms.%p ./heap 7 fork
same "has a file of its own" 2 "$(ls ms.* | wc -l)"
same "and a last line" 7 "$(grep -c '^==' said)"
rm ms.*
ran 0 "a shell's children" --tool=massif --massif-out-file=ms.%p \
    --trace-children=yes sh -c './heap; ./heap; :'
same "have theirs" 2 "$(grep -l '^cmd: \./heap' ms.* | wc -l)"
same "and their logs" 3 "$(grep -c 'Command:' said)"
status 125 "massif: nowhere to write" "$V" --tool=massif \
    --massif-out-file=/dev/full ./heap
if [ -z "$SAN" ]; then
	status 0 "less address space" sh -c "ulimit -v 3000000; '$V' $args \
	    ./heap"
	same "has the first caller alone" " n10000 main
 n1830 one
 n300 two" "$(tree ms | sed 1d)"
else
	skip "less address space" "sanitizers need memory of their own"
	skip "has the first caller alone" "sanitizers need memory of their own"
fi
if command -v valgrind >/dev/null && valgrind --tool=none ./heap 2>/dev/null
then
	for o in --depth=30 --depth=2 --threshold=12.5 --threshold=40; do
		set -- --tool=massif --time-unit=B --peak-inaccuracy=0.0 $o
		env -i "$(command -v valgrind)" "$@" --massif-out-file=m1 \
		    ./heap 2>said
		env -i PATH=/usr/bin:/bin "$V" "$@" --massif-out-file=m2 \
		    ./heap 2>said
		same "massif $o: Valgrind's peak" "$(peak m1)" "$(peak m2)"
		same "and its tree" "$(tree m1)" "$(tree m2)"
	done
else
	skip "Massif's peak" "no valgrind"
fi

# --- exp-bbv, lackey, none
ran 0 "exp-bbv" --tool=exp-bbv --interval-size=10000 --bb-out-file=bb \
    --pc-out-file=pc.%p ./prog
check "vectors" grep -q '^T:[0-9]*:[0-9]' bb
check "blocks" grep -q '^F:[0-9]*:' pc.*
ran 0 "lackey" --tool=lackey --trace-mem=yes --log-file=lk ./prog
check "references" grep -q '^I  [0-9a-f]*,[0-9]*$' lk
check "and sums" grep -q 'Counted 1 call to main()' lk
check "and both ends" test "$(grep -c '^==' lk)" -gt 6
ran 7 "lackey: sums" --tool=lackey --fnname=work ./prog 7
same "its log" "== Counted N call to work()
== 
== Jccs:
== total: N
== taken: N (N%)
== 
== Executed:
== SBs entered: N
== SBs completed: N
== guest instrs: N
== IRStmts: N
== 
== Ratios:
== guest instrs : SB entered = N : N
== IRStmts : SB entered = N : N
== IRStmts : guest instr = N : N
== 
== Exit code: N" "$(log said | sed 1,6d)"
same "instructions, as Cachegrind has them" \
    "$("$V" --tool=cachegrind --cachegrind-out-file=/dev/null ./prog 7 2>&1 |
    sed -n 's/.*refs: *//p')" "$(sed -n 's/.*guest instrs: *//p' said)"
same "the status" 7 "$(sed -n 's/.*Exit code: *//p' said)"
ran 7 "none" --tool=none ./prog 7
same "its log" 6 "$(grep -c '^==' said)"
ran 134 "none: a program that aborts" -q --tool=none ./prog abort
ran 134 "callgrind: too" -q --tool=callgrind --callgrind-out-file=ab \
    ./prog abort
check "has a profile" grep -q '^totals: [1-9]' ab

# --- translations that are kept
for k in no yes; do
	args="--tool=cachegrind --cache-sim=$k --branch-sim=$k"
	"$V" $args --cachegrind-out-file=want ./prog 7 >out 2>err
	for i in 1 2; do
		QUERN_STORE=$PWD/kept "$V" $args --cachegrind-out-file=cg \
		    ./prog 7 >out 2>err
		same "QUERN_STORE, run $i, caches and branches: $k" "7 " \
		    "$? $(diff want cg)"
	done
done
same "QUERN_STORE: an entry for each kind of events" 2 "$(ls kept | wc -l)"

# --- children
rm -f cg.*
args="--tool=cachegrind --cachegrind-out-file=cg.%p"
ran 0 "a forked child" $args ./prog fork
same "has a profile of its own" 2 "$(ls cg.* | wc -l)"
same "and last lines of its own" 2 "$(grep -c 'I refs:' said)"
same "but no first ones" 1 "$(grep -c 'Command:' said)"
ran 0 "a silent one" $args --child-silent-after-fork=yes ./prog fork
same "has none" 1 "$(grep -c 'I refs:' said)"
ran 0 "a child, and one name" --tool=cachegrind --cachegrind-out-file=one \
    ./prog fork
same "is the file of the first process" \
    "$(sed -n 's/.*I refs: *//p' said | tr -d , | sort -n | tail -n 1)" \
    "$(sed -n 's/^summary: //p' one)"
same "and nothing is left" one "$(ls -d one*)"
rm -f cg.*
ran 0 "a program executed" $args ./prog exec "$T/prog"
same "goes on natively" 1 "$(ls cg.* | wc -l)"
first=$(sed -n 's/^summary: //p' cg.*)
check "the profile has what ran before" test "$first" -gt 50000
rm -f cg.*
ran 7 "a program executed, followed" $args --trace-children=yes \
    ./prog exec "$T/prog" 7x
check "has the file" grep -q "^cmd: $T/prog 7x" cg.*
same "and a log" 2 "$(grep -c 'Command:' said)"
same "with the last lines of the last one" 1 "$(grep -c 'I refs:' said)"
rm -f cg.*
printf './prog\n./prog fork\n:\n' >run.sh
ran 0 "a script's" $args --trace-children=yes --log-file=sh.%p sh run.sh
same "profiles" 4 "$(ls cg.* | wc -l)"
same "logs" 4 "$(ls sh.* | wc -l)"
rm -f cg.* sh.*
ran 0 "a script's, but for some" $args --trace-children=yes \
    --trace-children-skip='*/no,*prog' sh run.sh
same "profiles" 1 "$(ls cg.* | wc -l)"
rm -f cg.*
# executed by a link to its file, which PATH leads to
mkdir path
printf '#include <unistd.h>\nint main(void) {\n\texeclp("linked", "linked", \
(char *)0);\n\treturn 1;\n}\n' >exec.c
${CC:-gcc} -o exec exec.c
ln -s ../prog path/linked
PATH=$PWD/path:$PATH ran 0 "by a link in PATH" $args --trace-children=yes \
    --trace-children-skip='*/path/linked' sh -c './exec; :'
same "profiles" 2 "$(ls cg.* | wc -l)"
rm -f cg.*
ran 0 "by argument" $args --trace-children=yes \
    --trace-children-skip-by-arg='f?rk' sh run.sh
same "profiles" 2 "$(ls cg.* | wc -l)"

# --- the program's requests
ran 8 "counting starts on request" --tool=cachegrind \
    --cachegrind-out-file=as --instr-at-start=no ./asks
some=$(sed -n 's/^summary: //p' as)
check "and counts that" test "$some" -gt 4000 -a "$some" -lt 12000
same "a request that changes nothing is told" 1 \
    "$(grep -c 'but instrumentation is already disabled' said)"
ran 0 "counting does not start" --tool=cachegrind --cachegrind-out-file=as \
    --instr-at-start=no ./asks 1 2
check "nothing is counted" grep -q 'I refs:  *0$' said
ran 8 "Callgrind starts on request" --tool=callgrind --callgrind-out-file=as \
    --instr-atstart=no ./asks 1
some=$(sed -n 's/^totals: //p' as)
check "and counts that" test "$some" -gt 4000 -a "$some" -lt 12000
ran 8 "a part on request" --tool=callgrind --callgrind-out-file=as \
    --dump-before=work ./asks 1
same "has Callgrind's names" "as as.1" "$(echo $(ls as as.[0-9]*))"
ran 8 "parts in one file" --tool=callgrind --callgrind-out-file=as2 \
    --dump-before=work --combine-dumps=yes ./asks 1
same "is one file" "as2 2" "$(ls as2*) $(grep -c '^part:' as2)"

# --- by a link in another folder, and by PATH
mkdir bin
ln -s "$V" bin/valgrind
rm -f cachegrind.out.*
check "by a link" "$T/bin/valgrind" --tool=cachegrind ./prog
check "by PATH" env PATH="$T/bin:$PATH" valgrind --tool=cachegrind ./prog
same "files" 2 "$(ls cachegrind.out.* | wc -l)"
same "tests do not take it for a judge" "" \
    "$(cd "$OLDPWD" && PATH=$T/bin:$PATH sh -c '. t/lib.sh
    valgrind --version 2>/dev/null | grep quern')"

# --- Valgrind itself, on a program without a C library
cat >bare.c <<'END'
static volatile int v[5000];
static volatile char b[300], c[300];
static int twice(int n)
{
	return n > 0 ? twice(n - 1) + v[n] : 0;
}
void _start(void)
{
	void *from = (void *)b, *to = (void *)c;
	long n = 300;
	for (int i = 0; i < 5000; i++)
		v[i * 7 % 5000] += i & 3;
	__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(n));
	twice(40);
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
}
END
$CC -O1 -g -fno-stack-protector -fcf-protection=none -static -nostdlib \
    -o bare bare.c || skip_all "no static programs"
cat >parts.c <<'END'
static unsigned long ask(unsigned long what)
{
	volatile unsigned long a[6] = { 'C' << 24 | 'T' << 16 | what };
	unsigned long r = 0;
	__asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; "
	    "rolq $51, %%rdi; xchgq %%rbx, %%rbx" : "+d"(r) : "a"(a)
	    : "cc", "memory");
	return r;
}
enum { DUMP, ZERO, TOGGLE, START = 4, STOP };
static volatile int sum = 1;	/* Valgrind names nothing without data */
__attribute__((noinline)) static int twice(int n)
{
	return n > 0 ? twice(n - 1) + n : (int)ask(TOGGLE);
}
__attribute__((noinline)) static void work(int n)
{
	sum += twice(n);
	ask(TOGGLE);
	twice(2 * n);
	ask(n == 3 ? ZERO : DUMP);
}
void _start(void)
{
	for (int i = 0; i < 8; i++) {
		work(i);
		ask(TOGGLE);
		if (i == 4)
			ask(STOP);
		if (i == 6)
			ask(START);
	}
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
}
END
$CC -O1 -g -fno-stack-protector -fcf-protection=none -static -nostdlib \
    -mno-sse -o parts parts.c
sums() {
	sed -n 's/^.*== [ID]  *refs: *\|^.*== Branches: *//p' "$1"
}
if command -v valgrind >/dev/null && valgrind --tool=none ./bare 2>/dev/null
then
	exact="--vex-guest-chase=no --vex-iropt-level=0"
	for o in "cachegrind --cache-sim=no" "callgrind --cache-sim=yes" \
	    "cachegrind --cache-sim=yes --branch-sim=yes"; do
		env -i "$(command -v valgrind)" $exact --tool=$o \
		    --${o%% *}-out-file=v1 ./bare 2>valgrind.log
		"$V" --tool=$o --${o%% *}-out-file=v2 ./bare 2>ours.log
		# Callgrind does not count the last block's instructions
		first=$(case $o in callgrind*) echo 1d ;; esac)
		same "$o: Valgrind's sums" "$(sums valgrind.log | sed "$first")" \
		    "$(sums ours.log | sed "$first")"
	done
	env -i "$(command -v valgrind)" $exact --tool=lackey ./bare \
	    2>valgrind.log
	"$V" --tool=lackey ./bare 2>ours.log
	jccs='s/.*total: *//p; s/.*taken: *//p; s/.*guest instrs: *//p'
	same "lackey: branches, and instructions" \
	    "$(sed -n "$jccs" valgrind.log)" "$(sed -n "$jccs" ours.log)"
	# requests, as gungraun uses Callgrind
	set -- --collect-atstart=no --dump-instr=yes --trace-children=yes \
	    --tool=callgrind --log-file=parts.log
	for f in "" work twice; do
		env -i "$(command -v valgrind)" $exact "$@" \
		    ${f:+"--toggle-collect=$f"} --callgrind-out-file=p1 ./parts
		"$V" "$@" ${f:+"--toggle-collect=$f"} \
		    --callgrind-out-file=p2 ./parts
		same "callgrind: parts${f:+ of $f}" \
		    "$(grep -h ^totals: p1 p1.*)" "$(grep -h ^totals: p2 p2.*)"
		check "are not empty" grep -q '^totals: [1-9]' p2.1
		rm p1 p1.* p2 p2.*
	done
else
	skip "Valgrind's sums" "no valgrind"
fi

# where nothing can be written there are no sums, rather than 0
for o in cachegrind callgrind; do
	status 125 "$o: nowhere to write" "$V" --tool=$o \
	    --$o-out-file=/dev/full ./bare
	same "no sums" "" "$(sums "$T/err")"
done

# without standard error there is no log, but all else
for o in cachegrind callgrind; do
	closed() {
		"$V" --tool=$o --$o-out-file=closed.$o sh -c 'exit 3' 2>&-
	}
	status 3 "$o: standard error closed" closed
	check "a profile" grep -q '^\(summary\|totals\): [1-9]' closed.$o
done

# where /dev has a null and no fd
: >null
few() { # command...
	$mounts sh -c 'mount --bind /dev/null null && mount -t tmpfs none /dev &&
	    : >/dev/null && mount --bind null /dev/null && exec "$@"' sh "$@"
}
mounts="unshare -m"
$mounts true 2>/dev/null || mounts="unshare -U -r -m"
if few true 2>/dev/null; then
	check "without /dev/fd" few "$V" --tool=cachegrind \
	    --cachegrind-out-file=few ./bare
	check "the log is on standard error" grep -q 'refs: *[1-9]' "$T/err"
	check "without a complaint" test 0 -eq "$(grep -c failed "$T/err")"
else
	skip "without /dev/fd" "no mounts"
	skip "the log is on standard error" "no mounts"
	skip "without a complaint" "no mounts"
fi

done_testing
