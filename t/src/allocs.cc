/*
 * allocs - allocate and free in all ways, and log what was done
 *
 *	allocs MODE LOG [N]
 *
 * Each line of LOG is `+ size address', or `- address', in the order of each
 * thread's calls; threads follow one another.  Modes: plain, throw (what is
 * thrown out of operator new, jumped out of an arena, or fails), arena, threads,
 * signals, fork (the child logs).
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

struct entry {
	uintptr_t at;
	size_t size;
	char op;
};
#define NLOG 40000
#define NTHREAD 4
static struct entry logs[NTHREAD][NLOG];
static int nlog[NTHREAD];
static __thread int self;
static jmp_buf env;

static void
note(char op, const void *p, size_t size)
{
	struct entry e = { (uintptr_t)p, size, op };

	if (nlog[self] < NLOG && p != NULL)
		logs[self][nlog[self]++] = e;
}

static void *
got(void *p, size_t size)
{
	note('+', p, size);
	return p;
}

static void
drop(void *p)
{
	note('-', p, 0);
	free(p);
}

static void *
again(void *p, size_t size)
{
	note('-', p, 0);
	return got(realloc(p, size), size);
}

static void
c_ways(void)
{
	void *p;

	p = got(malloc(100), 100);
	p = again(p, 5000);
	p = again(p, 1 << 20);
	drop(p);
	drop(got(calloc(10, 20), 200));
	drop(got(aligned_alloc(64, 128), 128));
	drop(got(memalign(32, 77), 77));
	drop(got(valloc(99), 99));
	if (posix_memalign(&p, 64, 1000) == 0)
		drop(got(p, 1000));
	p = got(reallocarray(NULL, 7, 9), 63);
	note('-', p, 0);
	p = got(reallocarray(p, 700, 9), 6300);
	drop(p);
	p = got(mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0), 8192);
	note('-', p, 0);
	p = got(mremap(p, 8192, 1 << 16, MREMAP_MAYMOVE), 1 << 16);
	note('-', p, 0);
	munmap(p, 1 << 16);
}

struct alignas(128) wide {
	char room[256];
};

static void
cxx_ways(void)
{
	int *one = new int, *many = new int[50];
	wide *w = new wide, *ws = new wide[3];
	char *calm = new (std::nothrow) char[33];

	note('+', one, 4);
	note('+', many, 200);
	note('+', w, 256);
	note('+', ws, 768);
	note('+', calm, 33);
	note('-', one, 0);
	delete one;
	note('-', many, 0);
	delete[] many;
	note('-', w, 0);
	delete w;
	note('-', ws, 0);
	delete[] ws;
	note('-', calm, 0);
	delete[] calm;
}

/* An arena, for --alloc-fn and --free-fn. */
static char *room;
static size_t used;

extern "C" __attribute__((noinline)) void *
arena_take(int tag, size_t size)
{
	char *p;

	if (tag == 2)
		longjmp(env, 1);
	if (room == NULL)
		room = (char *)malloc(1 << 16);	/* a part of this one */
	p = room + used;
	used += (size + 15) & ~(size_t)15;
	return p;
}

extern "C" __attribute__((noinline)) void
arena_give(void *p)
{
	memset(p, 0, 1);
}

static void
arena(void)
{
	void *p[3];
	int i;

	for (i = 0; i < 3; i++)
		p[i] = got(arena_take(i == 1 ? 1 : 0, 40 + (size_t)i),
		    40 + (size_t)i);
	for (i = 0; i < 3; i++) {
		note('-', p[i], 0);
		arena_give(p[i]);
	}
	if (setjmp(env) == 0)
		arena_take(2, 10);
	drop(got(malloc(5), 5));
}

static void
failures(void)
{
	volatile size_t huge = (size_t)1 << 62;
	volatile int i;
	char *p;

	for (i = 0; i < 10; i++)
		try {
			delete[] new char[huge];
		} catch (const std::bad_alloc &) {
			drop(got(malloc(11), 11));
		}
	if (malloc(huge) != NULL || calloc(huge, huge) != NULL)
		abort();
	p = (char *)got(malloc(12), 12);
	if (realloc(p, huge) != NULL)
		abort();
	drop(p);
}

/* Blocks of other threads are freed, so that memory changes hands. */
static void *shared[64];

static void *
worker(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	size_t size;
	void *p;
	int i;

	self = (int)(uintptr_t)arg;
	for (i = 0; i < 3000; i++) {
		seed = seed * 1103515245 + 12345;
		size = 1 + (seed >> 16) % 300;
		p = got(malloc(size), size);
		memset(p, 1, size);
		p = __atomic_exchange_n(&shared[seed >> 8 & 63], p,
		    __ATOMIC_SEQ_CST);
		if (p != NULL)
			drop(p);
	}
	return NULL;
}

static void
threads(void)
{
	pthread_t t[NTHREAD];
	uintptr_t i;

	for (i = 1; i < NTHREAD; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (i = 1; i < NTHREAD; i++)
		pthread_join(t[i], NULL);
}

static volatile long ticks;

static void
tick(int)
{
	ticks = ticks + 1;
}

static void
signals(int n)
{
	struct itimerval every = {{0, 50}, {0, 50}}, off = {{0, 0}, {0, 0}};
	void *p;
	int i;

	signal(SIGALRM, tick);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < n; i++) {
		p = got(malloc(10 + (size_t)i % 50), 10 + (size_t)i % 50);
		drop(p);
	}
	setitimer(ITIMER_REAL, &off, NULL);
}

static void
dump(const char *name)
{
	static char line[64];
	int fd = creat(name, 0644), k, i, n;

	for (k = 0; k < NTHREAD; k++)
		for (i = 0; i < nlog[k]; i++) {
			struct entry *e = &logs[k][i];

			n = e->op == '+' ? snprintf(line, sizeof line,
			    "+ %zx %lx\n", e->size, (long)e->at) :
			    snprintf(line, sizeof line, "- %lx\n",
			    (long)e->at);
			if (write(fd, line, (size_t)n) != n)
				abort();
		}
	close(fd);
}

int
main(int argc, char **argv)
{
	char mode = argc < 3 ? 0 : argv[1][0];

	if (mode == 'p') {
		c_ways();
		cxx_ways();
	} else if (mode == 't' && argv[1][2] == 'r' && argv[1][1] == 'h' &&
	    argv[1][3] == 'o') {
		failures();
	} else if (mode == 't') {
		threads();
	} else if (mode == 'a') {
		arena();
	} else if (mode == 's') {
		signals(atoi(argv[3]));
	} else if (mode == 'f') {
		drop(got(malloc(1000), 1000));
		if (fork() != 0) {
			wait(NULL);
			return 0;
		}
		nlog[0] = 0;
		c_ways();
	}
	dump(argv[2]);
	return 0;
}
