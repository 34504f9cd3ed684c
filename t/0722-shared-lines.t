#!/bin/sh
# callgraph --contexts of kinds counts and cache: the contexts of a function
# share its own costs by line.  The parts of a line add up to the line's cost,
# which callgraph has without --contexts; those of a context to the context's.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
cat >"$T/two.c" <<'END'
volatile long s, table[4096];
__attribute__((noinline)) void k(int n)
{
	s = 0;
	for (int i = 0; i < n; i++)
		table[i & 4095] += s;
	s ^= 1;
}
__attribute__((noinline)) void a(void) { k(10); s++; }
__attribute__((noinline)) void b(void) { k(9999); s++; }
int main(void)
{
	for (int i = 0; i < 30; i++)
		a();
	b();
	return 0;
}
END
${CC:-gcc} -g -O1 -o "$T/two" "$T/two.c" || exit 99

# Costs by object and address, in all functions; or by the function's number
cat >"$T/sums.pl" <<'END'
use strict;
my ($by, $ob, $fn, $last, %name, %sum) = ($ENV{by}, "", "", 0);
sub place {
	my $s = shift;
	$last = $s =~ /^0x/ ? hex $s : $s =~ /^[+-]/ ? $last + $s :
	    $s eq "*" ? $last : $s;
}
while (<>) {
	if (/^ob=(\S+)(?: (.*))?/) {
		$name{$1} = $2 if defined $2;
		$ob = $name{$1};
	} elsif (/^fn=(\S+)/) {
		$fn = $1;
	} elsif (/^calls=/) {
		place((split " ", <>)[0]);
	} elsif (/^(0x|[+*-])/) {
		my ($at, @n) = split;
		place($at);
		for my $i (0 .. $#n) {
			$sum{$by eq "fn" ? "$fn $i" : "$ob $last $i"} += $n[$i];
			die "negative: $_" if $n[$i] < 0;
		}
	}
}
print map { $sum{$_} ? "$_ $sum{$_}\n" : () } sort keys %sum;
END
command -v perl >/dev/null || skip_all "no perl"
sums() {
	by=$1 perl "$T/sums.pl" "$2"
}

# shares TEXT: of the stream in $T/ev
shares() {
	"$B/callgraph" "$T/ev" >"$T/lines"
	"$B/callgraph" --contexts "$T/ev" >"$T/shared"
	"$B/callgraph" --contexts --share-lines=no "$T/ev" >"$T/first"
	sums ob "$T/lines" >"$T/want"
	sums ob "$T/shared" >"$T/got"
	ok "$1: there are lines" "$([ "$(wc -l <"$T/want")" -gt 500 ]; echo $?)"
	samefile "$1: each line adds up" "$T/want" "$T/got"
	sums fn "$T/first" >"$T/want"
	sums fn "$T/shared" >"$T/got"
	samefile "$1: each context adds up" "$T/want" "$T/got"
}
for kind in counts cache; do
	"$B/trace" -e $kind --contexts -o "$T/ev" "$T/two"
	[ $kind = counts ] || {
		"$B/cachesim" -t "$T/ev" >"$T/told" && mv "$T/told" "$T/ev"
	}
	shares "kind $kind"
	# what is called k, in both contexts, has a row for each instruction
	same "kind $kind: two contexts of k" 2 "$(perl -ne '
	    if (/^fn=(\S+)(?: (.*))?/) {
		$name{$1} = $2 if defined $2;
		$fn = $1;
	    }
	    $n{$fn}++ if /^(0x|[+*-])/ && $name{$fn} eq "k";
	    END { print scalar grep { $_ > 8 } values %n }' "$T/shared")"
done
# Parts, of a program in which one function alone has several contexts
cat >"$T/parts.c" <<'END'
volatile long s;
static void request(long what)
{
	long a[6] = { what };

	__asm__ volatile("rol $3,%%rdi; rol $13,%%rdi; rol $61,%%rdi; "
	    "rol $51,%%rdi; xchg %%rbx,%%rbx" : "=d"(what)
	    : "a"(a), "d"(0L) : "cc", "memory");
}
__attribute__((noinline)) void k(int n)
{
	for (int i = 0; i < n; i++)
		s += i;
	s ^= 1;
}
__attribute__((noinline)) void a(void) { k(10); s++; }
__attribute__((noinline)) void b(void) { k(1000); s++; }
void _start(void)
{
	a();
	b();
	request('C' << 24 | 'T' << 16);		/* a part ends */
	a();
	b();
	__asm__ volatile("syscall" : : "a"(231L), "D"(0L));
}
END
${CC:-gcc} -O1 -fno-stack-protector -nostdlib -static -o "$T/parts" \
    "$T/parts.c" || exit 99
"$B/trace" -e counts --contexts --client-requests -o "$T/ev" "$T/parts"
"$B/callgraph" "$T/ev" >"$T/lines"
"$B/callgraph" --contexts "$T/ev" >"$T/shared"
same "two parts" 2 "$(grep -c '^part:' "$T/shared")"
sums ob "$T/lines" >"$T/want"
sums ob "$T/shared" >"$T/got"
samefile "two parts: each line adds up" "$T/want" "$T/got"
PYTHON=$(command -v python3)
if [ -n "$PYTHON" ]; then
	"$B/trace" -e counts --contexts -o "$T/ev" "$PYTHON" -c 'print(1)' \
	    >/dev/null
	shares python3
else
	for i in 1 2 3; do
		skip "python3" "not here"
	done
fi
"$B/trace" -e counts --contexts -o "$T/ev" "$T/two"
grep -q 'shared in proportion' "$T/shared"
ok "the description says so" $?
grep -q 'at their first address' "$T/first"
ok "or that they are at the first address" $?

done_testing
