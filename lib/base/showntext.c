/*
 * showntext - untrusted text made safe, to keep or to write
 */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "mem.h"
#include "out.h"
#include "shown.h"

const char *
shown(const char *s)
{
	size_t n = strlen(s);
	const char *kept;
	char *copy;

	if (shown_len(s, n) == n)
		return s;
	copy = xmalloc(SHOWN_MOST * n + 1);
	shown_copy(copy, SHOWN_MOST * n + 1, s, n);
	kept = intern(copy);
	free(copy);
	return kept;
}

void
out_shown(struct out *o, const char *s, size_t n)
{
	char text[SHOWN_MOST];
	size_t len;

	for (; n > 0; s++, n--) {
		len = shown_len(s, n);
		out_write(o, s, len);
		s += len;
		n -= len;
		if (n == 0)
			return;
		shown_byte(text, *s);
		out_write(o, text, SHOWN_MOST);
	}
}
