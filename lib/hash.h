/*
 * hash.h - hashing of integers
 */
#ifndef HASH_H
#define HASH_H

#include <stdint.h>

/*
 * A product with this, 2^64 divided by the golden ratio, has its high bits from
 * all bits of a key: Knuth's multiplicative hashing.
 */
#define HASH_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/*
 * A hash for khash of addresses, whose low bits are mostly alike: by khash's
 * own one for integers they share few buckets.
 */
static inline uint32_t
hash_address(uint64_t a)
{
	return (uint32_t)(a * HASH_MULTIPLIER >> 32);
}

#endif
