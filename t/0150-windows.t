#!/bin/sh
# trace --from, --to, --after, --for: exactly what runs in the windows is told,
# held to single-stepping, and to callgraph, which collects from a whole stream.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

cat >"$T/lib.c" <<'EOF'
extern volatile long sum;

__attribute__((noinline)) static void
add(int n)
{
	while (n-- > 0)
		sum += n;
}

void
in_lib(int n)
{
	add(n);
	add(n);
}
EOF

cat >"$T/prog.cc" <<'EOF'
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" void in_lib(int);
volatile long sum;
static jmp_buf back;

#define FN extern "C" __attribute__((noinline)) void

FN leaf(int n) { for (int i = 0; i < n; i++) sum += i; }
FN twice(int n) { leaf(n); in_lib(n); sum++; }
FN recurse(int n) { leaf(2); if (n > 0) recurse(n - 1); sum++; }
FN jumper(int n) { leaf(n); longjmp(back, 1); }
FN thrower(int n) { leaf(n); if (n > 0) throw n; }
FN catcher(int n) { try { thrower(n); } catch (int) { leaf(1); } }
FN tail(int n) { sum++; leaf(n); }
FN mark(void) { sum++; }
FN raiser(void) { raise(SIGUSR1); leaf(4); }
FN in_child(int n) { leaf(n); }
extern "C" void *in_thread(void *) { leaf(20); return NULL; }
extern "C" int apart(void *) { leaf(30); twice(3); return 0; }

/* Threads that are waited for in the same number of instructions each time. */
FN threads(void)
{
	static char stack[16384];

	leaf(1);
	waitpid(clone(apart, stack + sizeof stack, CLONE_VM | CLONE_FS |
	    CLONE_FILES | CLONE_SIGHAND, NULL), NULL, __WALL);
}

FN forks(int n)
{
	int st;

	if (fork() == 0) {
		in_child(n);
		_exit(3);
	}
	wait(&st);
}

namespace deep {
__attribute__((noinline)) void
leave(long n)
{
	sum += n;
}
struct under {
	__attribute__((noinline)) static void
	dive(long n)
	{
		sum += n;
	}
};
}

static void handler(int) { leaf(6); }

int
main(int argc, char **)
{
	pthread_t t;
	int i;

	signal(SIGUSR1, handler);
	for (i = 0; i < 200; i++)
		leaf(i % 7);
	twice(4);
	recurse(5);
	for (i = 0; i < 3; i++)
		if (setjmp(back) == 0)
			jumper(7);
	for (i = 0; i < 3; i++) {
		try {
			thrower(i);
		} catch (int) {
			sum++;
		}
		catcher(i);
	}
	tail(3);
	raiser();
	threads();
	if (argc > 1) {
		forks(9);
		pthread_create(&t, NULL, in_thread, NULL);
		pthread_join(t, NULL);
	}
	mark();
	leaf(3);
	deep::leave(2);
	deep::under::dive(2);
	mark();
	printf("%ld\n", sum);
	return 0;
}
EOF
g++ -O1 -fno-inline -c -o "$T/prog.o" "$T/prog.cc" &&
    gcc -O1 -fPIC -shared -o "$T/libin.so" "$T/lib.c" &&
    g++ -rdynamic -o "$T/prog" "$T/prog.o" "$T/libin.so" \
	-Wl,-rpath,"$T" -lpthread
ok "a program, and a library" $?

# The engine shows no rseq(2); stepcount would have to step up to the call.
clean() {
	env -i PATH=/usr/bin:/bin GLIBC_TUNABLES=glibc.pthread.rseq=0 \
	    timeout -k 5 60 "$@"
}

# at FN: where it runs, without randomization
at() {
	printf %x $((0x$(nm "$T/prog" | sed -n "s/ [Tt] $1\$//p") +
	    0x555555554000))
}

# steps ADDRESS[,ADDRESS]: as single-stepping counts
steps() {
	clean "$TB/stepcount" -o "$T/steps" -w "$1" "$T/prog" $arg >"$T/out"
	cat "$T/steps"
}

# stepped TEXT FROM OPTION...: as many as single-stepping counts from there.
# Some virtual processors stop at no breakpoint.
clean "$TB/stepcount" -w 1 /bin/true >"$T/out"
breaks=$?
was=
stepped() {
	text=$1 begin=$2
	shift 2
	if [ $breaks -eq 77 ]; then
		skip "$text" "this processor stops at no breakpoint"
		return
	fi
	[ "$begin" = "$was" ] || want=$(steps "$begin")
	was=$begin
	same "$text" "$want" "$(told "$@")"
}

