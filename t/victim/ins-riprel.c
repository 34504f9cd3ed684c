/*
 * ins-riprel - operands by the pc, of all sizes, as source, destination, both,
 * with immediates of one, two and four bytes behind the displacement
 * build: t/victim/asm/riprel.S -Wl,--no-warn-rwx-segments
 */
#include "victim.h"

extern unsigned char riprel_begin[], riprel_end[], riprel_sum[];
extern void riprel_code(void);

static uint64_t
run(unsigned char *at, size_t sum)
{
	uint64_t s;

	__asm__ volatile("call *%0" : : "r"(at + ((unsigned char *)
	    (uintptr_t)riprel_code - riprel_begin)) : "rax", "rcx", "rdx",
	    "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
	    "r14", "r15", "xmm0", "xmm1", "memory", "cc");
	memcpy(&s, at + sum, 8);
	return s;
}

/* The code and its data once more, at this place. */
static unsigned char *
copy_to(void *place, size_t size)
{
	unsigned char *p = mmap(place, size, PROT_READ | PROT_WRITE |
	    PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | (place != NULL ?
	    MAP_FIXED_NOREPLACE : 0), -1, 0);

	CHECK(p != MAP_FAILED && (place == NULL || p == place));
	memcpy(p, riprel_begin, size);
	return p;
}

int
main(void)
{
	static const uintptr_t places[] = { 0, 0x10000000, 0x200000000,
	    0x123456789000, 0x600000000000 };
	size_t size = (size_t)(riprel_end - riprel_begin);
	size_t sum = (size_t)(riprel_sum - riprel_begin);
	uint64_t first = 0;

	/* Far from all else no engine's cache is in reach of the data. */
	for (size_t i = 0; i < NELEM(places); i++) {
		unsigned char *p = copy_to((void *)places[i], size);
		unsigned char *saved = malloc(size);

		memcpy(saved, p, size);
		for (int round = 0; round < 50; round++) {
			uint64_t s;

			memcpy(p, saved, size);
			s = run(p, sum);
			if (first == 0)
				first = s;
			SAME(s, first);
		}
		/* Written no more: trusted, on pages of their own. */
		memcpy(p, saved, size);
		CHECK(mprotect(p, (sum & ~4095ul), PROT_READ | PROT_EXEC) ==
		    0);
		SAME(run(p, sum), first);
		free(saved);
	}
	victim_say("ok " VICTIM " %llx\n", (unsigned long long)first);
	return 0;
}
