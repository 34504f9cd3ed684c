/*
 * xraybreak - read every prefix of an XRay log, and it with every bit turned
 *
 *	xraybreak LOG		a log whose buffers lie in the order of time
 *
 * Of a prefix the records must be the first ones of the whole log, and unless
 * it ends with a buffer there must be an XRAY_LOST.  With a bit turned behind
 * the first buffer's beginning, the records before that must be the same,
 * where there is but one buffer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mem.h"
#include "out.h"
#include "prog.h"
#include "xray.h"

struct seen {
	uint64_t	mark;	/* a digest of the record */
	uint64_t	off;
	enum xray_kind	kind;
};

static struct seen *whole, *part;
static size_t nwhole, capwhole, npart, cappart;
static unsigned long nlost;

static uint64_t
mix(uint64_t h, uint64_t v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29);
}

static uint64_t
digest(const struct xray_rec *r)
{
	uint64_t h = r->kind;
	size_t i;

	switch (r->kind) {
	case XRAY_BUFFER:
		h = mix(mix(h, r->tid), r->pid);
		return mix(mix(h, (uint64_t)r->sec), (uint64_t)r->usec);
	case XRAY_THREAD:
		return mix(mix(h, r->tid), r->pid);
	case XRAY_CPU:
		return mix(mix(h, r->cpu), r->tsc);
	case XRAY_WRAP:
		return mix(h, r->tsc);
	case XRAY_ARG:
		return mix(h, r->arg);
	case XRAY_CUSTOM:
	case XRAY_TYPED:
		return mix(mix(mix(h, r->type), r->tsc), r->size);
	case XRAY_DATA:
		for (i = 0; i < r->len; i++)
			h = mix(h, r->data[i]);
		return h;
	default:
		return mix(mix(h, r->id), r->tsc);
	}
}

/* read the n bytes */
static void
read_all(const uint8_t *p, size_t n, struct seen **to, size_t *nto, size_t *cap)
{
	int fd = memfd_create("log", 0);
	struct xray *x;
	struct xray_rec r;
	size_t i = 0;

	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		die("memfd:");
	nlost = 0;
	*nto = 0;
	x = xray_fdopen(fd, "log");
	for (xray_next(x, &r); r.kind != XRAY_END; xray_next(x, &r)) {
		if (++i > n + 100)
			die("no end after %zu records of %zu bytes", i, n);
		if (r.kind == XRAY_LOST) {
			nlost++;
			if (r.text == NULL || r.off > n || r.len > n)
				die("a record is lost beyond the log");
			continue;
		}
		if (r.kind == XRAY_TWICE)
			continue;
		*to = xgrow(*to, cap, *nto + 1, sizeof **to);
		(*to)[(*nto)++] = (struct seen){ digest(&r), r.off, r.kind };
	}
	xray_close(x);
}

static size_t
same(void)
{
	size_t i;

	for (i = 0; i < npart && i < nwhole; i++)
		if (part[i].mark != whole[i].mark)
			break;
	return i;
}

/* how many records of the whole log lie wholly before offset off */
static size_t
before(size_t off)
{
	size_t i = 0;

	while (i + 1 < nwhole && whole[i + 1].off <= off)
		i++;
	while (i > 0 && whole[i - 1].off == whole[i].off)
		i--;
	return i;
}

static size_t
buffers(void)
{
	size_t i, n = 0;

	for (i = 0; i < nwhole; i++)
		n += whole[i].kind == XRAY_BUFFER;
	return n;
}

int
main(int argc, char **argv)
{
	static uint8_t log_bytes[1 << 20];
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;
	size_t n = f ? fread(log_bytes, 1, sizeof log_bytes, f) : 0, i;
	size_t silent = 0, turned = 0;
	int bit;

	prog_init(argv[0]);
	if (n < XRAY_HEADSIZE)
		die("usage: xraybreak log");
	read_all(log_bytes, n, &whole, &nwhole, &capwhole);
	if (nlost > 0)
		die("%s: not whole", argv[1]);
	for (i = 0; i < n; i++) {
		read_all(log_bytes, i, &part, &npart, &cappart);
		if (same() != npart)
			die("prefix %zu: record %zu is another", i, same());
		silent += nlost == 0;
		if (npart < before(i) && whole[npart].kind != XRAY_BUFFER &&
		    whole[npart].kind != XRAY_CUSTOM &&
		    whole[npart].kind != XRAY_TYPED)
			die("prefix %zu: record %zu is missing", i, npart);
	}
	for (i = 0; i < n; i++)
		for (bit = 0; bit < 8; bit++) {
			log_bytes[i] ^= (uint8_t)(1 << bit);
			read_all(log_bytes, n, &part, &npart, &cappart);
			log_bytes[i] ^= (uint8_t)(1 << bit);
			turned += nlost > 0;
			if (i >= 128 && buffers() == 1 && same() < before(i))
				die("bit %d of %zu: record %zu is another",
				    bit, i, same());
		}
	printf("prefixes %zu silent %zu, bits %zu told %zu\n", n, silent,
	    8 * n, turned);
	return 0;
}
