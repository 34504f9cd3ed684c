#!/bin/sh
# sym: what compilers and linkers seldom write, and what is damaged

. t/lib.sh

S=$TB/sym
CC=${CC:-gcc}
SRC=$PWD/t/src
cd "$T" || exit 99

# binutils' inlined calls in our form
theirs() { # object
	addr2line -a -i -f -e "$1" |
	    sed -E 's/ \(discriminator [0-9]+\)//; s/:\?$/:0/' |
	    awk '/^0x/ { if (l) print l; sub(/^0x0*/, "0x"); l = $0; next }
		{ l = l "\t" $0 }
		END { print l }'
}

# the addresses of the instructions of a program's own functions
addresses() { # object
	objdump -d --no-show-raw-insn "$1" | awk '
		/>:$/ { own = /<(main|insert|depth|mix)>/ }
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
addresses deep >adr
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
	addresses asis >adr
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

# damaged: each of 40 blocks within one another says that what is beside it is
# the block within it, so walks that believe this would take 2^40 steps
{
	cat <<'E'
	.text
	.globl	main
	.type	main, @function
main:	ret
	.size	main, . - main
place:	ret
end:
	.data
	.globl	thing
	.type	thing, @object
	.size	thing, 8
thing:	.quad	0
	.section .debug_abbrev
	.byte	1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0	# unit: low, high
	.byte	2, 0x0b, 1, 1, 0x13, 0, 0		# block: sibling
	.byte	3, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 7, 0, 0 # function: name too
	.byte	4, 0x34, 0, 0x49, 0x13, 2, 0x18, 0, 0	# variable: type, place
	.byte	5, 0x13, 1, 3, 8, 0x0b, 0x0b, 0, 0	# structure: name, size
	.byte	6, 0x0d, 0, 3, 8, 0x49, 0x13, 0x38, 0x0b, 0, 0 # member: where
	.byte	7, 0x24, 0, 3, 8, 0x0b, 0x0b, 0, 0	# basic type: name, size
	.byte	0
	.section .debug_info
unit:	.long	last - first
first:	.value	4
	.long	0
	.byte	8
	.uleb128 1
	.quad	place, end - place
number:	.uleb128 7
	.asciz	"int"
	.byte	4
type:	.uleb128 5
	.asciz	"pair"
	.byte	8
	.uleb128 6
	.asciz	"one"
	.long	number - unit
	.byte	0
	.uleb128 6
	.asciz	"two"
	.long	number - unit
	.byte	4
	.byte	0
E
	for i in $(seq 40); do
		echo "b$i: .uleb128 2; .long b$((i + 1)) - unit"
	done
	cat <<'E'
b41:	.uleb128 3
	.asciz	"within"
	.quad	place, end - place
	.uleb128 4
	.long	type - unit
	.byte	9, 3
	.quad	thing
	.fill	41, 1, 0
last:
	.section .note.GNU-stack
E
} >blocks.s
check "blocks assemble" $CC -no-pie -o blocks blocks.s
at() { # symbol
	nm blocks | sed -n "s/^0*\(.*\) . $1\$/\1/p"
}
at place >adr
check "damaged blocks: calls" "$S" -i blocks <adr
same "the function in them is found" "0x$(at place)	within	???:0" "$(cat out)"
printf '%x\n' $((0x$(at thing) + 4)) >adr
check "damaged blocks: data" "$S" -m blocks <adr
same "the type in them is found" "0x$(cat adr)	thing.two" "$(cat out)"

# units of DWARF 2 with code in several ranges, which only .debug_aranges has
eu_lines() { # object
	eu-addr2line --absolute -e "$1" | sed -E 's/(:[0-9]+):[0-9]+$/\1/'
}
$CC -O2 -gdwarf-2 -gstrict-dwarf -o strict "$SRC/tree.c"
addresses strict >adr
"$S" strict <adr | cut -f3 >ours
eu_lines strict <adr >expected
samefile "strict DWARF 2: as eu-addr2line" expected ours
objcopy --compress-debug-sections=zlib strict packed
"$S" packed <adr | cut -f3 >ours
samefile "compressed" expected ours
if command -v yasm >/dev/null; then
	cat >two.asm <<'E'
global _start, elsewhere
section .text
_start:	nop
	call elsewhere
	ret
section .text.elsewhere exec
elsewhere: nop
	ret
E
	yasm -f elf64 -g dwarf2 -o two.o two.asm
	ld -o two two.o
	nm two | sed -n -E 's/ T (_start|elsewhere)//p' | sort >adr
	same "yasm: two sections" "two.asm:3 two.asm:7" \
	    "$(echo $("$S" two <adr | sed 's|.*/||'))"
else
	skip "yasm: two sections" "no yasm here"
fi

# a symbol table of which only some was kept: the dynamic symbols count, too
cat >some.c <<'E'
int values[4];
__attribute__((noinline)) static int hidden(int n) { return n * values[n & 3]; }
int one(int n) { return hidden(n) + 1; }
int two(int n) { return hidden(n) * 2; }
int three(int n) { return hidden(n) * 3; }
E
$CC -O1 -shared -fPIC -o some.so some.c
nm -D --defined-only some.so | grep -E ' (one|two|three|values)$' >table
nm some.so | grep ' hidden$' >>table
strip -s -K two -K hidden some.so
same "only two are kept" 2 "$(nm some.so | wc -l)"
sed -n 's/^0*\(.*\) [Tt] \(.*\)$/0x\1	\2	???:0/p' table >expected
"$S" some.so <expected >ours
samefile "but all functions are told" expected ours
sed -n 's/^0*\(.*\) B \(.*\)$/0x\1	\2/p' table >expected
"$S" -m some.so <expected >ours
samefile "and the data" expected ours

# a relative folder of the compilation, in which all files are
mkdir -p below/inc
echo 'static int third(int n) { return n / 3; }' >below/inc/third.h
printf '#include "inc/third.h"\nint main(int n, char **v)\n{ %s\n' \
    'return third(n); }' >below/first.c
for c in "$CC" clang; do
	if ! command -v "$c" >/dev/null; then
		skip "relative folders" "no $c here"
		continue
	fi
	for v in 4 5; do
		(cd below && "$c" -gdwarf-$v -gz=none \
		    -fdebug-prefix-map="$T/below=where" -o ../relative first.c)
		for f in main third; do
			nm relative | sed -n "s/ [Tt] $f\$//p"
		done >adr
		same "relative folder: $c, DWARF $v" \
		    "where/first.c:3 where/inc/third.h:1" \
		    "$(echo $("$S" relative <adr | cut -f3 | sed 's|/\./|/|'))"
		objcopy --compress-debug-sections=zlib relative
		same "compressed" \
		    "where/first.c:3 where/inc/third.h:1" \
		    "$(echo $("$S" relative <adr | cut -f3 | sed 's|/\./|/|'))"
	done
done

# the same where a header is in a folder ., which all names begin with
echo 'static int fourth(int n) { return n / 4; }' >below/fourth.h
printf '#include <fourth.h>\nint main(int n, char **v)\n{ %s\n' \
    'return fourth(n); }' >below/second.c
(cd below && $CC -gdwarf-5 -gz=none -I. -fdebug-prefix-map="$T/below=./where" \
    -o ../relative second.c)
for f in main fourth; do
	nm relative | sed -n "s/ [Tt] $f\$//p"
done >adr
same "a relative folder and the folder ." \
    "./where/second.c:3 ./where/./fourth.h:1" \
    "$(echo $("$S" relative <adr | cut -f3))"

# columns and discriminators that are too large for libdw
cat >large.s <<'E'
	.text
	.file	1 "large.c"
	.globl	main
	.type	main, @function
main:	.loc	1 3 65535 discriminator 16777215
	nop
	.loc	1 4 65536
	nop
	.loc	1 5 7 discriminator 16777216
	nop
	.loc	1 6 4294967295 discriminator 4294967295
	ret
	.size	main, . - main
	.section .note.GNU-stack
E
for v in 4 5; do
	check "DWARF $v: large numbers assemble" \
	    $CC -gdwarf-$v -gz=none -o large large.s
	objcopy --compress-debug-sections=zlib large packed
	objcopy --compress-debug-sections=zlib-gnu large zpacked
	main=$(nm large | sed -n 's/ T main//p')
	for i in 0 1 2 3; do
		printf '0x%x\n' $((0x$main + i))
	done >adr
	for o in large packed zpacked; do
		same "lines of $o" "large.c:3 large.c:4 large.c:5 large.c:6" \
		    "$(echo $("$S" $o <adr | sed 's|.*/||'))"
	done
done
if clang -O2 -g -fpseudo-probe-for-profiling -o probes "$SRC/tree.c" 2>err; then
	addresses probes >adr
	"$S" -i probes <adr >ours
	theirs probes <adr >expected
	samefile "discriminators of 32 bits: as addr2line" expected ours
else
	skip "discriminators of 32 bits" "no clang that writes them"
fi

# a long function that the linker throws away, and its lines: all others have
# the lines that they have where it is not compiled at all
{
	echo '#ifdef LONG'
	echo '__attribute__((visibility("hidden"))) int unused(int x)'
	echo '{'
	for i in $(seq 1000); do
		echo "x = x * $((12345 + 2 * i)) ^ x >> 3;"
	done
	echo 'return x; }'
	echo '#endif'
	cat <<'E'
__attribute__((noinline)) static int mix(int n)
{
	int r = 0;
	for (int i = 0; i < n; i++)
		r += i * n;
	return r;
}
int main(int n, char **v)
{
	int s = 0;
	for (int i = 0; i < 20; i++)
		s += mix(i);
	return s & 1;
}
E
} >long.c
lines() { # object
	addresses "$1" | "$S" "$1" | cut -f2,3
}
for how in -fuse-ld=bfd -fuse-ld=gold -fuse-ld=lld -Wl,-z,noseparate-code; do
	if ! $CC $how -O1 -g -o short long.c 2>err; then
		skip "discarded: $how" "no such linker"
		skip "compressed" "no such linker"
		continue
	fi
	$CC $how -O1 -g -gz=none -ffunction-sections -Wl,--gc-sections -DLONG \
	    -o long long.c
	lines short >expected
	lines long >ours
	samefile "discarded: $how" expected ours
	objcopy --compress-debug-sections=zlib long
	lines long >ours
	samefile "compressed" expected ours
done
check "of some lines" test "$(wc -l <expected)" -gt 20

# a table of a version that libdw does not know: that is said, once
$CC -g -gz=none -o version "$SRC/tree.c"
at=$(readelf -SW version |
    sed -n 's/.* \.debug_line *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf '\143' | dd of=version bs=1 seek=$((0x$at + 4)) conv=notrunc 2>/dev/null
addresses version >adr
check "a table that cannot be read" "$S" version <adr
same "costs the lines" "???:0" "$(cut -f3 out | sort -u)"
same "is told" 1 "$(grep -c '^sym: version: libdw cannot read lines of' err)"
same "and nothing else" 1 "$(wc -l <err)"
check "no lines" "$S" some.so <adr
same "are no fault" "" "$(cat err)"

done_testing
