/*
 * num - decimal numbers, read strictly and written with commas
 */
#include "num.h"

#include <string.h>

int
num_next(const char **from, unsigned k, uint64_t *out)
{
	static const char suffix[] = "kMG";
	const char *s = *from, *unit;
	uint64_t v = 0;

	if (*s < '0' || *s > '9')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -1;
	if (*s != '\0' && (unit = strchr(suffix, *s)) != NULL) {
		for (; unit >= suffix; unit--)
			if (__builtin_mul_overflow(v, k, &v))
				return -1;
		s++;
	}
	*from = s;
	*out = v;
	return 0;
}

int
num_parse(const char *s, unsigned k, uint64_t *out)
{
	return num_next(&s, k, out) == 0 && *s == '\0' ? 0 : -1;
}

char *
num_commas_u64(char buf[32], uint64_t v)
{
	char *p = buf + 31;
	int digits = 0;

	*p = '\0';
	do {
		if (digits > 0 && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + v % 10);
		digits++;
	} while ((v /= 10) != 0);
	return p;
}

const char *
num_commas(char buf[32], int64_t v)
{
	char *p = num_commas_u64(buf, v < 0 ? -(uint64_t)v : (uint64_t)v);

	if (v < 0)
		*--p = '-';
	return p;
}
