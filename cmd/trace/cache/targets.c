/*
 * targets - where indirect exits mostly led, for the search at the run's end
 *
 * Each indirect exit stores its target in a cell of its thread (leave.c).
 * While an entry of the store is to be written, all cells are read and cleared
 * now and then, and each target has a vote for its cell.  At the end each
 * counter of an indirect exit is given the cell that its fragment has.
 *
 * The cells of a few hot exits are read more often, for recent.c, which says
 * which exits these are and keeps their votes.
 *
 * A few exits share a cell: a target may be another one's.  The path then is a
 * worse one, not a wrong one.
 */
#include <string.h>

#include "cache/cache.h"
#include "cache/kept.h"
#include "stream/stream.h"
#include "mem.h"
#include "tarea.h"

#define EVERY_NS 4000000
#define NSAMPLED 128u

static struct votes cells[FOLLOW_CELLS];
static bool looked;		/* for votes */
static uint16_t *cell_of;	/* by counter: 1 + its cell, or 0 */
static size_t capcell;
static unsigned slot_looked;	/* the last thread whose cells were all read */
static unsigned slot_sampled;	/* and the last one that was sampled */
static uint64_t due;		/* in ns */

/* The exits that are sampled. */
static struct {
	struct votes *votes;
	unsigned cell;
} sampled[NSAMPLED];
static unsigned nsampled;
static uint8_t sample_of[FOLLOW_CELLS];	/* by cell: 1 + its index, or 0 */
_Static_assert(NSAMPLED <= UINT8_MAX, "an index plus 1");

app_pc
votes_most(const struct votes *v, unsigned least)
{
	return v->seen >= least && 4u * v->votes >= v->seen ? v->to : 0;
}

static void
votes_add(struct votes *v, app_pc to)
{
	if (v->seen == VOTES_MOST)
		return;
	if (v->votes == 0)
		v->to = to;
	v->seen++;
	if (v->to == to)
		v->votes++;
	else
		v->votes--;
}

/* Read and clear a cell: its target, which gets a vote, or 0. */
static uint64_t
take_target(uint64_t *cell, unsigned i)
{
	uint64_t to = ONCE(cell[i]);

	if (to == 0)
		return 0;
	cell[i] = 0;
	if (sample_of[i] != 0)
		votes_add(sampled[sample_of[i] - 1].votes, to);
	return to;
}

void
targets_look(void)
{
	uint64_t *cell, to;
	unsigned i;

	looked = true;
	slot_looked = counters_next_slot(slot_looked);
	cell = counters_cells(slot_looked);
	for (i = 0; i < FOLLOW_CELLS; i++)
		if (cells[i].seen != VOTES_MOST &&
		    (to = take_target(cell, i)) != 0)
			votes_add(&cells[i], to);
}

void
targets_sample(uint32_t exit, struct votes *votes)
{
	unsigned i = exit % FOLLOW_CELLS;

	if (nsampled == NSAMPLED || sample_of[i] != 0)
		return;
	sampled[nsampled].votes = votes;
	sampled[nsampled++].cell = i;
	sample_of[i] = (uint8_t)nsampled;
}

void
targets_sample_none(void)
{
	while (nsampled > 0)
		sample_of[sampled[--nsampled].cell] = 0;
}

bool
targets_any_sampled(void)
{
	return nsampled != 0;
}

void
targets_read_sampled(void)
{
	uint64_t *cell;
	unsigned i;

	if (nsampled == 0)
		return;
	slot_sampled = counters_next_slot(slot_sampled);
	cell = counters_cells(slot_sampled);
	for (i = 0; i < nsampled; i++)
		take_target(cell, sampled[i].cell);
}

void
targets_reset(void)
{
	targets_sample_none();
	if (looked)		/* else they are 0 */
		memset(cells, 0, sizeof cells);
	if (capcell != 0)
		memset(cell_of, 0, capcell * sizeof *cell_of);
}

bool
targets_due(void)
{
	uint64_t t = kept.on ? clock_ns() : 0;

	if (t < due || !kept.on)
		return false;
	due = t + EVERY_NS;
	return true;
}

/* Which cell exit number k has, by its counter. */
static void
note_cell(uint32_t k)
{
	struct exitmeta e = exit_unpack(&area.exits[k]);

	if (e.kind == EXIT_INDIRECT && e.id < capcell)
		cell_of[e.id] = (uint16_t)(k % FOLLOW_CELLS + 1);
}

void
targets_end(void)
{
	uint32_t i, k;

	targets_look();
	cell_of = xgrow0(cell_of, &capcell, counters_used() + 1ul,
	    sizeof *cell_of);
	for (i = 0; i < nfrag; i++)
		for (k = 0; k < frags[i].nexit; k++)
			note_cell(frags[i].exit + k);
}

app_pc
targets_follower(uint32_t counter, uint64_t *flow)
{
	const struct votes *v;

	if (counter >= capcell || cell_of[counter] == 0)
		return 0;
	v = &cells[cell_of[counter] - 1];
	if (votes_most(v, 1) != 0)
		*flow = *flow * (v->seen + v->votes) / (2u * v->seen);
	return votes_most(v, 1);
}
