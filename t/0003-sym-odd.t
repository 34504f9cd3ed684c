#!/bin/sh
# sym: what compilers and linkers seldom write, and what is damaged

. t/lib.sh

S=$TB/sym
CC=${CC:-gcc}
cd "$T" || exit 99

# binutils' inlined calls in our form
theirs() { # object
	addr2line -a -i -f -e "$1" |
	    sed -E 's/ \(discriminator [0-9]+\)//; s/:\?$/:0/' |
	    awk '/^0x/ { if (l) print l; sub(/^0x0*/, "0x"); l = $0; next }
		{ l = l "\t" $0 }
		END { print l }'
}

# the addresses of main's instructions
of_main() {
	objdump -d --no-show-raw-insn --section=.text "$1" | awk '
		/>:$/ { own = /<main>/ }
		own && /^ *[0-9a-f]+:\t/ && !/nop|xchg +%ax,%ax/ {
			sub(":", "", $1)
			print "0x" $1
		}'
}

# more functions inlined into each other than there is room for, 20: the 10
# innermost and the 10 outermost
{
	echo '#define F static inline __attribute__((always_inline)) int'
	echo 'F f0(int x) { int s = 0;'
	echo 'for (int i = 0; i < x % 1000; i++) s += i * x ^ s; return s; }'
	for i in $(seq 40); do
		echo "F f$i(int x) {"
		echo "return f$((i - 1))(x * 3 + $i) ^ x; }"
	done
	echo 'int main(int n, char **v) { return f40(n) & 1; }'
} >deep.c
$CC -O1 -g -o deep deep.c
of_main deep >adr
"$S" -i deep <adr >ours
theirs deep <adr | awk -F'\t' -v OFS='\t' '{
	n = (NF - 1) / 2
	l = $1
	for (i = 1; i <= n; i++)
		if (i <= 10 || i > n - 10)
			l = l OFS $(2 * i) OFS $(2 * i + 1)
	print l
}' >expected
samefile "deep: as addr2line, but for the middle" expected ours
check "deep indeed" grep -q '	f0	.*	f9	.*	f32	.*	main	' ours

# inlined calls from no file: file 0 of DWARF 4, or no attribute for the file
cat >call.c <<'E'
static inline __attribute__((always_inline)) int twice(int x)
{
	return x * 2 ^ x;
}
int main(int n, char **v)
{
	return twice(n);
}
E
for v in 4 5; do
	$CC -O1 -gdwarf-$v -dA -S call.c
	$CC -o asis call.s
	of_main asis >adr
	"$S" -i asis <adr >ours
	check "DWARF $v: a call has a file" \
	    grep -q "	twice	$T/call.c:3	main	$T/call.c:7\$" ours
	sed "s|[^	]*\(:7\)\$|???\1|" ours >expected
	if [ $v = 4 ]; then
		sed 's/0x1\(.*DW_AT_call_file\)/0\1/' call.s >zero.s
		check "a call from file 0 assembles" $CC -o zero zero.s
		"$S" -i zero <adr >ours
		samefile "has none" expected ours
	fi
	# an attribute that nobody knows
	sed 's/0x58\(.*DW_AT_call_file\)/0x3f00\1/' call.s >without.s
	check "DWARF $v: a call without a file assembles" \
	    $CC -o without without.s
	"$S" -i without <adr >ours
	samefile "DWARF $v: has none" expected ours
done

done_testing
