/*
 * watch - pages of code made at run time, trusted until they are written
 *
 * Code in memory that can be written is compared at each entry of a fragment,
 * which costs more than the code itself.  Where the kernel lets us, a page
 * whose code runs often is write-protected by userfaultfd(2) instead: its
 * rights stay what they are, but whatever writes into it, the program, the
 * kernel in a system call or another process, waits until we have dropped the
 * fragments made of it and have lifted the protection.
 *
 *	compared	every 1024th entry of such fragments, in each thread,
 *	  |	^	is a sample of their page; enough of them
 *	  v	|
 *	watched		a write: the next time it takes more samples
 *
 * A program that loads much code into such memory, as an image of its heap, may
 * run most of it once.  There a page is watched as soon as MADE fragments have
 * been made of it: while a page is compared, each fragment ends at a store and
 * has code that compares, several times as much.  The first watched pages show
 * whether a program is of this kind.  If many of them are written again, as by
 * a compiler that adds code and patches calls, only samples have pages watched.
 *
 * Only private memory without a file is watched: all else can be written by
 * another way.  A thread of its own waits for writes, and rings the bell.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "code/code.h"
#include "khash.h"

#define SLOW_AFTER 3u	/* writes; then one sample stands for many entries */
#define MOST_WRITES 8u	/* more of them change nothing */
#define MADE 4u			/* fragments; after each write twice as many */
#define FIRST_PAGES 100u	/* that tell whether pages are written again: */
#define WRITTEN_SHARE 4u	/* this part of them are many */
#define MOST_NOW 100u	/* for tests: so often a page is watched at once */

struct watched_page {
	bool watched;
	uint8_t writes;
	uint16_t samples;	/* since the last write */
	uint16_t made;		/* fragments, since it was watched last */
	bool early;		/* watched, but some fragments compare */
};

KHASH_MAP_INIT_INT64(page, struct watched_page)

static khash_t(page) *pages;	/* by number */
static int faults = -1;		/* the userfaultfd, or -1 */
static int quit = -1;		/* an eventfd that ends the waiting thread */
static pthread_t waiter;
static bool waits;		/* there is such a thread */
static sem_t taken;		/* it waits for this before it polls again */
static bool pending;		/* there may be writes to take */
static unsigned nwatched, nwritten;	/* of this image, as stats has of all */

/* Wait for writes, and wake the serving thread, which takes them. */
static void *
wait_for_writes(void *arg)
{
	struct pollfd p[2] = { { faults, POLLIN, 0 }, { quit, POLLIN, 0 } };

	(void)arg;
	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (p[1].revents != 0 || (p[0].revents & ~POLLIN) != 0)
			return NULL;
		if (p[0].revents == 0)
			continue;
		__atomic_store_n(&pending, true, __ATOMIC_SEQ_CST);
		bell_ring();
		while (sem_wait(&taken) < 0)
			;
	}
}

static bool
start_waiting(void)
{
	if (waits)
		return true;
	quit = eventfd(0, EFD_CLOEXEC);
	if (quit < 0)
		return false;
	sem_init(&taken, 0, 0);
	if (pthread_create(&waiter, NULL, wait_for_writes, NULL) != 0) {
		close(quit);
		return false;
	}
	waits = true;
	return true;
}

void
watch_abandon(void)
{
	if (waits) {
		eventfd_write(quit, 1);
		sem_post(&taken);
		pthread_join(waiter, NULL);
		sem_destroy(&taken);
		close(quit);
	}
	waits = pending = false;
	if (faults >= 0)	/* this lifts all protection */
		close(faults);
	faults = -1;
}

void
watch_end(void)
{
	watch_abandon();
	if (pages != NULL)
		kh_clear(page, pages);
	nwatched = nwritten = 0;
}

void
watch_start(int fd)
{
	struct uffdio_api api = { .api = UFFD_API, .features =
	    UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_THREAD_ID };

	watch_end();
	if (pages == NULL)
		pages = kh_init(page);
	faults = fd;
	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) < 0)
		watch_end();
}

static struct watched_page *
page_at(uint64_t at)
{
	khiter_t k = kh_get(page, pages, at / PAGE);

	return k == kh_end(pages) ? NULL : &kh_value(pages, k);
}

static bool
is_watched(uint64_t at)
{
	const struct watched_page *p = page_at(at);

	return p != NULL && p->watched;
}

/* The page of `at', which may be watched; NULL: it may not. */
static struct watched_page *
page_for(uint64_t at)
{
	uint64_t start, end;
	khiter_t k;
	int new;

	if (faults < 0 || !maps_private(at, &start, &end))
		return NULL;
	k = kh_put(page, pages, at / PAGE, &new);
	if (new)
		kh_value(pages, k) = (struct watched_page){ 0 };
	return &kh_value(pages, k);
}

/* Write-protect a page, or lift that; false: it is not registered. */
static bool
protect(uint64_t at, bool on)
{
	struct uffdio_writeprotect w = { { at & -(uint64_t)PAGE, PAGE },
	    on ? UFFDIO_WRITEPROTECT_MODE_WP : 0 };

	while (ioctl(faults, UFFDIO_WRITEPROTECT, &w) < 0)
		if (errno != EAGAIN)
			return false;
	return true;
}

/*
 * The mapping is registered as a whole, so that it stays one.  From the
 * protection on each write waits; a page without memory gets some by a read,
 * for there is nothing to protect in it before.
 */
