/*
 * func - find the function of an address, and the options for it
 *
 * A function is an ELF symbol of an object. Code without a symbol becomes a
 * function named by its address whenever something leads to it. The sections
 * for linkage (.plt and such) have no symbols; each stub in them is a
 * function to skip, since it jumps to the one that the caller wants.
 */
#include "func.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codename.h"
#include "hash.h"
#include "in.h"
#include "khash.h"
#include "mem.h"
#include "objmap.h"
#include "sym.h"
#include "wild.h"

KHASH_INIT(func, uint64_t, struct func *, 1, hash_address, kh_int64_hash_equal)

struct object {
	struct sym *sym;	/* NULL: not opened yet */
	khash_t(func) *funcs;	/* by start */
	struct section *section;	/* those with code */
	size_t nsection;
	int32_t number;		/* of code in no section; its sections follow */
	struct func *below;	/* "(below main)", one function for several */
	struct func *gap;	/* code without a symbol, or NULL */
};

struct section {
	uint64_t start, end;
	bool plt;		/* it holds stubs only */
};

struct rule {
	enum func_rule what;
	const char *pattern;
	uint32_t n;
	bool matched;		/* a function */
};

static struct object *object;	/* by number; 0: none */
static size_t nobject;
static struct rule *rule;
static size_t nrule, caprule;
static uint32_t nfunc;
static int32_t sections;	/* of all objects */
static struct objmap *map;
static bool demangle = true;
static bool join;	/* f.cold counts as f */
static bool skip_plt = true;
static const char *switch_name;

void
func_rule(enum func_rule what, const char *pattern, uint32_t n)
{
	rule = xgrow(rule, &caprule, nrule + 1, sizeof *rule);
	rule[nrule++] = (struct rule){ what, pattern, n, false };
}

bool
func_rule_idle(enum func_rule what, const char *pattern)
{
	for (size_t i = 0; i < nrule; i++)
		if (rule[i].what == what && rule[i].pattern == pattern)
			return !rule[i].matched;
	return false;
}

void
func_map(struct objmap *om)
{
	map = om;
}

void
func_demangle(bool yes)
{
	demangle = yes;
}

void
func_join(bool yes)
{
	join = yes;
}

void
func_skip_plt(bool yes)
{
	skip_plt = yes;
}

const char *
func_object(uint32_t ob)
{
	return ob == 0 ? SYM_UNKNOWN : objmap_obj(map, ob - 1)->path;
}

/* ---- rules ---- */

static void	/* table */
obey(struct func *f, const struct rule *r)
{
	switch (r->what) {
	case RULE_SKIP:
		f->skip = true;
		break;
	case RULE_POP:
		f->pop = true;
		break;
	case RULE_TOGGLE:
		f->toggle = true;
		break;
	case RULE_BEFORE:
		f->before = true;
		break;
	case RULE_AFTER:
		f->after = true;
		break;
	case RULE_ZERO:
		f->zero = true;
		break;
	case RULE_RECS:
		f->recs = r->n;
		break;
	case RULE_CALLERS:
		f->callers = r->n;
		break;
	}
}

/* foo.cold and foo() [clone .cold] are parts of foo and foo() */
static uint32_t
stem(const char *name)
{
	const char *cold = strstr(name, ".cold");
	size_t n = cold == NULL ? strlen(name) : (size_t)(cold - name);

	if (cold != NULL && n > 8 && memcmp(cold - 8, " [clone ", 8) == 0)
		n -= 8;
	return (uint32_t)n;
}

/* Go, the C library, Boost */
static bool
switches_stacks(const char *name)
{
	static const char *const known[] = { "runtime.gogo", "swapcontext",
	    "jump_fcontext" };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return false;
}

const char *
func_switch(void)
{
	return switch_name;
}

