/*
 * smc-devuserfault - code that runs often, and is then the program's to supply
 * where it is missing, by a descriptor that /dev/userfaultfd gives
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "victim.h"

static int fd;
static unsigned char *code;

/* mov $n,%eax; ret */
static void
put(unsigned char *p, int n)
{
	memcpy(p, (unsigned char[]){ 0xb8, (unsigned char)n, 0, 0, 0, 0xc3 },
	    6);
}

static void *
supply(void *arg)
{
	static unsigned char page[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_copy c = { .src = (uintptr_t)page, .len = PAGE };
	struct uffd_msg m;

	put(page, 70);
	while (read(fd, &m, sizeof m) == sizeof m) {
		c.dst = m.arg.pagefault.address & -(uint64_t)PAGE;
		CHECK(ioctl(fd, UFFDIO_COPY, &c) == 0);
	}
	return arg;
}

static int
run(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += ((int (*)(void))code)();
	return sum;
}

int
main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	pthread_t thread;
	int dev = open("/dev/userfaultfd", O_RDWR);

	code = map_pages(4, PROT_READ | PROT_WRITE | PROT_EXEC);
	put(code, 3);
	SAME(run(300000), 900000);
	if (dev < 0)
		victim_skip("no /dev/userfaultfd");
	fd = ioctl(dev, USERFAULTFD_IOC_NEW, 0);
	CHECK(fd >= 0);
	CHECK(ioctl(fd, UFFDIO_API, &api) == 0);
	r.range = (struct uffdio_range){ (uintptr_t)code, 4 * PAGE };
	CHECK(ioctl(fd, UFFDIO_REGISTER, &r) == 0);
	CHECK(pthread_create(&thread, NULL, supply, NULL) == 0);
	SAME(run(1), 3);
	CHECK(madvise(code, 4 * PAGE, MADV_DONTNEED) == 0);
	SAME(run(1000), 70000);
	put(code, 5);
	SAME(run(1000), 5000);
	return victim_ok();
}
