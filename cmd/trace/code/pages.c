/*
 * pages - the pages of code that translations were made from
 *
 * All that the translator finds out about code it reads by mapbytes.c, a page
 * at a time.  So what was found is true of any program that has the same bytes
 * in these pages (and the same mapping there): see cache/kept.h.
 */
#include <string.h>

#include "code/code.h"
#include "khash.h"
#include "mem.h"

/* A page's bytes; or one that is spare. */
union page {
	uint8_t bytes[PAGE];
	union page *next;
};

KHASH_MAP_INIT_INT64(page, union page *)

static khash_t(page) *pages;	/* by number; NULL: they are not noted */
static union page *spare;

static union page *
take(void)
{
	union page *p = spare;

	if (p == NULL)
		return xkeep(sizeof *p);
	spare = p->next;
	return p;
}

void
pages_start(void)
{
	if (pages == NULL)
		pages = kh_init(page);
	pages_forget(0, ~0ull);
}

void
pages_note(uint64_t at, const uint8_t *bytes)
{
	khiter_t k;
	int new;

	if (pages == NULL)
		return;
	k = kh_put(page, pages, at / PAGE, &new);
	if (new != 0)
		kh_value(pages, k) = take();
	memcpy(kh_value(pages, k)->bytes, bytes, PAGE);
}

const uint8_t *
pages_find(uint64_t at)
{
	khiter_t k = kh_get(page, pages, at / PAGE);

	return k == kh_end(pages) ? NULL : kh_value(pages, k)->bytes;
}

void
pages_forget(uint64_t start, uint64_t end)
{
	khiter_t k;

	if (pages == NULL)
		return;
	for (k = kh_begin(pages); k != kh_end(pages); k++)
		if (kh_exist(pages, k) && kh_key(pages, k) * PAGE < end &&
		    (kh_key(pages, k) + 1) * PAGE > start) {
			kh_value(pages, k)->next = spare;
			spare = kh_value(pages, k);
			kh_del(page, pages, k);
		}
}
