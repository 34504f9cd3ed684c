/*
 * funcs - sums by function, for programs that write such tables
 */
#include "funcs.h"

#include <stdlib.h>
#include <string.h>

#include "codename.h"
#include "insns.h"
#include "khash.h"
#include "mem.h"
#include "objmap.h"
#include "out.h"
#include "shown.h"
#include "sym.h"

KHASH_MAP_INIT_STR(name, size_t)

struct funcs {
	const struct objmap *map;
	struct func_sum *sum;
	size_t n, cap, ncolumn;
	/* the object at hand */
	uint32_t object;	/* as in struct insns_at; UINT32_MAX: none */
	struct sym *sym;
	khash_t(name) *of_name;	/* name -> sum */
	struct sym_at at;	/* the function found last */
	const struct codename *code;	/* the same, if made at run time */
	size_t last;		/* its sum */
};

struct funcs *
funcs_new(const struct objmap *map, size_t ncolumn)
{
	struct funcs *f = xcalloc(1, sizeof *f);

	f->map = map;
	f->ncolumn = ncolumn;
	f->object = UINT32_MAX;
	f->of_name = kh_init(name);
	return f;
}

static const char *
path_of(const struct funcs *f, uint32_t object)
{
	return object == 0 ? SYM_UNKNOWN : objmap_obj(f->map, object - 1)->path;
}

/* The sum of a function of the object at hand. */
static size_t
find(struct funcs *f, const char *name)
{
	int new;
	khiter_t k = kh_put(name, f->of_name, name, &new);

	if (!new)
		return kh_value(f->of_name, k);
	f->sum = xgrow(f->sum, &f->cap, f->n + 1, sizeof *f->sum);
	f->sum[f->n] = (struct func_sum){ name, path_of(f, f->object),
	    xcalloc(f->ncolumn, sizeof(int64_t)) };
	return kh_value(f->of_name, k) = f->n++;
}

static void
open_object(struct funcs *f, uint32_t object)
{
	if (f->sym != NULL)
		sym_close(f->sym);
	f->sym = object == 0 ? NULL : sym_open(path_of(f, object),
	    SYM_DEMANGLE);
	f->object = object;
	kh_clear(name, f->of_name);
	memset(&f->at, 0, sizeof f->at);
}

int64_t *
funcs_at(struct funcs *f, const struct insns_at *i)
{
	if (i->object != f->object)
		open_object(f, i->object);
	else if (i->code != NULL ? i->code == f->code : f->code == NULL &&
	    i->addr - f->at.start < f->at.end - f->at.start)
		return f->sum[f->last].n;
	f->code = i->code;
	f->at = (struct sym_at){ .fn = SYM_UNKNOWN };
	if (f->code == NULL && f->sym != NULL)
		sym_function(f->sym, i->addr, &f->at);
	f->last = find(f, f->code != NULL ? f->code->name : f->at.fn);
	return f->sum[f->last].n;
}

size_t
funcs_count(const struct funcs *f)
{
	return f->n;
}

const struct func_sum *
funcs_get(const struct funcs *f, size_t i)
{
	return &f->sum[i];
}

static size_t sort_column;

static int
by_column(const void *a, const void *b)
{
	const struct func_sum *x = a, *y = b;
	int64_t m = x->n[sort_column], n = y->n[sort_column];
	int r = strcmp(x->name, y->name);

	if (m != n)
		return m > n ? -1 : 1;
	return r != 0 ? r : strcmp(x->object, y->object);
}

void
funcs_sort(struct funcs *f, size_t column)
{
	sort_column = column;
	if (f->n != 0)
		qsort(f->sum, f->n, sizeof *f->sum, by_column);
}

void
funcs_put(struct out *o, const struct func_sum *f)
{
	const char *s = f->object;
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, " \\");
		out_shown(o, s, n);
		if (s[n] == '\0')
			break;
		out_printf(o, "\\%03o", s[n]);
	}
	out_ch(o, ' ');
	out_shown(o, f->name, strlen(f->name));
	out_ch(o, '\n');
}
