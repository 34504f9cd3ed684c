/*
 * smc-remap - code is unmapped and other code mapped at the same place: by
 * munmap and mmap, by mmap over it, by mremap, from files and anonymous
 */
#include "victim.h"

static unsigned char *place;
static int fd;

static void
fill(unsigned char *p, int value)
{
	memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
	memcpy(p + 1, &value, 4);
}

static unsigned char *
map_at(unsigned char *at, int prot, int flags, int file, off_t off)
{
	unsigned char *p = mmap(at, PAGE, prot, MAP_FIXED | flags, file, off);

	CHECK(p == at);
	return p;
}

static void
replace(int i)
{
	unsigned char *other;

	switch (i % 4) {
	case 0:
		CHECK(munmap(place, PAGE) == 0);
		map_at(place, PROT_READ | PROT_WRITE, MAP_PRIVATE |
		    MAP_ANONYMOUS, -1, 0);
		fill(place, i);
		CHECK(mprotect(place, PAGE, PROT_READ | PROT_EXEC) == 0);
		break;
	case 1:
		map_at(place, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		fill(place, i);
		break;
	case 2:
		other = map_pages(1, PROT_READ | PROT_WRITE);
		fill(other, i);
		CHECK(mprotect(other, PAGE, PROT_READ | PROT_EXEC) == 0);
		CHECK(mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		    place) == place);
		break;
	case 3:
		map_at(place, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    i / 4 % 16 * PAGE);
		break;
	}
}

int
main(void)
{
	unsigned char page[PAGE] = { 0 };
	int (*f)(void);

	fd = memfd_create("code", 0);
	for (int i = 0; i < 16; i++) {
		fill(page, 4 * i + 3);
		CHECK(pwrite(fd, page, PAGE, i * PAGE) == PAGE);
	}
	place = map_pages(1, PROT_READ);
	f = (int (*)(void))place;
	for (int i = 0; i < 600; i++) {
		replace(i);
		SAME(f(), i % 4 == 3 ? i % 64 : i);
		SAME(f(), i % 4 == 3 ? i % 64 : i);
	}
	return victim_ok();
}
