/*
 * fuzz_simpoint - any bytes as a file that simpoint reads
 *
 * The first byte says which: frequency vectors (projected, and again sparse:
 * both must come to the same), a matrix as text or binary, weights, labels.
 * The readers are files of a program, and keep their state in static variables:
 * they are compiled into this one, which sets the state back.
 *
 * The linker has die, warn and sysconf lead here (--wrap): dying is an outcome,
 * and the machine is a small one.
 */
/* names of one file are another's locals */
#pragma GCC diagnostic ignored "-Wshadow"
#include "../../cmd/simpoint/fv.c"
#include "../../cmd/simpoint/labels.c"
#include "../../cmd/simpoint/marks.c"
#include "../../cmd/simpoint/matrix.c"
#include "../../cmd/simpoint/rand.c"

#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
_Noreturn void __wrap_die(const char *fmt, ...);
void __wrap_warn(const char *fmt, ...);
long __wrap_sysconf(int name);
struct in *__real_in_open(const char *name);
struct in *__wrap_in_open(const char *name);
void __real_in_close(struct in *);
void __wrap_in_close(struct in *);

const char *__asan_default_options(void);

struct simpoint_opts opt;
static struct in *opened;
static sigjmp_buf died;
static char name[64];

/* Readers that die free nothing. */
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

/* 16 MB */
long
__wrap_sysconf(int what)
{
	(void)what;
	return 4096;
}

struct in *
__wrap_in_open(const char *file)
{
	return opened = __real_in_open(file);
}

void
__wrap_in_close(struct in *i)
{
	opened = NULL;
	__real_in_close(i);
}

bool
progress_due(void)
{
	return false;
}

void
progress(const char *fmt, ...)
{
	(void)fmt;
}

void
progress_end(void)
{
}

void
vec_copy(const struct vecs *v, size_t i, double *row)
{
	memcpy(row, v->x + i * v->dim, v->dim * sizeof *row);
}

/* What fv.c and marks.c remember of the file before. */
static void
forget(void)
{
	size_t i;

	for (i = 0; i < capmark; i++)
		if (mark[i].set)
			free(mark[i].image);
	free(mark);
	free(block);
	free(pack);
	free(packed);
	free(tid);
	mark = NULL;
	block = NULL;
	pack = NULL;
	packed = NULL;
	tid = NULL;
	nvec = nblock = nmark = 0;
	capmark = capblock = cappack = cappacked = 0;
}

static void
free_vecs(struct vecs *v)
{
	free(v->x);
	free(v->from);
	free(v->at);
	free(v->val);
	free(v->norm);
	free(v->w);
}

static void
use_marks(size_t n)
{
	const struct mark *m;
	size_t i;

	for (i = 0; i <= n; i++) {
		m = marks_at(i);
		if (m && m->image[strcspn(m->image, ", /")] != '\0')
			abort();
		if (m && i > 0)
			marks_runs(m->pc, i - 1, i);
	}
	marks_tid();
}

/* The number of vectors, 0: refused. */
static size_t
vectors(struct fv *f, int projected)
{
	static struct vecs v;
	static size_t n;
	size_t i;

	memset(&v, 0, sizeof v);
	n = 0;
	forget();
	opt.project = projected;
	opt.dim = 2;
	opt.fv = name;
	if (sigsetjmp(died, 0) == 0) {
		fv_read(f, &v);
		n = v.n;
		use_marks(n);
		for (i = 0; i < n && !projected; i++)
			if (v.from[i] > v.from[i + 1] ||
			    (v.from[i] < v.from[i + 1] &&
			    v.at[v.from[i + 1] - 1] >= v.dim))
				abort();
	}
	free_vecs(&v);
	return n;
}

static void
both_ways(int flags)
{
	static struct fv a, b;
	size_t n, m;

	memset(&a, 0, sizeof a);
	memset(&b, 0, sizeof b);
	opt.mend = flags & 1;
	opt.regions = flags & 2 ? "-" : NULL;
	n = vectors(&a, 1);
	if (opened)
		in_close(opened);
	m = vectors(&b, 0);
	/* only a matrix too large is refused in one form alone */
	if (n > 0 && (n != m || memcmp(a.sum, b.sum, n * sizeof *a.sum) != 0))
		abort();
	free(a.sum);
	free(b.sum);
	free(a.proj.x);
}

static void
other(int which, size_t n)
{
	static struct matrix m;
	static void *p;
	size_t k;

	memset(&m, 0, sizeof m);
	p = NULL;
	if (sigsetjmp(died, 0) == 0)
		switch (which) {
		case 0:
			matrix_read_text(&m, name);
			break;
		case 1:
			matrix_read_binary(&m, name);
			break;
		case 2:
			p = weights_read(name, n);
			break;
		case 3:
			p = labels_read(name, n, &k);
			if (k > n)
				abort();
			break;
		}
	free(m.x);
	free(m.w);
	free(p);
}

static void
free_labels(void)
{
	khint_t i;

	if (!known)
		return;
	for (i = 0; i != kh_end(known); i++)
		if (kh_exist(known, i))
			free((char *)kh_key(known, i));
	kh_destroy(label, known);
	known = NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd;

	if (len < 1)
		return 0;
	fd = memfd_create("input", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, len - 1) != (ssize_t)len - 1)
		abort();
	sprintf(name, "/proc/self/fd/%d", fd);
	if (*data % 8 < 4)
		both_ways(*data % 4);
	else
		other(*data % 4, (size_t)*data / 8);
	if (opened)
		in_close(opened);
	free_labels();
	close(fd);
	return 0;
}
