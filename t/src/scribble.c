/*
 * scribble - a program that writes at random over an engine's memory
 *
 *	scribble seed [file]
 *
 * It knows nothing of the engine: it looks for mappings that are backed by a
 * memory file, and for anonymous ones next to them, and writes random bytes
 * over all that can be written; with some seeds it makes the rest writable
 * first.  A second thread works meanwhile.  It says "began" once it has found
 * some.  As the engine may hang in the process then, a timer kills it.
 */
#include <sys/mman.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NEAR (1ul << 20)	/* an anonymous mapping so near is theirs, too */
#define DENSE (64ul << 10)	/* from its start all of a mapping may be hit */
#define SPARSE 3000		/* places of the rest */

static struct map {
	unsigned long start, end;
	char prot[8];
	int is_file;
} maps[4096];
static unsigned nmaps;
static uint64_t state;
static volatile unsigned long sink;

static uint64_t
rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * 0x2545f4914f6cdd1dull;
}

static void
find(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[500], path[400];
	struct map *m;

	while (nmaps < 4096 && fgets(line, sizeof line, f) != NULL) {
		m = &maps[nmaps];
		path[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %399s", &m->start,
		    &m->end, m->prot, path) < 3)
			continue;
		m->is_file = strstr(path, "memfd:") != NULL;
		if (m->is_file || path[0] == '\0')
			nmaps++;
	}
	fclose(f);
}

static int
is_theirs(const struct map *m)
{
	unsigned i;

	if (m->is_file)
		return 1;
	for (i = 0; i < nmaps; i++)
		if (maps[i].is_file && (m->start - maps[i].end < NEAR ||
		    maps[i].start - m->end < NEAR))
			return 1;
	return 0;
}

static void
hit(unsigned char *at)
{
	uint64_t r = rnd();

	switch (r & 7) {
	case 0:			/* a bit */
		*at ^= (unsigned char)(1u << (r >> 8 & 7));
		break;
	case 1:			/* a small word */
		*(uint32_t *)((uintptr_t)at & ~3ul) = r >> 8 & 15;
		break;
	case 2:
		*(uint64_t *)((uintptr_t)at & ~7ul) = rnd();
		break;
	case 3:			/* one that was small */
		*(uint32_t *)((uintptr_t)at & ~3ul) += 1u << (r >> 8 & 31);
		break;
	default:
		*at = (unsigned char)(r >> 8);
	}
}

static void
scribble(const struct map *m, unsigned step)
{
	unsigned long at, n = m->end - m->start;
	unsigned i;

	for (at = 0; at < n && at < DENSE; at += 1 + rnd() % step)
		hit((unsigned char *)m->start + at);
	for (i = 0; n > DENSE && i < SPARSE; i++)
		hit((unsigned char *)m->start + rnd() % n);
}

static void
limit(int seconds)
{
	struct sigevent e = { .sigev_notify = SIGEV_SIGNAL,
	    .sigev_signo = SIGKILL };
	struct itimerspec at = { .it_value.tv_sec = seconds };
	timer_t t;

	if (timer_create(CLOCK_MONOTONIC, &e, &t) == 0)
		timer_settime(t, 0, &at, NULL);
}

static void *
work(void *arg)
{
	unsigned long i, n = (unsigned long)arg;

	for (i = 0; i < n; i++) {
		sink += i;
		if (i % 1000 == 0)
			getppid();
	}
	return NULL;
}

int
main(int argc, char *argv[])
{
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1, i, step, all;
	pthread_t t;

	find();
	for (state = seed * 0x9e3779b97f4a7c15ull + 1, i = 0; i < 20; i++)
		rnd();
	if (seed % 3 == 0)
		pthread_create(&t, NULL, work, (void *)2000000ul);
	work((void *)100000ul);
	dprintf(2, "began\n");
	limit(4);
	step = 1u << rnd() % 14;
	all = (unsigned)(rnd() % 4);	/* one kind of them, or all */
	for (i = 0; i < nmaps; i++) {
		struct map *m = &maps[i];

		if (!is_theirs(m) || (all != 0 && rnd() % 3 != 0))
			continue;
		if (m->prot[1] != 'w' && (seed % 4 != 1 || mprotect(
		    (void *)m->start, m->end - m->start, PROT_READ |
		    PROT_WRITE | PROT_EXEC) < 0))
			continue;
		scribble(m, step);
	}
	work((void *)100000ul);
	dprintf(2, "did\n");
	return 3;
}
