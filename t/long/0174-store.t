#!/bin/sh
# trace --store: each byte of an entry damaged in turn
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
unset QUERN_STORE

# a program without a C library has a small entry
cat >"$T/small.S" <<'EOF'
	.globl _start
	.section .rodata
text:	.ascii "small\n"
	.text
_start:	mov $3, %ecx
1:	dec %ecx
	jnz 1b
	mov $1, %eax
	mov $1, %edi
	lea text(%rip), %rsi
	mov $6, %edx
	syscall
	cld
	mov $6, %ecx
	lea -64(%rsp), %rdi
	lea text(%rip), %rsi
	rep movsb
	call f0
	mov $60, %eax
	mov $7, %edi
	syscall
	.macro chain a b
f\a:	cmp $\a, %eax
	je f\b
	call f\b
	ret
	.endm
	chain 0 1
	chain 1 2
	chain 2 3
	chain 3 4
	chain 4 5
	chain 5 6
	chain 6 7
	chain 7 8
	chain 8 9
f9:	ret
EOF
$CC -nostdlib -static -o "$T/small" "$T/small.S" || skip_all "no assembler"

S=$T/store
cat >"$T/damage.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* damage ENTRY STEP COMMAND...: every so many bytes, change one; run; the
 * command's status must be 7 */
int
main(int argc, char **argv)
{
	static char text[1 << 20];
	FILE *f = fopen(argv[1], "r");
	size_t n = f == NULL ? 0 : fread(text, 1, sizeof text, f), at;
	int st, bad = 0;

	if (n == 0 || argc < 4)
		return 2;
	fclose(f);
	for (at = 0; at < n; at += (size_t)atoi(argv[2])) {
		text[at] ^= 1 << at % 8;
		unlink(argv[1]);
		f = fopen(argv[1], "w");
		if (f == NULL || fwrite(text, 1, n, f) != n || fclose(f) != 0)
			return 2;
		text[at] ^= 1 << at % 8;
		if (fork() == 0) {
			execv(argv[3], argv + 3);
			_exit(127);
		}
		if (wait(&st) < 0 || st != 7 << 8) {
			printf("# byte %zu: status %x\n", at, st);
			bad++;
		}
	}
	printf("%zu bytes, %d bad\n", n, bad);
	return bad != 0;
}
EOF
$CC -O1 -o "$T/damage" "$T/damage.c" || skip_all "no compiler"

# run it, and compare what it writes, and its stream, with what was at first
cat >"$T/run" <<'EOF'
#!/bin/sh
"$B/trace" -e "$KIND" -o "$T/ev" --store="$T/store" "$T/small" \
    >"$T/small.out" 2>&1
s=$?
read -r line <"$T/small.out"
[ "$line" = small ] && cmp -s "$T/ev" "$T/want" && exit $s
exit 1
EOF
chmod +x "$T/run"
export B T KIND

LIMIT=3000
umask 077
for KIND in counts none; do
	rm -rf "$S"
	"$B/trace" -e "$KIND" -o "$T/want" --store="$S" "$T/small" >"$T/out"
	same "$KIND: it runs" "7 small" "$? $(cat "$T/out")"
	entry=$S/$(ls "$S")
	check "$KIND: it runs from the store" \
	    sh -c '"$1"; [ $? -eq 7 ]' sh "$T/run"
	check "$KIND: whatever byte is damaged, it runs as ever" \
	    "$T/damage" "$entry" "$([ $KIND = counts ] && echo 1 || echo 13)" \
	    "$T/run"
done
done_testing
