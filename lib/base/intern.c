/*
 * intern - one copy of each string
 */
#include "intern.h"

#include "khash.h"
#include "mem.h"

KHASH_SET_INIT_STR(names)

static khash_t(names) *names;

const char *
intern(const char *s)
{
	khint_t k;
	int new;

	if (names == NULL)
		names = kh_init(names);
	k = kh_put(names, names, s, &new);
	if (new)
		kh_key(names, k) = xstrdup(s);
	return kh_key(names, k);
}
