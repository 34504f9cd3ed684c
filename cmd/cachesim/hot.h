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

/* struct cache_unit */
#define UNIT_SHIFT	5	/* log2 of its size */
#define UNIT_COUNT	0
#define UNIT_NTOUCH	12
#define UNIT_CODE	16

#endif
