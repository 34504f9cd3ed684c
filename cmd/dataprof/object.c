/*
 * object - data objects: what costs are added up for
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dataprof.h"
#include "func.h"
#include "khash.h"
#include "mem.h"

KHASH_MAP_INIT_STR(object, uint32_t)

static khash_t(object) *numbers;	/* class, file, name -> number */
static struct data_object *objects;
static size_t nobject, capobject;

static char *
key_of(enum data_class class, const char *file, const char *name)
{
	size_t n = strlen(file) + strlen(name) + 16;
	char *s = xmalloc(n);

	snprintf(s, n, "%d %s\n%s", (int)class, file, name);
	return s;
}

uint32_t
object_get(enum data_class class, const char *file, const char *name)
{
	char *key = key_of(class, file, name);
	khint_t k;
	int new;

	if (numbers == NULL)
		numbers = kh_init(object);
	k = kh_put(object, numbers, key, &new);
	if (new == 0) {
		free(key);
		return kh_val(numbers, k);
	}
	objects = xgrow(objects, &capobject, nobject + 1, sizeof *objects);
	objects[nobject] = (struct data_object){ class, xstrdup(name),
	    xstrdup(file) };
	return kh_val(numbers, k) = (uint32_t)nobject++;
}

const struct data_object *
object_at(uint32_t n)
{
	return &objects[n];
}

uint32_t
object_count(void)
{
	return (uint32_t)nobject;
}

const char *
object_class(enum data_class class)
{
	static const char *const names[] = { "[static]", "[thread]", "[heap]",
		"[map]", "[stack]", "[code]", "[other]" };

	return names[class];
}

uint32_t
object_page(enum data_class class, uint64_t addr)
{
	char name[40];

	snprintf(name, sizeof name, "page %" PRIx64, page_start(addr));
	return object_get(class, "", name);
}

static uint32_t
get_code(enum data_class class, const struct func *f)
{
	char name[2000];

	snprintf(name, sizeof name, "%s of %s", class == DATA_CODE ? "code" :
	    "stack", f->name);
	return object_get(class, f->ob == 0 ? "" : func_object(f->ob), name);
}

uint32_t
object_code(enum data_class class, const struct func *f)
{
	static uint32_t *known[2];	/* by function: 1 + its object */
	static size_t cap[2];
	bool is_code = class == DATA_CODE;
	uint32_t *n;

	known[is_code] = xgrow0(known[is_code], &cap[is_code],
	    f->num + (size_t)1, sizeof *n);
	n = &known[is_code][f->num];
	if (*n == 0)
		*n = 1 + get_code(class, f);
	return *n - 1;
}
