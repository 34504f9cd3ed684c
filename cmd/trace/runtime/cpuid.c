/*
 * cpuid - what cpuid tells the program
 *
 * With --cpu it tells of a model.  Without, the processor is asked, and what
 * trace cannot decode is hidden: guest/cpu.c says which bits.  A virtual
 * machine takes 6 to 20 us for each cpuid, and a C library's start has 60 about
 * caches, most of them the same again.  So answers about caches are kept, for
 * each processor, since not all of a machine need be alike.  Nothing is kept
 * once the program has had cpuid fault (ARCH_SET_CPUID).
 */
#include "runtime.h"

#define NANSWER 32u

struct answer {
	uint32_t cpu, leaf, sub;
	uint32_t r[4];		/* eax, ebx, ecx, edx */
};

static struct answer answer[NANSWER];
static uint32_t nanswer, lock, off;

/* The row for leaf and subleaf, or NULL. */
static const struct cpuidrow *
row_of(uint32_t leaf, uint32_t sub)
{
	const struct cpuidrow *r = rt.cpuids, *end = r + rt.ctl->ncpuid;

	for (; r < end; r++)
		if (r->leaf == leaf && (r->subleaf == sub || r->subleaf == ~0u))
			return r;
	return NULL;
}

/* Answer with the model's row for leaf and subleaf, or zeros without one. */
static void
ask_model(uint32_t leaf, uint32_t sub, uint32_t to[4])
{
	const struct cpuidrow *r = row_of(leaf, sub);

	memset(to, 0, 4 * sizeof *to);
	if (r != NULL)
		memcpy(to, &r->eax, 4 * sizeof *to);
}

/* Without a model the row has the bits that the program may not see. */
static void
hide(uint32_t leaf, uint32_t sub, uint32_t to[4])
{
	const struct cpuidrow *r = row_of(leaf, sub);
	unsigned i;

	for (i = 0; r != NULL && i < 4; i++)
		to[i] &= ~(&r->eax)[i];
}

/* Is the answer the same each time, and asked for many times? */
static bool
is_of_caches(uint32_t leaf)
{
	return leaf == 2 || leaf == 4 || leaf == 0x8000001d;
}

static bool
find(struct answer *a)
{
	uint32_t i, n = __atomic_load_n(&nanswer, __ATOMIC_ACQUIRE);

	for (i = 0; i < n; i++)
		if (answer[i].leaf == a->leaf && answer[i].sub == a->sub &&
		    answer[i].cpu == a->cpu) {
			*a = answer[i];
			return true;
		}
	return false;
}

/* Where another thread adds one this is not worth to wait for. */
static void
add(const struct answer *a)
{
	if (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		return;
	if (nanswer < NANSWER) {
		answer[nanswer] = *a;
		__atomic_store_n(&nanswer, nanswer + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void
cpuid_faults(void)
{
	__atomic_store_n(&off, 1, __ATOMIC_SEQ_CST);
}

/* -1: it faults. */
static int
ask_processor(uint32_t leaf, uint32_t sub, uint32_t to[4])
{
	struct answer a = { this_cpu(), leaf, leaf == 2 ? 0 : sub, { 0 } };
	bool keep = is_of_caches(leaf) && a.cpu != ~0u && !off;

	if (!keep || !find(&a)) {
		if (rt_cpuid(leaf, sub, a.r) < 0)
			return -1;
		if (keep && a.cpu == this_cpu())
			add(&a);
	}
	memcpy(to, a.r, sizeof a.r);
	hide(leaf, sub, to);
	return 0;
}

int
cpuid_do(struct tarea *t)
{
	uint32_t leaf = (uint32_t)t->gpr[0], sub = (uint32_t)t->gpr[1], r[4];

	if (rt.ctl->cpu != 0)
		ask_model(leaf, sub, r);
	else if (ask_processor(leaf, sub, r) < 0)
		return -1;
	t->gpr[0] = r[0];
	t->gpr[3] = r[1];
	t->gpr[1] = r[2];
	t->gpr[2] = r[3];
	return 0;
}
