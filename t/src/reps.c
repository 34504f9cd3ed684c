/*
 * reps - repeated string instructions in recursion, in signal handlers, and cut
 * by faults whose handlers return or jump out; the same in each run
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#define FN __attribute__((noinline, noclone))
#define PAGE 4096

static char from[256], to[256];
static char *pages;		/* the second is closed now and then */
static sigjmp_buf out;
static int jumps;
static volatile long sum;

FN static void
move(long n)
{
	void *s = from, *d = to;

	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
}

FN static void
fill(char *at, long n)
{
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(7) : "memory");
}

FN static long
compare(long n)
{
	const void *s = from, *d = to;
	long left = n;

	__asm__ volatile("repe cmpsb" : "+S"(s), "+D"(d), "+c"(left) : :
	    "memory", "cc");
	return n - left;
}

FN static long
scan(const char *at, long n)
{
	long left = n;

	__asm__ volatile("test %%eax, %%eax; repne scasb" : "+D"(at),
	    "+c"(left) : "a"(1) : "memory", "cc");
	return n - left;
}

/* Rounds at each level, before and behind the calls; some of none. */
FN static void
recurse(int n)
{
	if (n % 3 != 0)
		move(n * 5 % 41);
	if (n > 0) {
		recurse(n - 1);
		if (n % 4 == 0)
			recurse(n / 2);
	}
	from[n % 64] = (char)n;
	sum += compare(n * 3) + scan(to, n * 7 % 50);
}

static void
handler(int sig)
{
	recurse(3);
	fill(to, sig);
	if (sig == SIGUSR1)
		raise(SIGUSR2);
}

/* The second page was closed. */
static void
fault(int sig)
{
	move(sig);
	mprotect(pages + PAGE, PAGE, PROT_READ | PROT_WRITE);
	if (jumps)
		siglongjmp(out, 1);
}

FN static void
cut(int jump)
{
	jumps = jump;
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	if (sigsetjmp(out, 1) == 0)
		fill(pages + PAGE - 100, 300);
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	if (sigsetjmp(out, 1) == 0)
		sum += scan(pages + PAGE - 60, 200);
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	if (sigsetjmp(out, 1) == 0)
		fill(pages + PAGE, 50);
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	if (sigsetjmp(out, 1) == 0)
		sum += scan(pages + PAGE, 20);
}

int
main(void)
{
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	memset(pages, 9, 2 * PAGE);
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	signal(SIGSEGV, fault);
	recurse(20);
	raise(SIGUSR1);
	cut(0);
	cut(1);
	raise(SIGUSR2);
	return 0;
}
