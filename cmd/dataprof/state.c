/*
 * state - what the command line and the stream's head say, and epochs
 */
#include "dataprof.h"

struct dataprof dp = { .threshold = 1, .samples = 200, .detailed = 10 };
struct epoch epoch = { .now = 1, .code = 1 };

void
epoch_change(void)
{
	epoch.all = ++epoch.now;
}

void
epoch_change_pages(uint64_t start, uint64_t end)
{
	uint64_t page, last = (end - 1) / PAGE;

	if (last - start / PAGE >= EPOCH_PAGES) {
		epoch_change();
		return;
	}
	epoch.now++;
	for (page = start / PAGE; page <= last; page++)
		epoch.page[page % EPOCH_PAGES] = epoch.now;
}
