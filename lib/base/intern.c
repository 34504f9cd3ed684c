/*
 * intern - one copy of each string
 */
#include "intern.h"

#include <htslib/khash.h>

#include "mem.h"
#include "prog.h"

KHASH_SET_INIT_STR(names)

static khash_t(names) *names;

const char *
intern(const char *s)
{
	khint_t k;
	int new;

	if (names == NULL && (names = kh_init(names)) == NULL)
		die("table of names: no memory");
	k = kh_put(names, names, s, &new);
	if (new < 0)
		die("table of names: no memory");
	if (new > 0)
		kh_key(names, k) = xstrdup(s);
	return kh_key(names, k);
}