# told OPTION...: how many instructions of prog are in the stream
told() {
	clean "$B/trace" -o "$T/ev" "$@" "$T/prog" $arg >"$T/out" 2>"$T/err"
	"$TB/evcount" "$T/ev" 2>&1
}

modes="-e.all -e.counts"
[ -z "${ALL_MODES:-}" ] || modes="-e.all -e.blocks -e.counts -e.all.--debug=nolink
-e.all.--debug=tinycache -e.all.--debug=nosuper -e.all.--debug=long
-e.blocks.--debug=long"
words() {
	echo "$1" | sed 's/-e\./-e /; s/\.--/ --/'
}

arg=
whole=$(clean "$T/prog")
for fn in leaf twice recurse jumper thrower catcher tail raiser threads \
    apart main; do
	case $fn in
	leaf|thrower|threads) ;;
	*)	[ -n "${ALL_MODES:-}" ] || continue ;;
	esac
	case $fn in
	leaf|recurse|thrower|threads)	some=$modes ;;
	*)
		some=-e.blocks.--debug=long
		[ -z "${ALL_MODES:-}" ] || some="$some -e.counts" ;;
	esac
	for m in $some; do
		stepped "$fn $(words $m)" "$(at $fn)" $(words $m) --from=$fn
	done
	told --from=$fn >"$T/n"
	same "$fn: the program's output" "$whole" "$(cat "$T/out")"
	told -e all --from=$fn >"$T/n"
	"$B/cachesim" "$T/ev" 2>"$T/err" | sed /^creator/d >"$T/all"
	told -e cache --from=$fn >"$T/n"
	"$B/cachesim" "$T/ev" 2>"$T/err" | sed /^creator/d >"$T/cache"
	samefile "$fn -e cache: the misses of kind all" "$T/all" "$T/cache"
done

arg=more
for m in $modes; do
	stepped "a thread's function $(words $m)" "$(at in_thread)" \
	    $(words $m) --from=in_thread
done
arg=

