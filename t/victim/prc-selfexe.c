/*
 * prc-selfexe - what the program can learn of itself: /proc/self/exe, the
 * auxiliary vector (from libc, from the kernel, from /proc), its own headers
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "victim.h"

#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif

extern char _start[], __ehdr_start[];

static unsigned long
look_up(const ElfW(auxv_t) *v, size_t n, unsigned long type)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].a_type == type)
			return v[i].a_un.a_val;
	return 0;
}

int
main(int argc, char **argv)
{
	char exe[PATH_MAX], real[PATH_MAX];
	ElfW(auxv_t) v[64];
	ssize_t n;
	int fd;

	(void)argc;
	n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	CHECK(n > 0);
	exe[n] = '\0';
	CHECK(realpath(argv[0], real) != NULL && strcmp(exe, real) == 0);
	CHECK(strcmp((char *)getauxval(AT_EXECFN), argv[0]) == 0);
	CHECK(getauxval(AT_ENTRY) == (uintptr_t)_start);
	CHECK(getauxval(AT_PHDR) == (uintptr_t)__ehdr_start +
	    ((ElfW(Ehdr) *)__ehdr_start)->e_phoff);
	SAME(getauxval(AT_PAGESZ), PAGE);
	CHECK(getauxval(AT_BASE) != 0);
	fd = open("/proc/self/auxv", O_RDONLY);
	n = read(fd, v, sizeof v);
	CHECK(n > 0);
	/* libc has views of its own on HWCAP and PLATFORM. */
	for (unsigned long type = 1; type < 60; type++)
		if (type != AT_HWCAP && type != AT_PLATFORM)
			SAME(look_up(v, (size_t)n / sizeof v[0], type),
			    getauxval(type));
	n = prctl(PR_GET_AUXV, v, sizeof v, 0, 0);
	if (n > 0)
		SAME(look_up(v, (size_t)n / sizeof v[0], AT_PHDR),
		    getauxval(AT_PHDR));
	CHECK(_r_debug.r_version >= 1);
	return victim_ok();
}
