/*
 * missed.h - what a miss does, by one way to find the oldest place of a set
 *
 * short.c includes this for each way.  TARGET is what the processor must have,
 * WIDE(name) the way's name of a function: oldest is there, the rest is made.
 */

/* Of a reference of a unit without code. */
TARGET
__attribute__((noinline))
static uint64_t
WIDE(data)(const struct cache_unit *u, const struct fastref *r, uint64_t addr,
    uint64_t now)
{
	if (__builtin_expect(may_search(addr, r->most), 0))
		return data_unusual(u, r, addr, now);
	enter_line(addr, ++now, WIDE(oldest)(&l1_d.stamp[set_of(addr)]));
	ll_data(addr, misses_of(u, r), 1);
	return now;
}

/* A hot_missed_fn. */
TARGET
static uint64_t
WIDE(missed)(uint64_t ref, uint64_t now, const uint64_t *diff, uint64_t addr,
    const uint8_t *from)
{
	struct misses *m = hot_misses(ref);

	if (__builtin_expect(may_search(addr, hot_most(ref)), 0))
		return missed_plain(ref, now, diff, addr, from);
	enter_line(addr, ++now, WIDE(oldest)(&l1_d.stamp[set_of(addr)]));
	ll_data(addr, m, 1);
	if (__builtin_expect(m->l1 == MISSES_HALF, 0))
		sites_missed(from, unit[ev_id(diff[-1])].count);
	return now;
}

/* The same where each miss is told. */
TARGET
static uint64_t
WIDE(told)(uint64_t ref, uint64_t now, const uint64_t *diff, uint64_t addr,
    const uint8_t *from)
{
	uint32_t cold = unit[ev_id(diff[-1])].cold;
	unsigned most = hot_most(ref);

	found_record = diff - 1;
	if (__builtin_expect(may_search(addr, most), 0))
		return missed_plain(ref, now, diff, addr, from);
	enter_line(addr, ++now, WIDE(oldest)(&l1_d.stamp[set_of(addr)]));
	ordered_missed(cold, (uint32_t)(hot_misses(ref) -
	    cold_data(&cold_block[cold])), addr, 64 - most);
	return now;
}

#undef TARGET
#undef WIDE
