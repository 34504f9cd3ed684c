#!/bin/sh
# sym: functions, lines and inlined calls, against addr2line of two makers

. t/lib.sh

S=$TB/sym
CC=${CC:-gcc}
SRC=$PWD/t/src
cd "$T" || exit 99

# addresses of the instructions of a program's own functions; not those that
# only fill up, which may lie behind a function
addresses() {
	objdump -d --no-show-raw-insn --section=.text "$1" | awk '
		/>:$/ { own = /<(main|insert|depth|mix)>/ }
		own && /^ *[0-9a-f]+:\t/ && !/nop|xchg +%ax,%ax/ {
			sub(":", "", $1)
			print "0x" $1
		}'
}

# binutils' answers in our form: addr, then function and place of each frame
theirs() {
	addr2line -a -i -f -e "$1" |
	    sed -E 's/ \(discriminator [0-9]+\)//; s/:\?$/:0/' |
	    awk '/^0x/ { if (l) print l; sub(/^0x0*/, "0x"); l = $0; next }
		{ l = l "\t" $0 }
		END { print l }'
}

# the same addresses by both; $2 is the file that addr2line is shown
inlines() { # text, object, for addr2line
	addresses "$3" >adr
	"$S" -i "$2" <adr >ours
	theirs "$3" <adr >expected
	samefile "$1" expected ours
}

for kind in "$CC:-gdwarf-5" "$CC:-gdwarf-4" clang:-g; do
	c=${kind%:*}
	if ! command -v "$c" >/dev/null; then
		skip "$kind" "no $c here"
		skip "$kind: inlined calls" "no $c here"
		continue
	fi
	check "$kind compiles" "$c" -O2 "${kind#*:}" -o prog "$SRC/tree.c"
	inlines "$kind: as addr2line, inlined calls too" prog prog
done
$CC -O2 -g -o prog "$SRC/tree.c"
addresses prog >adr
check "enough of them" test "$(wc -l <adr)" -gt 50
"$S" prog <adr | cut -f3 >ours
eu-addr2line --absolute -e prog <adr | sed -E 's/(:[0-9]+):[0-9]+$/\1/' \
    >expected
samefile "lines as eu-addr2line" expected ours
"$S" prog <adr >sorted
sort -r adr | "$S" prog | sort -t'	' >ours
sort -t'	' sorted >expected
samefile "in any order of questions" expected ours
"$S" -i prog <adr >deep
check "three deep" grep -q 'third.*mix.*main' deep
check "another file's code" grep -q "main	$SRC/tree.h:" sorted

# separate debug files: by link, by build-id, shared with dwz
"$S" -i prog <adr >want
objcopy --only-keep-debug prog prog.debug
objcopy --strip-all --add-gnu-debuglink=prog.debug prog bare
"$S" -i bare <adr >ours
samefile ".gnu_debuglink, beside" want ours
mkdir .debug && mv prog.debug .debug
"$S" -i bare <adr >ours
samefile ".gnu_debuglink, .debug" want ours
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
mkdir -p "dbg/.build-id/${id%??????????????????????????????????????}"
mv .debug/prog.debug "dbg/.build-id/$(echo "$id" | sed 's/^\(..\)/\1\//').debug"
objcopy --remove-section=.gnu_debuglink bare
"$S" -i -p "$T/dbg" bare <adr >ours
samefile "build-id" want ours
cut -f1 want | sed 's/$/	???	???:0/' >none
"$S" -w bare <adr >ours
samefile "nothing left" none - <<E
$(tail -n +3 ours)
E
same "and why" "symbols: no symbols of functions;lines: no debugging information;" \
    "$(head -n 2 ours | tr '\n' ';')"

$CC -O2 -g -o prog2 "$SRC/tree.c" -DOTHER
cp prog one && cp prog2 two
if dwz -m common.debug one two 2>err && readelf -S one |
    grep -q gnu_debugaltlink; then
	"$S" -i one <adr >ours
	samefile ".gnu_debugaltlink" want ours
else
	skip ".gnu_debugaltlink" "dwz made none: $(head -n 1 err)"
fi
strip -s -o nosym prog
for x in $(readelf -SW prog | grep -o '\.debug_[a-z_]*'); do
	objcopy --dump-section "$x=section" prog
	objcopy --add-section "$x=section" nosym
done
same "lines, but no symbols" "symbols: no symbols of functions lines: yes" \
    "$(echo $("$S" -w nosym </dev/null))"
"$S" -i nosym <adr >ours
samefile "then functions are DWARF's" want ours

# compressed debug sections, where line tables are found without their units:
# also of two units, and of units whose tables are in another order
cat >more.c <<'E'
int more(int n) { return n % 7 + 1; }
E
for v in 5 4; do
	$CC -O2 -gdwarf-$v -gz=none -o two "$SRC/tree.c" more.c
	objcopy --compress-debug-sections=zlib two packed
	check "DWARF $v: compressed" \
	    sh -c 'readelf -St packed | grep -q COMPRESSED'
	addresses two >adr
	echo 1 >>adr
	nm two | sed -n 's/ T more$//p' >>adr
	for i in "" -i; do
		"$S" $i two <adr >want
		"$S" $i packed <adr >ours
		samefile "DWARF $v: sym $i says the same" want ours
	done
