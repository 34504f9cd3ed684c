/*
 * record.h - records of what was executed, and the buffers that they fill
 *
 * A part of shared.h.  A fragment writes a record at each exit; a buffer ends
 * with a page that cannot be written, and the fault there hands it over.
 */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>

#define PAGE 4096u

#define NBUF 1024u	/* record buffers; each running thread holds one */
#define NFULL 12u	/* full ones that may wait for the formatter */
#define NFULL_GO 4u	/* no more: threads that wait for a free one go on */
#define NFULL_WAKE 8u	/* so many wake it, if it sleeps */
#define BUF_SIZE (256u << 10)
#define BUF_STRIDE (BUF_SIZE + PAGE)
#define REC_MAX (4u + 8u * 200u) /* bytes of the largest record, < PAGE */

/*
 * A record's first word, its HEAD: an id, and how many values of 8 bytes
 * follow.  0 means that there is no record: no id is 0.
 */
#define ID_BITS 24
#define NIDS (1u << ID_BITS)

/* Make the head of a record with so many values. */
static inline uint32_t
record_head(uint32_t id, unsigned nvalues)
{
	return id | (uint32_t)nvalues << ID_BITS;
}

/* The id that a head has. */
static inline uint32_t
record_id(uint32_t head)
{
	return head & (NIDS - 1);
}

/* How many values follow it. */
static inline unsigned
record_nvalues(uint32_t head)
{
	return head >> ID_BITS;
}

/* Bytes of a record of so many values. */
static inline unsigned
record_size(unsigned nvalues)
{
	return 4 + 8 * nvalues;
}

#endif
