/*
 * procmem - the guest writes into its own memory by a file
 *
 * /proc/PID/mem writes what cannot be written otherwise, so code that we trust
 * may be other code behind such a call.  Opening one for writing is noticed;
 * only then are the calls looked at that write into files.  Asked is what the
 * descriptor leads to, so it may be a copy, or come from elsewhere.
 *
 * process_vm_writev is no matter: it does not write what cannot be written,
 * and code that can is compared at each entry.
 */
#include "runtime.h"

#define PROC_SUPER_MAGIC 0x9fa0
#define O_ACCMODE 3
#define SEEK_CUR 1

static uint32_t opened;		/* 1: look at what is written */

/* A descriptor's file is in some /proc. */
static int
is_proc(int64_t fd)
{
	uint64_t fs[15];	/* struct statfs; the type comes first */

	return sys2(__NR_fstatfs, fd, fs) == 0 && fs[0] == PROC_SUPER_MAGIC;
}

/* A process or thread of this number is us. */
static int
is_us(uint64_t id)
{
	unsigned i;

	for (i = 0; i < NSLOT; i++)
		if (rt.ctl->slot[i].used && rt.ctl->slot[i].tid == id)
			return 1;
	return id == rt.pid;
}

/* The number n, with 0 behind it, at the end of a text; where it begins. */
static char *
put_number(char *end, uint64_t n)
{
	*--end = '\0';
	do
		*--end = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	return end;
}

/* By its name, .../N/mem, of n bytes. */
static int
is_own_mem(const char *name, long n)
{
	uint64_t id = 0, digit = 1;

	if (n < 5 || name[n - 4] != '/' || name[n - 3] != 'm' ||
	    name[n - 2] != 'e' || name[n - 1] != 'm')
		return 0;
	for (n -= 5; n >= 0 && name[n] >= '0' && name[n] <= '9'; n--) {
		id += digit * (uint64_t)(name[n] - '0');
		digit *= 10;
	}
	return is_us(id);
}

/* Where /proc cannot be asked, a file of it is taken for one. */
static int
is_procmem(int64_t fd)
{
	static const char dir[] = "/proc/self/fd/";
	char path[64], link[256], *p;
	long n;

	if (!is_proc(fd))
		return 0;
	p = put_number(path + sizeof path, (uint64_t)fd) - (sizeof dir - 1);
	memcpy(p, dir, sizeof dir - 1);
	n = sys3(__NR_readlink, p, link, sizeof link);
	return n < 0 || is_own_mem(link, n);
}

void
procmem_opened(int64_t fd, uint64_t flags)
{
	if ((flags & O_ACCMODE) == 0 || opened || rt.ctl->polling)
		return;
	if (is_procmem(fd))
		__atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
}

/* Where n bytes went that a call has written at the file's position. */
static void
at_position(int64_t fd, uint64_t n, uint64_t range[2])
{
	range[1] = (uint64_t)sys3(__NR_lseek, fd, 0, SEEK_CUR);
	range[0] = range[1] - n;
}

int
procmem_written(const struct tarea *t, uint64_t nr, uint64_t n,
    uint64_t range[2])
{
	int64_t fd = (int32_t)t->gpr[7];

	if (rt.boot.flags & BOOT_ATTACHED)
		opened = 1;	/* before, perhaps */
	if (!opened || rt.ctl->polling)
		return 0;
	range[0] = 0;
	range[1] = ~0ull;
	switch (nr) {
	case __NR_write:
	case __NR_writev:
		if (!is_procmem(fd))
			return 0;
		at_position(fd, n, range);
		return 1;
	case __NR_pwritev2:
	case __NR_pwrite64:
	case __NR_pwritev:
		if (!is_procmem(fd))
			return 0;
		range[0] = t->gpr[10];
		range[1] = range[0] + n;
		if (nr == __NR_pwritev2 && range[0] == ~0ull)
			at_position(fd, n, range);
		return 1;
	case __NR_splice:
	case __NR_copy_file_range:
		return is_procmem((int32_t)t->gpr[2]);
	case __NR_sendfile:
		return is_procmem(fd);
	default:		/* requests that lie in a queue: anywhere */
		return 1;
	}
}