static bool
start_watching(uint64_t at)
{
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_WP };
	uint64_t start, end;
	uint8_t byte;

	if (!start_waiting() || pread(guest.mem, &byte, 1, (off_t)at) != 1)
		return false;
	if (protect(at, true))
		return true;
	if (!maps_private(at, &start, &end))
		return false;
	r.range.start = start;
	r.range.len = end - start;
	return ioctl(faults, UFFDIO_REGISTER, &r) == 0 && protect(at, true);
}

static bool
watch_page(struct watched_page *p, uint64_t at)
{
	p->samples = 0;
	p->early = false;
	p->watched = start_watching(at);
	if (!p->watched) {
		p->writes = MOST_NOW;
		return false;
	}
	nwatched++;
	stats.watched++;
	return true;
}

/* For tests: each page at once. */
static void
watch_now(app_pc pc)
{
	struct watched_page *p = page_for(pc);

	if (p != NULL && !p->watched && p->writes < MOST_NOW)
		watch_page(p, pc);
}

/* Are watched pages seldom written? */
static bool
is_calm(void)
{
	return nwatched >= FIRST_PAGES && nwritten * WRITTEN_SHARE <= nwatched;
}

/* A fragment is made of the page: watch it, if enough have been. */
static void
watch_made(app_pc pc)
{
	struct watched_page *p = is_calm() ? page_for(pc) : NULL;

	if (p == NULL || p->watched || p->writes > MOST_WRITES ||
	    ++p->made < MADE << p->writes)
		return;
	p->made = 0;
	p->early = watch_page(p, pc);
}

app_pc
watch_limit(app_pc pc)
{
	app_pc next = (pc & -(uint64_t)PAGE) + PAGE;

	if (faults < 0)
		return 0;
	if (opt->debug & DEBUG_WATCH)
		watch_now(pc);
	else
		watch_made(pc);
	if (!is_watched(pc))
		return 0;
	if (opt->debug & DEBUG_WATCH)
		watch_now(next);
	return is_watched(next) ? next + PAGE : next;
}

enum sampling
watch_sampling(app_pc pc)
{
	const struct watched_page *p;
	uint64_t start, end;

	if (faults < 0 || !maps_private(pc, &start, &end))
		return SAMPLE_NONE;
	p = page_at(pc);
	return p != NULL && p->writes >= SLOW_AFTER ? SAMPLE_SLOW : SAMPLE_FAST;
}

/* How many samples watch a page that has been written so often. */
static unsigned
samples_for(unsigned writes)
{
	if (writes > MOST_WRITES)
		writes = MOST_WRITES;
	return 1u << (writes < SLOW_AFTER ? writes : writes - SLOW_AFTER);
}

app_pc
watch_sample(app_pc pc)
{
	struct watched_page *p = faults < 0 ? NULL : page_at(pc);

	if (p != NULL && p->watched && p->early) {	/* made before that */
		p->early = false;
		return pc & -(uint64_t)PAGE;
	}
	if (faults >= 0 && is_watched(pc))	/* then it is the next one */
		pc = (pc & -(uint64_t)PAGE) + PAGE;
	p = page_for(pc);
	if (p == NULL || p->watched)
		return 0;
	if (++p->samples < samples_for(p->writes))
		return 0;
	return watch_page(p, pc) ? pc & -(uint64_t)PAGE : 0;
}

bool
watch_pending(void)
{
	return __atomic_load_n(&pending, __ATOMIC_SEQ_CST);
}

bool
watch_take(struct watch_write *w)
{
	struct watched_page *p;
	struct uffd_msg m;

	while (faults >= 0 && read(faults, &m, sizeof m) == sizeof m) {
		if (m.event != UFFD_EVENT_PAGEFAULT)
			continue;
		w->page = m.arg.pagefault.address & -(uint64_t)PAGE;
		w->tid = (pid_t)m.arg.pagefault.feat.ptid;
		p = page_at(w->page);
		w->known = p != NULL && p->watched;
		if (w->known) {
			p->watched = false;
			p->writes += p->writes < MOST_NOW;
			nwritten++;
			stats.written++;
		}
		return true;
	}
	if (waits && __atomic_exchange_n(&pending, false, __ATOMIC_SEQ_CST))
		sem_post(&taken);
	return false;
}

void
watch_release(const struct watch_write *w)
{
	struct uffdio_range r = { w->page, PAGE };

	/* what was unmapped meanwhile has no protection to lift */
	if (!protect(w->page, false))
		ioctl(faults, UFFDIO_WAKE, &r);
}

void
watch_changed(uint64_t start, uint64_t end)
{
	uint64_t n, last = (end - 1) / PAGE;
	khiter_t k;

	if (pages == NULL || kh_size(pages) == 0)
		return;
	for (n = start / PAGE; last - start / PAGE < kh_size(pages) &&
	    n <= last; n++)
		if ((k = kh_get(page, pages, n)) != kh_end(pages))
			kh_del(page, pages, k);
	for (k = 0; n <= last && k != kh_end(pages); k++)
		if (kh_exist(pages, k) && kh_key(pages, k) >= n &&
		    kh_key(pages, k) <= last)
			kh_del(page, pages, k);
}

bool
watch_leave(uint64_t start, uint64_t end)
{
	struct uffdio_range r;

	watch_changed(start, end);
	r.start = start & -(uint64_t)PAGE;
	r.len = ((end + PAGE - 1) & -(uint64_t)PAGE) - r.start;
	return nwatched == 0 || ioctl(faults, UFFDIO_UNREGISTER, &r) == 0;
}
