/*
 * unseen - returns to callers that were there before the window began
 *
 * With --from=inner and --to=stop each window begins in inner, whose callers
 * are seen when it returns.  middle is called from three places in turn, and
 * again: what the window has cost so far is that of the right call.
 */
#include <stdio.h>

static char memory[1 << 20];
static unsigned sum;

static __attribute__((noipa)) void
touch(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += (unsigned char)memory[(sum + i * 4099) % sizeof memory]++;
}

static __attribute__((noipa)) void
stop(void)
{
	sum++;
}

static __attribute__((noipa)) void
inner(unsigned n)
{
	touch(n);
}

static __attribute__((noipa)) void
middle(unsigned n)
{
	inner(n);
	touch(n / 2);
}

static __attribute__((noipa)) void
outer(unsigned site, unsigned n)
{
	if (site == 0)
		middle(n);
	else if (site == 1)
		middle(n + 1);
	else
		middle(n + 2);
	touch(n / 3);
	stop();
}

int
main(void)
{
	static const unsigned order[] = { 0, 1, 2, 0, 0, 1, 2, 2, 1, 0 };

	for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
		outer(order[i], 10 + 7 * i);
	printf("%u\n", sum);
	return 0;
}
