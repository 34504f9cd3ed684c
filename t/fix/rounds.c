/*
 * rounds - repeated string instructions, some of them interrupted
 *
 * Each of the functions below has one, at rep_NAME. Where argv[1] is given, all
 * pages that they read and write are closed before each call, and the handler
 * of the fault opens one. Prints how many rounds each instruction made, and how
 * many of its calls had none.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 16384, PAGE = 4096 };

void copy(void *to, const void *from, size_t n);
void copy_back(void *to, const void *from, size_t n);
void fill(void *to, size_t unused, size_t n);
void fill32(void *to, size_t unused, size_t n);
size_t compare(const void *a, const void *b, size_t n);
size_t scan(const void *a, size_t unused, size_t n);
void load(size_t unused, const void *a, size_t n);

__asm__(
"	.text\n"
"	.macro function name, insn, end:vararg\n"
"	.globl	\\name\n"
"	.type	\\name, @function\n"
"\\name:	mov	%rdx, %rcx\n"
"	xor	%eax, %eax\n"
"rep_\\name:\n"
"	\\insn\n"
"	\\end\n"
"	ret\n"
"	.size	\\name, . - \\name\n"
"	.endm\n"
"	function copy, \"rep movsb\", nop\n"
"	function copy_back, \"rep movsw\", cld\n"
"	function fill, \"rep stosl\", nop\n"
"	function fill32, \"addr32 rep stosb\", nop\n"
"	function compare, \"repe cmpsb\", mov %rcx, %rax\n"
"	function scan, \"repne scasb\", mov %rcx, %rax\n"
"	function load, \"rep lodsq\", nop\n");

static char *a, *b;
static struct { const char *name; unsigned long rounds, none; } told[7] = {
	{ "copy", 0, 0 }, { "copy_back", 0, 0 }, { "fill", 0, 0 },
	{ "fill32", 0, 0 }, { "compare", 0, 0 }, { "scan", 0, 0 },
	{ "load", 0, 0 }
};

static void
open_page(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	mprotect((void *)((unsigned long)si->si_addr & -PAGE), PAGE,
	    PROT_READ | PROT_WRITE);
}

static void
count(int i, unsigned long n)
{
	told[i].rounds += n;
	told[i].none += n == 0;
}

static void
close_pages(int closes)
{
	if (closes) {
		mprotect(a, SIZE, PROT_NONE);
		mprotect(b, SIZE, PROT_NONE);
	}
}

static void
round_of(int closes, unsigned long n, unsigned long at)
{
	size_t left;

	close_pages(closes);
	copy(a, b + n % 7, n);
	count(0, n);
	close_pages(closes);
	__asm__ volatile("std");
	copy_back(a + SIZE - 2, b + SIZE - 2, n / 2);
	count(1, n / 2);
	close_pages(closes);
	fill(a, 0, n / 4);
	count(2, n / 4);
	close_pages(closes);
	fill32(a, 0, n | 1ul << 32);
	count(3, n);
	memset(a, 7, SIZE);
	memset(b, 7, SIZE);
	b[at] = 8;
	a[at] = 0;
	close_pages(closes);
	left = compare(a, b, n);
	count(4, n - left);
	close_pages(closes);
	left = scan(a, 0, n);
	count(5, n - left);
	close_pages(closes);
	load(0, a, n / 8);
	count(6, n / 8);
}

int
main(int argc, char **argv)
{
	struct sigaction act = { .sa_sigaction = open_page,
	    .sa_flags = SA_SIGINFO };

	(void)argv;
	sigaction(SIGSEGV, &act, NULL);
	a = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (a == MAP_FAILED)
		return 1;
	b = a + SIZE;
	for (unsigned long i = 0; i < 150; i++)
		round_of(argc > 1, i * i * 37 % 13000, i * 997 % 13000);
	for (int i = 0; i < 7; i++)
		printf("%s %lu %lu\n", told[i].name, told[i].rounds,
		    told[i].none);
	return 0;
}
