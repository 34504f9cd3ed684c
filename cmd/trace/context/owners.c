/*
 * owners - numbers for a function at a level, and how code is entered
 *
 * An OWNER is a function at a level of recursion.  While a stub of linkage runs
 * that is no function of its own, the call that led to it is part of the owner:
 * the stub's cost is that call's.
 *
 * While it is in doubt to which of a function's active calls a jump has led,
 * the code belongs to an owner in LIMBO.  Once that is known, its counts are
 * moved to the right one.
 */
#include <stdio.h>

#include "context/context.h"
#include "context/parts.h"
#include "evw.h"
#include "hash.h"
#include "khash.h"
#include "mem.h"
#include "prog.h"

struct owner_key {
	uint64_t site;		/* of the call that led to a stub, or 0 */
	uint32_t fn, level;
};

static inline khint_t
key_hash(struct owner_key k)
{
	uint64_t h = (k.site ^ (uint64_t)k.fn << 32 ^ k.level) *
	    HASH_MULTIPLIER;

	return (khint_t)(h >> 32);
}

static inline bool
key_equal(struct owner_key a, struct owner_key b)
{
	return a.site == b.site && a.fn == b.fn && a.level == b.level;
}

KHASH_INIT(owner, struct owner_key, uint32_t, 1, key_hash, key_equal)

struct owner {
	const struct walk_ctx *ctx;	/* one of its contexts */
	uint64_t site;
};

static khash_t(owner) *numbers;

static struct owner *owners;	/* by number, from 1 */
static size_t nowners = 1, capowners;

void
owners_start(void)
{
	numbers = kh_init(owner);
	funcs_start();
	walk.contexts = true;
	walk.maxcontexts = opt->contexts;
}

/* Take in U lines, the first, while it is still known what was there. */
static void
unmapped(const char *lines)
{
	unsigned long long start, end;
	int n;

	for (; sscanf(lines, "U %llx %llx\n%n", &start, &end, &n) == 2;
	    lines += n) {
		arcs_forget_models();
		arcs_unmapped(start, end);
	}
}

void
context_maps(const char *lines)
{
	context_lock();
	unmapped(lines);
	funcs_mapped(lines);
	sites_mapped();
	context_unlock();
}

uint32_t
owner_get(const struct walk_ctx *c, uint64_t site)
{
	struct owner_key key = { site, c->fn->num, c->level };
	khint_t k;
	int made;

	k = kh_put(owner, numbers, key, &made);
	if (made == 0)
		return kh_val(numbers, k);
	if (nowners >= OWNERS_MOST)
		die("--contexts: more than %u functions and levels",
		    OWNERS_MOST);
	owners = xgrow(owners, &capowners, nowners + 1, sizeof *owners);
	owners[nowners] = (struct owner){ c, site };
	return kh_val(numbers, k) = (uint32_t)nowners++;
}

bool
context_in_limbo(uint32_t owner)
{
	bool limbo;

	context_lock();
	limbo = owner > 0 && owner < nowners && owners[owner].site == LIMBO;
	context_unlock();
	return limbo;
}

static const struct walk_ctx *
owner_context(uint32_t owner)
{
	return owner > 0 && owner < nowners ? owners[owner].ctx : NULL;
}

void
context_write_owner(struct evw *w, uint32_t id, uint32_t owner)
{
	const struct walk_ctx *c;
	uint64_t site;

	context_lock();
	c = owner_context(owner);
	site = c == NULL ? 0 : owners[owner].site;
	if (c != NULL)
		told_context(w, c);
	context_unlock();
	if (c == NULL)
		return;
	if (site <= LIMBO)
		evw_line(w, "F %x %x", id, c->num);
	else
		evw_line(w, "F %x %x %llx", id, c->num,
		    (unsigned long long)site);
}

/* ------------------------------------------------------ how code is entered */

enum move
context_way(const struct insn *in, app_pc target)
{
	switch (in->flow) {
	case FLOW_CALL:
	case FLOW_ICALL:
		return MOVE_CALL;
	case FLOW_RET:
		return MOVE_RETURN;
	case FLOW_IJUMP:
		return MOVE_IJUMP;
	case FLOW_JUMP:
		if (target == 0)	/* by a stub */
			return MOVE_ON;
		/* fallthrough */
	default:
		return funcs_is_call(in->pc, target) ? MOVE_ON : MOVE_NONE;
	}
}

bool
context_plain(uint32_t owner, app_pc from, app_pc pc)
{
	const struct walk_ctx *c;
	struct func_place a, b;

	context_lock();
	c = owner_context(owner);
	context_unlock();
	func_place(pc, &b);
	if (c == NULL || b.entry)
		return false;
	func_place(from, &a);
	return a.section == b.section && (func_same(b.fn, c->fn) ||
	    b.fn->start + b.slide == pc);
}
