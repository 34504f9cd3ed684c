#!/bin/sh
# Instructions that the decoder does not know: cpuid hides their extensions, and
# one that comes nevertheless is executed, and trace says so.  And one that it
# takes for another.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

status 0 "the table of extensions" "$TB/lacks"
same "it agrees with the decoder" "" "$(grep wrongly "$T/out")"
same "an extension that all decoders know" "known AVX-VNNI" \
    "$(grep 'AVX-VNNI$' "$T/out")"
same "one that none knows" "lacks APX" "$(grep APX "$T/out")"

same "a load of a tile: its first row" \
    "tile: 1, r 64 bytes, base 0+16, index none" "$(grep tile "$T/out")"

cat >"$T/ask.c" <<'EOF'
#include <cpuid.h>
#include <stdio.h>
int main(void)
{
	unsigned a, b, c, d;

	if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0)
		a = b = c = d = 0;
	printf("%x %x %x %x\n", a, b, c, d);
	return 0;
}
EOF
$CC -o "$T/ask" "$T/ask.c" || exit 99
"$T/ask" >"$T/native"
"$B/trace" -e none --debug=hide "$T/ask" >"$T/traced"
same "all hidden" "$(awk '{ print 0, $2, $3, 0 }' "$T/native")" \
    "$(cat "$T/traced")"
"$B/trace" -e none "$T/ask" >"$T/traced"
# of this processor's extensions those that the decoder knows
known() {
	bits=0
	while read -r what name; do
		case $name in
		SHA512) n=0 ;; SM3) n=1 ;; SM4) n=2 ;; RAO-INT) n=3 ;;
		CMPCCXADD) n=7 ;; AMX-FP16) n=21 ;; AVX-IFMA) n=23 ;;
		*) continue ;;
		esac
		[ "$what" = known ] || bits=$((bits | 1 << n))
	done <"$T/lacks"
	printf '%x\n' $((0x$1 & ~bits))
}
"$TB/lacks" >"$T/lacks"
read -r eax rest <"$T/native"
same "those hidden that the decoder lacks" "$(known "$eax")" \
    "$(cut -d' ' -f1 "$T/traced")"

# vpermq with the bit W clear, which processors of AMD take
cat >"$T/odd.c" <<'EOF'
#include <stdio.h>
int main(void)
{
	for (volatile int i = 0; i < 3; i++)
		__asm__ volatile(".byte 0xc4, 0xe3, 0x7d, 0, 0xc0, 0"
		    : : : "xmm0");
	puts("done");
	return 0;
}
EOF
$CC -o "$T/odd" "$T/odd.c" || exit 99
if "$T/odd" >/dev/null 2>&1 && grep -q 'lacks vpermq' "$T/lacks"; then
	check "one that is not known" "$B/trace" -e counts -o "$T/ev" "$T/odd"
	same "is executed" "done" "$(cat "$T/out")"
	same "and told of once" 1 \
	    "$(grep -c 'decoder does not know' "$T/err")"
else
	skip "one that is not known" "this processor or the decoder"
fi

cat >"$T/rep.c" <<'EOF'
#include <stdio.h>
int main(void)
{
	unsigned long a = 0;

	for (volatile int i = 0; i < 100; i++)
		__asm__ volatile("mov $5, %%r8d; mov $7, %%eax;"
		    ".byte 0xf3, 0x41, 0x90; mov %%r8, %0; shl $32, %0;"
		    "add %%rax, %0" : "=r"(a) : : "rax", "r8");
	printf("%lx\n", a);
	return 0;
}
EOF
$CC -O1 -o "$T/rep" "$T/rep.c" || exit 99
for kind in none counts all cache branches; do
	check "rep xchg r8d, eax, -e $kind" "$B/trace" -e $kind -o "$T/ev" \
	    "$T/rep"
	same "exchanges them" 700000005 "$(cat "$T/out")"
done
done_testing
