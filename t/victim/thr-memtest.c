/*
 * thr-memtest - as redis does when it crashes, test all writable memory that
 * has no file: a page at a time is inverted, and put back, while a second
 * thread waits; a call and a branch that goes another way fall between the two
 */
#include <fcntl.h>
#include <pthread.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include "victim.h"

static int wake[2];
static volatile pid_t waiting;

static void *
waits(void *arg)
{
	char c;

	waiting = (pid_t)gettid();
	return read(wake[0], &c, 1) == 1 ? arg : NULL;
}

/* It has to be asleep: until then it uses its own memory. */
static void
await_sleep(void)
{
	char path[64], stat[256] = "", *state;
	int fd, n = 0;

	while (waiting == 0)
		sched_yield();
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)waiting);
	do {
		fd = open(path, O_RDONLY);
		CHECK(fd >= 0 && read(fd, stat, sizeof stat - 1) > 0);
		close(fd);
		state = strrchr(stat, ')');
		CHECK(state != NULL && n++ < 100000);
		sched_yield();
	} while (state[2] != 'S');
}

/* The kernel writes there when it takes the processor from us. */
static void
leave_rseq(void)
{
#ifdef RSEQ_SIG
	if (__rseq_size != 0)
		syscall(SYS_rseq, (char *)__builtin_thread_pointer() +
		    __rseq_offset, 32, RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
#endif
}

/* Nothing here is in the page but, perhaps, what others have. */
static void
invert(volatile uint64_t *page)
{
	for (unsigned i = 0; i < PAGE / 8; i++)
		page[i] = ~page[i];
}

/* A call that needs no memory: nothing of the C library's is as it was. */
static long
call(void)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(SYS_getppid) : "rcx", "r11",
	    "memory");
	return r;
}

static unsigned
test(unsigned long start, unsigned long end)
{
	unsigned n = 0;

	for (; start < end; start += PAGE, n++) {
		invert((volatile uint64_t *)start);
		if (call() < 0)
			n += PAGE;
		invert((volatile uint64_t *)start);
	}
	return n;
}

static size_t
read_maps(char *text, size_t size)
{
	int fd = open("/proc/self/maps", O_RDONLY);
	ssize_t n;
	size_t all = 0;

	CHECK(fd >= 0);
	while ((n = read(fd, text + all, size - 1 - all)) > 0)
		all += (size_t)n;
	CHECK(n == 0 && all < size - 1);
	close(fd);
	text[all] = '\0';
	return all;
}

int
main(void)
{
	char text[65536], *line, *next, perms[5], *memory;
	unsigned long start, end, inode, pages = 0;
	int name;
	pthread_t t;
	pthread_attr_t small;
	void *r;

	memory = map_pages(3, PROT_READ | PROT_WRITE);
	memset(memory, 0x5a, 3 * PAGE);
	CHECK(pipe(wake) == 0);
	CHECK(pthread_attr_init(&small) == 0);
	CHECK(pthread_attr_setstacksize(&small, 1 << 16) == 0);
	CHECK(pthread_create(&t, &small, waits, memory) == 0);
	await_sleep();
	leave_rseq();
	read_maps(text, sizeof text);
	for (line = text; *line != '\0'; line = next) {
		next = strchr(line, '\n') + 1;
		next[-1] = '\0';
		CHECK(sscanf(line, "%lx-%lx %4s %*s %*s %lu %n", &start, &end,
		    perms, &inode, &name) == 4);
		if (strncmp(perms, "rw", 2) == 0 && inode == 0 &&
		    strncmp(line + name, "[stack]", 7) != 0)
			pages += test(start, end);
	}
	CHECK(pages >= 3 && pages < PAGE);
	CHECK(memory[0] == 0x5a && memory[3 * PAGE - 1] == 0x5a);
	CHECK(write(wake[1], "", 1) == 1);
	CHECK(pthread_join(t, &r) == 0 && r == memory);
	return victim_ok();
}