for pair in recurse,mark ${ALL_MODES:+leaf,leaf twice,leaf tail,main}; do
	from=${pair%,*} to=${pair#*,}
	for m in -e.all ${ALL_MODES:+-e.blocks.--debug=long -e.counts}; do
		stepped "from $from to $to, $(words $m)" \
		    "$(at $from),$(at $to)" $(words $m) --from=$from --to=$to
	done
done

# Where there is a difference, this says where: address by address.
if [ $breaks -eq 77 ]; then
	skip "every address by itself" "this processor stops at no breakpoint"
else
	clean "$TB/stepcount" -p -o "$T/steps" -w "$(at thrower)" "$T/prog" \
	    >"$T/out"
	told --from=thrower >"$T/n"
	"$TB/evcount" -p "$T/ev" >"$T/told"
	samefile "every address by itself" "$T/steps" "$T/told"
fi

# --------------------------------------------------- names and combinations

twice=$(told --from=twice)
same "an address" "$twice" "$(told --from=0x$(at twice))"
same "several functions" "$((twice + $(told --from=thrower)))" \
    "$(told --from=thrower --from=twice)"
n=$(told --from=deep::leave)
check "a name as in the source" test "$n" -gt 0
same "with its parameters" "$n" "$(told '--from=deep::leave(long)')"
same "mangled" "$n" "$(told --from=_ZN4deep5leaveEl)"
n=$(told --from=in_lib)
check "a function of a library" test "$n" -gt 40
status 125 "an unknown one is no success" "$B/trace" -o "$T/none.ev" --from=nowhere true
same "one line says why" "trace: --from=nowhere: no symbol of this name was mapped" \
    "$(cat "$T/err")"
status 125 "the last word of one" "$B/trace" -o "$T/last.ev" --from=leave \
    "$T/prog"
same "is told with the others" "trace: --from=leave: no symbol of this name was \
mapped; perhaps deep::leave" "$(cat "$T/err")"
status 125 "the last words of one" "$B/trace" -o "$T/last.ev" \
    --from=under::dive "$T/prog"
same "are told with the others" "trace: --from=under::dive: no symbol of this \
name was mapped; perhaps deep::under::dive" "$(cat "$T/err")"
check "no whole stream" sh -c '! grep -q "^E " "$1"' sh "$T/none.ev"
status 125 "no end either" "$B/trace" -o "$T/none.ev" --to=nowhere true
status 0 "one of two is enough" "$B/trace" -o "$T/none.ev" --from=nowhere \
    --from=0x1000 true
status 125 "a bad address" "$B/trace" --from=0xyz true

early=$(told -e counts --to=recurse)
before=$(told -e counts --to=mark)
all=$(told -e counts)
behind=$(told -e counts --from=mark --to=main)
same "--to alone is from the start on; what follows is the rest" "$all" \
    "$((before + behind))"

n=$(told -e blocks --from=leaf --for=300)
check "--for ends within windows" test "$n" -ge 300 -a "$n" -lt 400
n=$(told -e counts --from=leaf)
same "--after that is over before: all windows" "$n" \
    "$(told -e counts --after=1000 --from=leaf)"
part=$(told -e counts --after=$early --from=leaf)
check "--after: windows that begin later only" test "$part" -lt "$n" \
    -a "$part" -gt 0
told -e blocks --from=leaf >"$T/n"
same "system calls and signals outside are not told" "" \
    "$(grep '^[YK]' "$T/ev")"
told -e blocks --after=100000000 >"$T/n"
same "nor before --after" "" "$(grep '^[YK]' "$T/ev")"
told -e blocks --from=raiser >"$T/n"
same "a signal inside is" 1 "$(grep -c '^K' "$T/ev")"

# The first thread for which --after is over ends it for the others, which are
# anywhere by then: in code, or waiting for some.
cat >"$T/after.c" <<'EOF'
#include <pthread.h>
#include <stdio.h>

static long sum[8];

static void *
work(void *arg)
{
	long n = *(long *)arg;

	for (long i = 0; i < 30000; i++)
		n = n * 6364136223846793005 + (n & 4 ? i : 1);
	*(long *)arg = n;
	return NULL;
}

int
main(void)
{
	pthread_t t[8];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 8; i++)
			pthread_create(&t[i], NULL, work, &sum[i]);
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
	}
	for (int i = 0; i < 8; i++)
		printf("%ld\n", sum[i]);
	return 0;
}
EOF
gcc -O1 -pthread -o "$T/after" "$T/after.c"
"$T/after" >"$T/want"
for k in all blocks cache branches counts; do
	clean "$B/trace" -e $k -o "$T/ev" "$T/after" >"$T/out"
	whole=$("$TB/evcount" "$T/ev")
	clean "$B/trace" -e $k --after=150000 -o "$T/ev" "$T/after" >"$T/out"
	same "kind $k, --after with threads: the program ends well" 0 $?
	samefile "and says the same" "$T/want" "$T/out"
	part=$("$TB/evcount" "$T/ev")
	check "and the rest is told" test "$part" -gt 0 -a \
	    "$part" -le $((whole - 100000))
done

# What is made within a window is in it: here the child after its fork.
follow() {
	rm -f "$T"/f.*
	clean "$B/trace" -f -e counts -o "$T/f.%p" "$@" "$T/prog" x >"$T/out"
	for f in "$T"/f.*; do
		"$TB/evcount" "$f"
	done | sort -n | tr '\n' ' '
}
set -- $(follow --from=in_child)
same "-f: each process has its windows" "0 1" "$1 $(($2 > 9))"
inside=$2
set -- $(follow --from=forks)
check "-f: a child of a window is in it" test "$1" -gt "$inside"

# ---------------------------------------------- a library that comes and goes

cat >"$T/dl.c" <<'EOF'
#include <dlfcn.h>
#include <stdio.h>

volatile long sum;

int
main(int argc, char **argv)
{
	void (*f)(int);
	void *h;
	int i;

	for (i = 0; i < 20; i++) {
		h = dlopen(argv[argc - 1], RTLD_NOW);
		f = (void (*)(int))dlsym(h, "in_lib");
		f(5);
		dlclose(h);
	}
	printf("%ld\n", sum);
	return 0;
}
EOF
gcc -O1 -rdynamic -o "$T/dl" "$T/dl.c"
dl() {
	clean "$B/trace" -e $1 --from=$2 -o "$T/ev" "$T/dl" "$T/libin.so" \
	    >"$T/out"
	"$TB/evcount" "$T/ev"
}
for k in all counts; do
	f=$(dl $k in_lib)
	same "dlopen and dlclose: the output, $k" 400 "$(cat "$T/out")"
	same "20 windows, $k" \
	    "$((f % 20)) $((f > 20 * 40))" "0 1"
done

# ------------------------------------------------- a process that runs already

cat >"$T/loop.c" <<'EOF'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

volatile long sum;
static volatile int done;

__attribute__((noinline)) void
work(int n)
{
	while (n-- > 0)
		sum += n;
}

