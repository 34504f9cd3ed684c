/*
 * text - write bytes as the text of an event line, escaped as \ooo if needed
 */
#include "read-xray.h"

#include "out.h"

static size_t
escape(char *to, const uint8_t *p, size_t n)
{
	char *q = to;
	size_t i;

	for (i = 0; i < n; i++) {
		if (p[i] >= 0x20 && p[i] <= 0x7e && p[i] != '\\') {
			*q++ = (char)p[i];
			continue;
		}
		*q++ = '\\';
		*q++ = (char)('0' + (p[i] >> 6));
		*q++ = (char)('0' + (p[i] >> 3 & 7));
		*q++ = (char)('0' + (p[i] & 7));
	}
	return (size_t)(q - to);
}

void
put_text(struct out *out, const void *text, size_t n)
{
	const uint8_t *p = text;
	size_t part;

	for (; n > 0; n -= part, p += part) {
		part = n < 4096 ? n : 4096;
		out_advance(out, escape(out_room(out, 4 * part), p, part));
	}
}
