/*
 * symunit - compilation units, and names as the flags want them
 */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "mem.h"
#include "prog.h"
#include "symunit.h"

static const char *
below_main(const char *s)
{
	static const char *const name[] = { "__libc_start_main",
	    "__libc_start_call_main", "generic_start_main" };
	size_t i, n;

	if (strcmp(s, "_start") == 0)
		return "(below main)";
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		n = strlen(name[i]);
		if (strncmp(s, name[i], n) == 0 &&
		    (s[n] == '\0' || (s[n] == '.' && i != 1)))
			return "(below main)";
	}
	return s;
}

/* A version, name@@VERSION, is put aside and behind again. */
static const char *
demangle(const char *raw)
{
	const char *at = strchr(raw, '@'), *r;
	char *plain = NULL, *s, *both;

	if (raw[0] != '_' || (raw[1] != 'Z' && raw[1] != 'R' &&
	    raw[1] != 'D' && raw[1] != '_'))
		return intern(raw);
	if (at != NULL) {
		plain = xstrdup(raw);
		plain[at - raw] = '\0';
	}
	s = cplus_demangle(plain != NULL ? plain : raw,
	    DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
	free(plain);
	if (s == NULL)
		return intern(raw);
	both = xmalloc(strlen(s) + (at ? strlen(at) : 0) + 1);
	strcpy(both, s);
	if (at != NULL)
		strcat(both, at);
	r = intern(both);
	free(both);
	free(s);
	return r;
}

const char *
sym_name(const struct sym *s, const char *raw)
{
	if (s->flags & SYM_BELOW_MAIN)
		raw = below_main(raw);
	return s->flags & SYM_DEMANGLE ? demangle(raw) : intern(raw);
}

/* All that the units' lines and inlined calls need, of a compressed object. */
static Dwarf *
inflated(struct sym *s)
{
	static const char *const sections[] = { ".debug_info",
	    ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
	    ".debug_ranges", ".debug_rnglists", ".debug_types",
	    ".debug_aranges", NULL };
	static const char *const split[] = { ".gnu_debugaltlink",
	    ".debug_addr", ".debug_str_offsets", NULL };
	static const struct sym_sections units = { sections, split };

	if (sym_image(s, &units, &s->image) < 0)
		return NULL;
	s->bias = s->image.bias;
	return s->image.dwarf;
}

/* Does a module's file have lines that are compressed as libdw cannot read? */
static bool
is_unreadable(Dwfl_Module *mod)
{
	Dwarf_Addr bias;
	Elf *elf = dwfl_module_getelf(mod, &bias);
	Elf_Scn *scn = NULL;
	const char *name;
	size_t names;
	GElf_Shdr sh;

	if (elf == NULL || elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL)
		if (gelf_getshdr(scn, &sh) != NULL &&
		    (sh.sh_flags & SHF_COMPRESSED) != 0 &&
		    (name = elf_strptr(elf, names, sh.sh_name)) != NULL &&
		    strcmp(name, ".debug_line") == 0)
			return elf_compress(scn, 0, 0) < 0;
	return false;
}

static void
say_unreadable(const struct sym_dwfl *d)
{
	for (; d != NULL; d = d->debug)
		if (is_unreadable(d->mod))
			warn("%s: libdw cannot read how its debugging "
			    "information is compressed: there are no lines",
			    sym_dwfl_name(d));
}

/* What the linker threw away keeps its DWARF, where there is no code. */
static void
add_range(struct sym *s, size_t unit, Dwarf_Addr lo, Dwarf_Addr hi)
{
	lo += s->bias;
	hi += s->bias;
	if (lo >= s->textlo && hi <= s->texthi)
		range_add(&s->units, lo, hi, (uint32_t)unit);
}

/*
 * Has the unit's DIE no room for all of its ranges? DWARF 2 has no attribute
 * for more than one; most compilers take that of DWARF 3.
 */
static bool
lacks_ranges(Dwarf_Die *die)
{
	Dwarf_Half version;

	return dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL,
	    NULL) == 0 && version <= 2 && !dwarf_hasattr(die, DW_AT_ranges);
}

