/*
 * thr-lockfree - atomic instructions of every kind between threads that never
 * call the kernel: xadd, cmpxchg, cmpxchg16b, xchg, bts, inc; message passing
 */
#include <pthread.h>
#include <sched.h>

#include "victim.h"

enum { NROUND = 20000 };

static uint64_t added, swapped, incremented, token = 1;
static unsigned __int128 wide;
static uint32_t bits[64];
static volatile uint64_t data, flag;

/* Busy-waits; gives way in the end, as the other may be on this processor. */
static void
relax(int *spins)
{
	__builtin_ia32_pause();
	if (++*spins % 2000 == 0)
		sched_yield();
}

static void
add_wide(void)
{
	uint64_t *w = (uint64_t *)&wide;
	uint64_t lo = w[0], hi = w[1];
	unsigned char done;

	do {
		uint64_t nlo = lo + 1, nhi = hi + 2;

		__asm__ volatile("lock cmpxchg16b %1; setz %0"
		    : "=q"(done), "+m"(wide), "+a"(lo), "+d"(hi)
		    : "b"(nlo), "c"(nhi) : "cc", "memory");
	} while (!done);
}

static void *
worker(void *arg)
{
	uint64_t id = (uint64_t)arg, t;
	int spins = 0;

	for (uint64_t i = 0; i < NROUND; i++) {
		uint64_t one = 1, old = __atomic_load_n(&swapped, 0);

		__asm__ volatile("lock xadd %0, %1"
		    : "+r"(one), "+m"(added) : : "cc");
		__asm__ volatile("lock incq %0" : "+m"(incremented) : : "cc");
		while (!__atomic_compare_exchange_n(&swapped, &old, old + 3,
		    0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			;
		add_wide();
		/* A spin lock of xchg. */
		for (;;) {
			t = 0;
			__asm__ volatile("xchg %0, %1" : "+r"(t), "+m"(token));
			if (t != 0)
				break;
			relax(&spins);
		}
		__atomic_store_n(&token, 1, __ATOMIC_RELEASE);
		if (i < 1024)
			__asm__ volatile("lock btsl %1, %0"
			    : "+m"(bits)
			    : "r"((uint32_t)(2 * i + id)) : "cc", "memory");
	}
	return NULL;
}

static void *
receiver(void *arg)
{
	uint64_t want = 1;
	int spins = 0;

	(void)arg;
	while (want <= 500) {
		while (flag != want)
			relax(&spins);
		SAME(data, want * want);
		flag = 0;
		want++;
	}
	return NULL;
}

int
main(void)
{
	pthread_t a, b;
	int spins = 0;

	pthread_create(&a, NULL, worker, (void *)0);
	pthread_create(&b, NULL, worker, (void *)1);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	SAME(added, 2 * NROUND);
	SAME(incremented, 2 * NROUND);
	SAME(swapped, 6 * NROUND);
	SAME((uint64_t)wide, 2 * NROUND);
	SAME((uint64_t)(wide >> 64), 4 * NROUND);
	for (int i = 0; i < 64; i++)
		SAME(bits[i], 0xffffffff);
	pthread_create(&a, NULL, receiver, NULL);
	for (uint64_t i = 1; i <= 500; i++) {
		data = i * i;
		flag = i;
		while (flag != 0)
			relax(&spins);
	}
	pthread_join(a, NULL);
	return victim_ok();
}
