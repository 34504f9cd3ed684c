#!/bin/sh
# trace --store: each byte of an entry damaged in turn
UNTIL=${UNTIL_LONGEST:-}
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
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/*
 * damage ENTRY STEP OUT WANTED STREAM WANTED COMMAND...: every so many bytes,
 * change one, and run.  The status must be 7, and what OUT and STREAM have as
 * in the files behind them.  Of zeros among zeros, one of 256 is changed.
 */
static char text[1 << 20], is[1 << 16], want[1 << 16];
static size_t
get(const char *name, char *to, size_t n)
{
	FILE *f = fopen(name, "r");

	n = f == NULL ? 0 : fread(to, 1, n, f);
	if (f != NULL)
		fclose(f);
	return n;
}
static int
same(const char *a, const char *b)
{
	size_t n = get(a, is, sizeof is);

	return n == get(b, want, sizeof want) && memcmp(is, want, n) == 0;
}
/* Among zeros, as between the parts, which begin at pages' begins. */
static int
is_padding(size_t at, size_t n)
{
	size_t i = at < 64 ? 0 : at - 64, end = at + 64 < n ? at + 64 : n;

	while (i < end && text[i] == 0)
		i++;
	return i == end;
}
static int
run(char **argv, const char *out)
{
	int st;

	if (fork() == 0) {
		dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
		dup2(1, 2);
		execv(argv[0], argv);
		_exit(127);
	}
	return wait(&st) < 0 ? -1 : st;
}
int
main(int argc, char **argv)
{
	size_t n = get(argv[1], text, sizeof text), at;
	int st, bad = 0;
	FILE *f;

	if (n == 0 || argc < 8)
		return 2;
	for (at = 0; at < n; at += (size_t)atoi(argv[2])) {
		if (at % 256 != 0 && is_padding(at, n))
			continue;
		text[at] ^= 1 << at % 8;
		unlink(argv[1]);
		f = fopen(argv[1], "w");
		if (f == NULL || fwrite(text, 1, n, f) != n || fclose(f) != 0)
			return 2;
		text[at] ^= 1 << at % 8;
		st = run(argv + 7, argv[3]);
		if (st != 7 << 8 || !same(argv[3], argv[4]) ||
		    !same(argv[5], argv[6])) {
			printf("# byte %zu: status %x\n", at, st);
			bad++;
		}
	}
	printf("%zu bytes, %d bad\n", n, bad);
	return bad != 0;
}
EOF
$CC -O1 -o "$T/damage" "$T/damage.c" || skip_all "no compiler"

# what a stream tells, without the ids that are in it, which depend on what is
# translated when
cat >"$T/run" <<'EOF'
#!/bin/sh
# run KIND STREAM TOLD TRACE...
kind=$1 ev=$2 told=$3
shift 3
"$@"
status=$?
case $kind in
all) "$B/plain" "$ev" ;;
counts) "$B/icount" "$ev" ;;
cache) "$B/cachesim" "$ev" ;;
esac >"$told" 2>&1
exit $status
EOF
chmod +x "$T/run"
export B

LIMIT=7200
umask 077
for kind in counts none all cache; do
	rm -rf "$S"
	set -- "$B/trace" -e $kind -o "$T/ev" --store="$S" "$T/small"
	step=13 told=$T/ev
	[ $kind != counts ] || step=1
	if [ $kind != none ]; then
		told=$T/told
		set -- "$T/run" $kind "$T/ev" "$told" "$@"
	fi
	status 7 "$kind: it runs" "$@"
	cp "$T/out" "$T/out.want"
	cp "$told" "$T/told.want"
	entry=$S/$(ls "$S")
	status 7 "$kind: it runs from the store" "$@"
	samefile "$kind: the same is told" "$T/told.want" "$told"
	check "$kind: whatever byte is damaged, it runs as ever" \
	    "$T/damage" "$entry" $step "$T/small.out" "$T/out.want" \
	    "$told" "$T/told.want" "$@"
done
done_testing