done
$CC -O2 -gdwarf-5 -gz=none -o two "$SRC/tree.c" more.c
"$S" two <adr >want
objcopy --dump-section .debug_aranges=aranges two
piece() { dd if=aranges bs=16 skip="$1" count="$2" 2>/dev/null; }
other() { # what is wrong; the section in the file wrong
	objcopy --update-section .debug_aranges=wrong two packed
	objcopy --compress-debug-sections=zlib packed
	"$S" packed <adr >ours
	samefile "$1" want ours
}
# each unit's part has 16 bytes of header, 16 for each range, 16 for the end
last=$(($(wc -c <aranges) / 16 - 3))
{ piece "$last" 3; piece 0 "$last"; } >wrong
other "units in another order"
{ piece 0 1; piece "$((last + 1))" 1; piece 2 "$((last - 1))"; piece 1 1
    piece "$((last + 2))" 1; } >wrong
other "addresses of another unit"
piece 0 "$last" >wrong
other "a unit without addresses"
piece 0 "$((last + 1))" >wrong
other "addresses cut off"
objcopy --remove-section .debug_aranges --compress-debug-sections=zlib two packed
"$S" packed <adr >ours
samefile "no addresses of units" want ours

# sizes that a compressed section cannot have: no lines, but all functions
$CC -O2 -gdwarf-5 -gz=none -o two "$SRC/tree.c" more.c
objcopy --compress-debug-sections=zlib two packed
at=$(readelf -SW packed |
    sed -n 's/.* \.debug_line *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
cut -f1,2 want >functions
for size in '\0\0\0\0\1' '\0\200\0\0\0' '\1\0\0\0\0'; do
	printf "$size\\0\\0\\0" |
	    dd of=packed bs=1 seek=$((0x$at + 8)) conv=notrunc 2>/dev/null
	check "a section's size damaged" "$S" packed <adr
	cut -f1,2 out >ours
	samefile "costs the lines" functions ours
	same "and nothing else" "???:0" "$(cut -f3 out | sort -u)"
done

# symbols: aliases, nesting, sizes
cat >alias.s <<'E'
	.text
	.macro fun name, size
	.globl	\name
	.type	\name, @function
	.size	\name, \size
	.endm
	fun	longer_name, 16
	fun	short, 16
	fun	shors, 16
	fun	_ZN3foo3barEi, 8
	fun	_RNvC7mycrate4main, 8
	fun	_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE, 8
	fun	outer, 32
	fun	inner, 8
	fun	nosize, 0
longer_name:
short:
shors:	.skip 16
_ZN3foo3barEi: .skip 8
_RNvC7mycrate4main: .skip 8
_ZN5alloc3vec12Vec$LT$T$GT$4push17h0123456789abcdefE: .skip 8
outer:	.skip 8
inner:	.skip 8
	.skip 16
nosize:	.skip 8
label:	.skip 8
	.globl	_start
	.type	_start, @function
	.size	_start, 8
_start:	.skip 8
E
check "assembles" $CC -nostdlib -static -Wl,-Ttext=0x401000 -o alias alias.s
ask() { "$S" $1 alias | cut -f2 | tr '\n' ';'; }
same "aliases: the shortest, then byte order" "shors;" "$(echo 401000 | ask)"
same "raw names" "_ZN3foo3barEi;_RNvC7mycrate4main;" \
    "$(printf '401010\n401018\n' | ask)"
same "demangled: C++, Rust, old Rust" \
    "foo::bar(int);mycrate::main;alloc::vec::Vec<T>::push;" \
    "$(printf '401010\n401018\n401020\n' | ask -d)"
same "the inner of two, and after it the outer again" \
    "outer;inner;outer;???;" \
    "$(printf '40102f\n401030\n401038\n401048\n' | ask)"
same "no size, no type, before, behind" "???;???;???;???;" \
    "$(printf '401048\n401050\n400fff\n402000\n' | ask)"
same "_start" "_start;" "$(echo 401058 | ask)"
same "_start is below main" "(below main);" "$(echo 401058 | ask -b)"

# no object
why() { "$S" -w "$1" </dev/null | sed 's/symbols: //;q'; }
same "no file" "No such file or directory" "$(why nofile)"
echo text >text
same "no ELF" 1 "$("$S" -w text </dev/null | grep -c '^symbols: [^y]')"
: >empty
same "empty" 1 "$("$S" -w empty </dev/null | grep -c '^symbols: [^y]')"
head -c 700 prog >cut
same "cut" 1 "$("$S" -w cut </dev/null | grep -c '^symbols: [^y]')"
same "and knows nothing" "0x10	???	???:0" "$(echo 10 | "$S" cut)"
same "a folder" 1 "$("$S" -w . </dev/null | grep -c '^symbols: [^y]')"

done_testing
