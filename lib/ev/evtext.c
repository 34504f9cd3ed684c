/*
 * evtext - text in lines of events: escape bytes as \ooo
 */
#include "evw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"

char *
evw_escape(char *dst, const char *text, bool arg)
{
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c > 0x7e || c < 0x20 || c == '\\' || (arg && c == ' ')) {
			*dst++ = '\\';
			*dst++ = (char)('0' + (c >> 6));
			*dst++ = (char)('0' + (c >> 3 & 7));
			*dst++ = (char)('0' + (c & 7));
		} else {
			*dst++ = (char)c;
		}
	}
	*dst = '\0';
	return dst;
}

void
evw_cmd(struct evw *w, char *const argv[])
{
	char *line = xmalloc(EVW_MAXLINE + 1), *p = line, *one;
	size_t cap = 0;

	one = NULL;
	p += sprintf(p, "H cmd");
	for (; *argv != NULL; argv++) {
		size_t len, left = EVW_MAXLINE - (size_t)(p - line);

		one = xgrow(one, &cap, 4 * strlen(*argv) + 1, 1);
		len = (size_t)(evw_escape(one, *argv, true) - one);
		if (len + 1 > left)
			break;
		*p++ = ' ';
		memcpy(p, one, len);
		p += len;
	}
	evw_raw(w, line, (size_t)(p - line));
	free(line);
	free(one);
}
