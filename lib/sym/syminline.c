/*
 * syminline - the calls that were inlined at an address
 *
 * A unit's functions and inlined calls are DIEs within one another, each with
 * its ranges. Walked once, they become an array of scopes that know their
 * parent, and ranges that know the innermost scope.
 */
#include "symunit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/intern.h"
#include "mem.h"
#include "prog.h"

/* Deeper nesting than any compiler makes; the walk is recursive. */
#define MAXDEPTH	400

struct scope_walk {
	struct sym *s;
	struct sym_unit *u;
	size_t cap;
	Dwarf_Off last;		/* sym_goes_on's */
};

static const char *
die_name(struct scope_walk *w, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) != NULL ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr) != NULL)
		name = dwarf_formstring(&attr);
	if (name == NULL &&
	    dwarf_attr_integrate(die, DW_AT_name, &attr) != NULL)
		name = dwarf_formstring(&attr);
	return name == NULL ? intern(SYM_UNKNOWN) : sym_name(w->s, name);
}

/* An attribute that is a number; without it, `none'. */
static uint64_t
number(Dwarf_Die *die, unsigned name, uint64_t none)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (dwarf_attr(die, name, &attr) == NULL ||
	    dwarf_formudata(&attr, &v) != 0)
		return none;
	return v;
}

/* The DIE's scope with its ranges; parent if it has no code. */
static uint32_t
add_scope(struct scope_walk *w, Dwarf_Die *die, uint32_t parent)
{
	struct sym_unit *u = w->u;
	uint32_t me = (uint32_t)u->nscope;
	Dwarf_Addr base, lo, hi, entry;
	ptrdiff_t off = 0;
	struct sym_scope sc = { .parent = parent, .start = UINT64_MAX };

	while ((off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0) {
		lo += w->s->bias;
		hi += w->s->bias;
		if (lo < w->s->textlo || hi > w->s->texthi || lo >= hi)
			continue;
		range_add(&u->scopes, lo, hi, me);
		if (lo < sc.start)
			sc.start = lo;
	}
	if (sc.start == UINT64_MAX)
		return parent;
	sc.entry = dwarf_entrypc(die, &entry) == 0 ? entry + w->s->bias :
	    sc.start;
	sc.fn = die_name(w, die);
	sc.file = intern(SYM_UNKNOWN);
	if (parent != NOSCOPE) {
		sc.line = (uint32_t)number(die, DW_AT_call_line, 0);
		sc.file = sym_file(w->s, &u->lines,
		    number(die, DW_AT_call_file, UINT64_MAX));
	}
	u->scope = xgrow(u->scope, &w->cap, u->nscope + 1, sizeof *u->scope);
	u->scope[u->nscope++] = sc;
	return me;
}

static void
walk(struct scope_walk *w, Dwarf_Die *die, uint32_t parent, int depth)
{
	Dwarf_Die child;
	uint32_t scope;

	if (depth > MAXDEPTH || dwarf_child(die, &child) != 0)
		return;
	do {
		if (!sym_goes_on(&child, &w->last))
			return;
		scope = parent;
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			scope = add_scope(w, &child, NOSCOPE);
			break;
		case DW_TAG_inlined_subroutine:
			scope = add_scope(w, &child, parent);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			break;
		default:
			continue;
		}
		walk(w, &child, scope, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

const struct sym_scope *
sym_scope(struct sym *s, struct sym_unit *u, uint64_t addr)
{
	struct scope_walk w = { .s = s, .u = u };
	Dwarf_Die die;
	const struct addr_range *r;

	if (!u->hasscopes) {
		u->hasscopes = true;
		die = sym_whole_unit(s, u);
		walk(&w, &die, NOSCOPE, 0);
		range_done(&u->scopes);
	}
	r = range_find(&u->scopes, addr);
	return r == NULL ? NULL : &u->scope[r->what];
}
