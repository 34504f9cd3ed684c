/*
 * rseq - restartable sequences of a process that was attached to
 *
 * A program that starts under us is told that there is no rseq(2).  One that
 * ran before has registered a struct rseq, which names the sequence that a
 * thread is in.  At a preemption or a signal the kernel compares the real pc
 * with that sequence, finds it outside, clears the name and restarts nothing.
 *
 * So the runtime has to know the sequences before.  trace finds those in the
 * program's files (guest/sequences.c); any other one the runtime learns when a
 * thread that is in it leaves the code cache.  Where a signal is delivered to a
 * thread in a sequence, or the thread is let go there, the runtime aborts the
 * sequence.  It does not notice that another thread ran in between.
 */
#include "runtime.h"
#include "signals.h"

#define CS_AT 8			/* of struct rseq: which sequence, or 0 */

struct sequence {		/* as the kernel reads it */
	uint32_t version, flags;
	uint64_t start, len, abort;
};

static struct sequence sequence[NSEQUENCE];
static uint32_t nsequence, lock;

static const struct sequence *
find(uint64_t pc)
{
	uint32_t i, n = __atomic_load_n(&nsequence, __ATOMIC_ACQUIRE);

	for (i = 0; i < n; i++)
		if (pc - sequence[i].start < sequence[i].len)
			return &sequence[i];
	return NULL;
}

static void
add(const struct sequence *s)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (find(s->start) == NULL && nsequence < NSEQUENCE) {
		sequence[nsequence] = *s;
		__atomic_store_n(&nsequence, nsequence + 1, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* at: a struct rseq_cs. */
static void
learn(uint64_t at, uint64_t want)
{
	struct sequence s;
	uint32_t sig = 0;

	if (rt_copy(&s, (void *)at, sizeof s) < 0 ||
	    rt_copy(&sig, (void *)(s.abort - sizeof sig), sizeof sig) < 0 ||
	    sig != (uint32_t)want || find(s.start) != NULL)
		return;
	add(&s);
}

void
rseq_boot(void)
{
	unsigned i;

	for (i = 0; i < NSEQUENCE && rt.boot.sequence[i] != 0; i++)
		learn(rt.boot.sequence[i], rt.boot.rseqsig);
}

void
rseq_learn(const struct tarea *t)
{
	uint64_t at = 0;

	if (rt_copy(&at, (void *)(t->rseq + CS_AT), sizeof at) == 0 && at != 0)
		learn(at, t->rseqsig);
}

void
rseq_abort(struct tarea *t)
{
	const struct sequence *s;
	uint64_t none = 0;

	if (t->rseq == 0)
		return;
	s = find(t->pc);
	if (s == NULL)
		return;
	t->pc = s->abort;
	rt_copy((void *)(t->rseq + CS_AT), &none, sizeof none);
}

/* rseq(area, size, flags, sig): with one thread registered, all must be. */
long
rseq_call(struct tarea *t)
{
	long r;

	if (!(rt.boot.flags & BOOT_RSEQ))
		return -ENOSYS;
	r = guest_syscall(t, t->gpr);
	if (r == 0) {
		t->rseq = (uint32_t)t->gpr[2] == 0 ? t->gpr[7] : 0;
		t->rseqsig = (uint32_t)t->gpr[10];
	}
	return r;
}
