/*
 * machine - a description becomes a struct machine
 */
#include "memsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "in.h"
#include "mem.h"
#include "num.h"
#include "out.h"
#include "prog.h"
#include "shown.h"

const char *const policy_name[NPOLICY] = { "lru", "fifo", "random",
    "tree-plru", "bit-plru", "srrip", "brrip", "drrip" };
static const char *const content_name[3] = { "any", "inclusive", "exclusive" };
static const char *const prefetch_name[NPREFETCH] = { "next", "stride",
    "streamer" };
const char *const page_name[NPAGE] = { "4k", "2M", "1G" };
const unsigned page_shift[NPAGE] = { 12, 21, 30 };
static const char *const truth_name[] = { "no", "yes" };
static const char *const write_name[] = { "back", "through" };

static const char *line_at;		/* where the line is, for messages */

_Noreturn static void
wrong(const char *what, const char *word)
{
	die("%s: %s `%s'", line_at, what, word);
}

static unsigned
one_of(const char *word, const char *const *name, unsigned n, const char *what)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(word, name[i]) == 0)
			return i;
	wrong(what, word);
}

static uint64_t
number(const char *word, uint64_t min, uint64_t max)
{
	uint64_t n;

	if (num_parse(word, BYTES, &n) < 0)
		wrong("not a number:", word);
	if (n < min || n > max)
		die("%s: %s is not within %lu to %lu", line_at, shown(word),
		    min, max);
	return n;
}

/* ---- caches and TLBs ---- */

static bool
is_name(const struct part *p, const char *rest)
{
	if (p->level == 0 || p->level > (p->tlb ? MOST_TLEVELS : MOST_LEVELS))
		return false;
	if (!p->tlb)
		return *rest == '\0';
	return strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvw"
	    "xyz0123456789") == strlen(rest);
}

static void
set_name(struct part *p, const char *name)
{
	const char *rest = name + 1;

	*p = (struct part){ .tlb = name[0] == 'T', .side = BOTH,
	    .allocate = true, .line = 64, .seed = 1 };
	if (name[0] != 'L' && name[0] != 'T')
		wrong("neither L nor T begins", name);
	if (strlen(name) >= sizeof p->name)
		wrong("too long a name:", name);
	strcpy(p->name, name);
	if (*rest >= '1' && *rest <= '9')
		p->level = (unsigned)(*rest++ - '0');
	if (*rest == 'I' || *rest == 'D')
		p->side = *rest++ == 'I' ? CODE : DATA;
	if (!is_name(p, rest))
		wrong("no name of a level:", name);
	p->pages = p->tlb ? 1 << PAGE_4K : 0;
}

static struct part *
find(struct machine *m, const char *name)
{
	for (unsigned i = 0; i < m->npart; i++)
		if (strcmp(m->part[i].name, name) == 0)
			return &m->part[i];
	return NULL;
}

/* Levels in order; of one level code before data; caches before TLBs. */
static bool
is_before(const struct part *a, const struct part *b)
{
	if (a->tlb != b->tlb)
		return !a->tlb;
	if (a->level != b->level)
		return a->level < b->level;
	return a->side < b->side;
}

static struct part *
find_or_add(struct machine *m, const char *name, bool tlb)
{
	struct part *p = find(m, name), new;
	unsigned i = m->npart;

	if (p == NULL) {
		set_name(&new, name);
		if (m->npart == MOST_PARTS)
			die("%s: more than %d caches and TLBs", line_at,
			    MOST_PARTS);
		for (; i > 0 && is_before(&new, &m->part[i - 1]); i--)
			m->part[i] = m->part[i - 1];
		m->npart++;
		p = &m->part[i];
		*p = new;
	}
	if (p->tlb != tlb)
		wrong(tlb ? "no TLB's name:" : "no cache's name:", name);
	snprintf(p->where, sizeof p->where, "%s", line_at);
	snprintf(m->where, sizeof m->where, "%s", line_at);
	return p;
}

