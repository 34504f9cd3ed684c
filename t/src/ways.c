/*
 * ways - code made at run time whose frequent ways lead forth and back, and of
 * which an instruction is replaced again and again
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((noinline)) int
work(int n)
{
	volatile int s = 0;

	for (int i = 0; i < n; i++)
		s += i;
	return s;
}

static unsigned char *
pages(unsigned long at)
{
	return mmap((void *)at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* Run f, of which the byte at `at' is one or the other. */
static int
rounds(unsigned char *page, unsigned char *at, int (*f)(void), int one,
    int other)
{
	int s = 0;

	for (int r = 0; r < 20; r++) {
		mprotect(page, 4096, PROT_READ | PROT_WRITE);
		*at = (unsigned char)(r & 1 ? other : one);
		mprotect(page, 4096, PROT_READ | PROT_EXEC);
		for (int i = 0; i < 1000; i++)
			s += f();
	}
	return s;
}

/* A loop that calls a leaf before it, whose second instruction changes. */
static int
back(void)
{
	/* xor %eax,%eax; mov $1000,%ecx; jmp l */
	static const unsigned char begin[] = "\x31\xc0\xb9\xe8\x03\0\0\xeb\x77";
	/* l: call leaf; dec %ecx; jnz l; ret */
	static const unsigned char loop[] =
	    "\xe8\x3b\xff\xff\xff\xff\xc9\x75\xf7\xc3";
	/* leaf: inc %eax; inc or dec %eax; ret */
	static const unsigned char leaf[] = "\xff\xc0\xff\xc0\xc3";
	unsigned char *p = pages(0x20000000);

	memcpy(p + 0x80, begin, sizeof begin);
	memcpy(p + 0x100, loop, sizeof loop);
	memcpy(p + 0x40, leaf, sizeof leaf);
	return rounds(p, p + 0x43, (int (*)(void))(p + 0x80), 0xc0, 0xc8);
}

/* A loop below the program, which calls a leaf above it, and then changes. */
static int
across(void)
{
	/* push %rbx; push %r12; mov $1000,%ebx; xor %r12d,%r12d; nop */
	static const unsigned char begin[] =
	    "\x53\x41\x54\xbb\xe8\x03\0\0\x45\x31\xe4\x90";
	/* l: mov %ebx,%edi; call leaf; inc or dec %r12d; dec %ebx; jnz l */
	static const unsigned char loop[] =
	    "\x89\xdf\xe8\0\0\0\0\x41\xff\xc4\xff\xcb\x75\xf2";
	/* mov %r12d,%eax; pop %r12; pop %rbx; ret */
	static const unsigned char end[] = "\x44\x89\xe0\x41\x5c\x5b\xc3";
	unsigned char *p = pages(0x100000), *q = pages(0x10000000);
	int d = (int)(q - p - 19);

	memcpy(p, begin, sizeof begin - 1);
	memcpy(p + 12, loop, sizeof loop - 1);
	memcpy(p + 26, end, sizeof end - 1);
	memcpy(p + 15, &d, 4);
	memcpy(q, "\x89\xf8\xc3", 3);	/* mov %edi,%eax; ret */
	mprotect(q, 4096, PROT_READ | PROT_EXEC);
	return rounds(p, p + 21, (int (*)(void))p, 0xc4, 0xcc);
}

int
main(void)
{
	printf("%d %d %d\n", back(), across(), work(1000000));
	return 0;
}
