#!/bin/sh
# Kind cache leaves out only what changes nothing: cachesim's output from it is
# byte for byte that of the full stream, on programs that run the same twice.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
plan 31

caches="--I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64"
seq 1 20000 >"$T/numbers"
cat >"$T/w.sql" <<'EOF'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
    insert into t select x, 'name' || x from c;
select count(*), sum(length(b)) from t where b like '%7%';
create index i on t(b);
select a from t where b = 'name777';
EOF
cat >"$T/words.pl" <<'EOF'
my @a = map { $_ * 7919 % 10007 } 1 .. 20000;
my @s = sort { $a <=> $b } @a;
my $t = join ",", @s;
$t =~ s/(\d)0/$1-/g;
print length $t, "\n";
EOF

run() {
	PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0 \
	    timeout 120 "$B/trace" "$@" </dev/null >/dev/null
}

same_costs() {
	name=$1
	shift
	run -o "$T/all.ev" "$@" && run -e cache -o "$T/cache.ev" "$@" &&
	    "$B/cachesim" $caches -o "$T/all" "$T/all.ev" &&
	    "$B/cachesim" $caches -o "$T/cache" "$T/cache.ev"
	ok "$name: both kinds are simulated" $?
	cmp -s "$T/all" "$T/cache" && for kind in all cache; do
		"$B/cachesim" $caches --D1=49152,12,64 -o "$T/$kind" \
		    "$T/$kind.ev" || return
	done && cmp -s "$T/all" "$T/cache"
	ok "$name: the same bytes, also of more ways" $?
}

# The misses of $T/told.ev, by O lines, are those of the costs.
told_all() {
	perl -ne 'sub add {
			for (split / /, $_[0]) {
				/(\w+)(\*(\w+))?/;
				$n{$1} += $_[1] * ($2 ? hex $3 : 1);
			}
		}
		if (/^O @(\w+) ?(.*)/) { $stands{$1} = $2 }
		elsif (/^O [0-9a-f]+ (.*)/) { add($1, 1) }
		elsif (/^([0-9a-f]+)[^*]*(\*(\w+))?$/ && $stands{$1}) {
			add($stands{$1}, 1 + ($2 ? hex $3 : 0));
		}
		END { print join(" ", map { $n{$_} + 0 }
		    qw(I1mr ILmr D1mr DLmr D1mw DLmw)), "\n" }' \
	    "$T/told.ev" >"$T/sums"
	same "$1" "$(awk '/^totals:/ {
		print $3, $4, $6, $7, $9, $10 }' "$2")" "$(cat "$T/sums")"
}

one() {
	command -v "$2" >/dev/null || {
		skip "$1: simulated" "no $2"
		skip "$1: the same bytes" "no $2"
		return
	}
	same_costs "$@"
}

one bzip2 bzip2 -kc "$T/numbers"
one sqlite3 sqlite3 :memory: -init "$T/w.sql" .quit
one perl perl "$T/words.pl"
one gzip gzip -c "$T/numbers"
# not -l, which reads the clock: in one run of 500 at the end of a second, which
# takes five instructions more
one ls ls -isS /usr/bin
# the second image's table begins empty
one "an exec" env -i bzip2 -kc "$T/numbers"

# Repeated string instructions: short ones find or bring their lines, long ones
# find and leave their sets empty; both ways, misaligned, and overlapping.
cat >"$T/rep.c" <<'EOF'
#include <stdint.h>

static uint8_t a[1 << 17];
static uint32_t seed = 1;

static uint32_t
below(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * n >> 32);
}

#define REP(insn) do {							\
	void *d = to, *s = from;					\
	uint64_t n = count;						\
	if (down)							\
		__asm__ volatile("std; " insn "; cld" : "+D"(d), "+S"(s), \
		    "+c"(n) : "a"(0L) : "memory", "cc");		\
	else								\
		__asm__ volatile(insn : "+D"(d), "+S"(s), "+c"(n)	\
		    : "a"(0L) : "memory", "cc");			\
} while (0)

int
main(void)
{
	static const uint32_t most[] = { 2, 70, 600, 4000 };

	for (int i = 0; i < 4000; i++) {
		uint32_t count = below(most[below(4)]), what = below(8);
		int down = below(4) == 0;
		uint8_t *to = a + 40000 + below(below(2) ? 300 : 40000);
		uint8_t *from = a + 40000 + below(below(2) ? 300 : 40000);

		if (below(2))
			a[below(sizeof a)]++;
		switch (what) {
		case 0: REP("rep movsb"); break;
		case 1: REP("rep movsl"); break;
		case 2: REP("rep movsq"); break;
		case 3: REP("rep stosb"); break;
		case 4: REP("rep stosq"); break;
		case 5: REP("repe cmpsb"); break;
		case 6: REP("repe scasw"); break;
		default: REP("rep lodsl"); break;
		}
	}
	return 0;
}
EOF
${CC:-gcc} -O1 -static -o "$T/rep" "$T/rep.c"
ok "a program that repeats" $?
for way in cache cache=64,64,2 cache=2; do
	run -o "$T/all.ev" "$T/rep" &&
	    run -e "$way" -o "$T/cache.ev" "$T/rep" &&
	    "$B/cachesim" $caches -o "$T/all" "$T/all.ev" &&
	    "$B/cachesim" $caches -o "$T/cache" "$T/cache.ev" &&
	    cmp -s "$T/all" "$T/cache"
	ok "repeated references, $way: the same bytes" $?
