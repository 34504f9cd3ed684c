/*
 * table - add a piece of code to those that are known, within bounds
 */
#include "jit/parts.h"

#include <string.h>
#include <unistd.h>

#include "mem.h"

bool
jit_read(const struct jit_file *f, uint64_t at, void *to, size_t n)
{
	char *p = to;
	ssize_t got;

	for (; n > 0; n -= (size_t)got, p += got, at += (size_t)got) {
		if (at > INT64_MAX)
			return false;
		got = pread(f->fd, p, n, (off_t)at);
		if (got <= 0)
			return false;
	}
	return true;
}

void *
jit_text(struct jit *j, size_t n)
{
	if (n > JIT_TEXT - j->text)
		return NULL;
	j->text += n;
	return xmalloc(n);
}

bool
jit_add(struct jit *j, struct jit_code c, const char *name, size_t len)
{
	char *copy;

	if (len > JIT_NAME)
		len = JIT_NAME;
	if (c.size == 0 || c.start + c.size < c.start || len == 0 ||
	    j->ncode == JIT_PIECES || (copy = jit_text(j, len + 1)) == NULL)
		return false;
	memcpy(copy, name, len);
	copy[len] = '\0';
	c.name = copy;
	j->code = xgrow(j->code, &j->capcode, j->ncode + 1, sizeof *j->code);
	j->code[j->ncode++] = c;
	return true;
}
