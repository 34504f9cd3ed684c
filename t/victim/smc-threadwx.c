/*
 * smc-threadwx - threads run code of their own pages while others map, fill,
 * protect and unmap theirs: what one unmaps is nobody else's
 */
#include <pthread.h>

#include "victim.h"

enum { NTHREAD = 6, NROUND = 150 };

static void *
worker(void *arg)
{
	int id = (int)(intptr_t)arg;

	for (int i = 0; i < NROUND; i++) {
		unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE);
		int value = id * 1000 + i;
		int (*f)(void) = (int (*)(void))p;

		memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
		memcpy(p + 1, &value, 4);
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		for (int k = 0; k < 5; k++)
			SAME(f(), value);
		CHECK(munmap(p, PAGE) == 0);
	}
	return NULL;
}

int
main(void)
{
	pthread_t th[NTHREAD];

	for (intptr_t i = 0; i < NTHREAD; i++)
		CHECK(pthread_create(&th[i], NULL, worker, (void *)i) == 0);
	for (int i = 0; i < NTHREAD; i++)
		CHECK(pthread_join(th[i], NULL) == 0);
	return victim_ok();
}
