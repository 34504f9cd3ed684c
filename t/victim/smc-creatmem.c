/*
 * smc-creatmem - code that cannot be written is changed through
 * /proc/self/mem, which only creat(2) has opened
 */
#include <fcntl.h>

#include "victim.h"

int
main(void)
{
	int fd = creat("/proc/self/mem", 0600), (*f)(void);
	unsigned char *code = map_pages(1, PROT_READ | PROT_WRITE);

	CHECK(fd >= 0);
	memcpy(code, "\xb8\x00\x00\x00\x00\xc3", 6);
	CHECK(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
	if (pwrite(fd, code, 1, (off_t)(uintptr_t)code) != 1)
		victim_skip("/proc/self/mem cannot be written");
	f = (int (*)(void))code;
	for (int n = 1; n < 20; n++) {
		SAME(pwrite(fd, &n, 4, (off_t)(uintptr_t)(code + 1)), 4);
		SAME(f(), n);
	}
	return victim_ok();
}