struct func *
func_new(uint32_t ob, uint64_t start, const char *name)
{
	struct func *f = xcalloc(1, sizeof *f);

	*f = (struct func){ .name = name, .start = start, .ob = ob,
	    .num = nfunc++, .recs = 2 };
	f->stem = stem(name);
	f->setjmp = strstr(name, "setjmp") != NULL;
	f->resume = strcmp(name, "_Unwind_Resume") == 0 ||
	    strncmp(name, "_Unwind_Resume@", 15) == 0;
	f->pop = strncmp(name, "_dl_runtime_resolve", 19) == 0;
	if (switches_stacks(name))
		switch_name = name;
	for (size_t i = 0; i < nrule; i++)
		if (rule[i].pattern == NULL ||
		    wild_matches(rule[i].pattern, name)) {
			rule[i].matched = true;
			obey(f, &rule[i]);
		}
	return f;
}

bool
func_same(const struct func *f, const struct func *g)
{
	return f == g || (f->ob == g->ob && f->stem == g->stem &&
	    memcmp(f->name, g->name, f->stem) == 0);
}

/* ---- objects ---- */

static void
add_section(struct object *o, const GElf_Shdr *sh, const char *name)
{
	static size_t cap;

	if (!(sh->sh_flags & SHF_EXECINSTR) || !(sh->sh_flags & SHF_ALLOC))
		return;
	if (o->nsection == 0)
		cap = 0;
	o->section = xgrow(o->section, &cap, o->nsection + 1,
	    sizeof *o->section);
	o->section[o->nsection++] = (struct section){ sh->sh_addr,
	    sh->sh_addr + sh->sh_size,
	    name != NULL && strncmp(name, ".plt", 4) == 0 };
}

static void
read_sections(struct object *o, const char *path)
{
	int fd = in_optional(path);
	Elf *elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf != NULL && elf_getshdrstrndx(elf, &names) == 0)
		while ((scn = elf_nextscn(elf, scn)) != NULL)
			if (gelf_getshdr(scn, &sh) != NULL)
				add_section(o, &sh, elf_strptr(elf, names,
				    sh.sh_name));
	elf_end(elf);
	close(fd);
}

static struct object *
object_get(uint32_t ob)
{
	size_t n = nobject;
	struct object *o;

	if (ob >= n) {
		object = xgrow(object, &nobject, ob + (size_t)1,
		    sizeof *object);
		memset(object + n, 0, (nobject - n) * sizeof *object);
	}
	o = &object[ob];
	if (o->funcs != NULL)
		return o;
	o->funcs = kh_init(func);
	if (ob != 0 && objmap_obj(map, ob - 1)->readable) {
		o->sym = sym_open(func_object(ob), SYM_BELOW_MAIN |
		    (demangle ? SYM_DEMANGLE : 0));
		read_sections(o, func_object(ob));
	}
	o->number = sections;
	sections += 1 + (int32_t)o->nsection;
	return o;
}

/* ---- places ---- */

/* 1 + the number of the section in the object; 0: in none. */
static unsigned
section(const struct object *o, uint64_t link)
{
	for (unsigned i = 0; i < o->nsection; i++)
		if (link >= o->section[i].start && link < o->section[i].end)
			return i + 1;
	return 0;
}

/* Those of one name: as a function that calls itself, it has levels. */
static struct func *
new_named(struct object *o, uint32_t ob, uint64_t start, const char *name)
{
	struct func *f = o->below;

	if (f != NULL && strcmp(f->name, name) == 0)
		return f;
	f = func_new(ob, start, name);
	if (strcmp(name, "(below main)") == 0)
		o->below = f;
	return f;
}

static struct func *
named(struct object *o, uint32_t ob, uint64_t start, const char *name,
    bool plt)
{
	char buf[40];
	int new;
	khint_t k = kh_put(func, o->funcs, start, &new);

	if (new == 0)
		return kh_val(o->funcs, k);
	if (name == NULL) {
		snprintf(buf, sizeof buf, "0x%016" PRIx64 "%s", start,
		    plt ? " [PLT]" : "");
		name = xstrdup(buf);
	}
	kh_val(o->funcs, k) = new_named(o, ob, start, name);
	kh_val(o->funcs, k)->skip |= plt && skip_plt;
	return kh_val(o->funcs, k);
}

void
func_replaced(uint64_t start, uint64_t end)
{
	struct object *o = nobject == 0 ? NULL : &object[0];

	if (o == NULL || o->funcs == NULL)
		return;
	for (khint_t k = 0; k < kh_end(o->funcs); k++)
		if (kh_exist(o->funcs, k) &&
		    kh_key(o->funcs, k) - start < end - start)
			kh_del(func, o->funcs, k);
}

