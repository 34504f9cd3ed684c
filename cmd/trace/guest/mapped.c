/*
 * mapped - what a process has mapped, as /proc/PID/maps tells it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"

bool
mapped_open(struct mapped *m, pid_t pid)
{
	char name[64];

	memset(m, 0, sizeof *m);
	snprintf(name, sizeof name, "/proc/%d/maps", (int)pid);
	m->f = fopen(name, "re");
	return m->f != NULL;
}

/* start-end mode offset device inode, and perhaps a name */
static bool
parse(struct mapped *m)
{
	unsigned long long start, end, off, inode;
	int n = 0;

	if (sscanf(m->line, "%llx-%llx %4s %llx %*s %llu %n", &start, &end,
	    m->mode, &off, &inode, &n) != 5)
		return false;
	m->start = start;
	m->end = end;
	m->off = off;
	m->inode = inode;
	m->name = m->line + n;
	return true;
}

bool
mapped_next(struct mapped *m)
{
	while (m->f != NULL && getline(&m->line, &m->cap, m->f) > 0)
		if (parse(m) && strncmp(m->name, "[vsyscall]", 10) != 0)
			return true;
	if (m->f != NULL)
		fclose(m->f);
	free(m->line);
	memset(m, 0, sizeof *m);
	return false;
}

uint64_t
guest_mapped_from(uint64_t at)
{
	uint64_t start = 0;
	bool found = false;
	struct mapped m;

	mapped_open(&m, guest.pid);
	while (mapped_next(&m))
		if (!found && m.end > at) {
			found = true;
			start = m.start;
		}
	return start;
}

void
extents_add(struct extents *e, uint64_t start, uint64_t end)
{
	e->v = xgrow(e->v, &e->cap, e->n + 1, sizeof *e->v);
	e->v[e->n++] = (struct extent){ start, end };
}

void
extents_add_ours(struct extents *e, const struct mapped *m,
    const struct segment *ibl)
{
	extents_add(e, m->start, m->end);
	if (m->off == ibl->off && m->start - ibl->addr >= ibl->size)
		extents_add(e, m->start - T_SIZE, m->start);
}
