#!/bin/sh
# More objects, or debug files, than files may be open; and no descriptor to be had, which is
# said.

. t/lib.sh

CC=${CC:-gcc}
cd "$T" || exit 99

# 300 objects, which differ in their function's name, and a stream that runs one
# instruction in each
printf '%s\n' '__attribute__((section(".text.f")))' \
    'void f_xyz(void) { __asm__ volatile("nop"); }' >f.c
$CC -O1 -g -fPIC -shared -nostdlib -o f.so f.c || exit 99
addr=$(nm f.so | awk '/f_xyz/ { sub(/^0*/, "", $1); print $1 }')
mkdir so
{
	printf '%s\n' "H quern-events 1" "H cmd x" "H kind blocks"
	for i in $(seq 100 399); do
		sed "s/f_xyz/f_$i/g" f.so >so/f$i.so
		base=$((i * 0x100000))
		printf 'M %d %x %x %x %s\nB %d >%x 1S\n' $((i - 99)) \
		    $((base + 0x$addr & ~0xfff)) \
		    $(((base + 0x$addr & ~0xfff) + 0x1000)) \
		    $((0x$addr & ~0xfff)) "$T/so/f$i.so" $((i - 99)) \
		    $((base + 0x$addr))
	done
	seq 300
	printf '%s\n' "Y 231" "E exit 0 300"
} >ev
seq -f 'f_%g' 100 399 >want

# limited N cmd...: with N descriptors
limited() {
	(ulimit -n "$1" && shift && "$@")
}
names() {
	grep -ao 'f_[0-9][0-9][0-9]' "$1" | sort -u >got
}
# all TEXT N cmd...: has all names
all() {
	text=$1
	shift
	check "$text" limited "$@"
	names out
	samefile "has all names" want got
}
for n in 200 30; do
	all "callgraph, $n descriptors" $n "$B/callgraph" ev
	mv out calls
	all "fmt-callgrind, $n" $n "$B/fmt-callgrind" calls
	all "fmt-cachegrind, $n" $n "$B/fmt-cachegrind" calls
	all "fmt-folded, $n" $n "$B/fmt-folded" calls
	all "plain --source, $n" $n "$B/plain" --source ev
	all "bbv, $n" $n "$B/bbv" --pc-out-file=/dev/stdout -o bb ev
done

# the files with the names and lines are others
for i in $(seq 100 399); do
	objcopy --only-keep-debug so/f$i.so so/f$i.debug
	objcopy --strip-all --add-gnu-debuglink=so/f$i.debug so/f$i.so
done
for n in 200 30; do
	all "callgraph, debug files, $n" $n "$B/callgraph" ev
	all "plain --source, debug files, $n" $n "$B/plain" --source ev
	same "lines" 300 "$(grep -c 'f\.c:' out)"
done

# no descriptor at all
status 2 "4 descriptors" limited 4 "$B/callgraph" ev
same "it says so once" "callgraph: $T/so/f100.so: what it tells is left out, \
and perhaps others': Too many open files" "$(cat err)"
check "what there is is written" grep -q '^fn=' out
status 1 "without an end mark" grep '^totals' out
status 2 "plain --source" limited 4 "$B/plain" --source ev
check "says so" grep -q "Too many open files" err
rm -r so
check "what does not exist is another matter" "$B/callgraph" ev
same "nothing is said" "" "$(cat err)"
done_testing
