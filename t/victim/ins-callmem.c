/*
 * ins-callmem - calls and jumps through memory: [r8+r11*8], tables, the pc, a
 * segment, 32-bit addresses; memory that the call itself overwrites
 */
#include "victim.h"

static uint64_t (*table[8])(void);

#define RETURN(n) static uint64_t ret##n(void) { return n; }
RETURN(0) RETURN(1) RETURN(2) RETURN(3) RETURN(4) RETURN(5) RETURN(6)
RETURN(7)

#define CLOBBERS "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",	\
    "r12", "r13", "memory", "cc"

static void
indexed(void)
{
	uint64_t a;

	for (uint64_t i = 0; i < 8; i++) {
		__asm__ volatile("mov %1, %%r8; mov %2, %%r11;"
		    "call *(%%r8, %%r11, 8)" : "=a"(a) : "r"(table), "r"(i)
		    : CLOBBERS);
		SAME(a, i);
		__asm__ volatile("lea -0x100(%1), %%r11; lea 0x20(,%2,8), %%r8;"
		    "call *0xe0(%%r11, %%r8)" : "=a"(a) : "r"(table), "r"(i)
		    : CLOBBERS);
		SAME(a, i);
		__asm__ volatile("mov %1, %%r13; mov %2, %%r12;"
		    "lea 1f(%%rip), %%r8; push %%r8;"
		    "jmp *(%%r13, %%r12, 8); 1:" : "=a"(a) : "r"(table),
		    "r"(i) : CLOBBERS);
		SAME(a, i);
	}
}

static void
special(void)
{
	uint64_t a, *low;

	__asm__ volatile("call *%1" : "=a"(a) : "m"(table[5]) : CLOBBERS);
	SAME(a, 5);
	low = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	CHECK(low != MAP_FAILED);
	low[3] = (uintptr_t)table[6];
	__asm__ volatile("mov %1, %%r8; bts $40, %%r8;"
	    "addr32 call *24(%%r8d)" : "=a"(a) : "r"(low) : CLOBBERS);
	SAME(a, 6);
	/* The pushed return address lands on the pointer. */
	__asm__ volatile("pushq %1; lea 8(%%rsp), %%rsp; call *-8(%%rsp)"
	    : "=a"(a) : "m"(table[7]) : CLOBBERS);
	SAME(a, 7);
	munmap(low, PAGE);
}

/* Thread-local memory: the pointer at fs:something. */
static __thread uint64_t (*by_thread)(void);

static void
by_segment(void)
{
	uint64_t a, off;

	by_thread = table[4];
	off = (uintptr_t)&by_thread - (uintptr_t)__builtin_thread_pointer();
	__asm__ volatile("mov %1, %%r11; call *%%fs:(%%r11)" : "=a"(a)
	    : "r"(off) : CLOBBERS);
	SAME(a, 4);
	__asm__ volatile("mov %1, %%r8; lea 1f(%%rip), %%r11; push %%r11;"
	    "jmp *%%fs:(%%r8); 1:" : "=a"(a) : "r"(off) : CLOBBERS);
	SAME(a, 4);
}

int
main(void)
{
	table[0] = ret0, table[1] = ret1, table[2] = ret2, table[3] = ret3;
	table[4] = ret4, table[5] = ret5, table[6] = ret6, table[7] = ret7;
	for (int i = 0; i < 200; i++) {
		indexed();
		special();
		by_segment();
	}
	return victim_ok();
}
