/*
 * allocs - D lines: what --allocs tells of allocations and frees
 */
#include <stdio.h>
#include <string.h>

#include "context/context.h"
#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

static unsigned long long
hex(uint64_t v)
{
	return (unsigned long long)v;
}

/* Write the call of a function: v as tell_open in runtime/allocs.c has it. */
static void
write_call(struct evw *w, const uint64_t v[ALLOC_VALUES], bool again)
{
	char old[20] = "", state[20] = "";
	uint32_t s = opt->contexts == 0 ? 0 : context_told(w, v[5]);

	if (again)
		snprintf(old, sizeof old, " %llx", hex(v[4]));
	if (s != 0)
		snprintf(state, sizeof state, " %x", s);
	evw_line(w, "D %llx %c%s %llx %llx %llx%s", hex(v[0] >> 8),
	    again ? '*' : '+', old, hex(v[1]), hex(v[2]), hex(v[3]), state);
}

void
stream_alloc(struct evw *w, const uint32_t *values)
{
	uint64_t v[ALLOC_VALUES];
	char size[20] = "";

	memcpy(v, values, sizeof v);
	switch ((char)(v[0] & 0xff)) {
	case '+':
	case '*':
		write_call(w, v, (char)(v[0] & 0xff) == '*');
		break;
	case '=':
	case '-':
	case '@':
		if (v[2] != 0)
			snprintf(size, sizeof size, " %llx", hex(v[2]));
		evw_line(w, "D %llx %c %llx%s", hex(v[0] >> 8),
		    (int)(v[0] & 0xff), hex(v[1]), size);
		break;
	default:
		trust_lose("an allocation");
	}
}

/* Kind counts: two values of a slot's event; the last ones complete it. */
void
alloc_values(const struct qent *e)
{
	static uint64_t got[NSLOT][ALLOC_VALUES];
	uint64_t *v = got[e->slot];

	v[e->sig] = e->arg;
	v[e->sig + 1] = e->from | (uint64_t)e->to << 32;
	if (e->sig != ALLOC_VALUES - 2)
		return;
	thread_line(e->slot);
	stream_alloc(stream_writer, (const uint32_t *)(const void *)v);
}
