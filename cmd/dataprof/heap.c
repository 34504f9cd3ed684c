/*
 * heap - the calls that allocate and free: D lines
 *
 * Two lines tell an allocation: `+' or `*' its call, and `=' its return, with
 * the address. Between them the thread's call is open, and what the thread
 * refers to may lie in the memory that the call makes (hold.c).
 */
#include "dataprof.h"
#include "mem.h"

struct open {
	bool is_open;
	bool again;		/* the call was told by `*' */
	uint64_t old, oldnumber, size;
	uint32_t site;
};

static struct open *opens;		/* by thread */
static size_t nopen;

void
heap_exec(void)
{
	size_t i;

	order_end();
	block_exec();
	site_exec();
	for (i = 0; i < nopen; i++)
		opens[i].is_open = false;
}

static struct open *
open_of(unsigned thread)
{
	opens = xgrow0(opens, &nopen, thread + (size_t)1, sizeof *opens);
	return &opens[thread];
}

bool
heap_open(unsigned thread)
{
	return thread < nopen && opens[thread].is_open;
}

static void
begin(const struct ev *e, unsigned thread)
{
	bool again = *e->text == '*';
	unsigned i = again ? 2 : 1;
	struct open *o = open_of(thread);
	uint32_t state = e->nnum > i + 3 ? (uint32_t)e->num[i + 3] : 0;

	if (o->is_open && o->again)	/* that did not return */
		order_nothing(o->oldnumber);
	if (!again)
		order_nothing(e->num[0]);
	o->is_open = true;
	o->again = again;
	o->old = again ? e->num[1] : 0;
	o->oldnumber = e->num[0];
	o->size = e->num[i + 1];
	o->site = site_of_call(thread, e->num[i], e->num[i + 2], state);
}

static void
end(const struct ev *e, unsigned thread, struct heap_made *m)
{
	struct open *o = open_of(thread);
	uint64_t at = e->num[1];
	/* realloc to no bytes has nothing to return */
	bool frees = at != 0 || (o->size == 0 && !site_get(o->site)->maps);

	if (o->is_open && frees && o->old != 0)
		order_free(o->old, e->nnum > 2 ? e->num[2] : 0, o->oldnumber);
	else if (o->is_open && o->again)
		order_nothing(o->oldnumber);
	if (o->is_open && at != 0)
		order_add(at, o->size, e->num[0], o->site);
	else
		order_nothing(e->num[0]);
	if (!o->is_open)
		return;
	o->is_open = false;
	*m = (struct heap_made){ at, o->size, site_get(o->site)->object };
}

bool
heap_line(const struct ev *e, unsigned thread, struct heap_made *m)
{
	*m = (struct heap_made){ 0, 0, 0 };
	switch (*e->text) {
	case '+':
	case '*':
		begin(e, thread);
		return true;
	case '=':
		end(e, thread, m);
		return true;
	case '-':
		order_free(e->num[1], e->nnum > 2 ? e->num[2] : 0, e->num[0]);
		if (e->nnum > 2)
			images_unmapped(e->num[1], block_pages_end(e->num[1],
			    e->num[2]), e->num[0]);
		break;
	case '@':
		order_nothing(e->num[0]);
		images_thread(thread, e->num[1], e->num[0]);
		break;
	}
	return false;
}
