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

static size_t
put_hex(char *to, uint64_t v)
{
	size_t n = 0;
	int shift = 60;

	while (shift > 0 && v >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		to[n++] = "0123456789abcdef"[v >> shift & 15];
	return n;
}

/*
 * The same, for a fault in the engine's own code, which has to be found by its
 * place there; addr: what it wanted to access.
 */
void
panic_fault(uint64_t ip, uint64_t addr, uint64_t sp)
{
	static const char what[][40] = { "a fault in the runtime at blob+0x",
	    ", address 0x", ", stack pointer 0x" };
	uint64_t value[] = { ip - (uint64_t)blob, addr, sp };
	char line[120];
	size_t n = 0;

	for (unsigned i = 0; i < 3; i++) {
		memcpy(line + n, what[i], strlen(what[i]));
		n += strlen(what[i]);
		n += put_hex(line + n, value[i]);
	}
	line[n] = '\0';
	panic(line);
}
