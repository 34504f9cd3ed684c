/*
 * link - link direct exits to fragments
 *
 * Exits whose target has no fragment wait for it, in a list that a few targets
 * share.  When the fragment is made they are patched to jump there; when it is
 * dropped they are patched back to their stubs.
 *
 * Exits of a dropped fragment rest: whoever meets one in a list takes it out.
 * Else all exits that ever led to a page of code would be patched whenever the
 * program changes that page.
 *
 * A patch is one 4-byte store within 8 aligned bytes, made once the target's
 * code is complete: the guest may execute the jump at any time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache/parts.h"
#include "xlate/xlate.h"
#include "mem.h"

static struct link *links;	/* by exit; they get pages as they are used */
static size_t caplinks;
static struct touched linkpages;

/*
 * Lists of waiting exits, the first one's number + 1.  Targets that are near to
 * each other have lists beside each other; those 1 MB apart may share one.
 */
#define NWAITING (1u << 17)
static uint32_t waiting[NWAITING];
static struct touched_parts waiting_parts;
static uint32_t nwaiting;	/* exits in all of them */

#define RESTS UINT32_MAX	/* as `next' of an exit that is in no list */

static uint32_t *
list_for(frag_key key)
{
	uint64_t pc = (uint64_t)key, owner = (uint64_t)(key >> 64);

	return &waiting[((pc >> 3) + ((pc >> 20) + owner) * 0x9e3779b1u) %
	    NWAITING];
}

/* Where a fragment's entry is in its zone. */
static uint32_t
entry_offset(const struct frag *f)
{
	return (uint32_t)(entry_address(f->entry) -
	    area.boot.seg[SEG_ZONE0 + f->zone].addr);
}

static void
patch(const struct link *l, uint64_t target)
{
	const struct frag *f = &frags[l->from];
	uint32_t jmp = entry_offset(f) + (uint32_t)l->jmp;
	uint64_t from = area.boot.seg[SEG_ZONE0 + f->zone].addr + jmp + 4;
	int32_t d = (int32_t)(target - from);

	__atomic_store_n((int32_t *)(void *)(area.seg[SEG_ZONE0 + f->zone] +
	    jmp), d, __ATOMIC_RELEASE);
}

/* Note a fragment of no block's in zone z, which begins at c->start. */
static void
put_bare(unsigned z, const struct emitter *c, app_pc pc,
    const struct mapent *maps, unsigned n)
{
	struct fragmeta *m = &area.frags[z][area.nfrag[z]];

	memset(m, 0, sizeof *m);
	m->pc = pc;
	m->code = area.zone_used[z];
	m->map = area.nmap;
	m->block = NODEF;
	m->pcs = (uint16_t)(map_pack(area.maps + area.nmap, maps, n,
	    &m->nmap) - (area.maps + area.nmap));
	area.nmap += m->pcs;
	area.zone_used[z] += (emit_off(c) + 15) & ~15u;
	store_publish(z, area.nfrag[z] + 1);
}

uint64_t
link_more(void)
{
	static struct xlate x;

	x.nmap = 0;
	x.loc = REG_P | REG_T << 4;
	area.zone_used[0] = (area.zone_used[0] + 15) & ~15u;
	x.c.start = x.c.p = area.seg[SEG_ZONE0] + area.zone_used[0];
	x.c.addr = area.boot.seg[SEG_ZONE0].addr + area.zone_used[0];
	calls_more(&x);
	put_bare(0, &x.c, 0, x.map, x.nmap);
	return x.c.addr;
}

/* Make a fragment that jumps to f, for exits of the other zone. */
static uint64_t
far_jump(unsigned z, uint32_t f)
{
	struct mapent e = { .kind = MAP_BODY, .loc = REG_P | REG_T << 4 };
	struct emitter c;

	area.zone_used[z] = (area.zone_used[z] + 15) & ~15u;
	c.start = c.p = area.seg[SEG_ZONE0 + z] + area.zone_used[z];
	c.addr = area.boot.seg[SEG_ZONE0 + z].addr + area.zone_used[z];
	emit_u64(&c, entry_address(frags[f].entry));
	emit_patch32(emit_jmp_rip(&c), c.start);
	put_bare(z, &c, frags[f].pc, &e, 1);
	return c.addr + 8;
}

/*
 * Exit e now leads to fragment f, by way of its stub's place if f lies in the
 * other zone: there a jump through a word reaches everything.
 */
