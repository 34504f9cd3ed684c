/*
 * unpack.h - compressed data: which compression it has, and what is in it
 *
 * Compressed data is one or more members (of gzip) or frames (of zstd), each of
 * which is taken apart step by step, in bounded memory. No function dies.
 */
#ifndef UNPACK_H
#define UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* A step goes on from `from' to `to', both of which it moves on. */
struct unpack_step {
	const unsigned char *from;
	size_t nfrom;			/* bytes that are there */
	unsigned char *to;
	size_t nto;			/* bytes of room */
	const char *bad;		/* what is wrong with the data */
};

/*
 * UNPACK_MORE: it goes on; if nothing was made or taken, it needs more bytes.
 * UNPACK_ENDED: that was a member's end. UNPACK_BAD: bad says why.
 */
enum unpacked { UNPACK_MORE, UNPACK_ENDED, UNPACK_BAD };

struct unpacker {
	void *(*open)(void);		/* NULL: no memory */
	bool (*again)(void *);		/* another member begins; false: no */
	enum unpacked (*step)(void *, struct unpack_step *);
	void (*close)(void *);
};

struct packing {
	const char *name;		/* as in "gzip" */
	const struct unpacker *how;	/* NULL: it is not read here */
};

/*
 * The compression of data that begins with these n bytes; NULL: none. *more is
 * set to true if more bytes could change that.
 */
const struct packing *packing_of(const unsigned char *p, size_t n, bool *more);

/* gunzip.c, unzstd.c */
extern const struct unpacker gunzip, unzstd;

#endif
