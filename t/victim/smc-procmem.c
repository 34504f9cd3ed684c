/*
 * smc-procmem - code that is not writable is changed through /proc/self/mem,
 * as debuggers do, followed by mprotect, as those who do that to themselves must
 */
#include <fcntl.h>

#include "victim.h"

int
main(void)
{
	unsigned char *p = map_pages(1, PROT_READ | PROT_WRITE);
	int (*f)(void) = (int (*)(void))p;
	int fd = open("/proc/self/mem", O_RDWR);

	CHECK(fd >= 0);
	memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
	CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
	for (int i = 0; i < 100; i++) {
		if (pwrite(fd, &i, 4, (off_t)(uintptr_t)(p + 1)) != 4)
			victim_skip("/proc/self/mem cannot be written");
		CHECK(mprotect(p, PAGE, PROT_READ) == 0);
		CHECK(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0);
		SAME(f(), i);
	}
	return victim_ok();
}