/* One prefetcher: name[:degree[:entries]] */
static void
set_prefetcher(struct part *p, char *word)
{
	static const unsigned degree[NPREFETCH] = { 1, 1, 2 },
	    entries[NPREFETCH] = { 0, 256, 16 };
	char *by = strchr(word, ':'), *size = NULL;
	unsigned k;

	if (by != NULL)
		*by++ = '\0';
	if (by != NULL && (size = strchr(by, ':')) != NULL)
		*size++ = '\0';
	k = one_of(word, prefetch_name, NPREFETCH, "no prefetcher:");
	p->degree[k] = by == NULL ? degree[k] : (unsigned)number(by, 1, 64);
	p->entries[k] = entries[k];
	if (size != NULL && k == NEXT)
		die("%s: next has no entries", line_at);
	if (size != NULL)
		p->entries[k] = (unsigned)number(size, 1, 65536);
}

static void
set_prefetch(struct part *p, char *value)
{
	char *word, *rest = value;

	memset(p->degree, 0, sizeof p->degree);
	if (strcmp(value, "none") == 0)
		return;
	while ((word = strsep(&rest, "+")) != NULL)
		set_prefetcher(p, word);
}

static void
set_pages(struct part *p, char *value)
{
	char *word, *rest = value;

	p->pages = 0;
	while ((word = strsep(&rest, ",")) != NULL)
		p->pages |= 1U << one_of(word, page_name, NPAGE,
		    "no page size:");
}

static void
set_ways(struct part *p, const char *value)
{
	p->full = strcmp(value, "full") == 0;
	p->ways = p->full ? 0 : number(value, 1, 1 << 28);
}

/* Keys of both. false: it is none. */
static bool
set_key(struct part *p, const char *key, const char *value)
{
	if (strcmp(key, "ways") == 0)
		set_ways(p, value);
	else if (strcmp(key, "policy") == 0)
		p->policy = (uint8_t)one_of(value, policy_name, NPOLICY,
		    "no policy:");
	else if (strcmp(key, "seed") == 0)
		p->seed = number(value, 1, UINT64_MAX);
	else
		return false;
	return true;
}

static bool
set_tlb_key(struct part *p, const char *key, char *value)
{
	if (strcmp(key, "entries") == 0)
		p->size = number(value, 1, 1 << 28);
	else if (strcmp(key, "pages") == 0)
		set_pages(p, value);
	else
		return false;
	return true;
}

static bool
set_cache_key(struct part *p, const char *key, char *value)
{
	if (strcmp(key, "size") == 0)
		p->size = number(value, 16, (uint64_t)1 << 40);
	else if (strcmp(key, "sets") == 0)
		p->sets = number(value, 1, 1 << 28);
	else if (strcmp(key, "line") == 0)
		p->line = number(value, 16, 4096);
	else if (strcmp(key, "content") == 0)
		p->content = (uint8_t)one_of(value, content_name, 3,
		    "no content:");
	else if (strcmp(key, "write") == 0)
		p->through = one_of(value, write_name, 2, "no way to write:");
	else if (strcmp(key, "allocate") == 0)
		p->allocate = one_of(value, truth_name, 2, "not yes or no:");
	else if (strcmp(key, "shared") == 0)
		p->shared = one_of(value, truth_name, 2, "not yes or no:");
	else if (strcmp(key, "prefetch") == 0)
		set_prefetch(p, value);
	else
		return false;
	return true;
}

static char *
next_word(char **rest)
{
	char *word;

	while ((word = strsep(rest, " \t\r")) != NULL)
		if (*word != '\0')
			return word;
	return NULL;
}

/*
 * Size, ways and sets follow from any two of them.  A line that names one of
 * them leaves the ways as they were or, if these are it, the size.
 */
