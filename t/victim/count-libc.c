/*
 * count-libc - a small deterministic program with a libc and a loader, for
 * exact counts: dynamic linking, memory, floating point, a signal, a file
 * build: -lm
 */
#include <math.h>

#include "victim.h"

static volatile int got;

static void
on_usr1(int sig, siginfo_t *si, void *uc)
{
	(void)sig, (void)si, (void)uc;
	got++;
}

int
main(void)
{
	char line[64];
	double sum = 0;
	FILE *f;

	handle(SIGUSR1, on_usr1, 0);
	raise(SIGUSR1);
	for (int i = 1; i < 20; i++)
		sum += sqrt(i) / i;
	snprintf(line, sizeof line, "%.3f", sum);
	CHECK(strcmp(line, "7.372") == 0);
	f = fopen("/proc/self/comm", "r");
	CHECK(f != NULL && fgets(line, sizeof line, f) != NULL);
	fclose(f);
	CHECK(strcmp(line, VICTIM "\n") == 0);
	free(malloc(100000));
	SAME(got, 1);
	return victim_ok();
}
