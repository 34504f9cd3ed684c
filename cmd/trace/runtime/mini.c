/*
 * mini - the few functions of a C library that the runtime has
 */
#include "runtime.h"

void *
memcpy(void *to, const void *from, size_t n)
{
	void *r = to;

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : :
	    "memory");
	return r;
}

void *
memset(void *to, int c, size_t n)
{
	void *r = to;

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(c) : "memory");
	return r;
}

size_t
strlen(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	return n;
}

/* The engine cannot go on: print why on the guest's standard error and exit. */
void
panic(const char *why)
{
	char line[160] = "trace: inside the program: ";
	size_t n = strlen(line), k = strlen(why);

	if (k > sizeof line - n - 1)
		k = sizeof line - n - 1;
	memcpy(line + n, why, k);
	line[n + k] = '\n';
	sys3(__NR_write, 2, line, n + k + 1);
	sys1(__NR_exit_group, 125);
	for (;;)
		;
}
