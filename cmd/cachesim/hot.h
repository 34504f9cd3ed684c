/*
 * hot.h - what hotloop.S knows of C
 */
#ifndef HOT_H
#define HOT_H

/* struct hot */
#define HOT_NOW_I	0
#define HOT_NOW_D	8
#define HOT_ISTAMP	16
#define HOT_RECORD	24
#define HOT_HINT	32
#define HOT_TAG		40
#define HOT_STAMP	48
#define HOT_MASK	56
#define HOT_UNITS	64
#define HOT_MISSED	72
#define HOT_FETCHED	80
#define HOT_SET		88
#define HOT_LEFT	96
#define HOT_SETS	104
#define HOT_LLC		112
#define HOT_CARRY	120
#define HOT_DRAIN	128

/* struct cache_unit */
#define UNIT_SHIFT	5	/* log2 of its size */
#define UNIT_COUNT	0
#define UNIT_NTOUCH	12
#define UNIT_CODE	16

/* struct llc; its queue's entries have 16 bytes */
#define LLC_N		0
#define LLC_SHIFT	4
#define LLC_MASK	16
#define LLC_STRIDE	24
#define LLC_SET		32
#define LLC_QUEUE	40
#define LLC_NQUEUE	32

#endif
