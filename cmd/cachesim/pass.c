/*
 * pass - -t: the stream's own text, with what was found behind its lines
 *
 * Records run as if they were not passed on, many at a time; found_of[] says
 * which record found what. Then their lines are passed on. Behind the line of a
 * record that found something come our O lines, then those of earlier stages. A
 * record of several rounds is passed by itself: what its rounds find comes
 * between them.
 */
#include "cachesim.h"

/*
 * Write what one instruction of a record found, from found[i] on, summed up by
 * event. Returns the index behind it.
 */
static unsigned
tell_insn(struct simrun *s, unsigned i)
{
	const uint64_t *rec = found_of[i];
	uint32_t insn = found[i].insn;
	uint64_t times[6] = { 0 };
	struct sim_outcome o[6];
	unsigned n = 0;

	for (; i < nfound && found_of[i] == rec && found[i].insn == insn; i++)
		times[found[i].event] += found[i].n;
	for (unsigned e = 0; e < 6; e++)
		if (times[e] != 0)
			o[n++] = (struct sim_outcome){ insn, e, times[e] };
	simrun_outcomes(s, found_name, o, n);
	return i;
}

/* Write what a record found, from found[i] on; returns the index behind it. */
static unsigned
tell_found(struct simrun *s, unsigned i)
{
	const uint64_t *rec = found_of[i];
	bool last;

	while (i < nfound && found_of[i] == rec) {
		last = i + 1 == nfound || found_of[i + 1] != rec;
		if (!last && found[i + 1].insn == found[i].insn) {
			i = tell_insn(s, i);
			continue;
		}
		simrun_outcomes(s, found_name, &found[i], 1);
		i++;
	}
	return i;
}

/* A record of any kind and number of rounds. */
static void
pass_record(struct simrun *s, const uint64_t *p)
{
	uint64_t rounds = 1 + ev_more(p), quiet = 0, k;

	if (l1.tables)
		lone_clear_standing(s, p);
	for (; rounds > 0; rounds -= k) {
		/* some have found nothing: do all that are like them */
		k = quiet > 3 && rounds_alike(p) ? rounds : 1;
		batch_some(p, k);
		quiet += k;
		if (nfound == 0 && rounds != k)
			continue;
		simrun_pass(s, p, quiet - 1);
		quiet = 0;
		if (nfound != 0)
			tell_found(s, 0);
	}
}

/* Run and pass records that have one round and a short way; their end. */
static const uint64_t *
pass_usual(struct simpass *t, const uint64_t *rec, const uint64_t *end)
{
	const uint64_t *stop = batch_found(rec, end);

	for (unsigned i = 0; rec < stop; rec = ev_skip(rec)) {
		simpass_one(t, rec, end);
		if (i == nfound || found_of[i] != rec)
			continue;
		simpass_lines(t);
		i = tell_found(t->s, i);
	}
	return stop;
}

/* Those that can be passed by their lines; their end. */
static const uint64_t *
pass_some(struct simpass *t, const uint64_t *rec, const uint64_t *end)
{
	if (t->text == NULL)
		return rec;
	return (l1.tables ? lone_pass : pass_usual)(t, rec, end);
}

void
pass_records(struct simrun *s, const uint64_t *rec, const uint64_t *end)
{
	struct simpass t = { .s = s, .text = s->text };

	while ((rec = pass_some(&t, rec, end)) < end) {
		simpass_outcomes(&t);
		pass_record(s, rec);
		simpass_skip(&t, rec);
		rec = ev_skip(rec);
	}
	simpass_outcomes(&t);
}
