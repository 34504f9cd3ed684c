/*
 * symname - name -> the addresses where functions of that name begin
 *
 * Goes through the whole symbol table for each question.  Names of C++ and
 * others are written out only if they could be the one that is asked for: the
 * last word of it stands in the symbol as it is.
 */
#include "sym.h"

#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/range.h"
#include "mem.h"
#include "symunit.h"
#include "wild.h"

/* name, or a version or a copy of it */
static bool
is_plain(const char *raw, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(raw, name, n) != 0)
		return false;
	raw += n;
	return *raw == '\0' || *raw == '@' ||
	    strncmp(raw, ".constprop.", 11) == 0 ||
	    strncmp(raw, ".isra.", 6) == 0;
}

/* The last word of a qualified name, without parameters. */
static char *
last_word(const char *name)
{
	size_t n = strcspn(name, "(<"), at = n;
	char *s;

	while (at > 0 && name[at - 1] != ':' && name[at - 1] != ' ')
		at--;
	s = xstrdup(name + at);
	s[n - at] = '\0';
	return s;
}

/*
 * Reduce a written name to its bare form, without arguments of templates, the
 * type that they return, and parameters; an operator's stays as it is.
 *
 *	void std::sort<int*>(int*, int*)	std::sort
 */
static void
make_bare(char *s)
{
	char *to = s, *from = s;
	unsigned depth = 0;
	bool group;

	if (strstr(s, "operator") != NULL)
		return;
	for (; *from != '\0'; from++) {
		group = depth == 0 && strncmp(from, "(anonymous", 10) == 0;
		if (depth == 0 && ((*from == '(' && !group) ||
		    strncmp(from, " [clone", 7) == 0))
			break;
		if (group) {
			memmove(to, from, 21);	/* "(anonymous namespace)" */
			to += 21;
			from += 20;
		} else if (*from == '<') {
			depth++;
		} else if (*from == '>' && depth > 0) {
			depth--;
		} else if (depth == 0 && *from == ' ') {
			to = s;		/* it was a type */
		} else if (depth == 0) {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* A name to be found: what it is, and a word that each such symbol has. */
struct wanted {
	const char *name, *word;
	bool wild;		/* it has * or ?, and no such word */
};

static bool
is_alike(const struct wanted *w, const char *name)
{
	return w->wild ? wild_matches(w->name, name) :
	    strcmp(w->name, name) == 0;
}

static bool
is_written(const char *raw, const struct wanted *w)
{
	static const int how[] = { DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO,
	    DMGL_AUTO };
	unsigned i;
	bool same = false;
	char *s;

	if (raw[0] != '_' || (!w->wild && strstr(raw, w->word) == NULL))
		return false;
	for (i = 0; i < 2 && !same; i++) {
		s = cplus_demangle(raw, how[i]);
		same = s != NULL && is_alike(w, s);
		if (s != NULL && i == 1 && !same) {
			make_bare(s);
			same = is_alike(w, s);
		}
		free(s);
	}
	return same;
}

static bool
is_wanted(const char *raw, const struct wanted *w)
{
	return (w->wild ? wild_matches(w->name, raw) :
	    is_plain(raw, w->name)) || is_written(raw, w);
}

static int
by_value(const void *x, const void *y)
{
	const uint64_t *a = x, *b = y;

	return *a < *b ? -1 : *a > *b;
}

void
sym_entries(struct sym *s, const char *name, void (*use)(void *arg,
    uint64_t addr), void *arg)
{
	struct sym_symbol y = sym_symbols(s);
	char *word = last_word(name);
	struct wanted w = { name, word, strpbrk(name, "*?") != NULL };
	uint64_t *v = NULL;
	size_t cap = 0, k = 0, j;

	while (sym_symbol_next(&y)) {
		if ((y.type != STT_FUNC && y.type != STT_NOTYPE) ||
		    !sym_symbol_is_code(s, &y) || !is_wanted(y.raw, &w))
			continue;
		v = xgrow(v, &cap, k + 1, sizeof *v);
		v[k++] = y.addr;
	}
	free(word);
	if (k > 0)
		qsort(v, k, sizeof *v, by_value);
	for (j = 0; j < k; j++)
		if (j == 0 || v[j] != v[j - 1])
			use(arg, v[j]);
	free(v);
}

/* Does name end in ::word? */
static bool
ends_in(const char *name, const char *word)
{
	size_t n = strlen(name), w = strlen(word);

	return n > w + 2 && strcmp(name + n - w, word) == 0 &&
	    name[n - w - 1] == ':';
}

void
sym_last_words(struct sym *s, const char *word, void (*use)(void *arg,
    const char *name), void *arg)
{
	struct sym_symbol y = sym_symbols(s);
	char *last = last_word(word), *name;

	while (sym_symbol_next(&y)) {
		if (y.raw[0] != '_' || strstr(y.raw, last) == NULL ||
		    y.type != STT_FUNC || !sym_symbol_is_code(s, &y))
			continue;
		name = cplus_demangle(y.raw, DMGL_AUTO);
		if (name != NULL && ends_in(name, word))
			use(arg, name);
		free(name);
	}
	free(last);
}

void
sym_functions(struct sym *s, void (*use)(void *arg, const char *raw,
    uint64_t addr), void *arg)
{
	struct sym_symbol y = sym_symbols(s);

	while (sym_symbol_next(&y))
		if (y.type == STT_FUNC && sym_symbol_is_code(s, &y))
			use(arg, y.raw, y.addr);
}
