/*
 * segments - the segments of an object file that are loaded
 */
#include "segments.h"

bool
segment_next(Elf *elf, size_t *i, GElf_Phdr *ph)
{
	size_t n;

	if (elf == NULL || elf_getphdrnum(elf, &n) < 0)
		return false;
	while (*i < n)
		if (gelf_getphdr(elf, (int)(*i)++, ph) != NULL &&
		    ph->p_type == PT_LOAD)
			return true;
	return false;
}

bool
segment_next_code(Elf *elf, size_t *i, GElf_Phdr *ph)
{
	while (segment_next(elf, i, ph))
		if (ph->p_flags & PF_X)
			return true;
	return false;
}
