/*
 * kept - fragments from the store: find an entry, take what it has
 *
 * See kept.h for all of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "ctl.h"
#include "keep/keep.h"
#include "stream/stream.h"
#include "xlate/xlate.h"
#include "mem.h"
#include "prog.h"

static bool usable;
/* Where ids are in the code, an image whose ids begin later does without. */
static uint32_t firstid;

const char *
kept_hindrance(void)
{
	if (opt->contexts != 0 || opt->allocs)
		return "not with --contexts or --allocs";
	if (opt->aslr)
		return "with --aslr all addresses are others each time";
	if (opt->pid != 0)
		return "not for a process that runs already";
	if (opt->debug != 0)
		return "not with --debug";
	if ((opt->windows & ~WINDOWS_REQUESTS) != 0 || opt->off ||
	    opt->after != 0 || opt->during != 0)
		return "not for a part of a run";
	return NULL;
}

static bool
is_allowed(void)
{
	const char *why = kept_hindrance();

	if (why != NULL)
		warn("--store: %s: it is not used", why);
	return why == NULL;
}

void
kept_start(void)
{
	firstid = def_ids_used();
	usable = opt->store != NULL && is_allowed() &&
	    keep_open(opt->store, opt->store_max);
}

/* What fragments are made of is mapped by itself, and stays. */
static void
close_entry(void)
{
	if (!kept.shelved && kept.head != NULL)
		munmap((void *)(uintptr_t)kept.head, kept.head->size);
	if (!kept.shelved)
		free(kept.installed);
	kept.shelved = false;
	kept.head = NULL;
	kept.installed = NULL;
	kept.nfrag = kept.nobject = 0;
}

void
kept_close(void)
{
	close_entry();
	gone_forget();
	free(kept.key);
	memset(&kept, 0, sizeof kept);
}

/* --------------------------------------------------------------------- take */

/* Definitions of an image that is not the first have other numbers. */
static void
number_definitions(uint32_t first)
{
	const uint32_t *n = kept.head->n;
	struct exitkept *e = (void *)(uintptr_t)kept.part[PART_EXITS];
	struct fragmeta *m;
	uint32_t i;
	unsigned z;

	for (i = 0; i < n[PART_EXITS] && first != 0; i++)
		e[i].block = (e[i].block + first) & 0xfffffff;
	for (z = 0; z < 2 && first != 0; z++) {
		m = (void *)(uintptr_t)kept.part[PART_META0 + z];
		for (i = 0; i < n[PART_META0 + z]; i++)
			m[i].block += first;
	}
}

/* Take all places that the entry has. */
static void
reserve(void)
{
	const uint32_t *n = kept.head->n;
	unsigned z;

	for (z = 0; z < 2; z++) {
		area.zone_used[z] = n[PART_ZONE0 + z];
		store_publish(z, n[PART_META0 + z]);
	}
	area.nmap = n[PART_MAPS];
	store_publish_exits(n[PART_EXITS]);
	counters_reserve(kept.head->ncounter);
	filter_put_cells(kept.part[PART_CELLS], n[PART_CELLS]);
}

/* Begin with what the entry has; false: it cannot be. */
static bool
take_entry(int fd, int (*open_theirs)(int))
{
	const struct kept_head *h = kept.head;
	uint32_t n = h->n[PART_FRAGS], first = 0, id = def_ids_used();

	if (def_on_shelf())
		first = def_reserve(n, id + h->ncounter, kept_shelved);
	else if (opt->kind->tells)
		first = def_reserve(n, h->nid, NULL);
	number_definitions(first);
	area.boot.storedfd = first == 0 ? open_theirs(fd) : -1;
	if (!kept_put_parts(fd) || !store_take(fd, kept_offset(PART_FRAGS), n,
	    kept.part[PART_PIECES], h->n[PART_PIECES]) ||
	    !link_take(fd, kept_offset(PART_LINKS), h->n[PART_LINKS]))
		return false;
	kept.nfrag = n;
	kept.nobject = h->n[PART_OBJECTS];
	kept.index = kept.part[PART_INDEX];
	kept.put = kept.part[PART_PUTS];
	kept.object = kept.part[PART_OBJECTS];
	kept.number = kept.part[PART_NUMBERS];
	kept.sum = kept.part[PART_SUMS];
	kept.installed = xcalloc(kept.nobject + 1ul, sizeof *kept.installed);
	reserve();
	if (def_on_shelf())
		kept_shelve(id);
	return true;
}

static uint32_t *by_counter;	/* the entry's fragment that has it, + 1 */

static uint32_t *
fragments_by_counter(void)
{
	uint32_t *by = xcalloc(kept.head->ncounter + 1ul, sizeof *by), i, k;
	struct exitmeta e;

	for (i = 0; i < kept.nfrag; i++)
		for (k = 0; k < frags[i].nexit; k++) {
			e = exit_unpack(&area.exits[frags[i].exit + k]);
			if (e.n != 0 && e.id < kept.head->ncounter)
				by[e.id] = i + 1;
		}
	return by;
}

app_pc
kept_pc(uint32_t counter)
{
	uint32_t f;

	if (kept.head == NULL || counter >= kept.head->ncounter)
		return 0;
	if (by_counter == NULL)
		by_counter = fragments_by_counter();
	f = by_counter[counter];
	return f == 0 || frags[f - 1].dead || frags[f - 1].on_path ? 0 :
	    frags[f - 1].pc;
}

bool
kept_is_shelved(uint32_t f)
{
	return f < kept.nfrag && def_on_shelf();
}

/* Open this image's entry; -1: there is none that is right. */
static int
open_entry(void)
{
	bool sure, is;
	int fd = keep_entry(kept.name, &sure);

	if (fd < 0)
		return -1;
	is = kept_open(fd, &sure);
	keep_used(fd, sure);
	if (is)
		return fd;
	close(fd);
	return -1;
}

static void
name_entry(void)
{
	kept.key = kept_key();
	snprintf(kept.name, sizeof kept.name, "%016llx",
	    (unsigned long long)keep_sum(0, kept.key, strlen(kept.key)));
}

void
kept_begin(int (*open_theirs)(int))
{
	int fd;

	kept_close();
	kept_unshelve();
	free(by_counter);
	by_counter = NULL;
	usable = usable && is_allowed();	/* fixed addresses failed? */
	if (!usable || (def_ids_are_fixed() && def_ids_used() != firstid))
		return;
	name_entry();
	counters_reserve(0);
	fd = open_entry();
	if (fd < 0 || !take_entry(fd, open_theirs)) {
		kept_take_back();
		close_entry();
	}
	if (fd >= 0)
		close(fd);
	kept.on = true;
	pages_start();
	objects_begin();
}

void
kept_warn_full(void)
{
	static bool told;

	if (kept.on && is_first(&told))
		warn("--store: process %d has more code than an entry has room "
		    "for: nothing of this run is kept", (int)guest.pid);
}

bool
kept_can_wait(void)
{
	return !opt->kind->tells || def_on_shelf();
}

void
kept_leaving(uint64_t start, uint64_t end)
{
	if (kept.on)
		gone_note(start, end);
}

void
kept_mapped(uint64_t start, uint64_t end)
{
	if (kept.on)
		objects_changed(start, end);
}