void
link_exit(uint32_t e, uint32_t f)
{
	struct link *l = &links[e];
	uint64_t to = entry_address(frags[f].entry);
	unsigned zone = frags[l->from].zone;

	if (l->jmp == 0 || l->to != 0 || (opt->debug & DEBUG_NOLINK))
		return;
	if (frags[f].zone != zone) {
		if (!store_room(zone))
			return;
		to = far_jump(zone, f);
	}
	stats.links++;
	l->to = f + 1;
	l->next = frags[f].firstin;
	frags[f].firstin = e + 1;
	patch(l, to);
}

void
link_cut(uint32_t e)
{
	struct link *l = &links[e];

	if (l->to == 0)
		return;
	l->to = 0;
	patch(l, entry_address(frags[l->from].entry) +
	    (uint64_t)(int64_t)l->stub);
}

static bool
is_dropped(uint32_t e)
{
	return frags[links[e].from].dead;
}

/* Exit e, which is in no list, waits for the key's fragment; or it rests. */
static void
wait_for(uint32_t e, frag_key key)
{
	uint32_t *list = list_for(key);

	if (is_dropped(e)) {
		links[e].next = RESTS;
		return;
	}
	xtouch_at(waiting, sizeof waiting, &waiting_parts,
	    (size_t)((char *)list - (char *)waiting));
	links[e].next = *list;
	*list = e + 1;
	nwaiting++;
}

void
link_waiting(uint32_t f)
{
	frag_key key = key_of(&frags[f]);
	uint32_t *at = list_for(key), e;

	while (*at != 0) {
		e = *at - 1;
		if (link_key(e) != key) {
			at = &links[e].next;
			continue;
		}
		*at = links[e].next;
		nwaiting--;
		if (is_dropped(e))
			links[e].next = RESTS;
		else
			link_exit(e, f);
	}
}

static void
link_or_wait(uint32_t e, frag_key key)
{
	uint32_t t = table_find(key);

	if (t != 0)
		link_exit(e, t - 1);
	else
		wait_for(e, key);
}

void
link_revived(const struct frag *f)
{
	uint32_t e;

	for (e = f->exit; e < f->exit + f->nexit; e++)
		if (links[e].next == RESTS)
			link_or_wait(e, link_key(e));
}

static void
put_link(uint32_t e, const struct frag *f, uint32_t jmp, uint32_t stub)
{
	uint32_t entry = entry_offset(f);

	xtouch(links, &linkpages, (e + 1) * sizeof *links);
	links[e] = (struct link){ .from = (uint32_t)(f - frags) };
	if (jmp == 0)
		return;
	links[e].jmp = (int16_t)(jmp - entry);
	links[e].stub = (int16_t)(stub - entry);
}

bool
link_any_waits(void)
{
	return nwaiting != 0;
}

void
link_exits(const struct frag *f, const struct xlate *x, uint32_t code)
{
	uint32_t i, e;

	for (i = 0; i < f->nexit; i++) {
		e = f->exit + i;
		put_link(e, f, x->exit[i].jmp == 0 ? 0 :
		    code + x->exit[i].jmp, code + x->exit[i].stub);
		if (x->exit[i].jmp != 0)
			link_or_wait(e, key_of_exit(f, x->exit[i].target));
	}
}

bool
link_take(int fd, off_t off, uint32_t n)
{
	linkpages.have = n * sizeof *links;
	return n == 0 || mmap(links, n * sizeof *links, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_FIXED, fd, off) != MAP_FAILED;
}

struct link *
link_cut_all(void)
{
	uint32_t i;

	for (i = 0; i < area.nexit; i++) {
		link_cut(i);
		links[i].next = 0;
	}
	for (i = 0; i < nfrag; i++)
		frags[i].firstin = 0;
	return links;
}

bool
link_open(uint32_t e)
{
	return links[e].jmp != 0 && links[e].to == 0;
}

frag_key
link_key(uint32_t e)
{
	const uint32_t *target = area.exits[e].target;

	return key_of_exit(&frags[links[e].from], ONCE(target[0]) |
	    (uint64_t)ONCE(target[1]) << 32);
}

void
link_lost(uint32_t f)
{
	uint32_t e, next;

	for (e = frags[f].firstin; e != 0; e = next) {
		next = links[e - 1].next;
		if (links[e - 1].to == f + 1) {
			link_cut(e - 1);
			wait_for(e - 1, key_of(&frags[f]));
		}
	}
	frags[f].firstin = 0;
}

void
link_reset(void)
{
	if (nwaiting != 0)
		memset(waiting, 0, sizeof waiting);
	nwaiting = 0;
	if (caplinks == area.maxexit)
		return;
	if (links != NULL)
		munmap(links, caplinks * sizeof *links);
	caplinks = area.maxexit;
	links = xreserve(caplinks, sizeof *links, "links");
	linkpages = (struct touched){ .size = caplinks * sizeof *links };
}
