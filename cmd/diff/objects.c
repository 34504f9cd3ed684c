/*
 * objects - functions that differ only in the object file
 *
 *	old: hot.c:hash [/x/hot2]	new: hot.c:hash [/x/hot3]
 *
 * A program that was built by another name has all its functions gone, and as
 * many new.  One line says so, with the option that makes the names equal.
 */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

enum { IN_OLD = 1, IN_NEW = 2 };
static unsigned char *fn_in, *ob_in;	/* by function, by name */
static size_t capfn, capob;

/* A function that one side has, by the one without an object. */
struct lone { uint32_t old, new; };	/* 1 + function; 0: none */

struct object_pair { uint32_t old, new; size_t n; };

void
objects_see(const struct record_pair *p)
{
	unsigned char in = p->has_old * IN_OLD | p->has_new * IN_NEW;
	uint32_t ob = costfn_get(diff.nm, p->c.fn).ob;

	fn_in = xgrow0(fn_in, &capfn, p->c.fn + (size_t)1, sizeof *fn_in);
	fn_in[p->c.fn] |= in;
	ob_in = xgrow0(ob_in, &capob, ob + (size_t)1, sizeof *ob_in);
	ob_in[ob] |= in;
}

/* Count a pair of objects, each of which only its own side has. */
static void
count(struct object_pair **v, size_t *n, size_t *cap, const struct lone *l)
{
	uint32_t old = costfn_get(diff.nm, l->old - 1).ob;
	uint32_t new = costfn_get(diff.nm, l->new - 1).ob;
	size_t i;

	if (ob_in[old] != IN_OLD || ob_in[new] != IN_NEW || !*str(old) ||
	    !*str(new))
		return;
	for (i = 0; i < *n && ((*v)[i].old != old || (*v)[i].new != new); i++)
		continue;
	if (i == *n) {
		*v = xgrow(*v, cap, ++*n, sizeof **v);
		(*v)[i] = (struct object_pair){ old, new, 0 };
	}
	(*v)[i].n++;
}

/* The objects that have most functions in common. */
static struct object_pair
commonest(void)
{
	struct lone *lone = NULL;
	struct object_pair *v = NULL, most = { 0, 0, 0 };
	size_t nlone = 0, caplone = 0, n = 0, cap = 0, nfn = capfn, i;
	struct costfn f;

	for (i = 0; i < nfn; i++) {
		if (fn_in[i] != IN_OLD && fn_in[i] != IN_NEW)
			continue;
		f = costfn_get(diff.nm, i);
		f.ob = 0;
		nlone = costfn_add(diff.nm, f);
		lone = xgrow0(lone, &caplone, nlone + 1, sizeof *lone);
		*(fn_in[i] == IN_OLD ? &lone[nlone].old : &lone[nlone].new) =
		    i + 1;
	}
	for (i = 0; i < caplone; i++)
		if (lone[i].old && lone[i].new)
			count(&v, &n, &cap, &lone[i]);
	for (i = 0; i < n; i++)
		if (v[i].n > most.n)
			most = v[i];
	free(lone);
	free(v);
	return most;
}

/* Append a name, as a pattern if it is one, with its folder or without. */
static char *
append(char *to, const char *name, bool pattern)
{
	for (; *name; name++) {
		if (pattern && strchr(".+*?[](){}^", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	return to;
}

/* "try --mod-objname='s|/hot2$|/hot3|'", if the names are plain */
static const char *
advice(const char *old, const char *new)
{
	static const char odd[] = "|'\\$\n\r\t";
	const char *a = strrchr(old, '/'), *b = strrchr(new, '/');
	bool same = a && b && a - old == b - new &&
	    !memcmp(old, new, a - old);
	char *s, *p;

	if (strpbrk(old, odd) || strpbrk(new, odd))
		return "see --mod-objname";
	s = xmalloc(2 * strlen(old) + strlen(new) + 40);
	p = stpcpy(s, "try --mod-objname='s|");
	if (!same)
		*p++ = '^';
	p = append(p, same ? a : old, true);
	p = stpcpy(p, "$|");
	p = append(p, same ? b : new, false);
	strcpy(p, "|'");
	return s;
}

void
objects_tell(void)
{
	struct object_pair most;

	if (mods[MOD_OBJ])
		return;
	most = commonest();
	if (most.n)
		warn("%zu function%s differ%s only in the object: %s", most.n,
		    most.n == 1 ? "" : "s", most.n == 1 ? "s" : "",
		    advice(str(most.old), str(most.new)));
}
