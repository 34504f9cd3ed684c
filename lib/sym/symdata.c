/*
 * symdata - variables: names of addresses of data, members of their types
 *
 * Names come from the ELF symbols of data, sorted; types from DWARF's variables
 * by address, which are gathered at the first question about a member.
 */
#include "sym.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "mem.h"
#include "prog.h"
#include "symunit.h"

#define MAXDEPTH	400	/* of DIEs within one another */
#define MAXTYPES	40	/* types within one another */

struct sym_var {
	uint64_t start, size;
	const char *raw;
};

struct sym_vartype {
	uint64_t start;
	Dwarf_Die type;
};

/* Variables, and thread-local ones by their offset: index 1. */
struct sym_vars {
	struct sym_var *v[2];
	size_t n[2], cap[2];
	struct sym_vartype *t[2];
	size_t nt[2], capt[2];
	bool typed;
};

/* ---- symbols ---- */

static int
by_start(const void *x, const void *y)
{
	const struct sym_var *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	/* of aliases, the one with the fewest underscores in front */
	return strspn(a->raw, "_") != strspn(b->raw, "_") ?
	    (strspn(a->raw, "_") < strspn(b->raw, "_") ? -1 : 1) :
	    strcmp(a->raw, b->raw);
}

static void
read_variables(struct sym *s)
{
	struct sym_vars *vs = s->vars = xcalloc(1, sizeof *vs);
	struct sym_symbol y = sym_symbols(s);
	int k;

	while (sym_symbol_next(&y)) {
		if (y.raw[0] == '\0' || y.elf.st_size == 0 ||
		    (y.type != STT_OBJECT && y.type != STT_TLS))
			continue;
		k = y.type == STT_TLS;
		vs->v[k] = xgrow(vs->v[k], &vs->cap[k], vs->n[k] + 1,
		    sizeof **vs->v);
		vs->v[k][vs->n[k]++] = (struct sym_var){
		    k == 1 ? y.elf.st_value : y.addr, y.elf.st_size, y.raw };
	}
	for (k = 0; k < 2; k++)
		if (vs->n[k] > 0)
			qsort(vs->v[k], vs->n[k], sizeof **vs->v, by_start);
}

