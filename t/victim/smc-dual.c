/*
 * smc-dual - one memory file mapped twice, once to write and once to execute:
 * the executable mapping never changes its protection
 */
#include "victim.h"

int
main(void)
{
	int fd = memfd_create("jit", 0);
	unsigned char *w, *x;
	int (*f)(void), (*g)(void);

	CHECK(fd >= 0 && ftruncate(fd, 2 * PAGE) == 0);
	w = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	x = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	CHECK(w != MAP_FAILED && x != MAP_FAILED);
	f = (int (*)(void))x;
	g = (int (*)(void))(x + PAGE);
	for (int i = 0; i < 1000; i++) {
		int k = i * 3;

		memcpy(w, "\xb8\x00\x00\x00\x00\xc3", 6);
		memcpy(w + 1, &i, 4);
		SAME(f(), i);
		/* By the file, without any mapping. */
		CHECK(pwrite(fd, "\xb8", 1, PAGE) == 1);
		CHECK(pwrite(fd, &k, 4, PAGE + 1) == 4);
		CHECK(pwrite(fd, "\xc3", 1, PAGE + 5) == 1);
		SAME(g(), k);
		SAME(f(), i);
	}
	return victim_ok();
}
