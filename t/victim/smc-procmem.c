/*
 * smc-procmem - code that cannot be written is changed through /proc/self/mem,
 * in each way in which a file is written, without any other call; and by
 * descriptors that were made by others than open
 */
#include <fcntl.h>
#include <sys/uio.h>

#include "victim.h"

static unsigned char *code;
static int n;

/* The function returns n from here on. */
static ssize_t
change(int fd, int way, off_t at)
{
	struct iovec v[2] = { { &n, 1 }, { (char *)&n + 1, 3 } };

	switch (way) {
	case 0:
		return pwrite(fd, &n, 4, at);
	case 1:
		return pwritev(fd, v, 2, at);
	case 2:
		return pwritev2(fd, v, 2, at, 0);
	case 3:
		CHECK(lseek(fd, at, SEEK_SET) == at);
		return write(fd, &n, 4);
	case 4:
		CHECK(lseek(fd, at, SEEK_SET) == at);
		return writev(fd, v, 2);
	default:
		CHECK(lseek(fd, at, SEEK_SET) == at);
		return pwritev2(fd, v, 2, -1, 0);
	}
}

static void
all_ways(int fd)
{
	int (*f)(void) = (int (*)(void))code;

	for (int i = 0; i < 60; i++) {
		n++;
		SAME(change(fd, i % 6, (off_t)(uintptr_t)(code + 1)), 4);
		SAME(f(), n);
	}
}

int
main(void)
{
	char name[64], dir[] = "/tmp/smc-procmem.XXXXXX";
	int fd = open("/proc/self/mem", O_RDWR);

	CHECK(fd >= 0);
	code = map_pages(1, PROT_READ | PROT_WRITE);
	memcpy(code, "\xb8\x00\x00\x00\x00\xc3", 6);
	CHECK(mprotect(code, PAGE, PROT_READ | PROT_EXEC) == 0);
	if (pwrite(fd, code, 1, (off_t)(uintptr_t)code) != 1)
		victim_skip("/proc/self/mem cannot be written");
	all_ways(fd);
	all_ways(dup(fd));
	snprintf(name, sizeof name, "/proc/self/task/%d/mem", gettid());
	all_ways(open(name, O_WRONLY));
	CHECK(mkdtemp(dir) != NULL);
	snprintf(name, sizeof name, "%s/link", dir);
	CHECK(symlink("/proc/self/mem", name) == 0);
	all_ways(openat(AT_FDCWD, name, O_RDWR));
	CHECK(unlink(name) == 0 && rmdir(dir) == 0);
	return victim_ok();
}