/* The last variable that begins at or before addr: its index + 1. */
static size_t
before(const struct sym_vars *vs, int k, uint64_t addr)
{
	size_t lo = 0, hi = vs->n[k], mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (vs->v[k][mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Narrow what `at' is about to what lies behind, or before, a section. */
static void
leave_section(const GElf_Shdr *sh, uint64_t addr, struct sym_data *at)
{
	uint64_t end = sh->sh_addr + sh->sh_size;

	if (end <= addr && end > at->start)
		at->start = end;
	if (sh->sh_addr > addr && sh->sh_addr < at->end)
		at->end = sh->sh_addr;
}

static void
enter_section(const GElf_Shdr *sh, const char *name, struct sym_data *at)
{
	at->section = intern(name == NULL ? SYM_UNKNOWN : name);
	if (sh->sh_addr > at->start)
		at->start = sh->sh_addr;
	if (sh->sh_addr + sh->sh_size < at->end)
		at->end = sh->sh_addr + sh->sh_size;
}

/* What lies between variables is its section's, or between sections. */
static void
find_section(struct sym *s, uint64_t addr, struct sym_data *at)
{
	GElf_Addr bias;
	Elf *elf = s->dwfl->mod == NULL ? NULL :
	    dwfl_module_getelf(s->dwfl->mod, &bias);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (elf == NULL || elf_getshdrstrndx(elf, &names) < 0)
		return;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &sh) == NULL ||
		    !(sh.sh_flags & SHF_ALLOC) || sh.sh_flags & SHF_TLS)
			continue;
		if (addr - sh.sh_addr < sh.sh_size) {
			enter_section(&sh, elf_strptr(elf, names, sh.sh_name),
			    at);
			return;
		}
		leave_section(&sh, addr, at);
	}
}

void
sym_variable(struct sym *s, uint64_t addr, bool tls, struct sym_data *at)
{
	int k = tls;
	const struct sym_var *v;
	size_t i, first;

	memset(at, 0, sizeof *at);
	at->tls = tls;
	at->end = UINT64_MAX;
	if (s->vars == NULL)
		read_variables(s);
	first = i = before(s->vars, k, addr);
	/* aliases and parts of one variable: take the largest that covers it */
	while (i > 0 && first - i < 8) {
		v = &s->vars->v[k][--i];
		if (addr - v->start >= v->size)
			continue;
		if (i > 0 && v[-1].start == v->start)
			continue;
		at->name = sym_name(s, v->raw);
		at->start = v->start;
		at->end = v->start + v->size;
		return;
	}
	if (first > 0) {
		v = &s->vars->v[k][first - 1];
		if (v->start + v->size <= addr)
			at->start = v->start + v->size;
		else
			at->start = addr;
	}
	if (first < s->vars->n[k])
		at->end = s->vars->v[k][first].start;
	if (!tls)
		find_section(s, addr, at);
}

/* ---- types ---- */

/* The number that the operation pushes. Split DWARF keeps it elsewhere. */
static bool
pushes(Dwarf_Attribute *attr, const Dwarf_Op *op, uint64_t *v)
{
	Dwarf_Attribute kept;

	switch (op->atom) {
	case DW_OP_addr:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
		*v = op->number;
		return true;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		return dwarf_getlocation_attr(attr, op, &kept) == 0 &&
		    dwarf_formaddr(&kept, v) == 0;
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return dwarf_getlocation_attr(attr, op, &kept) == 0 &&
		    dwarf_formudata(&kept, v) == 0;
	default:
		return false;
	}
}

/* Where a variable is: its address, or its offset. -1: elsewhere. */
static int
location(const struct sym *s, Dwarf_Die *die, uint64_t *at)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n;

	if (dwarf_attr(die, DW_AT_location, &attr) == NULL ||
	    dwarf_getlocation(&attr, &op, &n) != 0 || n == 0 ||
	    !pushes(&attr, &op[0], at))
		return -1;
	if (n == 1 && (op[0].atom == DW_OP_addr ||
	    op[0].atom == DW_OP_addrx || op[0].atom == DW_OP_GNU_addr_index)) {
		*at += s->bias;
		return 0;
	}
	if (n == 2 && (op[1].atom == DW_OP_GNU_push_tls_address ||
	    op[1].atom == DW_OP_form_tls_address))
		return 1;
	return -1;
}

static bool
type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_type, &attr) != NULL &&
	    dwarf_formref_die(&attr, type) != NULL;
}

static void
add_type(struct sym *s, Dwarf_Die *die)
{
	struct sym_vars *vs = s->vars;
	Dwarf_Die type;
	uint64_t at;
	int k = location(s, die, &at);

	if (k < 0 || !type_of(die, &type))
		return;
	vs->t[k] = xgrow(vs->t[k], &vs->capt[k], vs->nt[k] + 1,
	    sizeof **vs->t);
	vs->t[k][vs->nt[k]++] = (struct sym_vartype){ at, type };
}

static void
gather_types(struct sym *s, Dwarf_Die *parent, unsigned depth, Dwarf_Off *last)
{
	Dwarf_Die die;

	if (depth > MAXDEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (!sym_goes_on(&die, last))
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			add_type(s, &die);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_inlined_subroutine:
			gather_types(s, &die, depth + 1, last);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int
by_type(const void *x, const void *y)
{
	const struct sym_vartype *a = x, *b = y;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool
find_type(struct sym *s, const struct sym_data *at, Dwarf_Die *type)
{
	struct sym_vars *vs = s->vars;
	struct sym_vartype key = { .start = at->start }, *t;
	Dwarf_Die die;
	int k = at->tls;

	if (!vs->typed) {
		vs->typed = true;
		if (!s->hasunits)
			sym_units(s);
		for (size_t i = 0; i < s->nunit; i++) {
			die = sym_whole_unit(s, &s->unit[i]);
			gather_types(s, &die, 0, &(Dwarf_Off){ 0 });
		}
		for (int i = 0; i < 2; i++)
			if (vs->nt[i] > 0)
				qsort(vs->t[i], vs->nt[i], sizeof **vs->t,
				    by_type);
	}
	t = vs->nt[k] == 0 ? NULL : bsearch(&key, vs->t[k], vs->nt[k],
	    sizeof *t, by_type);
	if (t == NULL)
		return false;
	return dwarf_peel_type(&t->type, type) == 0;
}

static uint64_t
offset_of(Dwarf_Die *member)
{
	Dwarf_Attribute attr;
	Dwarf_Word v = 0;

	if (dwarf_attr(member, DW_AT_data_member_location, &attr) != NULL &&
	    dwarf_formudata(&attr, &v) == 0)
		return v;
	if (dwarf_attr(member, DW_AT_data_bit_offset, &attr) != NULL &&
	    dwarf_formudata(&attr, &v) == 0)
		return v / 8;
	return 0;
}

/* Into an array's elements: the innermost type that is none; *off in it. */
static bool
element(Dwarf_Die *type, uint64_t *off)
{
	Dwarf_Die t;
	Dwarf_Word size;

	if (!type_of(type, &t) || dwarf_peel_type(&t, type) != 0 ||
	    dwarf_aggregate_size(type, &size) != 0 || size == 0)
		return false;
	*off %= size;
	return true;
}

static bool
has_members(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	    tag == DW_TAG_union_type;
}

/* The next member, from die on, that holds the byte at off, and its type. */
static bool
find_at(Dwarf_Die *die, uint64_t off, Dwarf_Die *its)
{
	Dwarf_Die t;
	Dwarf_Word size;
	int tag;

	do {
		tag = dwarf_tag(die);
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    type_of(die, &t) && dwarf_peel_type(&t, its) == 0 &&
		    dwarf_aggregate_size(its, &size) == 0 &&
		    off - offset_of(die) < size)
			return true;
	} while (dwarf_siblingof(die, die) == 0);
	return false;
}

/* How well a reference to a part of a type is one to a member of it. */
enum fit { BEYOND, WITHIN, EXACT };

static enum fit fit_best(uint64_t off, uint64_t size, int depth,
    Dwarf_Die *member, Dwarf_Die *its);

static enum fit
fit_of(Dwarf_Die type, uint64_t off, uint64_t size, int depth)
{
	Dwarf_Die member, its;
	Dwarf_Word whole;
	enum fit fit, inner = BEYOND;
	int tag = dwarf_tag(&type);

	if (depth == 0 || dwarf_aggregate_size(&type, &whole) != 0)
		return BEYOND;
	fit = off + size <= whole ? WITHIN : BEYOND;
	if (tag == DW_TAG_array_type) {
		if (element(&type, &off))
			inner = fit_of(type, off, size, depth - 1);
	} else if (!has_members(tag)) {
		inner = off == 0 && size == whole ? EXACT : BEYOND;
	} else if (dwarf_child(&type, &member) == 0 &&
	    find_at(&member, off, &its)) {
		inner = tag == DW_TAG_union_type ?
		    fit_best(off, size, depth - 1, &member, &its) :
		    fit_of(its, off - offset_of(&member), size, depth - 1);
	}
	return inner > fit ? inner : fit;
}

/* Of a union's members from this one on, the first that fits best. */
static enum fit
fit_best(uint64_t off, uint64_t size, int depth, Dwarf_Die *member,
    Dwarf_Die *its)
{
	enum fit fit, best = fit_of(*its, off - offset_of(member), size, depth);
	Dwarf_Die die = *member, t;

	while (best != EXACT && dwarf_siblingof(&die, &die) == 0 &&
	    find_at(&die, off, &t)) {
		fit = fit_of(t, off - offset_of(&die), size, depth);
		if (fit > best) {
			best = fit;
			*member = die;
			*its = t;
		}
	}
	return best;
}

/*
 * The member of a structure that holds the byte at *off; *off is in it then. Of
 * a union, the one that a reference of this size fits best.
 */
static bool
member_at(Dwarf_Die *type, uint64_t *off, uint64_t size, Dwarf_Die *member,
    Dwarf_Die *its)
{
	if (dwarf_child(type, member) != 0 || !find_at(member, *off, its))
		return false;
	if (dwarf_tag(type) == DW_TAG_union_type)
		fit_best(*off, size, MAXTYPES, member, its);
	*off -= offset_of(member);
	return true;
}

static size_t
put(char *buf, size_t n, size_t at, const char *s, const char *more)
{
	int k = at < n ? snprintf(buf + at, n - at, "%s%s", s, more) : 0;

	return k > 0 ? at + (size_t)k : at;
}

static const char *
type_name(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type:
		return "pointer";
	case DW_TAG_subroutine_type:
		return "function";
	default:
		return name != NULL ? name : "(no name)";
	}
}

static const char *
type_word(Dwarf_Die *type)
{
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_class_type:
		return "class ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

bool
sym_member(struct sym *s, const struct sym_data *at, uint64_t off,
    uint64_t size, bool by_type, char *buf, size_t n)
{
	Dwarf_Die type, member, its;
	size_t len = 0;
	bool in_type = false;
	int depth, tag;
	const char *name;

	buf[0] = '\0';
	if (at->name == NULL || !find_type(s, at, &type))
		return false;
	for (depth = 0; depth < MAXTYPES; depth++) {
		tag = dwarf_tag(&type);
		if (tag == DW_TAG_array_type) {
			if (!element(&type, &off))
				break;
			if (!by_type || in_type)
				len = put(buf, n, len, "[]", "");
			continue;
		}
		if (by_type && !in_type) {
			len = put(buf, n, len, type_word(&type),
			    type_name(&type));
			in_type = true;
		}
		if (!has_members(tag) ||
		    !member_at(&type, &off, size, &member, &its))
			break;
		type = its;
		name = dwarf_diename(&member);
		if (name != NULL && dwarf_tag(&member) == DW_TAG_member)
			len = put(buf, n, len, ".", name);
	}
	return true;
}

void
sym_vars_free(struct sym *s)
{
	for (int k = 0; s->vars != NULL && k < 2; k++) {
		free(s->vars->v[k]);
		free(s->vars->t[k]);
	}
	free(s->vars);
}
