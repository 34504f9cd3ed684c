/*
 * procmem - notice writes into the guest's own memory through /proc/PID/mem
 *
 * /proc/PID/mem can write to read-only pages, so translated code may change by
 * a write to it.  The runtime notices when the guest opens such a file for
 * writing, and only from then on examines the calls that write into files.  It
 * examines the file behind the descriptor, which may be a duplicate or come
 * from another process.
 *
 * process_vm_writev does not matter: it cannot write to read-only pages, and
 * writable code is compared at each entry.
 */
#include "runtime.h"
#include "threads.h"

#define PROC_SUPER_MAGIC 0x9fa0
#define O_ACCMODE 3
#define SEEK_CUR 1

static uint32_t opened;		/* 1: examine the calls that write */

/* Is the descriptor's file in some /proc? */
static bool
is_proc(int64_t fd)
{
	uint64_t fs[15];	/* struct statfs; the type comes first */

	return sys2(__NR_fstatfs, fd, fs) == 0 && fs[0] == PROC_SUPER_MAGIC;
}

/* Write n, with a final 0, up to the end of a text; returns where it begins. */
static char *
put_number(char *end, uint64_t n)
{
	*--end = '\0';
	do
		*--end = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	return end;
}

/* Is the name, of n bytes, .../N/mem with our number N? */
static bool
is_own_mem(const char *name, long n)
{
	uint64_t id = 0, digit = 1;

	if (n < 5 || name[n - 4] != '/' || name[n - 3] != 'm' ||
	    name[n - 2] != 'e' || name[n - 1] != 'm')
		return false;
	for (n -= 5; n >= 0 && name[n] >= '0' && name[n] <= '9'; n--) {
		id += digit * (uint64_t)(name[n] - '0');
		digit *= 10;
	}
	return area_is_ours(id);
}

/* Is it our memory?  If /proc does not say, any file of /proc may be. */
static bool
is_procmem(int64_t fd)
{
	static const char dir[] = "/proc/self/fd/";
	char path[64], link[256], *p;
	long n;

	if (!is_proc(fd))
		return false;
	p = put_number(path + sizeof path, (uint64_t)fd) - (sizeof dir - 1);
	memcpy(p, dir, sizeof dir - 1);
	n = sys3(__NR_readlink, p, link, sizeof link);
	return n < 0 || n == (long)sizeof link || is_own_mem(link, n);
}

void
procmem_opened(int64_t fd, uint64_t flags)
{
	if ((flags & O_ACCMODE) == 0 || opened || rt.ctl->polling)
		return;
	if (is_procmem(fd))
		__atomic_store_n(&opened, 1, __ATOMIC_RELEASE);
}

/*
 * Will the call write into our memory, or may it?  Such a write fails where a
 * page is watched.
 */
bool
procmem_writes(const struct tarea *t, uint64_t nr)
{
	if (rt.boot.flags & BOOT_ATTACHED)
		opened = 1;	/* perhaps before we attached */
	if (!opened || rt.ctl->polling)
		return false;
	switch (nr) {
	case __NR_write:
	case __NR_writev:
	case __NR_pwritev2:
	case __NR_pwrite64:
	case __NR_pwritev:
	case __NR_sendfile:
		return is_procmem((int32_t)t->gpr[7]);
	case __NR_splice:
	case __NR_copy_file_range:
		return is_procmem((int32_t)t->gpr[2]);
	default:		/* queued requests: anywhere */
		return true;
	}
}

/* The range of the n bytes that a call wrote at the file's position. */
static void
at_position(int64_t fd, uint64_t n, uint64_t range[2])
{
	range[1] = (uint64_t)sys3(__NR_lseek, fd, 0, SEEK_CUR);
	range[0] = range[1] - n;
}

bool
procmem_written(const struct tarea *t, uint64_t nr, uint64_t n,
    uint64_t range[2])
{
	int64_t fd = (int32_t)t->gpr[7];

	if (rt.boot.flags & BOOT_ATTACHED)
		opened = 1;	/* perhaps before we attached */
	if (!opened || rt.ctl->polling)
		return false;
	range[0] = 0;
	range[1] = ~0ull;
	switch (nr) {
	case __NR_write:
	case __NR_writev:
		if (!is_procmem(fd))
			return false;
		at_position(fd, n, range);
		return true;
	case __NR_pwritev2:
	case __NR_pwrite64:
	case __NR_pwritev:
		if (!is_procmem(fd))
			return false;
		range[0] = t->gpr[10];
		range[1] = range[0] + n;
		if (nr == __NR_pwritev2 && range[0] == ~0ull)
			at_position(fd, n, range);
		return true;
	case __NR_splice:
	case __NR_copy_file_range:
		return is_procmem((int32_t)t->gpr[2]);
	case __NR_sendfile:
		return is_procmem(fd);
	default:		/* queued requests: anywhere */
		return true;
	}
}