void
func_named(struct func *f, struct codename *code)
{
	if (f->ob != 0 || f->code != NULL ||
	    f->start - code->start >= code->size)
		return;
	f->code = code;
	f->name = code->name;
	f->stem = stem(f->name);
}

/* The function whose cold part this is, if it is known already. */
static struct func *
joined(struct object *o, struct func *part)
{
	struct func *f;

	if (part->name[part->stem] == '\0')
		return part;
	kh_foreach_value(o->funcs, f, {
		if (f->name[f->stem] == '\0' && f->stem == part->stem &&
		    memcmp(f->name, part->name, f->stem) == 0)
			return f;
	})
	return part;
}

/* Where code without a symbol ends: at a symbol, or with its section. */
static uint64_t
gap_end(const struct object *o, unsigned sec, uint64_t link)
{
	uint64_t end = sec > 0 ? o->section[sec - 1].end : UINT64_MAX;
	uint64_t next = o->sym == NULL ? end : sym_next(o->sym, link);

	return next < end ? next : end;
}

/* What stands for code without a symbol; NULL: each is a function. */
static struct func *
gap_of(struct object *o, uint32_t ob, bool plt)
{
	if (ob == 0 || plt || join || nrule != 0)
		return NULL;
	if (o->gap == NULL) {
		o->gap = func_new(ob, 0, SYM_UNKNOWN);
		o->gap->gap = true;
	}
	return o->gap;
}

static uint64_t
place(uint64_t addr, struct func_place *p, bool gaps)
{
	uint64_t link = addr;
	const struct obj *ob = objmap_find(map, addr, &link);
	uint32_t num = ob == NULL ? 0 : ob->id + 1;
	struct object *o = object_get(num);
	struct sym_at at = { .fn = SYM_UNKNOWN };
	unsigned sec = section(o, link);
	bool plt = sec > 0 && o->section[sec - 1].plt;
	struct func *f;

	if (o->sym != NULL && !plt)
		sym_function(o->sym, link, &at);
	p->slide = addr - link;
	p->section = o->number + (int32_t)sec;
	p->entry = at.end != 0 && at.start == link;
	p->fn = at.end != 0 ? named(o, num, at.start, at.fn, false) :
	    gaps ? gap_of(o, num, plt) : NULL;
	if (p->fn == NULL)
		p->fn = named(o, num, link, NULL, plt);
	if (join) {
		f = joined(o, p->fn);
		p->entry &= f == p->fn;
		p->fn = f;
	}
	if (at.end == 0)
		at.end = gap_end(o, sec, link);
	return at.end == UINT64_MAX ? at.end : at.end + p->slide;
}

uint64_t
func_place(uint64_t addr, struct func_place *p)
{
	return place(addr, p, false);
}

uint64_t
func_place_or_gap(uint64_t addr, struct func_place *p)
{
	return place(addr, p, true);
}

const struct func_place *
func_in_gap(const struct func_place *p, uint64_t addr)
{
	struct func_place at = *p;

	if (!p->fn->gap)
		return p;
	at.fn = named(&object[p->fn->ob], p->fn->ob, addr - p->slide, NULL,
	    false);
	return func_same_place(&at);
}

bool
func_is_stub(uint64_t addr)
{
	uint64_t link = addr;
	const struct obj *ob = objmap_find(map, addr, &link);
	const struct object *o = object_get(ob == NULL ? 0 : ob->id + 1);
	unsigned sec = section(o, link);

	return skip_plt && sec > 0 && o->section[sec - 1].plt;
}

const struct func_place *
func_same_place(const struct func_place *p)
{
	const struct func_place *q;
	struct func_place *new;

	for (q = p->fn->places; q != NULL; q = q->next)
		if (q->slide == p->slide && q->section == p->section &&
		    q->entry == p->entry)
			return q;
	new = xkeep(sizeof *new);
	*new = *p;
	new->next = p->fn->places;
	p->fn->places = new;
	return new;
}
