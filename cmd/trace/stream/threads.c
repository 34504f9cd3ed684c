/*
 * threads - number the threads, and say by T lines whose lines follow
 */
#include <limits.h>
#include <string.h>

#include "evw.h"
#include "stream/parts.h"
#include "stream/stream.h"

#define GONE UINT_MAX
static unsigned current;	/* thread of the latest lines; 0: no T line yet;
				 * GONE: one of the image before */
static unsigned begun;		/* threads so far */
static unsigned number[NSLOT];	/* of each slot's thread, from 1 */
static unsigned slots;		/* no slot from here on has had one */

void
thread_begins(unsigned slot)
{
	number[slot] = ++begun;
	if (slot >= slots)
		slots = slot + 1;
}

void
thread_ends(unsigned slot)
{
	number[slot] = 0;
}

unsigned
thread_slots(void)
{
	return slots;
}

unsigned
thread_number(unsigned slot)
{
	return number[slot];
}

unsigned
threads_begun(void)
{
	return begun;
}

void
thread_line(unsigned slot)
{
	unsigned n = number[slot];

	if (n == 0)
		trust_lose("records of no thread");
	else
		thread_line_of(n);
}

void
thread_line_of(unsigned n)
{
	if (n == current || (begun < 2 && current == 0))
		return;
	/* before the first T line, name the thread that ran until then */
	if (current == 0 && n != 1)
		evw_line(stream_writer, "T 1");
	evw_line(stream_writer, "T %u", n);
	current = n;
}

void
threads_reset(void)
{
	current = current == 0 ? 0 : GONE;
	begun = slots = 0;
	memset(number, 0, sizeof number);
}
