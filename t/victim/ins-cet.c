/*
 * ins-cet - instructions of control-flow enforcement as processors without it
 * (or with it off) have them: no-ops that change nothing
 */
#include "victim.h"

int
main(void)
{
	for (uint64_t i = 1; i < 300; i++) {
		uint64_t v = i, w = 0;

		__asm__ volatile("endbr64; endbr32; mov %1, %%r8;"
		    "rdsspq %%r8; mov %%r8, %0" : "=r"(w) : "r"(v) : "r8");
		/* Without a shadow stack it keeps the register. */
		SAME(w, v);
		__asm__ volatile("lea 1f(%%rip), %%r11; notrack jmp *%%r11;"
		    "ud2; 1: endbr64; lea 2f(%%rip), %%r8;"
		    "notrack call *%%r8; jmp 3f; 2: endbr64; ret; 3:"
		    : : : "r8", "r11", "memory");
	}
	return victim_ok();
}