static void
end(int sig)
{
	done = sig;
}

int
main(void)
{
	signal(SIGTERM, end);
	alarm(60);
	puts("ready");
	fflush(stdout);
	while (!done) {
		work(10);
		getppid();
	}
	return 5;
}
EOF
gcc -O1 -fno-inline -o "$T/loop" "$T/loop.c"
"$T/loop" >"$T/ready" &
pid=$!
i=0
while [ ! -s "$T/ready" ] && [ $i -lt 200 ]; do
	sleep 0.05
	i=$((i + 1))
done
check "-p" "$B/trace" -e blocks --from=work --for=4000 -o "$T/ev" -p $pid
same "tells the function alone" "" "$(sed -n '/^Y/p' "$T/ev")"
n=$("$TB/evcount" "$T/ev")
check "as much of it as was asked for" test "$n" -ge 4000 -a "$n" -lt 4200
kill -TERM $pid
wait $pid
same "and the program goes on" 5 $?

# ------------------------------------------------- templates, and patterns

cat >"$T/tree.cc" <<'EOF'
namespace ns {
template <class T> struct Tree {
	T n;
	__attribute__((noinline)) int depth(int k)
	{
		return k == 0 ? (int)n : depth(k - 1) + 1;
	}
};
namespace {
__attribute__((noinline)) int hidden(int n)
{
	volatile int s = 0;
	for (int i = 0; i < n; i++)
		s = s + i;
	return s;
}
}
template <class T> __attribute__((noinline)) T twice(T x)
{
	volatile T y = x;
	return y + y;
}
}
int main()
{
	ns::Tree<int> a{1};
	ns::Tree<long> b{2};
	return a.depth(5) + b.depth(6) + ns::hidden(9) + ns::twice(3) +
	    (int)ns::twice(4.0) != 6 + 8 + 36 + 6 + 8;
}
EOF
if ${CXX:-g++} -O1 -o "$T/tree" "$T/tree.cc" 2>"$T/err"; then
	# of NAME: instructions of the functions of this name
	of() {
		clean "$B/trace" -e counts --from="$1" -o "$T/ev" "$T/tree" \
		    2>"$T/err" && [ ! -s "$T/err" ] && "$TB/evcount" "$T/ev"
	}
	int=$(of 'ns::Tree<int>::depth') long=$(of 'ns::Tree<long>::depth(int)')
	same "all that a template makes" $((int + long)) "$(of ns::Tree::depth)"
	same "a pattern" $((int + long)) "$(of '*depth*')"
	same "a pattern of one function" "$long" "$(of 'ns::Tree<l?ng>::depth')"
	two=$(of 'int ns::twice<int>(int)') four=$(of '*twice<double>*')
	same "a template of functions" $((two + four)) "$(of ns::twice)"
	ok "in a namespace without a name" "$([ "$(of \
	    'ns::(anonymous namespace)::hidden')" -gt 36 ]; echo $?)"
	clean "$B/trace" -e counts --from='*nothing*' -o "$T/ev" "$T/tree" \
	    2>"$T/err"
	same "a pattern that nothing matches" "trace: --from=*nothing*: no \
symbol of this name was mapped" "$(cat "$T/err")"
else
	for i in 1 2 3 4 5 6; do
		skip "templates and patterns" "no C++ compiler"
	done
fi

# ------------------------------------------------------------- a real program

cat >"$T/w.sql" <<'EOF'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 300)
    insert into t select x, 'name' || x from c;
select count(*), sum(length(b)) from t where b like '%7%';
EOF
sql() {
	clean "$B/trace" "$@" sqlite3 :memory: -init "$T/w.sql" .quit \
	    </dev/null >"$T/out" 2>"$T/err"
}
sql -e blocks -o "$T/whole.ev"
for fn in sqlite3_step sqlite3_prepare_v2 malloc; do
	case $fn-$(ldd "$(command -v sqlite3)") in
	malloc-* | *libsqlite3*) ;;
	*)
		skip "sqlite3, $fn, blocks" "it has no such symbol"
		skip "sqlite3, $fn, counts" "it has no such symbol"
		continue ;;
	esac
	"$B/callgraph" --toggle-collect=$fn -o "$T/cg" "$T/whole.ev"
	for k in blocks counts; do
		sql -e $k --from=$fn -o "$T/ev"
		same "sqlite3, $fn, $k: as callgraph collects" \
		    "$(sed -n 's/^totals: //p' "$T/cg")" \
		    "$("$TB/evcount" "$T/ev")"
	done
done
done_testing
