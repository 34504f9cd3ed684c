/*
 * fresh - read a new image at the stop behind exec
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "guest/fresh.h"
#include "guest/guest.h"
#include "guest/parts.h"
#include "mem.h"
#include "prog.h"
#include "segments.h"

#define MOST_ALIGN (1ull << 30)	/* for a file that asks for more */

/* ------------------------------------------------------------------- vector */

/* Words of the program's stack, read in blocks: a call for each costs more. */
struct words {
	uint64_t word[512];
	uint64_t from, n;	/* where; how many there are */
};

static uint64_t
word_at(struct words *w, uint64_t at)
{
	ssize_t n;

	if (at - w->from >= 8 * w->n) {
		n = pread(guest.mem, w->word, sizeof w->word, (off_t)at);
		if (n < 8)
			guest_lost_at(at);
		w->from = at;
		w->n = (uint64_t)n / 8;
	}
	return w->word[(at - w->from) / 8];
}

unsigned
fresh_auxv(uint64_t sp, uint64_t *at, uint64_t (*entry)[2])
{
	struct words w = { .n = 0 };
	unsigned n;

	*at = sp + 8 + 8 * (word_at(&w, sp) + 1);
	while (word_at(&w, *at) != 0)
		*at += 8;
	*at += 8;
	for (n = 0; n < FRESH_AUXV; n++) {
		entry[n][0] = word_at(&w, *at + 16ul * n);
		entry[n][1] = word_at(&w, *at + 16ul * n + 8);
		if (entry[n][0] == AT_NULL)
			break;
	}
	return n;
}

/* ---------------------------------------------------------------- the image */

/* The program's file: may it be moved, and to which alignment? */
static bool
read_file(struct fresh *im)
{
	char name[64];
	GElf_Ehdr h;
	GElf_Phdr p;
	size_t i = 0;
	Elf *elf;
	int fd;

	snprintf(name, sizeof name, "/proc/%d/exe", (int)guest.pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	im->align = PAGE;
	im->movable = elf != NULL && gelf_getehdr(elf, &h) != NULL &&
	    h.e_type == ET_DYN;
	while (im->movable && segment_next(elf, &i, &p))
		if (p.p_align > im->align && p.p_align <= MOST_ALIGN &&
		    (p.p_align & (p.p_align - 1)) == 0)
			im->align = p.p_align;
	elf_end(elf);
	close(fd);
	return true;
}

static unsigned
group_of(const struct fresh *im, const struct mapped *m)
{
	if (strncmp(m->name, "[stack]", 7) == 0)
		return STACK;
	if (strncmp(m->name, "[vvar", 5) == 0 ||
	    strncmp(m->name, "[vdso]", 6) == 0)
		return VDSO;
	if (m->start >= MMAP_AREA)
		return LOADER;
	return im->movable ? PROGRAM : FIXED;
}

static bool
read_pieces(struct fresh *im)
{
	struct mapped m;
	struct group *g;
	unsigned of;

	if (!mapped_open(&m, guest.pid))
		guest_lost("the program's mappings");
	while (mapped_next(&m)) {
		of = group_of(im, &m);
		g = &im->group[of];
		if (g->end == 0)
			g->start = m.start;
		g->end = m.end;
		im->piece = xgrow(im->piece, &im->cap, im->n + 1,
		    sizeof *im->piece);
		im->piece[im->n++] = (struct piece){ m.start, m.end, of };
	}
	return im->group[STACK].end != 0;
}

/* The kernel's fields, as /proc/PID/stat numbers them. */
static bool
read_fields(struct fresh *im)
{
	char text[2048], *end;
	const char *p;
	uint64_t field[52] = { 0 };
	unsigned i;

	guest_file("stat", text, sizeof text);
	p = guest_state(text);
	if (*p == '\0')
		return false;
	for (i = 4, p++; i < 52; i++, p = end)	/* the state is field 3 */
		field[i] = strtoull(p, &end, 10);
	im->mm = (struct prctl_mm_map){
		.start_code = field[26], .end_code = field[27],
		.start_data = field[45], .end_data = field[46],
		.start_brk = field[47], .brk = field[47],
		.start_stack = field[28],
		.arg_start = field[48], .arg_end = field[49],
		.env_start = field[50], .env_end = field[51],
		.exe_fd = ~0u
	};
	if (im->mm.arg_start >= im->mm.start_stack && im->mm.start_brk != 0)
		return true;
	return false;		/* they are hidden from us */
}

uint64_t *
fresh_auxv_entry(const struct fresh *im, uint64_t type)
{
	const struct low *l = &im->low;
	size_t i;

	for (i = l->auxv; i + 1 < l->auxv + l->nauxv; i += 2)
		if (l->word[i] == type)
			return &l->word[i + 1];
	return NULL;
}

/*
 * Below the strings the kernel leaves a random number of bytes, a multiple of
 * 16, free.  What is behind them ends with the platform's name, or the random
 * bytes.
 */
static void
find_low_end(struct fresh *im)
{
	struct low *l = &im->low;
	uint64_t strings = im->mm.arg_start & ~15ull;
	const uint64_t *platform = fresh_auxv_entry(im, AT_PLATFORM);
	const uint64_t *random = fresh_auxv_entry(im, AT_RANDOM);
	uint64_t most;		/* of the platform's name */
	char name[64] = "";

	l->end = l->sp + 8 * l->n;
	if (random == NULL)
		return;
	if (platform != NULL && *platform - l->sp < 8 * l->n) {
		most = im->group[STACK].end - *platform;
		guest_read(*platform, name, most < sizeof name ? most :
		    sizeof name - 1);
		l->end = *platform + strlen(name) + 1;
	} else {
		l->end = *random + 16;
	}
	if (l->end % 16 == 0 && l->end <= strings &&
	    strings - l->end <= FRESH_PAD)
		l->up = strings - l->end;
	l->n = (l->end - l->sp) / 8;
}

static bool
read_low(struct fresh *im)
{
	uint64_t entry[FRESH_AUXV][2], at;
	struct low *l = &im->low;

	l->sp = im->r.rsp;
	l->n = (im->mm.arg_start - l->sp) / 8;
	if (l->n < 4 || im->mm.arg_start > im->group[STACK].end)
		return false;
	l->word = xcalloc(l->n, 8);
	guest_read(l->sp, l->word, 8 * l->n);
	l->nauxv = 2 * (fresh_auxv(l->sp, &at, entry) + 1);
	l->auxv = (at - l->sp) / 8;
	if (l->auxv + l->nauxv > l->n)
		return false;
	find_low_end(im);
	return true;
}

bool
fresh_read(struct fresh *im)
{
	memset(im, 0, sizeof *im);
	return ptrace(PTRACE_GETREGS, guest.tid, 0L, &im->r) == 0 &&
	    read_file(im) && read_pieces(im) && read_fields(im) &&
	    read_low(im);
}

void
fresh_free(struct fresh *im)
{
	free(im->piece);
	free(im->low.word);
}