static void
keep_geometry(struct part *p, const struct part *was)
{
	bool ways = p->ways != 0 || p->full, had = was->ways != 0 || was->full;

	if ((p->size != 0) + ways + (p->sets != 0) >= 2)
		return;
	if (!ways) {
		p->ways = was->ways;
		p->full = was->full;
	}
	if (p->sets == 0 && p->size == 0) {
		p->size = was->size;
		p->sets = was->sets;
	} else if (!had && p->size == 0) {
		p->size = was->size;
	} else if (!had && p->sets == 0) {
		p->sets = was->sets;
	}
}

/* Sets are told by size and ways, of which later lines may change one. */
static void
settle_geometry(struct part *p)
{
	uint64_t lines = p->size / p->line;

	if (p->sets == 0 || p->full)
		return;
	if (p->size == 0 && p->ways != 0 && p->sets <= MOST_LINES / p->ways) {
		p->size = p->sets * p->ways * p->line;
		p->sets = 0;
	} else if (p->ways == 0 && lines != 0 && lines % p->sets == 0) {
		p->ways = lines / p->sets;
		p->sets = 0;
	}
}

static void
set_keys(struct part *p, char *rest, bool tlb)
{
	char *key, *value;

	while ((key = next_word(&rest)) != NULL) {
		value = strchr(key, '=');
		if (value == NULL)
			wrong("no key=value:", key);
		*value++ = '\0';
		if (!set_key(p, key, value) && !(tlb ?
		    set_tlb_key(p, key, value) :
		    set_cache_key(p, key, value)))
			wrong(tlb ? "no key of a TLB:" : "no key of a cache:",
			    key);
	}
}

static void
part_line(struct machine *m, char *rest, bool tlb)
{
	const char *name = next_word(&rest);
	struct part *p, was;

	if (name == NULL)
		die("%s: no name", line_at);
	p = find_or_add(m, name, tlb);
	was = *p;
	p->size = p->ways = p->sets = 0;
	p->full = false;
	set_keys(p, rest, tlb);
	keep_geometry(p, &was);
	settle_geometry(p);
}

/* ---- other lines ---- */

static void
no_more(char *rest)
{
	const char *word = next_word(&rest);

	if (word != NULL)
		wrong("too much:", word);
}

static uint64_t
hex(const char **s)
{
	uint64_t n;

	if (ev_hex(s, &n) < 0)
		wrong("no address:", *s);
	return n;
}

static void
huge_where(struct huge *h, const char *word)
{
	const char *s = word, *percent = strchr(word, '%');
	char digits[8];

	h->share = 100;
	if (strcmp(word, "all") == 0)
		return;
	if (percent != NULL && percent[1] == '\0' && percent - word < 8) {
		memcpy(digits, word, (size_t)(percent - word));
		digits[percent - word] = '\0';
		h->share = number(digits, 0, 100);
		return;
	}
	h->range = true;
	h->start = hex(&s);
	if (*s++ != '-')
		wrong("not all, a share or addresses:", word);
	h->end = hex(&s);
	if (*s != '\0' || h->end < h->start)
		wrong("not all, a share or addresses:", word);
}

static void
huge_line(struct machine *m, char *rest)
{
	const char *size = next_word(&rest), *where = next_word(&rest);
	struct huge *h = &m->huge[m->nhuge];

	if (size == NULL || where == NULL)
		die("%s: huge needs a size and where", line_at);
	if (m->nhuge == MOST_HUGE)
		die("%s: more than %d lines of huge", line_at, MOST_HUGE);
	*h = (struct huge){ .page = (uint8_t)one_of(size, page_name, NPAGE,
	    "no page size:") };
	huge_where(h, where);
	m->nhuge++;
	no_more(rest);
}

static void
no_line(struct machine *m, char *rest)
{
	const char *name = next_word(&rest);
	struct part *p;

	if (name == NULL)
		die("%s: no name", line_at);
	p = find(m, name);
	if (p == NULL)
		wrong("no such cache or TLB:", name);
	memmove(p, p + 1, (size_t)(&m->part[--m->npart] - p) * sizeof *p);
	snprintf(m->where, sizeof m->where, "%s", line_at);
	no_more(rest);
}