done
# A line's bits are taken out of an address in another way for lines of another
# size, and on processors without BMI.
small="--I1=16384,8,32 --D1=16384,8,32 --LL=1048576,16,32"
run -e cache=64,32,8 -o "$T/cache.ev" "$T/rep" &&
    "$B/cachesim" $small -o "$T/all" "$T/all.ev" &&
    "$B/cachesim" $small -o "$T/cache" "$T/cache.ev" &&
    cmp -s "$T/all" "$T/cache"
ok "lines of 32 bytes: the same bytes" $?
same_costs "with BMI" --clear-env bzip2 -kc "$T/numbers"
GLIBC_TUNABLES=glibc.cpu.hwcaps=-BMI1,-BMI2 run -e cache --clear-env \
    -o "$T/cache.ev" bzip2 -kc "$T/numbers" &&
    "$B/cachesim" $caches --D1=49152,12,64 -o "$T/cache" "$T/cache.ev" &&
    cmp -s "$T/all" "$T/cache"
ok "without: the same bytes" $?

run -e cache -o "$T/cache.ev" "$T/rep" &&
    "$B/cachesim" $caches -o "$T/all" "$T/cache.ev" &&
    "$B/cachesim" -t $caches -o "$T/told.ev" "$T/cache.ev"
told_all "misses of repeated references are told" "$T/all"

# With -t the misses come as O lines, behind references alone or standing.
run -e cache -o "$T/cache.ev" sqlite3 :memory: -init "$T/w.sql" .quit &&
    "$B/cachesim" $caches -o "$T/want" "$T/cache.ev" &&
    "$B/cachesim" -t $caches -o "$T/told.ev" "$T/cache.ev"
ok "passed through" $?
told_all "all misses are told" "$T/want"
sed '/^O /d; /^H outcomes/d; /^H desc/d' "$T/told.ev" |
    "$B/cachesim" $caches -o "$T/got"
cmp "$T/want" "$T/got"
ok "all else is passed on" $?
printf '%s\n' "H quern-events 2" "H kind cache 64 64 8" "B 1 >1000 3 4r8.0" \
    "Q 2 1 2 1 s" "2+7ffe10000" "O 1 D1mr" "W 1 1" "E exit 0 2" >"$T/o.ev"
"$B/cachesim" $caches -o /dev/null "$T/o.ev" 2>"$T/err"
same "misses of another instruction are told" "cachesim: $T/o.ev:6: O: the \
last reference is of instruction 2, not 1" "$(cat "$T/err")"

# a repeated instruction without a round, under the trap flag
cat >"$T/rep0.S" <<'EOF'
	.intel_syntax noprefix
	.globl _start
_start:	mov edi, 5		# SIGTRAP
	lea rsi, act[rip]
	xor edx, edx
	mov r10d, 8
	mov eax, 13		# rt_sigaction
	syscall
	pushf
	or dword ptr [rsp], 0x100
	popf
	mov r12d, 20
1:	lea rsi, buf[rip]
	lea rdi, buf[rip]
	xor ecx, ecx
	rep movsb
	xor ecx, ecx
	repe cmpsb
	mov ecx, 3
	rep stosb
	dec r12d
	jnz 1b
	pushf
	and dword ptr [rsp], 0xfffffeff
	popf
	mov eax, 231		# exit_group
	xor edi, edi
	syscall
handler: ret
restorer: mov eax, 15
	syscall
	.data
act:	.quad handler, 0x04000004, restorer, 0
buf:	.space 64
EOF
gcc -nostdlib -static -o "$T/rep0" "$T/rep0.S" || exit 99
same_costs "no round, and a trap" "$T/rep0"

run -e cache=32 -o "$T/small.ev" bzip2 -kc "$T/numbers" &&
    run -o "$T/all.ev" bzip2 -kc "$T/numbers" &&
    "$B/cachesim" $caches -o "$T/all" "$T/all.ev" &&
    "$B/cachesim" $caches -o "$T/cache" "$T/small.ev" &&
    cmp -s "$T/all" "$T/cache"
ok "a table of 32 lines: the same bytes" $?
"$B/cachesim" --D1=1024,1,64 -o /dev/null "$T/small.ev" 2>"$T/err"
[ $? -eq 2 ] && grep -q 'cache' "$T/err"
ok "a cache with fewer sets than the table is refused" $?
for kind in cachegrind cachesim=64; do
	"$B/trace" -e $kind true 2>"$T/err" >"$T/out"
	grep -q "^trace: -e $kind: not a kind of events: all, .*cache" "$T/err"
	ok "-e $kind is no table of kind cache" $?
done
