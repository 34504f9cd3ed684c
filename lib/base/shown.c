/*
 * shown - untrusted text made safe for a terminal
 */
#include "shown.h"

#include <stdint.h>
#include <string.h>

/* Length of the character at s[n], n > 0; 0: a control, or not UTF-8. */
static size_t
character(const char *s, size_t n)
{
	/* by length: the first character that may be shown */
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	unsigned char b = (unsigned char)*s;
	size_t len = b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4, i;
	uint32_t c = b & (0x7fu >> len);

	if (b < 0x80)
		return b >= 0x20 && b != 0x7f;
	if (b < 0xc2 || b > 0xf4 || len > n)
		return 0;
	for (i = 1; i < len; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return len;
}

size_t
shown_len(const char *s, size_t n)
{
	size_t at = 0, len;

	while (at < n && (len = character(s + at, n - at)) > 0)
		at += len;
	return at;
}

void
shown_byte(char to[SHOWN_MOST], char c)
{
	unsigned char b = (unsigned char)c;

	to[0] = '\\';
	to[1] = (char)('0' + (b >> 6));
	to[2] = (char)('0' + (b >> 3 & 7));
	to[3] = (char)('0' + (b & 7));
}

size_t
shown_copy(char *to, size_t room, const char *s, size_t n)
{
	size_t at = 0, used = 0, len;

	for (; at < n; at += len > 0 ? len : 1) {
		len = character(s + at, n - at);
		if (used + (len > 0 ? len : SHOWN_MOST) >= room)
			break;
		if (len == 0)
			shown_byte(to + used, s[at]);
		else
			memcpy(to + used, s + at, len);
		used += len > 0 ? len : SHOWN_MOST;
	}
	to[used] = '\0';
	return used;
}
