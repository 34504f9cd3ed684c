/*
 * fuzz_svg - any bytes as collapsed stacks for fmt-svg
 *
 * They are refused, or become a tree: in it no function has less than those on
 * top of it together, and the lowest has the sum of all lines. Then the picture
 * is drawn; between its tags is no letter that would end or begin one.
 *
 * The program's main file is compiled into this one, which sets its state back.
 * die and warn lead here (--wrap), as for fuzz_simpoint.
 */
/* names of one file are another's locals */
#pragma GCC diagnostic ignored "-Wshadow"
int program_main(int argc, char **argv);
#define main program_main
#include "../../cmd/fmt-svg/main.c"
#undef main
#include "../../cmd/fmt-svg/frames.c"
#include "../../cmd/fmt-svg/draw.c"

#include <iconv.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
_Noreturn void __wrap_die(const char *fmt, ...);
void __wrap_warn(const char *fmt, ...);
struct in *__real_in_open(const char *name);
struct in *__wrap_in_open(const char *name);
void __real_in_close(struct in *);
void __wrap_in_close(struct in *);
const char *__asan_default_options(void);

static sigjmp_buf died;
static struct in *opened;

const char *
__asan_default_options(void)
{
	return "detect_leaks=0";
}

void
__wrap_die(const char *fmt, ...)
{
	(void)fmt;
	siglongjmp(died, 1);
}

void
__wrap_warn(const char *fmt, ...)
{
	(void)fmt;
}

struct in *
__wrap_in_open(const char *file)
{
	return opened = __real_in_open(file);
}

void
__wrap_in_close(struct in *in)
{
	opened = NULL;
	__real_in_close(in);
}

static void
begin(void)
{
	names = kh_init(name);
	children = kh_init(child);
	capframe = nframe = capname = nname = 0;
	compared = 0;
	frame = xgrow(NULL, &capframe, 1, sizeof *frame);
	frame[nframe++] = (struct flame){ .name = "all", .up = NONE,
	    .first = NONE, .next = NONE };
	name = NULL;
}

static void
end(void)
{
	for (size_t i = 0; i < nname; i++)
		free((char *)(uintptr_t)name[i]);
	free(name);
	free(frame);
	kh_destroy(name, names);
	kh_destroy(child, children);
	if (opened != NULL)
		in_close(opened);
}

static void
check_tree(void)
{
	uint64_t n, old;

	for (size_t i = 0; i < nframe; i++) {
		const struct flame *f = &frame[i];

		n = old = 0;
		for (uint32_t k = f->first; k != NONE; k = frame[k].next) {
			n += frame[k].n;
			old += frame[k].old;
			if (frame[k].up != i ||
			    frame[k].depth != f->depth + 1 ||
			    (frame[k].next != NONE && strcmp(frame[k].name,
			    frame[frame[k].next].name) >= 0))
				abort();
		}
		if (n > f->n || old > f->old || (i == 0 && n != f->n))
			abort();
	}
}

static bool
is_utf8(char *s, size_t len)
{
	iconv_t to = iconv_open("UCS-4", "UTF-8");
	size_t room = 4 * len + 4, r;
	char *buf = xmalloc(room), *end = buf;

	r = iconv(to, &s, &len, &end, &room);
	free(buf);
	iconv_close(to);
	return r != (size_t)-1;
}

/* Tags are closed before others begin, and all letters are letters. */
static void
check_picture(int fd)
{
	size_t len = (size_t)lseek(fd, 0, SEEK_END), i;
	char *s = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0), *script;
	bool inside = false;

	if (s == MAP_FAILED || (script = memmem(s, len, "<script>", 8)) == NULL)
		abort();
	for (i = 0; s + i < script; i++) {
		if ((s[i] == '<' && inside) || (s[i] == '>' && !inside) ||
		    ((unsigned char)s[i] < 0x20 && s[i] != '\n'))
			abort();
		inside = s[i] == '<' || (inside && s[i] != '>');
	}
	if (!is_utf8(s, (size_t)(script - s)))
		abort();
	munmap(s, len);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static int in, drawn;
	char file[64];
	struct out *o;

	in = memfd_create("input", MFD_CLOEXEC);
	drawn = memfd_create("picture", MFD_CLOEXEC);
	if (in < 0 || drawn < 0 || write(in, data, len) != (ssize_t)len)
		abort();
	sprintf(file, "/proc/self/fd/%d", in);
	begin();
	if (sigsetjmp(died, 0) == 0) {
		read_stacks(file);
		for (size_t i = 0; i < nframe; i++)
			sort(&frame[i].first);
		check_tree();
		picture.down = len % 2;
		o = out_fd(dup(drawn), "picture");
		draw(o, &picture);
		out_close(o);
		check_picture(drawn);
	}
	end();
	close(in);
	close(drawn);
	return 0;
}