/* The unit whose DIE is there, or nunit; they are sorted. */
static size_t
unit_at(const struct sym *s, Dwarf_Off off)
{
	size_t lo = 0, hi = s->nunit, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (dwarf_dieoffset(&s->unit[mid].die) < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < s->nunit && dwarf_dieoffset(&s->unit[lo].die) == off ? lo :
	    s->nunit;
}

/* Those in .debug_aranges, of units whose DIE has no room for them. */
static void
add_aranges(struct sym *s)
{
	Dwarf_Aranges *ranges;
	Dwarf_Addr lo;
	Dwarf_Word size;
	Dwarf_Off off;
	size_t n, i, unit;

	if (dwarf_getaranges(s->dwarf, &ranges, &n) != 0)
		return;
	for (i = 0; i < n; i++) {
		if (dwarf_getarangeinfo(dwarf_onearange(ranges, i), &lo, &size,
		    &off) != 0)
			continue;
		unit = unit_at(s, off);
		if (unit < s->nunit && lacks_ranges(&s->unit[unit].die))
			add_range(s, unit, lo, lo + size);
	}
}

/* A unit and its ranges. Does its DIE lack some? */
static bool
add_unit(struct sym *s, Dwarf_Die *die, size_t *cap)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;

	s->unit = xgrow(s->unit, cap, s->nunit + 1, sizeof *s->unit);
	s->unit[s->nunit] = (struct sym_unit){ .die = *die };
	while ((off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0)
		add_range(s, s->nunit, lo, hi);
	s->nunit++;
	return lacks_ranges(die);
}

void
sym_units(struct sym *s)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	Dwarf_Addr bias = 0;
	uint8_t type;
	size_t cap = 0, i;
	bool lack = false;

	s->hasunits = true;
	if (s->lineerror != NULL)
		return;
	s->dwarf = inflated(s);
	if (s->dwarf == NULL) {
		s->dwarf = sym_dwarf(s->dwfl, &bias);
		s->bias = bias;
	}
	if (s->dwarf == NULL) {
		s->lineerror = "no debugging information";
		say_unreadable(s->dwfl);
		sym_dwfl_unread(s->dwfl);
		return;
	}
	while (dwarf_get_units(s->dwarf, cu, &cu, NULL, &type, &die,
	    NULL) == 0)
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			lack |= add_unit(s, &die, &cap);
	if (lack)
		add_aranges(s);
	for (i = 0; i < s->nunit; i++)
		s->unit[i].lines.unit = &s->unit[i].die;
	range_done(&s->units);
}

struct sym_unit *
sym_unit(struct sym *s, uint64_t addr)
{
	const struct addr_range *r;

	if (!s->hasunits)
		sym_units(s);
	r = range_find(&s->units, addr);
	return r == NULL ? NULL : &s->unit[r->what];
}

bool
sym_goes_on(Dwarf_Die *die, Dwarf_Off *last)
{
	Dwarf_Off off = dwarf_dieoffset(die);

	if (off <= *last)
		return false;
	*last = off;
	return true;
}

/* ---- split DWARF ---- */

static const char *
string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(die, name, &attr));
}

/* The name of the file with the unit's DIEs; NULL: they are here. */
static const char *
split_file(Dwarf_Die *die)
{
	const char *dwo = string_of(die, DW_AT_dwo_name);

	return dwo != NULL ? dwo : string_of(die, DW_AT_GNU_dwo_name);
}

/* Can the file of this name be opened, wherever libdw looks for it? */
static bool
can_split(struct sym *s, Dwarf_Die *die, const char *dwo)
{
	const char *dir = string_of(die, DW_AT_comp_dir);
	const char *file[2] = { NULL, NULL };
	int i;

	dwfl_module_info(s->dwfl->mod, NULL, NULL, NULL, NULL, NULL, &file[0],
	    &file[1]);
	if (s->dwfl->debug != NULL)
		file[1] = s->dwfl->debug->path;
	for (i = 0; i < 2; i++)
		if (file[i] != NULL && (sym_is_odd(file[i], "", dwo) ||
		    (dir != NULL && sym_is_odd(file[i], dir, dwo))))
			return false;
	return true;
}

Dwarf_Die
sym_whole_unit(struct sym *s, const struct sym_unit *u)
{
	Dwarf_Die die = u->die, split;
	const char *dwo = split_file(&die);

	if (dwo == NULL)
		return die;
	if (can_split(s, &die, dwo) && dwarf_cu_info(die.cu, NULL, NULL, NULL,
	    &split, NULL, NULL, NULL) == 0 && dwarf_tag(&split) > 0)
		return split;
	if (!s->lacksplit)
		warn("%s: cannot read %s: inlined calls and types of data "
		    "are not told", sym_dwfl_name(s->dwfl), dwo);
	s->lacksplit = true;
	return die;
}

void
sym_table_free(struct sym_table *t)
{
	free(t->row);
	free(t->file);
}
