#!/bin/sh
# The references that the stream tells: against Lackey on random programs, line
# for line, and against what the manuals say on one instruction after another.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

# Lackey repeats the instruction in each round of a repeated one, and tells a
# locked one as a load and a modification.
lackey() {
	valgrind --tool=lackey --trace-mem=yes --vex-iropt-level=0 \
	    --vex-guest-chase=no --log-file="$T/log" "$1" >/dev/null
	awk '!/^(I | [LSM])/ { next }
	/^I/ && $0 == last { next }
	/^I/ { last = $0 }
	/^ M/ && substr(held, 1, 2) == " L" && substr(held, 3) == substr($0, 3) {
		held = $0; next }
	{ if (held != "") print held; held = $0 }
	END { print held }' "$T/log"
}

for seed in 1 2 3 4; do
	if ! command -v valgrind >/dev/null 2>&1; then
		skip "seed $seed" "no valgrind"
		continue
	fi
	"$TB/rndasm" -b $seed 40 >"$T/p.S" &&
	    $CC -static -nostdlib -o "$T/p" "$T/p.S"
	lackey "$T/p" >"$T/expected"
	timeout -k 5 60 "$B/trace" -o "$T/ev" "$T/p" >/dev/null
	"$B/plain" -o "$T/told" "$T/ev"
	samefile "seed $seed: as Lackey has it" "$T/expected" "$T/told"
done

# Names for places: D data, K stack, R constants.
named() {
	"$B/plain" "$1" | awk -v d="$2" -v k="$3" '
	function num(s,  i, n) {
		for (i = 1; i <= length(s); i++)
			n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n
	}
	BEGIN { data = num(d); stack = num(k) }
	/^I/ { split($2, f, ","); pc = f[1]; next }
	{
		split($2, f, ",")
		a = num(f[1])
		if (a >= data && a < data + 4096)
			p = sprintf("D+%x", a - data)
		else if (a >= stack && a < stack + 4096)
			p = sprintf("K+%x", a - stack)
		else
			p = "R"
		if (pc != old && old != "")
			printf "\n"
		printf "%s%s %s %s", pc == old ? " " : "", $1, p, f[2]
		old = pc
	}
	END { printf "\n" }'
}

has() {
	grep -q "^flags.* $1\( \|$\)" /proc/cpuinfo
}

# without SECTION: one of the source
without() {
	sed -i "/$1 below/,/$1 above/d" "$T/refs.S"
}

address() {
	nm "$T/refs" | sed -n "s/^0*\([0-9a-f]*\) . $1\$/\1/p"
}

# What is called stands below the call in the source: in order of execution.
build() {
	$CC -static -nostdlib -o "$T/refs" "$T/refs.S"
	sed -n 's/.*#: \([LSM] .*\)/\1/p' "$T/refs.S" >"$T/in-source"
	awk '/^L D\+28 8 S K/ { print; print "L K+f8 8"; next }
	/^L D\+28 8$/ { print; skip = 1; next }
	skip { skip = 0; next }
	{ print }' "$T/in-source" >"$T/expected"
}

told() {
	timeout -k 5 60 "$B/trace" -e "$@" -o "$T/ev" "$T/refs"
	named "$T/ev" "$(address data)" "$(address stack)" >"$T/told"
	samefile "one after another, $*" "$T/expected" "$T/told"
}

cp t/fix/refs.S "$T/refs.S"
has avx512bw || without AVX-512
has clzero || without clzero
build
if has xsavec && has avx; then
	told all --cpu=v3	# which has as much state everywhere
else
	skip "state" "no xsavec"
fi
without xsave
build
for debug in nolink nosuper tinycache long; do
	told all --debug=$debug
done

# What this processor may not have is in its block, run or not.
cat >"$T/refs.S" <<'EOF'
	.intel_syntax noprefix
	.globl	_start
_start:	xor	eax, eax
	jz	1f
	clzero
	enter	32, 3
	bt	word ptr [rax], cx
	xsave	[rax]
1:	mov	eax, 231
	xor	edi, edi
	syscall
	.section .note.GNU-stack, "", @progbits
EOF
$CC -static -nostdlib -o "$T/refs" "$T/refs.S"
timeout -k 5 60 "$B/trace" --cpu=v2 -o "$T/ev" "$T/refs"
same "not executed" "3w40.0 4r10.1-10w20.2-20 4r2.3 3w240.4" \
    "$(sed -n 's/^B 1 >[^ ]* 2 2C[^ ]* //p' "$T/ev")"

# The prefix for short addresses is for no push, pop or call: the stack is high.
cat >"$T/refs.S" <<'EOF'
	.intel_syntax noprefix
	.globl	_start
_start:	mov	rbp, rsp
	addr32	call 1f
1:	addr32	push rax
	addr32	pop rcx
	addr32	leave
	mov	eax, 231
	xor	edi, edi
	syscall
	.section .note.GNU-stack, "", @progbits
EOF
# the assembler warns of that prefix
$CC -static -nostdlib -Wa,--no-warn -o "$T/refs" "$T/refs.S"
timeout -k 5 60 "$B/trace" -o "$T/ev" "$T/refs"
same "short addresses and the stack" "S S L L" \
    "$("$B/plain" "$T/ev" | awk '$1 != "I" && $2 ~ /^7ff/ {
	printf "%s%s", sep, $1; sep = " " }')"

# Through gs: an address of 64 bits, one from the pc, a short one without base
# but with the bit that extends it, and xlat; and behind loads of gs itself.
cat >"$T/refs.S" <<'EOF'
	.intel_syntax noprefix
	.globl	_start
	.macro	set_gs			# to rdx
	mov	eax, 158
	mov	edi, 0x1001
	mov	rsi, rdx
	syscall
	.endm
_start:	mov	rcx, 0x123456789abc
	mov	rdx, rsp
	sub	rdx, rcx
	set_gs
	.byte	0x65, 0x48, 0xa1	# mov rax, gs:[...]
	.quad	0x123456789abc
	lea	rdx, [rsp+16]
	lea	rcx, here[rip]
	sub	rdx, rcx
	set_gs
	mov	rax, gs:[rip-8]
here:	mov	rdx, rsp
	set_gs
	mov	r13, -1
	.byte	0x65, 0x67, 0x41, 0x8a, 0x04, 0x25	# mov al, gs:[16]
	.long	16
	lea	rbx, [r13*8]
	mov	al, 32
	.byte	0x67, 0x65, 0xd7	# xlat byte ptr gs:[ebx]
	mov	eax, 0x2b
	mov	gs, eax
	mov	ax, gs:[rsp+32]
	lea	rdx, [rsp+7]
	set_gs
	push	0x2b
	pop	gs
	mov	ax, gs:[rsp+40]
	mov	eax, 231
	xor	edi, edi
	syscall
	.section .note.GNU-stack, "", @progbits
EOF
$CC -static-pie -nostdlib -o "$T/refs" "$T/refs.S"
timeout -k 5 60 "$B/trace" -o "$T/ev" "$T/refs"
first=
told=
for a in $("$B/plain" "$T/ev" | sed -n 's/^ [LS] *\([^,]*\),.*/\1/p'); do
	first=${first:-$a}
	told="$told $((0x$a - 0x$first))"
done
same "through gs" " 0 8 16 24 32 -8 -8 40" "$told"
done_testing
