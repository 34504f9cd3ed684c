/*
 * table - the table of the hierarchy, for -v
 *
 *	          accesses     hits   misses     first     rate     MPKI
 *	L1D        120,000  119,000    1,000       400    0.83%     2.15
 */
#include "memsim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hash.h"
#include "khash.h"
#include "num.h"
#include "out.h"

KHASH_INIT(seen, uint64_t, char, 0, hash_address, kh_int64_hash_equal)

bool table_wanted;
static khash_t(seen) *seen[MOST_PARTS];
static struct out *err;

bool
table_first(unsigned part, uint64_t line)
{
	int new;

	if (seen[part] == NULL)
		seen[part] = kh_init(seen);
	kh_put(seen, seen[part], line, &new);
	return new != 0;
}

/* While nothing counts: what had been counted. */
static struct {
	bool idle;
	struct tally tally[MOST_PARTS];
	uint64_t written;
} kept;

void
table_forget(struct simrun *s)
{
	(void)s;
	memset(tally, 0, sizeof tally);
	memset(kept.tally, 0, sizeof kept.tally);
	memory_written = kept.written = 0;
}

void
table_idle(struct simrun *s, bool idle)
{
	(void)s;
	kept.idle = idle;
	if (idle) {
		memcpy(kept.tally, tally, sizeof tally);
		kept.written = memory_written;
		return;
	}
	memcpy(tally, kept.tally, sizeof tally);
	memory_written = kept.written;
}

static void
put_number(uint64_t n, int width)
{
	char buf[32];

	out_printf(err, " %*s", width, num_commas(buf, (int64_t)n));
}

/* All accesses of a level are asked of it; of the first, all there are. */
static uint64_t
accesses(const struct simrun *s, unsigned i)
{
	const struct part *p = &machine->part[i];
	uint64_t n = 0;
	bool first[2] = { true, true };

	for (unsigned k = 0; k < i; k++)
		for (unsigned side = CODE; side <= DATA; side++)
			first[side] &= machine->part[k].side != BOTH &&
			    machine->part[k].side != side;
	if (!first[CODE] && !first[DATA])
		return tally[i].asked;
	if (p->side != DATA)
		n += first[CODE] ? (uint64_t)s->total[COL_IR] : 0;
	if (p->side != CODE)
		n += first[DATA] ? (uint64_t)(s->total[COL_DR] +
		    s->total[COL_DW]) : 0;
	return n;
}

static void
row(const struct simrun *s, unsigned i)
{
	const struct tally *t = &tally[i];
	uint64_t all = accesses(s, i);
	double insns = (double)s->total[COL_IR] / 1000;

	out_printf(err, "%-6s", machine->part[i].name);
	put_number(all, 15);
	put_number(all - t->missed, 15);
	put_number(t->missed, 13);
	put_number(t->first, 11);
	out_printf(err, " %7.2f%% %8.2f\n", 100.0 * (double)t->missed /
	    (double)(all != 0 ? all : 1), (double)t->missed /
	    (insns != 0 ? insns : 1));
}

static void
traffic(unsigned i)
{
	const struct tally *t = &tally[i];

	out_printf(err, "%-6s", machine->part[i].name);
	put_number(t->in, 15);
	put_number(t->out, 15);
	put_number(t->written, 13);
	put_number(t->back, 11);
	put_number(t->issued, 11);
	put_number(t->useful, 11);
	put_number(t->useless, 11);
	out_ch(err, '\n');
}

static void
tlbs(const struct simrun *s)
{
	for (unsigned c = COL_FIRST; c < count_columns; c++)
		if (count_name[c][0] == 'T' || c == col_walk[CODE] ||
		    c == col_walk[DATA] || (col_inval != 0 && c >= col_inval))
			out_printf(err, "%-6s %15" PRId64 " %8.3f\n",
			    count_name[c], s->total[c],
			    1000.0 * (double)s->total[c] /
			    (double)(s->total[COL_IR] != 0 ?
			    s->total[COL_IR] : 1));
}

void
table_print(const struct simrun *s)
{
	if (kept.idle)
		table_idle(NULL, false);
	err = out_fd(2, "standard error");
	out_printf(err, "%-6s %15s %15s %13s %11s %8s %8s\n", "", "accesses",
	    "hits", "misses", "compulsory", "rate", "MPKI");
	for (unsigned i = 0; i < machine->npart; i++)
		if (!machine->part[i].tlb)
			row(s, i);
	out_printf(err, "\n%-6s %15s %15s %13s %11s %11s %11s %11s\n", "bytes",
	    "from behind", "to behind", "written back", "taken out",
	    "prefetched", "useful", "useless");
	for (unsigned i = 0; i < machine->npart; i++)
		if (!machine->part[i].tlb)
			traffic(i);
	if (memory_written != 0)
		out_printf(err, "memory took %" PRIu64 " bytes of writes that "
		    "no cache did\n", memory_written);
	out_printf(err, "\n%-6s %15s %8s\n", "", "events", "MPKI");
	tlbs(s);
	out_flush(err);
}