static void
number_line(struct machine *m, const char *what, char *rest)
{
	const char *word = next_word(&rest);

	if (word == NULL)
		die("%s: %s needs a number", line_at, what);
	if (strcmp(what, "quantum") == 0)
		m->quantum = number(word, 1, 1 << 30);
	else
		m->cores = strcmp(word, "each") == 0 ? CORES_EACH :
		    (unsigned)number(word, 1, MOST_CORES);
	no_more(rest);
}

void
machine_line(struct machine *m, const char *where, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *word;

	line_at = where;
	copy[strcspn(copy, "#")] = '\0';
	word = next_word(&rest);
	if (word == NULL)
		;
	else if (strcmp(word, "cache") == 0 || strcmp(word, "tlb") == 0)
		part_line(m, rest, *word == 't');
	else if (strcmp(word, "huge") == 0)
		huge_line(m, rest);
	else if (strcmp(word, "no") == 0)
		no_line(m, rest);
	else if (strcmp(word, "cores") == 0 || strcmp(word, "quantum") == 0)
		number_line(m, word, rest);
	else
		wrong("a line of no kind:", word);
	free(copy);
}

void
machine_file(struct machine *m, const char *name)
{
	struct in *in = in_open(name);
	char where[80], *line;
	size_t len;

	snprintf(m->where, sizeof m->where, "%.60s", in_name(in));
	while ((line = in_line(in, &len)) != NULL) {
		snprintf(where, sizeof where, "%.60s:%lu", in_name(in),
		    in_lineno(in));
		if (strlen(line) != len)
			die("%s: a byte 0", where);
		machine_line(m, where, line);
		memcpy(m->where, where, sizeof where);
	}
	in_close(in);
}

/* ---- print ---- */

static void
print_part(struct out *o, const struct part *p)
{
	const char *before = " prefetch=";

	out_printf(o, p->tlb ? "tlb %s entries=%lu ways=%lu policy=%s" :
	    "cache %s size=%lu ways=%lu policy=%s", p->name, p->size, p->ways,
	    policy_name[p->policy]);
	if (p->policy == RANDOM)
		out_printf(o, " seed=%lu", p->seed);
	if (p->tlb) {
		before = " pages=";
		for (unsigned g = 0; g < NPAGE; g++)
			if (p->pages >> g & 1) {
				out_printf(o, "%s%s", before, page_name[g]);
				before = ",";
			}
		out_ch(o, '\n');
		return;
	}
	out_printf(o, " line=%lu content=%s write=%s allocate=%s shared=%s",
	    p->line, content_name[p->content], write_name[p->through],
	    truth_name[p->allocate], truth_name[p->shared]);
	for (unsigned k = 0; k < NPREFETCH; k++)
		if (p->degree[k] != 0) {
			out_printf(o, "%s%s:%u", before, prefetch_name[k],
			    p->degree[k]);
			if (k != NEXT)
				out_printf(o, ":%u", p->entries[k]);
			before = "+";
		}
	out_ch(o, '\n');
}

void
machine_print(const struct machine *m)
{
	struct out *o = out_fd(1, "standard output");

	for (unsigned i = 0; i < m->npart; i++)
		print_part(o, &m->part[i]);
	for (unsigned i = 0; i < m->nhuge; i++) {
		const struct huge *h = &m->huge[i];

		out_printf(o, "huge %s ", page_name[h->page]);
		if (h->range)
			out_printf(o, "%lx-%lx\n", h->start, h->end);
		else
			out_printf(o, "%lu%%\n", h->share);
	}
	if (m->cores == CORES_EACH)
		out_str(o, "cores each\n");
	else
		out_printf(o, "cores %u\n", m->cores);
	out_printf(o, "quantum %lu\n", m->quantum);
	out_flush(o);
}
