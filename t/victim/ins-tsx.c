/*
 * ins-tsx - transactions: whether they commit or abort, the fallback is taken
 * with the state of the beginning; xtest outside is false
 */
#include <cpuid.h>

#include "victim.h"

int
main(void)
{
	unsigned a, b, c, d;
	static volatile uint64_t word;
	int commits = 0, aborts = 0;

	__cpuid_count(7, 0, a, b, c, d);
	if ((b & bit_RTM) == 0)
		victim_skip("no transactions");
	for (uint64_t i = 0; i < 300; i++) {
		unsigned char inside, outside;
		uint32_t status;
		uint64_t r8;

		word = 5;
		__asm__ volatile(
		    "	mov	$77, %%r8d\n"
		    "	mov	$-1, %%eax\n"
		    "	mov	$0, %%edx\n"
		    "	xbegin	1f\n"
		    "	mov	$88, %%r8d\n"
		    "	movq	$6, %4\n"
		    "	xtest\n"
		    "	setnz	%%dl\n"
		    "	xend\n"
		    "1:	mov	%%r8, %1\n"
		    "	mov	%%dl, %2\n"
		    "	xtest\n"
		    "	setnz	%3\n"
		    : "=&a"(status), "=&r"(r8), "=&q"(inside),
		    "=&q"(outside), "+m"(word) : : "rdx", "r8", "cc");
		SAME(outside, 0);
		if (status == 0xffffffff) {
			commits++;
			SAME(r8, 88);
			SAME(word, 6);
			SAME(inside, 1);
		} else {
			aborts++;
			SAME(r8, 77);
			SAME(word, 5);
		}
		__asm__ volatile("mov $-1, %%eax; xbegin 1f; xabort $0x42; 1:"
		    : "=a"(status) : : "memory");
		CHECK((status & 1) == 0 || status >> 24 == 0x42);
	}
	__asm__ volatile("xacquire lock incq %0; xrelease lock decq %0"
	    : "+m"(word) : : "cc");
	SAME(commits + aborts, 300);
	return victim_ok();
}
