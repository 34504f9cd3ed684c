/*
 * thr-alias - four threads call thousands of functions at random, of which 16
 * each agree in the low 16 bits of their address: more code than a small cache
 * holds, so it is dropped while other threads look for it
 */
#include <pthread.h>

#include "victim.h"

enum { FAR = 1 << 16, NFAR = 16, NEACH = 200, EACH = 16, NTHREAD = 4 };
enum { ROUNDS = 400, CALLS = 40 };

static unsigned char *base;

static void
write_functions(int far)
{
	for (int i = 0; i < NEACH; i++) {
		unsigned char *p = base + FAR * far + EACH * i;
		int value = far * NEACH + i;

		/* mov $value, %eax; ret */
		p[0] = 0xb8;
		memcpy(p + 1, &value, sizeof value);
		p[5] = 0xc3;
	}
}

static unsigned
next(unsigned *seed)
{
	*seed = *seed * 1103515245 + 12345;
	return *seed >> 12 & 0xffff;
}

static void *
caller(void *arg)
{
	unsigned seed = *(unsigned *)arg;

	for (int round = 0; round < ROUNDS; round++) {
		unsigned some = next(&seed) % NEACH;

		for (unsigned k = 0; k < CALLS; k++) {
			unsigned far = next(&seed) % NFAR;
			unsigned i = (some + k % 2) % NEACH;

			SAME(((int (*)(void))(base + FAR * far + EACH * i))(),
			    far * NEACH + i);
		}
	}
	return NULL;
}

int
main(void)
{
	pthread_t t[NTHREAD];
	unsigned seed[NTHREAD];

	base = mmap(NULL, NFAR * FAR, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(base != (void *)MAP_FAILED);
	for (int i = 0; i < NFAR; i++)
		write_functions(i);
	CHECK(mprotect(base, NFAR * FAR, PROT_READ | PROT_EXEC) == 0);
	for (unsigned i = 0; i < NTHREAD; i++) {
		seed[i] = i + 1;
		CHECK(pthread_create(&t[i], NULL, caller, &seed[i]) == 0);
	}
	for (int i = 0; i < NTHREAD; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	return victim_ok();
}
